// Labels under the names that rules use, where a sender writes them under others.
#pragma once

#include <span>
#include <vector>

#include "common/base/name_template.h"

namespace taut::server {

// Returns the labels with these added, in `scratch` if there are any, else `labels` itself:
//   exported_namespace, exported_pod, exported_container, ... of a series kube_* or container_*: Prometheus
//     renames the labels of a scraped series so where the target has labels of the same names and honor_labels is
//     not set. Their values replace those of the target.
//   pod_name, container_name of a series container_* (kubelets before 1.16): pod and container, if these are
//     empty.
//   k8s_namespace_name, k8s_pod_name, k8s_container_name, k8s_cluster_name (OpenTelemetry): namespace, pod,
//     container and cluster, if these are empty.
// The result is valid as long as both arguments are.
std::span<const LabelView> WithAliases(std::span<const LabelView> labels, std::vector<LabelView>& scratch);

}  // namespace taut::server
