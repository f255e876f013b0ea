// What the control plane decides and remembers about jobs, as plain values: decisions, their outcomes, OOM
// kills, settings, and one line of figures of the whole fleet a window.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/model/resource.h"
#include "common/model/target.h"
#include "common/model/usage.h"
#include "common/model/workload.h"

namespace taut {

// How far people let Tautline go with a job.
enum class Mode : uint8_t {
  kOff,      // measured, nothing recommended
  kObserve,  // recommended and shown, nothing applied
  kCanary,   // a new limit is tried on a share of the tasks first
  kAuto      // applied
};
inline constexpr int kNumModes = 4;
std::string_view Name(Mode mode);
std::optional<Mode> ParseMode(std::string_view name);

// What was done about a recommendation.
enum class DecisionKind : uint8_t {
  kWouldSet,  // mode observe: what auto would have set
  kSet,       // the limit of all tasks
  kTry,       // canary: the limit of the trial's tasks
  kPromote,   // the trial did well: the limit of all tasks
  kRollBack,  // the trial did badly: its tasks go back
  kOomRaise,  // a task was killed: raised at once
  kRelease    // mode went to off or observe: the owner's limit again
};
inline constexpr int kNumDecisionKinds = 7;
// What a kind is called, and what others do with it: one row of a table.
struct DecisionKindRow {
  std::string_view name;              // "would_set"
  std::string_view action;            // in logs: "limit_set"; "" if nothing is done
  std::string_view event;             // the reason of a Kubernetes event: "LimitSet"
  bool sets_all_tasks = false;        // `after` is the limit of all tasks from then on
  bool shows_recommendation = false;  // `after` is what is recommended
  bool is_warning = false;            // a task was killed, or a trial did badly
};
const DecisionKindRow& RowOf(DecisionKind kind);
inline std::string_view Name(DecisionKind kind) { return RowOf(kind).name; }
// "would_set, set, ... or release"
std::string DecisionKindNames();

enum class Outcome : uint8_t { kPending, kApplied, kDryRun, kFailed, kSuperseded };
inline constexpr int kNumOutcomes = 5;
std::string_view Name(Outcome outcome);

struct Decision {
  uint64_t id = 0;  // ascending from 1, without gaps
  JobId job;
  Target target = Resource::kCpu;
  DecisionKind kind = DecisionKind::kWouldSet;
  Mode mode = Mode::kObserve;
  int64_t time_s = 0;  // the end of the window it was made from, or the time of the OOM
  // Until now and from now on, in the unit of the target: a limit of each task, or the number of tasks.
  // `before` absent: no limit, or the owner's is not known; `after` absent: the owner's again.
  std::optional<double> before, after;
  std::string sentence;  // why, for people
  std::string reason;    // SaveReason of the recommendation; "" if there is none
  Outcome outcome = Outcome::kPending;
  std::string outcome_text;  // what the actuator said; "" if nothing
  int64_t outcome_time_s = 0;
  // Of a trial's start and roll-back: the names of its tasks, where they are known. Not stored.
  std::vector<std::string> tasks;
};

// Outcome of decision `id`, later than its commit.
struct OutcomeUpdate {
  uint64_t id = 0;
  Outcome outcome = Outcome::kApplied;
  std::string text;
  int64_t time_s = 0;
  // An agent refused the limit for good: no lower one than this can be set for `target` of `job`.
  std::optional<double> minimum = {};
  std::string job = {};
  Target target = Resource::kCpu;
};

struct JobRecord {
  using Labels = std::vector<std::pair<std::string, std::string>>;

  JobId id;
  WorkloadParts parts;  // within the name
  std::string name;
  Labels labels;  // ascending by key
  int64_t first_seen_s = 0;

  JobRecord() = default;
  JobRecord(JobId its_id, std::string its_name, Labels its_labels, int64_t seen_s,
            WorkloadParts its_parts = {})
      : id(its_id),
        parts(its_parts),
        name(std::move(its_name)),
        labels(std::move(its_labels)),
        first_seen_s(seen_s) {}

  Workload workload() const { return parts.In(name); }
};

struct OomRecord {
  JobId job;
  uint32_t task = 0;
  int64_t time_s = 0;
  uint64_t kills = 1;
  std::optional<double> limit;  // in force then, bytes
  // The end of the container as its source shows it, by the machine's clock, which may be ahead of time_s.
  // Absent: the source does not date it, or an older version stored it.
  std::optional<int64_t> shown_s = {};
  // No kill was earlier, where its source does not date it.
  std::optional<int64_t> since_s = {};
  uint64_t id = 0;  // ascending from 1, as kills are taken in; 0: the store numbers it
};

// One setting of one job changed by a person ("mode", "memory.upper", ...).
struct SettingChange {
  uint64_t id = 0;  // ascending from 1
  int64_t time_s = 0;
  std::string who;
  std::string job;    // a job's name
  std::string key;    // a row of the table of job settings
  std::string value;  // "": back to what the rules say
  std::string before;
};

// One resource of the whole fleet in one window, in cores or bytes: sums over tasks of the jobs measured.
struct FleetAmounts {
  double usage = 0;
  // Over the jobs whose owner's limit is known, so that they compare.
  double owner_limit = 0;
  // What agents report as applied; where none does, what Tautline has ordered, or else the owner's.
  double in_force = 0;
  double would_be = 0;            // the recommendation whatever the mode, the owner's where there is none
  uint32_t job_windows_over = 0;  // jobs of which a task was above would_be
  uint32_t jobs = 0;              // whose usage was measured; 0: `usage` is absent
  uint32_t jobs_limited = 0;      // those of them whose owner's limit is known; 0: the limits are absent
};
struct FleetPoint {
  WindowId window;
  uint32_t jobs = 0, tasks = 0;
  std::array<uint32_t, kNumModes> jobs_by_mode{};
  PerResource<FleetAmounts> amounts;  // by Resource
  uint32_t oom_kills = 0;
  uint32_t changes = 0;  // limits and numbers of tasks set
};

}  // namespace taut
