// Settings of the Kubernetes cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace taut::server {

// Which of a kubelet's figures are read: those of cAdvisor, or the few that its metrics server reads.
// Of the kubelets, or in kMetricsApi's case of metrics.k8s.io.
enum class KubeletUsage : uint8_t { kCadvisor, kResource, kMetricsApi };

// What is done with a pod that cannot be resized in place.
enum class ResizeFallback : uint8_t { kWait, kEvict };

// What the validating webhook does with a new pod that its group's quota has no room for.
enum class QuotaWebhook : uint8_t { kOff, kWarn, kRefuse };

// Which new pods of a group whose budget is spent that webhook refuses, or warns about: none, those of workloads
// that do not run, or all.
enum class HeldPods : uint8_t { kOff, kNew, kAll };

// The webhooks about new pods: the mutating one, which gives them what is set for their workload, and the
// validating one, which holds them to quota.
struct AdmissionConfig {
  std::string listen;                       // ADDRESS:PORT; "": none
  std::string name = "tautd.tautline.svc";  // that the API server calls it by: a DNS name or an IP address
  std::string configuration = "tautline";   // the webhook configurations of this name get the certificate
  QuotaWebhook quota = QuotaWebhook::kOff;
  HeldPods held = HeldPods::kNew;
};

// A Kubernetes cluster of which tautd reads usage, and whose pods it resizes (src/server/kubernetes/).
struct KubernetesConfig {
  std::string kubeconfig;          // a file, "in-cluster", or "": none
  std::string cluster;             // begins the names of its jobs; "": nothing does
  int64_t scrape_interval_s = 15;  // of kubelets' figures; 0: not read
  KubeletUsage usage = KubeletUsage::kCadvisor;
  ResizeFallback fallback = ResizeFallback::kWait;
  int64_t evict_after_s = 300;      // of a resize that the kubelet defers, with kEvict
  std::string node_group_label;     // of nodes, by whose value DaemonSets are split; "": they are not
  std::string lease;                // NAMESPACE/NAME; "": none
  std::string namespaces;           // a pattern; "": every one
  bool events = true;               // Events of decisions
  bool status_annotations = false;  // tautline.dev/status of workloads
  bool annotations = true;          // of namespaces and workloads are settings of their jobs
  bool scale = false;               // numbers of tasks, through /scale
  bool vpa = false;                 // the status of VerticalPodAutoscalers that name it
  bool resource_quotas = false;     // of the namespaces that are groups of quota.file
  AdmissionConfig admission;
};

// Namespace and name of KubernetesConfig::lease; absent: it has not this form.
std::optional<std::pair<std::string, std::string>> LeaseName(std::string_view lease);

}  // namespace taut::server
