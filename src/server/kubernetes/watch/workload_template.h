// The pod template of a workload in which Tautline sets limits: its amounts, the amounts that its owner set,
// and the field manager of each field. No I/O.
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
  // The other manager that applies it (server-side apply), with which Tautline would be in conflict; "" if
  // there is none.
  std::string applier = {};
  std::string other = {};  // the other manager of the field that changed its object last; "" if there is none
  int64_t other_s = 0;     // Unix time of that change
};

// A template as the API server has it.
struct WorkloadTemplate {
  std::string resource_version;
  // Amounts in the template, and the owner's in owner_*. A request that is not written is absent.
  std::vector<ContainerState> containers;
  struct Fields {
    TemplateField request, limit;
  };
  // By container, then by Resource.
  std::vector<PerResource<Fields>> fields;
  bool noted = false;   // kOwnersAnnotation holds the owner's amounts, since Tautline has set others
  int64_t set_s = 0;    // Unix time when Tautline applied it last; 0 if never
  std::string gitops;   // what keeps the template as in a repository, for people; "" if unknown
  std::string blocked;  // why a change would not reach all pods; "" if it would
  std::string rolling;  // the rollout under way, for people; "" if there is none
  bool stuck = false;   // the last rollout exceeded its progress deadline
};

// Parses a Deployment, StatefulSet or DaemonSet, by the workload's kind. InvalidArgument for another kind,
// DataLoss if `body` is no such object.
absl::StatusOr<WorkloadTemplate> ParseWorkloadTemplate(const WorkloadName& workload, std::string_view body);

// The amounts that Tautline sets in a container of the template; absent amounts stay with others.
struct TemplateAmounts {
  Amounts requests, limits;
};
// Returns the body of a server-side apply that makes these amounts, one entry for each container of `of`,
// Tautline's own and gives up all others. `note`: it also writes the containers' owner_* to kOwnersAnnotation
// of their pods. Requires a kind that ParseWorkloadTemplate accepts.
std::string TemplateApply(const WorkloadName& workload, const WorkloadTemplate& of,
                          const std::vector<TemplateAmounts>& amounts, bool note);

}  // namespace taut::server
