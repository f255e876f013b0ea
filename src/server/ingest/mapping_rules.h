// Mapping rules as data. Matching a series with the rules returns the job whose usage the series measures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/name_template.h"
#include "common/model/workload.h"
#include "server/ingest/owners.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

enum class SeriesKind : uint8_t {
  kCpuSecondsTotal,   // counter of CPU seconds used
  kCpuCores,          // gauge of cores in use
  kMemoryBytes,       // gauge of bytes in use
  kCpuLimitCores,     // owner's limit; 0 or less is "no limit"
  kMemoryLimitBytes,  // owner's limit; 0 or less is "no limit"
  kOomTotal,          // counter of OOM kills
  kOwner,             // no usage: owner of a pod, ReplicaSet or Job
  kTaskWindow,        // whole windows from an agent; not allowed in rules
  kRestartsTotal,     // counter of a container's restarts
  kOomReason,         // 1: the container last ended by an OOM kill
  kOomEnded,          // 1: the container has ended by an OOM kill
  kInitContainer,     // no usage: this part of the task runs before the other parts, and its usage is ignored
  kPodLabels,         // no usage: labels of a pod, which its job inherits
  kCpuRequestCores,   // owner's request, which the scheduler counts; 0 or less is "no request"
  kMemoryRequestBytes,  // owner's request; 0 or less is "no request"
  kLoad,                // gauge of the job's load, in any unit
  kLoadTotal,           // counter of the load; the load is its increase per second
  // Counters of the CFS periods of a CPU limit, and of the throttled periods.
  kCpuPeriodsTotal,
  kCpuThrottledPeriodsTotal,
  kReplicas,       // gauge of the number of a job's tasks, from its controller; no usage
  kReplicasReady,  // gauge of the number of the job's tasks that are ready
  kStartTime,      // gauge: Unix time of the last start of the task or its part
  kLastEnded,      // gauge: Unix time of the container's last end
  kMemoryPeak,     // gauge of bytes: peak since the start, as the kernel reports it
  kWaiting,        // 1: the container waits for its next start
};
// Returns true if series of this kind report numbers of tasks.
inline bool IsReplicas(SeriesKind kind) {
  return kind == SeriesKind::kReplicas || kind == SeriesKind::kReplicasReady;
}
// The label tautline.dev/job in kube-state-metrics' labels of pods and Jobs. Its value is the program that
// these objects run.
inline constexpr std::string_view kProgramLabel = "label_tautline_dev_job";
// Returns true if the label names the place of a job's tasks: its namespace or cluster. Labels of pods must not
// set a place: they would move the job, and its bill, to another group.
inline bool SaysPlace(std::string_view label) { return label == "namespace" || label == "cluster"; }

// Returns true if series of this kind state facts about pods or workloads and measure nothing.
inline bool IsFact(SeriesKind kind) {
  return kind == SeriesKind::kOwner || kind == SeriesKind::kInitContainer || kind == SeriesKind::kPodLabels ||
         IsReplicas(kind);
}
// Returns true for the counters of CFS periods.
inline bool IsThrottling(SeriesKind kind) {
  return kind == SeriesKind::kCpuPeriodsTotal || kind == SeriesKind::kCpuThrottledPeriodsTotal;
}
// Returns true if the kind belongs to a job and not to its tasks: the series of all tasks are added up.
inline bool IsLoad(SeriesKind kind) { return kind == SeriesKind::kLoad || kind == SeriesKind::kLoadTotal; }
std::string_view Name(SeriesKind kind);
// Returns the kind with this name. InvalidArgument names the valid kinds.
absl::StatusOr<SeriesKind> ParseSeriesKind(std::string_view name);

// Condition on one label; an absent label is regarded as empty, as in Prometheus.
struct LabelMatch {
  std::string label;
  std::string pattern;  // pattern of common/base/pattern.h
  bool negate = false;
};

// One mapping rule; the first rule that matches a series applies.
//
// Templates contain text and {label}. {a|b} is the first of these labels that is not empty. {a/} is the
// value followed by '/', or empty. A rule does not match if any other placeholder of `job` or `task` is
// empty. The placeholder {owner} is the name of the top owner of the pod in the labels cluster, namespace and
// pod. The placeholder {owner.kind} is the owner's kind in lower case, empty if unknown.
struct MappingRule {
  std::string name;    // human-readable name, such as "cadvisor-cpu"
  std::string metric;  // pattern of common/base/pattern.h
  std::vector<LabelMatch> match;
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  // Template such as "{namespace}/{owner}". For facts: the child or pod, such as "{namespace}/Pod/{pod}". For
  // numbers of tasks: a job, or with "/*" at the end every job whose name has one more part.
  std::string job;
  std::string task;  // template such as "{pod}"; kOwner: "{owner_kind}/{owner_name}"
  // Template of the part of a task. Series of different parts are added up. Series of one part measure the
  // same usage (a restarted container, two Prometheus replicas), so only the larger value is used.
  std::string part;
  double scale = 1;  // factor from the sample to the kind's unit; below 0: the part is subtracted
  // Human-readable source of the series. If built-in rules with two sources yield one job name, there may be two
  // workloads with this name. "": unknown, as for rules of users.
  std::string source = {};
  // Name of the job's signal (common/model/signal_name.h), in the unit of the series; only for kinds load and
  // load_total. Series of one signal are added up, as loads are. "": the series is the job's load.
  std::string signal = {};
  // True if the job is the total usage of its machines, which includes other jobs. No sum includes such a job
  // (IsWholeMachine).
  bool whole_machine = false;
};

// MappingRule::source of the rules for Docker's containers.
inline constexpr std::string_view kDockerSource = "Docker";
// Templates of job names in Kubernetes; they begin with the cluster if the series have a label cluster. Jobs
// of rules with these templates, with or without the cluster, are workloads.
inline constexpr std::string_view kCellOfJob = "{cluster/}";
inline constexpr std::string_view kPodJob = "{cluster/}{namespace}/{owner.kind/}{owner}";
inline constexpr std::string_view kContainerJob = "{cluster/}{namespace}/{owner.kind/}{owner}/{container}";

// Definition of a job in Kubernetes: the pods of an owner with the sum of their containers, or one container
// of these pods. A task is one pod in both cases.
enum class KubernetesJobs : uint8_t { kPods, kContainers };
// Returns the built-in rules: cAdvisor and kube-state-metrics, Docker's cAdvisor, and the namedprocess, node
// and process exporters. The table is in docs/reference/ingest.md.
std::vector<MappingRule> BuiltinRules(KubernetesJobs jobs = KubernetesJobs::kPods);

// Returns "{cluster/}{namespace}" of the pod that these labels name: the scope of the built-in rules' facts.
std::string PodScope(std::span<const LabelView> labels);

// Result of a rule for one series.
struct Mapping {
  static constexpr size_t kNoRule = SIZE_MAX;
  size_t rule = 0;  // index into the rules; kNoRule: mapped by an agent or a WorkloadIntake
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  std::string job, task, part;
  // Key of the pod, "scope/Pod/name", from a WorkloadIntake; "" if there is none. If uses_owner is true, the labels
  // of the series name the pod instead.
  std::string pod = {};
  std::optional<std::string> group = {};  // WorkloadFact::group, for facts
  WorkloadParts workload = {};            // workload of the job; unknown for facts
  bool uses_owner = false;                // true: the job's name contains {owner} or {owner.kind}
  double scale = 1;
  uint16_t signal = 0;  // index into MappingRules::signals() plus 1; 0: none
  bool whole_machine = false;
  bool claimed = false;  // true if an agent measures the container, and names its job and task
};

// Compiled rules. Immutable and thread-safe. Matching takes a few microseconds, so callers match each series
// once.
class MappingRules {
 public:
  // Compiles rules. InvalidArgument contains the rule and the error.
  static absl::StatusOr<MappingRules> Compile(std::vector<MappingRule> rules);

  // Returns the mapping by the first rule that matches; nullopt if no rule matches. `owner` receives a pod's
  // scope (PodScope) and name, and returns the pod's top owner, with an empty name if unknown. O(rules).
  std::optional<Mapping> Match(
      std::span<const LabelView> labels,
      absl::FunctionRef<TopOwner(std::string_view scope, std::string_view pod)> owner) const;
  // Returns the reason why rule `index` does not match these labels; "" if the rule matches.
  std::string WhyNot(size_t index, std::span<const LabelView> labels) const;

  std::span<const MappingRule> rules() const { return rules_; }
  // Returns the names of the signals in the rules, ascending.
  std::span<const std::string> signals() const { return signals_; }

 private:
  struct Compiled {
    NameTemplate job, task, part;
    uint16_t signal = 0;              // number of the signal as in Mapping
    Source source = Source::kSeries;  // source of the workloads of the rule's jobs
    // in_kubernetes: the job is a Kubernetes workload. has_cell: the job's name begins with the cluster.
    // has_container: the job is one container of its pods.
    bool in_kubernetes = false, has_cell = false, has_container = false;
  };
  std::vector<MappingRule> rules_;
  std::vector<Compiled> compiled_;
  std::vector<std::string> signals_;
};
// Returns the names of the signals in the rules, ascending, each once.
std::vector<std::string> SignalsOf(std::span<const MappingRule> rules);

}  // namespace taut::server
