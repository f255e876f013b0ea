// Plain values that the control plane decides and stores about jobs: decisions, their outcomes, OOM kills,
// settings, and one line of fleet-wide figures per window.
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

// The degree to which people allow Tautline to manage a job.
enum class Mode : uint8_t {
  kOff,      // measured; nothing is recommended
  kObserve,  // recommended and shown; nothing is applied
  kCanary,   // a new limit is first tried on a share of the tasks
  kAuto      // limits are applied to all tasks
};
inline constexpr int kNumModes = 4;
std::string_view Name(Mode mode);
// Returns the mode with this name; nullopt if no mode has this name.
std::optional<Mode> ParseMode(std::string_view name);

enum class DecisionKind : uint8_t {
  kWouldSet,  // mode observe: the limit that auto would have set
  kSet,       // sets the limit of all tasks
  kTry,       // canary: a limit for the trial's tasks
  kPromote,   // the trial succeeded: all tasks get its limit
  kRollBack,  // the trial failed: its tasks get the limit from before the trial
  kOomRaise,  // a task was OOM-killed: its limit is raised at once
  kRelease    // mode changed to off or observe: the owner's limit is restored
};
inline constexpr int kNumDecisionKinds = 7;
// Name and properties of a kind.
struct DecisionKindRow {
  std::string_view name;              // name such as "would_set"
  std::string_view action;            // event name in logs: "limit_set"; "" if nothing is done
  std::string_view event;             // reason of a Kubernetes event: "LimitSet"
  bool sets_all_tasks = false;        // true if `after` becomes the limit of all tasks
  bool shows_recommendation = false;  // true if `after` is the recommended amount
  bool is_warning = false;            // true if a task was killed or a trial failed
};
const DecisionKindRow& RowOf(DecisionKind kind);
inline std::string_view Name(DecisionKind kind) { return RowOf(kind).name; }
// Returns "would_set, set, ... or release".
std::string DecisionKindNames();

enum class Outcome : uint8_t { kPending, kApplied, kDryRun, kFailed, kSuperseded };
inline constexpr int kNumOutcomes = 5;
std::string_view Name(Outcome outcome);

struct Decision {
  uint64_t id = 0;  // ascending from 1 without gaps
  JobId job;
  Target target = Resource::kCpu;
  DecisionKind kind = DecisionKind::kWouldSet;
  Mode mode = Mode::kObserve;
  int64_t time_s = 0;  // end of the window that the decision is based on, or time of the OOM kill
  // Amount before and after, in the unit of the target: a limit per task, or a number of tasks. Absent `before`:
  // no limit, or the owner's limit is unknown. Absent `after`: the owner's limit is restored.
  std::optional<double> before, after;
  std::string sentence;  // human-readable reason
  std::string reason;    // SaveReason of the recommendation; "" without a recommendation
  Outcome outcome = Outcome::kPending;
  std::string outcome_text;  // message of the actuator; may be ""
  int64_t outcome_time_s = 0;
  // Names of the trial's tasks, for a start or roll-back, if known. Not stored.
  std::vector<std::string> tasks;
};

// The outcome of decision `id`, reported after its commit.
struct OutcomeUpdate {
  uint64_t id = 0;
  Outcome outcome = Outcome::kApplied;
  std::string text;
  int64_t time_s = 0;
  // Set if an agent rejected the limit permanently: the lowest limit that can be set for `target` of `job`.
  std::optional<double> minimum = {};
  std::string job = {};
  Target target = Resource::kCpu;
};

struct JobRecord {
  using Labels = std::vector<std::pair<std::string, std::string>>;

  JobId id;
  WorkloadParts parts;  // positions of the workload's parts within the name
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
  std::optional<double> limit;  // limit when the task was killed, bytes
  // Unix time at which the container ended, as its source reports it. The time is read from the machine's clock,
  // and may be later than time_s. Absent: the source has no such time, or an older version stored the record.
  std::optional<int64_t> shown_s = {};
  // Unix time before which the kill cannot have happened; present if the source reports no time of the kill.
  std::optional<int64_t> since_s = {};
  uint64_t id = 0;  // ascending from 1 in the order of arrival; 0: the store assigns the id
};

// A change of one setting of one job ("mode", "memory.upper", ...) by a person.
struct SettingChange {
  uint64_t id = 0;  // ascending from 1
  int64_t time_s = 0;
  std::string who;
  std::string job;    // a job's name
  std::string key;    // a key of the table of job settings
  std::string value;  // "": the value of the rules applies again
  std::string before;
};

// One resource of the whole fleet in one window, in cores or bytes: sums over the tasks of measured jobs.
struct FleetAmounts {
  double usage = 0;
  // Sum over the jobs whose owner's limit is known; `in_force` and `would_be` cover the same jobs, for comparison.
  double owner_limit = 0;
  // Sum of the limits in force: as agents report them, else as Tautline ordered them, else the owner's limits.
  double in_force = 0;
  double would_be = 0;  // recommended limits, in all modes; the owner's limit without a recommendation
  uint32_t job_windows_over = 0;  // jobs with a task above would_be
  uint32_t jobs = 0;              // jobs with measured usage; 0: `usage` is absent
  uint32_t jobs_limited = 0;      // measured jobs with a known owner's limit; 0: the limits are absent
};
struct FleetPoint {
  WindowId window;
  uint32_t jobs = 0, tasks = 0;
  std::array<uint32_t, kNumModes> jobs_by_mode{};
  PerResource<FleetAmounts> amounts;  // amounts, indexed by Resource
  uint32_t oom_kills = 0;
  uint32_t changes = 0;  // changed limits and numbers of tasks
};

}  // namespace taut
