// Which series is which job's usage: rules as data, and how one series is held against them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/name_template.h"
#include "ingest/remote_write.h"

namespace taut {

enum class SeriesKind : uint8_t {
  kCpuSecondsTotal,   // counter of CPU seconds used
  kCpuCores,          // gauge of cores in use
  kMemoryBytes,       // gauge of bytes in use
  kCpuLimitCores,     // the owner's limit; 0 or less is "no limit"
  kMemoryLimitBytes,  // the same
  kOomTotal,          // counter of OOM kills
  kOwner,             // no usage: says who owns a pod, ReplicaSet or Job
  kTaskWindow,        // whole windows, from an agent; no rule can say it
  kRestartsTotal,     // counter of a container's restarts
  kOomReason,         // 1: the container's last end was an OOM kill
  kOomEnded,          // 1: the container has ended, and by an OOM kill
  kInitContainer,     // no usage: the task's part of this name runs before the others, and is left out
};
std::string_view Name(SeriesKind kind);
// InvalidArgument naming the choices: what a rule can say.
absl::StatusOr<SeriesKind> ParseSeriesKind(std::string_view name);

// A condition on one label; a label that is not there counts as empty, as in Prometheus.
struct LabelMatch {
  std::string label;
  std::string pattern;  // as in base/pattern.h
  bool negate = false;
};

// The first rule that fits a series decides. Templates hold text and {label}; {a|b} takes the first that is
// not empty; a rule of which a placeholder of `job` or `task` stays empty does not fit. {owner} is the name
// of the top owner of the pod named by the labels namespace and pod.
struct MappingRule {
  std::string name;    // for people: "cadvisor-cpu"
  std::string metric;  // a pattern as in LabelMatch
  std::vector<LabelMatch> match;
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  std::string job;   // "{namespace}/{owner}"; kOwner: the child, "{namespace}/Pod/{pod}"
  std::string task;  // "{pod}"; kOwner: its owner, "{owner_kind}/{owner_name}"
  // What adds up to the task: series of one task with different parts are summed; with the same part they are
  // the same thing measured twice (a restarted container, two Prometheus replicas), and the larger counts.
  std::string part;
  double scale = 1;  // the sample times this is in the kind's unit; below 0: the part is subtracted
};

// cAdvisor and kube-state-metrics, Docker's cAdvisor, namedprocess, node and process exporters. The
// table is in docs/formats.md.
std::vector<MappingRule> BuiltinRules();

// What a rule made of a series.
struct Mapping {
  size_t rule = 0;  // index into the rules
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  std::string job, task, part;
  bool uses_owner = false;  // the job's name has an {owner} in it
  double scale = 1;
};

// Rules ready for use. Immutable; costs a few microseconds per series, so ask once per series.
class MappingRules {
 public:
  // InvalidArgument naming the rule and what is wrong with it.
  static absl::StatusOr<MappingRules> Compile(std::vector<MappingRule> rules);

  // The first rule that fits. `owner` is called with the labels namespace and pod, and returns "" for
  // unknown.
  std::optional<Mapping> Match(
      std::span<const LabelView> labels,
      absl::FunctionRef<std::string(std::string_view, std::string_view)> owner) const;
  // Why rule `index` does not fit these labels; "" if it does.
  std::string WhyNot(size_t index, std::span<const LabelView> labels) const;

  std::span<const MappingRule> rules() const { return rules_; }

 private:
  struct Compiled {
    NameTemplate job, task, part;
  };
  std::vector<MappingRule> rules_;
  std::vector<Compiled> compiled_;
};

}  // namespace taut
