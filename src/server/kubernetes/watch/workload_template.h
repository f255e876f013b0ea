// The pod template of a workload in which Tautline sets limits: the amounts in it, the amounts that its owner
// has set, and the field manager of each field. No I/O.
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

// The field managers of a request or a limit of a template.
struct TemplateField {
  bool ours = false;
  // The other manager that applies the field (server-side apply). Tautline would be in conflict with this
  // manager. "": none.
  std::string applier = {};
  std::string other = {};  // of the field's other managers, the one that changed the object last; "": none
  int64_t other_s = 0;     // Unix time of the change by `other`
};

// The pod template of a workload as the API server has it.
struct WorkloadTemplate {
  std::string resource_version;
  // Amounts in the template; owner_* has the owner's amounts. A request that the template does not have is
  // absent.
  std::vector<ContainerState> containers;
  struct Fields {
    TemplateField request, limit;
  };
  // Managers of the fields, by container, then by Resource.
  std::vector<PerResource<Fields>> fields;
  bool noted = false;   // kOwnersAnnotation has the owner's amounts, because Tautline has set others
  int64_t set_s = 0;    // Unix time at which Tautline last applied the template; 0: never
  std::string gitops;   // text for people: the tool that keeps the template as in a repository; "": unknown
  std::string blocked;  // reason why a change would not affect all pods; "": it would
  std::string rolling;  // text for people: the rollout in progress; "": none
  bool stuck = false;   // the last rollout exceeded its progress deadline
};

// Parses a Deployment, StatefulSet or DaemonSet, according to the workload's kind. InvalidArgument for
// another kind, DataLoss if `body` is not such an object.
absl::StatusOr<WorkloadTemplate> ParseWorkloadTemplate(const WorkloadName& workload, std::string_view body);

// The amounts that Tautline sets in a container of the template. Absent amounts are left to other managers.
struct TemplateAmounts {
  Amounts requests, limits;
};
// Returns the body of a server-side apply that sets these amounts, one entry for each container of `of`. The
// fields of these amounts become Tautline's own; all its other fields are released. `note`: also writes the
// containers' owner_* to kOwnersAnnotation of the template's pods. REQUIRES: a kind that
// ParseWorkloadTemplate accepts.
std::string TemplateApply(const WorkloadName& workload, const WorkloadTemplate& of,
                          const std::vector<TemplateAmounts>& amounts, bool note);

}  // namespace taut::server
