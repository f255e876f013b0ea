// The pod template of a workload in which Tautline sets limits: its amounts, the owner's amounts, and the field
// manager of each field. No I/O.
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

// The field managers of a request or a limit in a template.
struct TemplateField {
  bool ours = false;
  // The other manager that applies the field by server-side apply, with which Tautline would conflict; "": none.
  std::string applier = {};
  std::string other = {};  // the other manager that changed the object last; "": none
  int64_t other_s = 0;     // Unix time of the change by `other`
};

// The pod template of a workload as stored by the API server.
struct WorkloadTemplate {
  std::string resource_version;
  // Amounts in the template; owner_* contains the owner's amounts. A request that is not in the template is
  // absent.
  std::vector<ContainerState> containers;
  struct Fields {
    TemplateField request, limit;
  };
  // Managers of the fields, by container and resource.
  std::vector<PerResource<Fields>> fields;
  bool noted = false;   // true: Tautline has set amounts, and kOwnersAnnotation contains the owner's amounts
  int64_t set_s = 0;    // Unix time of Tautline's last apply; 0: never
  std::string gitops;   // GitOps tool that restores the template, as text for users; "": none known
  std::string blocked;  // reason why a change would not affect all pods; "": a change affects all pods
  std::string rolling;  // the current rollout, as text for users; "": none
  bool stuck = false;   // true: the last rollout exceeded its progress deadline
};

// Parses a Deployment, StatefulSet or DaemonSet, depending on the workload's kind. Returns InvalidArgument for
// another kind, and DataLoss if `body` is not such an object.
absl::StatusOr<WorkloadTemplate> ParseWorkloadTemplate(const WorkloadName& workload, std::string_view body);

// Amounts that Tautline sets in a container of the template. Absent amounts are left to other managers.
struct TemplateAmounts {
  Amounts requests, limits;
};
// Returns the body of a server-side apply that sets these amounts, one element per container of `of`. Tautline
// takes ownership of these fields and releases its other fields. With `note`, also writes the containers' owner_*
// to kOwnersAnnotation of the template's pods. REQUIRES: a kind that ParseWorkloadTemplate() accepts.
std::string TemplateApply(const WorkloadName& workload, const WorkloadTemplate& of,
                          const std::vector<TemplateAmounts>& amounts, bool note);

}  // namespace taut::server
