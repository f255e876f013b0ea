// The rules that need no configuration. docs/reference/ingest.md has the same table with reasons.
#include <span>

#include "common/base/strings.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/owners.h"

namespace taut::server {
namespace {

using enum SeriesKind;

const char* const kPod = "{cluster/}{namespace}/Pod/{pod}";
const char* const kKubernetes = "Kubernetes";

// A real container of a pod: not the pod's own sum (no container) and not its pause container.
std::vector<LabelMatch> Container() {
  return {{"container", "|POD", true}, {"pod", "", true}, {"namespace", "", true}};
}

std::vector<LabelMatch> With(std::vector<LabelMatch> match, LabelMatch more) {
  match.push_back(std::move(more));
  return match;
}

// Of a workload: its pods are the tasks of each of its containers.
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

// cAdvisor's counter dies with the container that is killed; kube-state-metrics knows why it ended.
template <typename Add>
void AddEnds(const Add& add) {
  add("kube-restarts", "kube_pod_container_status_restarts_total", Container(), kRestartsTotal);
  add("kube-oom-reason", "kube_pod_container_status_last_terminated_reason",
      With(Container(), {"reason", "OOMKilled"}), kOomReason);
  add("kube-last-ended", "kube_pod_container_status_last_terminated_timestamp", Container(), kLastEnded);
  add("kube-oom-ended", "kube_pod_container_status_terminated_reason",
      With(Container(), {"reason", "OOMKilled"}), kOomEnded);
  add("kube-waiting", "kube_pod_container_status_waiting", Container(), kWaiting);
}

// Senders that measure containers in place of cAdvisor, with its labels or those of label_aliases.h.
template <typename Add>
void AddNodeAgents(const Add& add) {
  add("windows-cpu", "windows_container_cpu_usage_seconds_total", Container(), kCpuSecondsTotal);
  add("windows-memory", "windows_container_memory_usage_private_working_set_bytes", Container(),
      kMemoryBytes);
  // OpenTelemetry's kubeletstats receiver: a gauge or a counter, with or without the unit in its name.
  for (const char* const metric : {"container_cpu_usage", "k8s_container_cpu_usage"})
    add("otel-cpu", metric, Container(), kCpuCores);
  for (const char* const metric : {"container_cpu_time", "container_cpu_time_seconds_total"})
    add("otel-cpu-time", metric, Container(), kCpuSecondsTotal);
  for (const char* const metric : {"container_memory_working_set", "k8s_container_memory_working_set",
                                   "k8s_container_memory_working_set_bytes"})
    add("otel-memory", metric, Container(), kMemoryBytes);
  // Its k8s_cluster receiver.
  add("otel-cpu-limit", "k8s_container_cpu_limit", Container(), kCpuLimitCores);
  add("otel-cpu-request", "k8s_container_cpu_request", Container(), kCpuRequestCores);
  for (const char* const metric : {"k8s_container_memory_limit", "k8s_container_memory_limit_bytes"})
    add("otel-memory-limit", metric, Container(), kMemoryLimitBytes);
  for (const char* const metric : {"k8s_container_memory_request", "k8s_container_memory_request_bytes"})
    add("otel-memory-request", metric, Container(), kMemoryRequestBytes);
}

void AddKubernetes(KubernetesJobs jobs, std::vector<MappingRule>& out) {
  const bool by_pod = jobs == KubernetesJobs::kPods;
  const std::string job(by_pod ? kPodJob : kContainerJob);
  // A task that is one container has no parts, as the same container has none where an agent measures it.
  const char* const part = by_pod ? "{container}" : "";
  const auto add = [&out, job, part](const char* name, const char* metric, std::vector<LabelMatch> match,
                                     SeriesKind kind, double scale = 1) {
    out.push_back({name, metric, std::move(match), kind, job, "{pod}", part, scale, kKubernetes});
  };
  // Old kernels give a series per CPU as well as the sum.
  add("cadvisor-cpu", "container_cpu_usage_seconds_total", With(Container(), {"cpu", "|total"}),
      kCpuSecondsTotal);
  // Of the metrics API, as older versions kept it in their logs of samples.
  add("metrics-api-cpu", "pod_metrics_cpu_cores", Container(), kCpuCores);
  // Only of containers with a CPU limit.
  add("cadvisor-cpu-periods", "container_cpu_cfs_periods_total", Container(), kCpuPeriodsTotal);
  add("cadvisor-cpu-throttled", "container_cpu_cfs_throttled_periods_total", Container(),
      kCpuThrottledPeriodsTotal);
  add("cadvisor-memory", "container_memory_working_set_bytes", Container(), kMemoryBytes);
  add("cadvisor-memory-peak", "container_memory_max_usage_bytes", Container(), kMemoryPeak);
  add("cadvisor-oom", "container_oom_events_total", Container(), kOomTotal);
  add("cadvisor-memory-limit", "container_spec_memory_limit_bytes", Container(), kMemoryLimitBytes);
  // Microseconds of the usual period of 100 ms.
  add("cadvisor-cpu-limit", "container_spec_cpu_quota", Container(), kCpuLimitCores, 1e-5);
  add("kube-cpu-limit", "kube_pod_container_resource_limits", With(Container(), {"resource", "cpu"}),
      kCpuLimitCores);
  add("kube-memory-limit", "kube_pod_container_resource_limits", With(Container(), {"resource", "memory"}),
      kMemoryLimitBytes);
  add("kube-cpu-request", "kube_pod_container_resource_requests", With(Container(), {"resource", "cpu"}),
      kCpuRequestCores);
  add("kube-memory-request", "kube_pod_container_resource_requests",
      With(Container(), {"resource", "memory"}), kMemoryRequestBytes);
  // kube-state-metrics 1.x.
  add("kube1-cpu-limit", "kube_pod_container_resource_limits_cpu_cores", Container(), kCpuLimitCores);
  add("kube1-memory-limit", "kube_pod_container_resource_limits_memory_bytes", Container(),
      kMemoryLimitBytes);
  add("kube1-cpu-request", "kube_pod_container_resource_requests_cpu_cores", Container(), kCpuRequestCores);
  add("kube1-memory-request", "kube_pod_container_resource_requests_memory_bytes", Container(),
      kMemoryRequestBytes);
  AddNodeAgents(add);
  AddEnds(add);
  // Of two of one container the later counts as another start, of the same minute.
  add("kube-started", "kube_pod_container_state_started", Container(), kStartTime);
  add("cadvisor-started", "container_start_time_seconds", Container(), kStartTime);
  // A sidecar is an init container that is always restarted, and runs beside the others.
  out.push_back({"kube-init-container", "kube_pod_init_container_info",
                 With(Container(), {"restart_policy", "Always", true}), kInitContainer, kPod, "{container}",
                 "", 1, kKubernetes});
  out.push_back({"kube-pod-labels",
                 "kube_pod_labels",
                 {{"pod", "", true}, {"namespace", "", true}},
                 kPodLabels,
                 kPod,
                 "{pod}",
                 "",
                 1,
                 kKubernetes});
  const auto owner = [&out](const char* name, const char* metric, const char* child) {
    out.push_back({name,
                   metric,
                   {{"owner_kind", "|<none>", true}, {"owner_is_controller", "|true"}},
                   kOwner,
                   child,
                   "{owner_kind}/{owner_name}",
                   "",
                   1,
                   kKubernetes});
    out.push_back({std::string(name) + "less",
                   metric,
                   {{"owner_kind", "|<none>"}},
                   kOwner,
                   child,
                   "<none>/<none>",
                   "",
                   1,
                   kKubernetes});
  };
  owner("kube-pod-owner", "kube_pod_owner", kPod);
  owner("kube-replicaset-owner", "kube_replicaset_owner", "{cluster/}{namespace}/ReplicaSet/{replicaset}");
  // OpenShift's DeploymentConfigs.
  owner("kube-replicationcontroller-owner", "kube_replicationcontroller_owner",
        "{cluster/}{namespace}/ReplicationController/{replicationcontroller}");
  owner("kube-job-owner", "kube_job_owner", "{cluster/}{namespace}/Job/{job_name}");
  // Of kube-state-metrics with --metric-labels-allowlist=jobs=[tautline.dev/job].
  out.push_back({"kube-job-program",
                 "kube_job_labels",
                 {{std::string(kProgramLabel), "", true}},
                 kOwner,
                 "{cluster/}{namespace}/ProgramOfJob/{job_name}",
                 OwnerTable::ProgramText(StrCat("{", kProgramLabel, "}")),
                 "",
                 1,
                 kKubernetes});
  AddReplicas(jobs, out);
}

void AddDocker(std::vector<MappingRule>& out) {
  const std::vector<LabelMatch> match = {{"name", "", true}, {"pod", ""}, {"container", ""}};
  // As tautlet names the jobs of containers.
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
  // In a pod these are in cAdvisor's figures already.
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
  // What is in use: all of it less what a new process could get.
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
