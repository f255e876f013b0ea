// Settings of the Kubernetes cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace taut::server {

// Source of usage: the kubelets' cAdvisor metrics, the few metrics that kubelets serve for the metrics
// server, or metrics.k8s.io.
enum class KubeletUsage : uint8_t { kCadvisor, kResource, kMetricsApi };

// Action for a pod that cannot be resized in place.
enum class ResizeFallback : uint8_t { kWait, kEvict };

// Action of the validating webhook for a new pod that exceeds its group's quota.
enum class QuotaWebhook : uint8_t { kOff, kWarn, kRefuse };

// New pods that the webhook refuses, or warns about, if their group's budget is spent: no pods, pods of
// workloads that do not run yet, or all pods.
enum class HeldPods : uint8_t { kOff, kNew, kAll };

// Webhooks for new pods. The mutating webhook applies the limits of the pod's workload. The validating
// webhook checks quota.
struct AdmissionConfig {
  std::string listen;                       // listen address ADDRESS:PORT; "": disabled
  std::string name = "tautd.tautline.svc";  // DNS name or IP address to which the API server connects
  std::string configuration = "tautline";   // name of the webhook configurations that receive the certificate
  QuotaWebhook quota = QuotaWebhook::kOff;
  HeldPods held = HeldPods::kNew;
};

// A Kubernetes cluster: tautd reads the cluster's usage and resizes its pods (src/server/kubernetes/).
struct KubernetesConfig {
  std::string kubeconfig;          // path of a file, "in-cluster", or "": disabled
  std::string cluster;             // prefix of job names in this cluster; "": none
  int64_t scrape_interval_s = 15;  // interval between reads of kubelets' metrics; 0: never
  KubeletUsage usage = KubeletUsage::kCadvisor;
  ResizeFallback fallback = ResizeFallback::kWait;
  int64_t evict_after_s = 300;      // delay of an eviction (kEvict) after the kubelet deferred a resize
  std::string node_group_label;     // label of nodes by whose values DaemonSets are split; "": not split
  std::string lease;                // NAMESPACE/NAME of the lease; "": none
  std::string namespaces;           // pattern of the namespaces; "": all namespaces
  bool events = true;               // true if tautd writes Events for decisions
  bool status_annotations = false;  // true if tautd writes tautline.dev/status to workloads
  bool annotations = true;  // true if annotations of namespaces and workloads are settings of their jobs
  bool scale = false;       // true if tautd sets numbers of tasks through /scale
  bool vpa = false;         // true if tautd writes the status of VerticalPodAutoscalers that name tautline
  // True if tautd writes the quotas of the namespaces that are groups in quota.file.
  bool resource_quotas = false;
  AdmissionConfig admission;
};

// Returns namespace and name of KubernetesConfig::lease; nullopt if the text has another form.
std::optional<std::pair<std::string, std::string>> LeaseName(std::string_view lease);

}  // namespace taut::server
