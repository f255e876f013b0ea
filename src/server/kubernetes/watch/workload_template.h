// The pod template of a workload as its limits are set in it: what it has, what its owner wants, and who set which
// field. No I/O.
//
// Source: Kubernetes, "Server-Side Apply" (managedFields), "Deployments" (status of a rollout), "Labels and
// annotations" of Argo CD 3 (resource tracking) and Flux 2.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Who set a request or a limit of a template.
struct TemplateField {
  bool ours = false;
  std::string applier =
      {};  // another manager that applies it (server-side), which would be in conflict; "": none
  std::string other = {};  // the other manager that changed its object last and has this field; "": none
  int64_t other_s = 0;     // Unix time of that
};

struct WorkloadTemplate {
  std::string resource_version;
  // As the template has them; owner_*: what their owner wants. A request that is not written is absent.
  std::vector<ContainerState> containers;
  struct Fields {
    TemplateField request, limit;
  };
  // By container, then by Resource.
  std::vector<PerResource<Fields>> fields;
  bool noted = false;   // Tautline has set something: kOwnersAnnotation says what the owner wants
  int64_t set_s = 0;    // Unix time when Tautline applied it last; 0: never
  std::string gitops;   // what keeps it as in a repository, for people; "": nothing is known to
  std::string blocked;  // why a change would not reach all pods; "": it would
  std::string rolling;  // the rollout under way, for people; "": none
  bool stuck = false;   // the last rollout did not progress in its time
};

// `body`: a Deployment, StatefulSet or DaemonSet, by the workload's kind. InvalidArgument: another kind. DataLoss:
// no such object.
absl::StatusOr<WorkloadTemplate> ParseWorkloadTemplate(const WorkloadName& workload, std::string_view body);

// What a container of the template is to have; absent: not Tautline's to set.
struct TemplateAmounts {
  Amounts requests, limits;
};
// The body of a server-side apply by which these are Tautline's, by container, and no others are. `note`: the
// containers' owner_* are noted for their pods.
std::string TemplateApply(const WorkloadName& workload, const WorkloadTemplate& of,
                          const std::vector<TemplateAmounts>& amounts, bool note);

}  // namespace taut::server
