// Which series is which job's usage: rules as data, and matching one series against them.
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
  kCpuSecondsTotal,     // counter of CPU seconds used
  kCpuCores,            // gauge of cores in use
  kMemoryBytes,         // gauge of bytes in use
  kCpuLimitCores,       // the owner's limit; 0 or less is "no limit"
  kMemoryLimitBytes,    // the same
  kOomTotal,            // counter of OOM kills
  kOwner,               // no usage: says who owns a pod, ReplicaSet or Job
  kTaskWindow,          // whole windows, from an agent; no rule can say it
  kRestartsTotal,       // counter of a container's restarts
  kOomReason,           // 1: the container's last end was an OOM kill
  kOomEnded,            // 1: the container has ended, and by an OOM kill
  kInitContainer,       // no usage: the task's part of this name runs before the others, and is left out
  kPodLabels,           // no usage: labels of a pod, which become those of its job
  kCpuRequestCores,     // the owner's request, what the scheduler counts; 0 or less is "no request"
  kMemoryRequestBytes,  // the same
  kLoad,                // gauge of what the job has to process, in a unit of its own
  kLoadTotal,           // counter of the same; the load is its increase a second
  // Counters of the CFS periods of a CPU limit, and of those in which it throttled.
  kCpuPeriodsTotal,
  kCpuThrottledPeriodsTotal,
  kReplicas,       // gauge of the tasks of a job, said by who runs them; no usage
  kReplicasReady,  // of them, those that serve
  kStartTime,      // gauge: the Unix time of the last start of the task, or of this part of it
  kLastEnded,      // gauge: the Unix time at which the container ended last
  kMemoryPeak,     // gauge of bytes: the most that was charged since the start, as the kernel keeps it
  kWaiting,        // 1: the container waits for its next start
};
inline bool IsReplicas(SeriesKind kind) {
  return kind == SeriesKind::kReplicas || kind == SeriesKind::kReplicasReady;
}
// The label tautline.dev/job, as kube-state-metrics writes labels of pods and Jobs: the program that they run.
inline constexpr std::string_view kProgramLabel = "label_tautline_dev_job";
// Whether a job's label of this name says where its tasks are. What pods are labelled with does not: its job would
// be another group's, and so would its bill.
inline bool SaysPlace(std::string_view label) { return label == "namespace" || label == "cluster"; }

// Whether series of this kind say something about pods or workloads, and measure nothing.
inline bool IsFact(SeriesKind kind) {
  return kind == SeriesKind::kOwner || kind == SeriesKind::kInitContainer || kind == SeriesKind::kPodLabels ||
         IsReplicas(kind);
}
inline bool IsThrottling(SeriesKind kind) {
  return kind == SeriesKind::kCpuPeriodsTotal || kind == SeriesKind::kCpuThrottledPeriodsTotal;
}
// Of a job, not of its tasks: series of all tasks are added up.
inline bool IsLoad(SeriesKind kind) { return kind == SeriesKind::kLoad || kind == SeriesKind::kLoadTotal; }
std::string_view Name(SeriesKind kind);
// InvalidArgument naming the choices: what a rule can say.
absl::StatusOr<SeriesKind> ParseSeriesKind(std::string_view name);

// A condition on one label; a label that is not there counts as empty, as in Prometheus.
struct LabelMatch {
  std::string label;
  std::string pattern;  // as in common/base/pattern.h
  bool negate = false;
};

// The first rule that fits a series decides. Templates hold text and {label}; {a|b} takes the first that is
// not empty; {a/} adds a '/' to the value, or nothing if it is empty; a rule of which another placeholder of
// `job` or `task` stays empty does not fit. {owner} is the name of the top owner of the pod named by the
// labels cluster, namespace and pod; {owner.kind} is its kind in lower case, empty where it is not known.
struct MappingRule {
  std::string name;    // for people: "cadvisor-cpu"
  std::string metric;  // a pattern as in LabelMatch
  std::vector<LabelMatch> match;
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  // "{namespace}/{owner}"; of a fact: the child or pod, "{namespace}/Pod/{pod}"; of a number of tasks: a job,
  // or with "/*" at the end all jobs whose name has one part more.
  std::string job;
  std::string task;  // "{pod}"; kOwner: its owner, "{owner_kind}/{owner_name}"
  // What adds up to the task: series of one task with different parts are summed; with the same part they are
  // the same thing measured twice (a restarted container, two Prometheus replicas), and the larger counts.
  std::string part;
  double scale = 1;  // the sample times this is in the kind's unit; below 0: the part is subtracted
  // What the series come from, for people: built-in rules of two sources that give one job's name may have
  // met two workloads. "": not said, as for rules of one's own.
  std::string source = {};
  // Of kind load or load_total: the series is this signal of the job, in the unit of the series, and not its load
  // (common/model/signal_name.h). Series of one name add up as those of a load do. "": it is its load.
  std::string signal = {};
  // The job is all that its machines use, which jobs on them use again: it is in no sum (IsWholeMachine).
  bool whole_machine = false;
};

// MappingRule::source of containers of Docker.
inline constexpr std::string_view kDockerSource = "Docker";
// Names of jobs in Kubernetes, which begin with the cluster where series say it. A rule with one of them gives
// workloads.
inline constexpr std::string_view kPodJob = "{cluster/}{namespace}/{owner.kind/}{owner}";
inline constexpr std::string_view kContainerJob = "{cluster/}{namespace}/{owner.kind/}{owner}/{container}";

// What is one job in Kubernetes: the pods of an owner, each with the sum of its containers, or one container of
// these pods. A task is a pod in both.
enum class KubernetesJobs : uint8_t { kPods, kContainers };
// cAdvisor and kube-state-metrics, Docker's cAdvisor, namedprocess, node and process exporters. The
// table is in docs/reference/ingest.md.
std::vector<MappingRule> BuiltinRules(KubernetesJobs jobs = KubernetesJobs::kPods);

// Where the pod that these labels name is, as the built-in rules name it in facts: "{cluster/}{namespace}".
std::string PodScope(std::span<const LabelView> labels);

// What a rule made of a series.
struct Mapping {
  static constexpr size_t kNoRule = SIZE_MAX;
  size_t rule = 0;  // index into the rules; kNoRule: an agent or a source said it
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  std::string job, task, part;
  std::string pod = {};  // "scope/Pod/name" about which facts count; "": as the labels say, if uses_owner
  WorkloadParts workload = {};  // of the job; not known for facts
  bool uses_owner = false;      // the job's name has an {owner} or {owner.kind} in it
  double scale = 1;
  uint16_t signal = 0;  // place in MappingRules::signals() plus 1; 0: none
  bool whole_machine = false;
  bool claimed = false;  // by an agent that measures its container: job and task are the agent's
};

// Rules ready for use. Immutable; costs a few microseconds per series, so ask once per series.
class MappingRules {
 public:
  // InvalidArgument naming the rule and what is wrong with it.
  static absl::StatusOr<MappingRules> Compile(std::vector<MappingRule> rules);

  // The first rule that fits. `owner` is called with the pod's scope (PodScope) and name, and returns an
  // empty name for unknown.
  std::optional<Mapping> Match(
      std::span<const LabelView> labels,
      absl::FunctionRef<TopOwner(std::string_view scope, std::string_view pod)> owner) const;
  // Why rule `index` does not fit these labels; "" if it does.
  std::string WhyNot(size_t index, std::span<const LabelView> labels) const;

  std::span<const MappingRule> rules() const { return rules_; }
  // The names of signals that the rules give, ascending.
  std::span<const std::string> signals() const { return signals_; }

 private:
  struct Compiled {
    NameTemplate job, task, part;
    uint16_t signal = 0;              // as in Mapping
    Source source = Source::kSeries;  // of its jobs' workloads
    // The job is a workload in Kubernetes, of whole pods or of one container.
    bool in_kubernetes = false, has_container = false;
  };
  std::vector<MappingRule> rules_;
  std::vector<Compiled> compiled_;
  std::vector<std::string> signals_;
};
// The names of signals that rules give, ascending, each once.
std::vector<std::string> SignalsOf(std::span<const MappingRule> rules);

}  // namespace taut::server
