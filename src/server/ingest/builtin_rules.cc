// The built-in mapping rules. docs/reference/ingest.md has the same table with reasons.
#include <span>
#include <utility>

#include "common/base/strings.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/owners.h"

namespace taut::server {
namespace {

using enum SeriesKind;

constexpr const char* kPod = "{cluster/}{namespace}/Pod/{pod}";
constexpr const char* kKubernetes = "Kubernetes";

// Matches containers of a pod, but neither the pod's total (no container) nor the pod's pause container.
std::vector<LabelMatch> Container() {
  return {{"container", "|POD", true}, {"pod", "", true}, {"namespace", "", true}};
}

std::vector<LabelMatch> With(std::vector<LabelMatch> match, LabelMatch more) {
  match.push_back(std::move(more));
  return match;
}

// Adds rules for the numbers of tasks of workloads. Each pod of a workload is a task of each of its containers'
// jobs.
void AddReplicas(KubernetesJobs jobs, std::vector<MappingRule>& out) {
  const auto add = [&](const char* name, const char* metric, const std::string& kind, SeriesKind counts) {
    const std::string part = jobs == KubernetesJobs::kContainers ? "/*" : "";
    const std::string workload = "{" + kind + "}";
    out.push_back({name,
                   metric,
                   {},
                   counts,
                   "{cluster/}{namespace}/" + kind + "/" + workload + part,
                   workload,
                   "",
                   1,
                   kKubernetes});
  };
  add("kube-deployment-replicas", "kube_deployment_status_replicas", "deployment", kReplicas);
  add("kube-deployment-ready", "kube_deployment_status_replicas_ready", "deployment", kReplicasReady);
  add("kube-statefulset-replicas", "kube_statefulset_status_replicas", "statefulset", kReplicas);
  add("kube-statefulset-ready", "kube_statefulset_status_replicas_ready", "statefulset", kReplicasReady);
}

// A rule for series of a pod's containers.
struct ContainerRule {
  const char *name, *metric;
  SeriesKind kind;
  // Condition in addition to Container(); null: none.
  const char *label = nullptr, *pattern = nullptr;
  double scale = 1;
};

constexpr ContainerRule kContainerRules[] = {
    // Old kernels report a series per CPU in addition to the total.
    {"cadvisor-cpu", "container_cpu_usage_seconds_total", kCpuSecondsTotal, "cpu", "|total"},
    // Series of the metrics API, in sample logs of older versions.
    {"metrics-api-cpu", "pod_metrics_cpu_cores", kCpuCores},
    // This series exists only for containers with a CPU limit.
    {"cadvisor-cpu-periods", "container_cpu_cfs_periods_total", kCpuPeriodsTotal},
    {"cadvisor-cpu-throttled", "container_cpu_cfs_throttled_periods_total", kCpuThrottledPeriodsTotal},
    {"cadvisor-memory", "container_memory_working_set_bytes", kMemoryBytes},
    {"cadvisor-memory-peak", "container_memory_max_usage_bytes", kMemoryPeak},
    {"cadvisor-oom", "container_oom_events_total", kOomTotal},
    {"cadvisor-memory-limit", "container_spec_memory_limit_bytes", kMemoryLimitBytes},
    // The unit is microseconds of CPU time per period, which is usually 100 ms.
    {"cadvisor-cpu-limit", "container_spec_cpu_quota", kCpuLimitCores, nullptr, nullptr, 1e-5},
    {"kube-cpu-limit", "kube_pod_container_resource_limits", kCpuLimitCores, "resource", "cpu"},
    {"kube-memory-limit", "kube_pod_container_resource_limits", kMemoryLimitBytes, "resource", "memory"},
    {"kube-cpu-request", "kube_pod_container_resource_requests", kCpuRequestCores, "resource", "cpu"},
    {"kube-memory-request", "kube_pod_container_resource_requests", kMemoryRequestBytes, "resource",
     "memory"},
    // Names of kube-state-metrics 1.x.
    {"kube1-cpu-limit", "kube_pod_container_resource_limits_cpu_cores", kCpuLimitCores},
    {"kube1-memory-limit", "kube_pod_container_resource_limits_memory_bytes", kMemoryLimitBytes},
    {"kube1-cpu-request", "kube_pod_container_resource_requests_cpu_cores", kCpuRequestCores},
    {"kube1-memory-request", "kube_pod_container_resource_requests_memory_bytes", kMemoryRequestBytes},
    // Series of exporters that replace cAdvisor, with cAdvisor's labels or the labels in label_aliases.h.
    {"windows-cpu", "windows_container_cpu_usage_seconds_total", kCpuSecondsTotal},
    {"windows-memory", "windows_container_memory_usage_private_working_set_bytes", kMemoryBytes},
    // OpenTelemetry's kubeletstats receiver: a gauge or a counter, with or without the unit in its name.
    {"otel-cpu", "container_cpu_usage", kCpuCores},
    {"otel-cpu", "k8s_container_cpu_usage", kCpuCores},
    {"otel-cpu-time", "container_cpu_time", kCpuSecondsTotal},
    {"otel-cpu-time", "container_cpu_time_seconds_total", kCpuSecondsTotal},
    {"otel-memory", "container_memory_working_set", kMemoryBytes},
    {"otel-memory", "k8s_container_memory_working_set", kMemoryBytes},
    {"otel-memory", "k8s_container_memory_working_set_bytes", kMemoryBytes},
    // OpenTelemetry's k8s_cluster receiver.
    {"otel-cpu-limit", "k8s_container_cpu_limit", kCpuLimitCores},
    {"otel-cpu-request", "k8s_container_cpu_request", kCpuRequestCores},
    {"otel-memory-limit", "k8s_container_memory_limit", kMemoryLimitBytes},
    {"otel-memory-limit", "k8s_container_memory_limit_bytes", kMemoryLimitBytes},
    {"otel-memory-request", "k8s_container_memory_request", kMemoryRequestBytes},
    {"otel-memory-request", "k8s_container_memory_request_bytes", kMemoryRequestBytes},
    // cAdvisor's counter ends with the killed container. kube-state-metrics reports the reason of the
    // container's end.
    {"kube-restarts", "kube_pod_container_status_restarts_total", kRestartsTotal},
    {"kube-oom-reason", "kube_pod_container_status_last_terminated_reason", kOomReason, "reason",
     "OOMKilled"},
    {"kube-last-ended", "kube_pod_container_status_last_terminated_timestamp", kLastEnded},
    {"kube-oom-ended", "kube_pod_container_status_terminated_reason", kOomEnded, "reason", "OOMKilled"},
    {"kube-waiting", "kube_pod_container_status_waiting", kWaiting},
    // If a container has both series and their times differ, the later time is regarded as another start, in the
    // same minute.
    {"kube-started", "kube_pod_container_state_started", kStartTime},
    {"cadvisor-started", "container_start_time_seconds", kStartTime},
};

// A rule for objects whose owner is a label of the metric.
struct OwnerRule {
  const char *name, *metric, *child;
};

constexpr OwnerRule kOwnerRules[] = {
    {"kube-pod-owner", "kube_pod_owner", kPod},
    {"kube-replicaset-owner", "kube_replicaset_owner", "{cluster/}{namespace}/ReplicaSet/{replicaset}"},
    // OpenShift's DeploymentConfigs.
    {"kube-replicationcontroller-owner", "kube_replicationcontroller_owner",
     "{cluster/}{namespace}/ReplicationController/{replicationcontroller}"},
    {"kube-job-owner", "kube_job_owner", "{cluster/}{namespace}/Job/{job_name}"},
};

void AddContainers(KubernetesJobs jobs, std::vector<MappingRule>& out) {
  const bool by_pod = jobs == KubernetesJobs::kPods;
  const std::string job(by_pod ? kPodJob : kContainerJob);
  // A task with one container has no parts. An agent's measurement of this container has no part either.
  const char* const part = by_pod ? "{container}" : "";
  for (const ContainerRule& rule : kContainerRules) {
    std::vector<LabelMatch> match = Container();
    if (rule.label != nullptr) match.push_back({rule.label, rule.pattern});
    out.push_back(
        {rule.name, rule.metric, std::move(match), rule.kind, job, "{pod}", part, rule.scale, kKubernetes});
  }
}

void AddFacts(std::vector<MappingRule>& out) {
  const auto add = [&out](std::string name, const char* metric, std::vector<LabelMatch> match,
                          SeriesKind kind, const char* about, std::string says) {
    out.push_back(
        {std::move(name), metric, std::move(match), kind, about, std::move(says), "", 1, kKubernetes});
  };
  // A sidecar is an init container that is always restarted and runs beside the other containers.
  add("kube-init-container", "kube_pod_init_container_info",
      With(Container(), {"restart_policy", "Always", true}), kInitContainer, kPod, "{container}");
  add("kube-pod-labels", "kube_pod_labels", {{"pod", "", true}, {"namespace", "", true}}, kPodLabels, kPod,
      "{pod}");
  for (const auto& [name, metric, child] : kOwnerRules) {
    add(name, metric, {{"owner_kind", "|<none>", true}, {"owner_is_controller", "|true"}}, kOwner, child,
        "{owner_kind}/{owner_name}");
    add(StrCat(name, "less"), metric, {{"owner_kind", "|<none>"}}, kOwner, child, "<none>/<none>");
  }
  // Series of kube-state-metrics with --metric-labels-allowlist=jobs=[tautline.dev/job].
  add("kube-job-program", "kube_job_labels", {{std::string(kProgramLabel), "", true}}, kOwner,
      "{cluster/}{namespace}/ProgramOfJob/{job_name}",
      OwnerTable::ProgramText(StrCat("{", kProgramLabel, "}")));
}

void AddKubernetes(KubernetesJobs jobs, std::vector<MappingRule>& out) {
  AddContainers(jobs, out);
  AddFacts(out);
  AddReplicas(jobs, out);
}

void AddDocker(std::vector<MappingRule>& out) {
  const std::vector<LabelMatch> match = {{"name", "", true}, {"pod", ""}, {"container", ""}};
  // Template of the job names of tautlet's containers.
  const char* const job =
      "{cluster/}docker/"
      "{container_label_com_docker_compose_project/}"
      "{container_label_com_docker_compose_service|name}";
  const auto add = [&](const char* name, const char* metric, std::vector<LabelMatch> m, SeriesKind kind,
                       double scale = 1) {
    out.push_back(
        {name, metric, std::move(m), kind, job, "{instance}/{name}", "", scale, std::string(kDockerSource)});
  };
  add("docker-cpu", "container_cpu_usage_seconds_total", With(match, {"cpu", "|total"}), kCpuSecondsTotal);
  add("docker-cpu-periods", "container_cpu_cfs_periods_total", match, kCpuPeriodsTotal);
  add("docker-cpu-throttled", "container_cpu_cfs_throttled_periods_total", match, kCpuThrottledPeriodsTotal);
  add("docker-memory", "container_memory_working_set_bytes", match, kMemoryBytes);
  add("docker-oom", "container_oom_events_total", match, kOomTotal);
  add("docker-memory-limit", "container_spec_memory_limit_bytes", match, kMemoryLimitBytes);
  add("docker-cpu-limit", "container_spec_cpu_quota", match, kCpuLimitCores, 1e-5);
  add("docker-started", "container_start_time_seconds", match, kStartTime);
}

void AddExporters(std::vector<MappingRule>& out) {
  const auto add = [&out](const char* name, const char* metric, std::vector<LabelMatch> match,
                          SeriesKind kind, const char* job, const char* part, double scale,
                          const char* source) {
    out.push_back({name, metric, std::move(match), kind, job, "{instance}", part, scale, source});
  };
  const char* const group = "{cluster/}process/{groupname}";
  const std::vector<LabelMatch> has_group = {{"groupname", "", true}};
  add("namedprocess-cpu", "namedprocess_namegroup_cpu_seconds_total", has_group, kCpuSecondsTotal, group,
      "{mode}", 1, "process-exporter");
  add("namedprocess-memory", "namedprocess_namegroup_memory_bytes", With(has_group, {"memtype", "resident"}),
      kMemoryBytes, group, "", 1, "process-exporter");
  // Within a pod, cAdvisor's values include the values of this exporter.
  const char* const job = "{cluster/}{job}";
  const std::vector<LabelMatch> no_pod = {{"pod", ""}};
  add("process-cpu", "process_cpu_seconds_total", no_pod, kCpuSecondsTotal, job, "", 1,
      "processes' own metrics");
  add("process-memory", "process_resident_memory_bytes", no_pod, kMemoryBytes, job, "", 1,
      "processes' own metrics");
  const char* const machine = "{cluster/}machine/{job}";
  const size_t first = out.size();
  add("node-cpu", "node_cpu_seconds_total", {{"mode", "idle|iowait|steal", true}}, kCpuSecondsTotal, machine,
      "{cpu}/{mode}", 1, "node_exporter");
  // Used memory is the total less the memory that a new process could allocate.
  add("node-memory-total", "node_memory_MemTotal_bytes", {}, kMemoryBytes, machine, "total", 1,
      "node_exporter");
  add("node-memory-available", "node_memory_MemAvailable_bytes", {}, kMemoryBytes, machine, "available", -1,
      "node_exporter");
  for (MappingRule& rule : std::span(out).subspan(first)) rule.whole_machine = true;
}

}  // namespace

std::vector<MappingRule> BuiltinRules(KubernetesJobs jobs) {
  std::vector<MappingRule> out;
  AddKubernetes(jobs, out);
  AddDocker(out);
  AddExporters(out);
  return out;
}

}  // namespace taut::server
