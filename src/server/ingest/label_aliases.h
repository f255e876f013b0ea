// Renames labels of a sender to the names that mapping rules use.
#pragma once

#include <span>
#include <vector>

#include "common/base/name_template.h"

namespace taut::server {

// Returns `labels` with renamed labels added. The result is in `scratch` if any label was renamed, else it is
// `labels` itself. The result is valid as long as both arguments are. Renamed labels are:
//   exported_namespace, exported_pod, exported_container, ... of a series kube_* or container_*: they replace
//     the labels without "exported_". Prometheus adds this prefix if the target has labels of the same names
//     and honor_labels is not set.
//   pod_name, container_name of a series container_* (kubelets before 1.16): they become pod and container if
//     these labels are empty.
//   k8s_namespace_name, k8s_pod_name, k8s_container_name, k8s_cluster_name (OpenTelemetry): they become
//     namespace, pod, container and cluster if these labels are empty.
std::span<const LabelView> WithAliases(std::span<const LabelView> labels, std::vector<LabelView>& scratch);

}  // namespace taut::server
