#include "server/config/kubernetes_config.h"

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

constexpr EnumName<KubeletUsage> kUsages[] = {{KubeletUsage::kCadvisor, "cadvisor"},
                                              {KubeletUsage::kResource, "resource"},
                                              {KubeletUsage::kMetricsApi, "metrics_api"}};
constexpr EnumName<ResizeFallback> kFallbacks[] = {{ResizeFallback::kWait, "wait"},
                                                   {ResizeFallback::kEvict, "evict"}};
constexpr EnumName<QuotaWebhook> kQuotaWebhooks[] = {
    {QuotaWebhook::kOff, "off"}, {QuotaWebhook::kWarn, "warn"}, {QuotaWebhook::kRefuse, "refuse"}};
constexpr EnumName<HeldPods> kHeldPods[] = {
    {HeldPods::kOff, "off"}, {HeldPods::kNew, "new"}, {HeldPods::kAll, "all"}};

const DaemonSetting kKubernetesRows[] = {
    {"kubernetes.kubeconfig",
     "kubeconfig file of the cluster whose pods tautd watches, or in-cluster for the service account of "
     "tautd's own pod; empty: none",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.kubeconfig)},
    {"kubernetes.cluster",
     "first part of the names of this cluster's jobs, as a label cluster of series; empty: none", kPlain, 0,
     0, TAUT_DAEMON_FIELD(kubernetes.cluster)},
    {"kubernetes.scrape_interval",
     "interval at which usage is read through the API server (kubernetes.usage); 0: never, for example "
     "because Prometheus sends it",
     kDuration, 0, 300, TAUT_DAEMON_FIELD(kubernetes.scrape_interval_s)},
    {"kubernetes.usage",
     "source of usage: cadvisor (the kubelets' /metrics/cadvisor), resource (/metrics/resource: CPU and "
     "memory only, in far fewer bytes) or metrics_api (metrics.k8s.io, where the kubelets' proxy is not "
     "allowed)",
     kPlain, 0, 0, TAUT_DAEMON_CHOICE(kUsages, kubernetes.usage)},
    {"kubernetes.fallback",
     "action where a limit cannot be set in place: wait, or evict (the replacement of the pod starts with "
     "the limit; requires kubernetes.admission.listen)",
     kPlain, 0, 0, TAUT_DAEMON_CHOICE(kFallbacks, kubernetes.fallback)},
    {"kubernetes.evict_after",
     "with kubernetes.fallback: evict, time for which the kubelet may defer a resize before the pod is "
     "evicted",
     kDuration, 10, 86'400, TAUT_DAEMON_FIELD(kubernetes.evict_after_s)},
    {"kubernetes.node_group_label",
     "label of nodes, such as node.kubernetes.io/instance-type: a DaemonSet's pods are one job per value, "
     "DAEMONSET@VALUE; empty: one job",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.node_group_label)},
    {"kubernetes.namespaces",
     "namespaces whose pods are watched: '*' stands for any text, '|' separates alternatives; empty: every "
     "one",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.namespaces)},
    {"kubernetes.lease",
     "NAMESPACE/NAME of a Lease, whose holder alone changes the cluster; empty: every tautd changes it",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.lease)},
    {"kubernetes.annotations",
     "annotations tautline.dev/KEY of namespaces and workloads are settings of their jobs", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(kubernetes.annotations)},
    {"kubernetes.events", "write an Event of the workload for each decision, at most 10 a second", kPlain, 0,
     0, TAUT_DAEMON_FIELD(kubernetes.events)},
    {"kubernetes.status_annotations",
     "write the annotation tautline.dev/status of workloads, and of custom resources that own pods, with "
     "the recommendation and its reason for each container, at most once in 10 minutes",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.status_annotations)},
    {"kubernetes.scale", "with actuator.kind kubernetes, set numbers of replicas through /scale", kPlain, 0,
     0, TAUT_DAEMON_FIELD(kubernetes.scale)},
    {"kubernetes.admission.listen",
     "ADDRESS:PORT of the webhooks: the mutating webhook, which sets the amounts of new pods, and the "
     "validating webhook of kubernetes.admission.quota; empty: none. Requires actuator.kind: kubernetes or "
     "kubernetes.admission.quota",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.admission.listen)},
    {"kubernetes.admission.name", "DNS name or IP address by which the API server calls the webhook", kPlain,
     0, 0, TAUT_DAEMON_FIELD(kubernetes.admission.name)},
    {"kubernetes.admission.configuration",
     "name of the MutatingWebhookConfiguration and ValidatingWebhookConfiguration to which tautd writes "
     "its own certificate",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.admission.configuration)},
    {"kubernetes.admission.quota",
     "answer of the validating webhook to a new pod beyond the quota of its group: off (no webhook), warn "
     "(the pod is created, and its creator gets warnings) or refuse; requires kubernetes.admission.listen "
     "and quota.file",
     kPlain, 0, 0, TAUT_DAEMON_CHOICE(kQuotaWebhooks, kubernetes.admission.quota)},
    {"kubernetes.admission.held",
     "new pods of a group with when_spent: refuse and a spent or frozen budget that this webhook refuses "
     "or warns about: new (pods of workloads without a pod in the last hour), all (also further pods of a "
     "running workload) or off",
     kPlain, 0, 0, TAUT_DAEMON_CHOICE(kHeldPods, kubernetes.admission.held)},
    {"kubernetes.resource_quotas",
     "write a ResourceQuota with the group's quota into each namespace that is a group of quota.file", kPlain,
     0, 0, TAUT_DAEMON_FIELD(kubernetes.resource_quotas)},
    {"kubernetes.vpa",
     "write recommendations to VerticalPodAutoscalers whose spec.recommenders names tautline; requires "
     "ingest.kubernetes_jobs: containers",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(kubernetes.vpa)},
};

absl::Status CheckKubernetes(const DaemonConfig& config) {
  if (!config.kubernetes.lease.empty() && !LeaseName(config.kubernetes.lease).has_value()) {
    return absl::InvalidArgumentError(StrCat("kubernetes.lease is '", config.kubernetes.lease,
                                             "': expected NAMESPACE/NAME, such as tautline/tautd"));
  }
  if (config.kubernetes.vpa && config.ingest.kubernetes_jobs != KubernetesJobs::kContainers) {
    return absl::InvalidArgumentError(
        "kubernetes.vpa is true, but ingest.kubernetes_jobs is pods: expected containers, each of "
        "which gets a recommendation");
  }
  const QuotaConfig& quota = config.quota;
  if (config.kubernetes.resource_quotas && (config.kubernetes.kubeconfig.empty() || quota.file.empty() ||
                                            !quota.tier.empty() || quota.group != "{namespace}")) {
    return absl::InvalidArgumentError(
        "kubernetes.resource_quotas requires kubernetes.kubeconfig, quota.file, quota.group "
        "\"{namespace}\" and an empty quota.tier: a namespace has one ResourceQuota");
  }
  const AdmissionConfig& admission = config.kubernetes.admission;
  const bool holds_quota = admission.quota != QuotaWebhook::kOff;
  if (holds_quota &&
      (config.kubernetes.kubeconfig.empty() || quota.file.empty() || admission.listen.empty())) {
    return absl::InvalidArgumentError(
        "kubernetes.admission.quota requires kubernetes.kubeconfig, kubernetes.admission.listen and "
        "quota.file: which pods there are, where the API server asks, and what groups may use");
  }
  if (!admission.listen.empty() && !holds_quota &&
      (config.kubernetes.kubeconfig.empty() || !config.SetsThrough(ActuatorKind::kKubernetes))) {
    return absl::InvalidArgumentError(
        "kubernetes.admission.listen requires kubernetes.kubeconfig and actuator.kind: "
        "kubernetes, which decide what a new pod gets, or kubernetes.admission.quota");
  }
  if (config.kubernetes.fallback == ResizeFallback::kEvict && admission.listen.empty()) {
    return absl::InvalidArgumentError(
        "kubernetes.fallback: evict requires kubernetes.admission.listen, which gives the pod that "
        "replaces an evicted one its limit");
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<std::pair<std::string, std::string>> LeaseName(std::string_view lease) {
  const size_t slash = lease.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == lease.size()) return std::nullopt;
  const std::string_view name = lease.substr(slash + 1);
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(lease.substr(0, slash)), std::string(name));
}

DaemonSection KubernetesSection() { return {kKubernetesRows, CheckKubernetes}; }

}  // namespace taut::server
