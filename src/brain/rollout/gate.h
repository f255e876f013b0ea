// Decides whether a recommended limit becomes a limit: mode, minimum change, one change per period, maintenance
// windows, trials on a share of the tasks, and immediate raises after an OOM kill. No I/O; the daemon and
// replays use this code.
//
// Conditions for which a change waits:
//                       min_change   change_period   maintenance window   trial
//   a lower limit       yes          yes             yes                  in mode canary
//   a higher limit      for a day    a sixth         yes                  no: a raise only helps the tasks
//   a raise after OOM   no           no              no                   no
//   a trial's rollback  no           no              no
//   a release           no           no              no
//   mode observe        yes          yes or a sixth  no                   no
//
// No limit is lowered for watch_version after a new version of the program started (JobPolicy::version), so that
// limits stay at least as high as for the previous version. During this time a raise does not wait for a period. A
// trial that a new version interrupts ends without promotion, because its tasks ran both versions.
// A limit whose forecast chance of an overrun exceeds the highest allowed chance is raised without waiting for
// min_change and change_period (Recommender::UpdateRisk).
// A limit in force below the current lower bound is raised to the bound at once. A limit above the upper bound
// is lowered to the bound, and waits only for a maintenance window.
// A "higher limit" is above the limit in force, which is the owner's until Tautline sets a limit. Every change
// restarts the period. "For a day": a raise by less than min_change waits for a day after the last change, and
// forever if Tautline has set no limit. "A sixth": a raise waits for a sixth of change_period.
//
// A trial runs on named tasks, chosen from the running tasks at the trial's start. Tasks that end are replaced.
// If agents report limits, a task-window counts only if the agent reported the trial's limit for the whole
// window. If only the actuator's outcomes are known, a task-window counts once the order is reported as applied.
// A trial whose limit was refused, or was not applied to any task in time, ends without promotion.
//
// A job of one task has no control group. In mode canary a lower limit is first watched: for canary.hours and
// canary.min_task_windows no limit is set, and usage is compared with the lower limit. The limit is then set, as
// in mode auto, if no task was killed and usage reached the limit in at most canary.max_extra_over of the
// windows. Otherwise the trial counts as rolled back. After a failed trial, limits up to min_change above the
// failed limit are not tried for kRetryHours times canary.hours.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/recommender.h"
#include "brain/rollout/job_policy.h"
#include "common/base/boxed.h"
#include "common/base/bytes.h"
#include "common/model/closed_window.h"
#include "common/model/rollout.h"
#include "common/model/signal.h"

namespace taut::brain {

// Counts of the tasks on one side of a trial.
struct TrialSide {
  uint64_t task_windows = 0;
  uint64_t ooms = 0;
  // Task-windows whose usage reached 99 % of the limit on their side. A limit that caps usage is never exceeded.
  uint64_t over = 0;
  double usage_sum = 0;                 // sum of mean usages over task-windows
  double limit_sum = 0;                 // sum of limits; task-windows without a limit add 0
  uint64_t periods = 0, throttled = 0;  // CFS periods, and throttled periods, of tasks that report periods

  double OverShare() const;       // over / task_windows; 0 without task-windows
  double ThrottledShare() const;  // throttled / periods; 0 without periods
};

// A task on trial, identified by its name, because its number changes when the daemon restarts.
struct TrialTask {
  static constexpr uint32_t kGone = UINT32_MAX;
  uint32_t number = kGone;  // number of the task in its job; kGone if the task does not run now
  std::string name;         // name of the task; "" in replays, which have no task names
};

// A trial of a new limit on some tasks. Times are seconds since the epoch.
struct Trial {
  double limit = 0;
  std::optional<double> old_limit;  // limit of the tasks outside the trial; absent if they have no limit
  int64_t since_s = 0;
  TrialSide tasks, rest;
  bool watched = false;   // true for a job of one task: no limit is set, and all counts are in `tasks`
  uint64_t decision = 0;  // id of the decision that started the trial; 0: unknown
  std::vector<TrialTask> members;
  // Task-windows of members at another limit, because the trial's limit was not applied yet or the agent raised
  // the limit.
  uint64_t elsewhere = 0;
  // Outcome of the order, reported by the actuator.
  bool delivered = false;  // true if at least one task has the trial's limit
  // Time from which windows count; INT64_MIN: no window has closed since the limit was delivered.
  int64_t delivered_s = INT64_MIN;
  bool refused = false;  // true if no task will have the trial's limit
  bool failed = false;   // true: an actuator failed; false: a dry run refused the order
  std::string refusal;   // explanation of `refused` for people

  // Returns true if the task with this number is on trial.
  bool Has(uint32_t number) const;
  // Adds `wanted` members, evenly spread over the running tasks (`alive`, ascending) that are not on trial.
  void AddMembers(std::span<const uint32_t> alive, uint32_t wanted);
  // Adds members until `wanted` members run. Keeps a few ended members, because they may return.
  void ReplaceMembers(std::span<const uint32_t> alive, uint32_t wanted);

  // Returns true if the trial has more OOM kills per task-window than the tasks outside the trial.
  bool TooManyOoms() const;
  // Return true if the share of windows at the limit, or of throttled periods, exceeds the share of the tasks
  // outside the trial by more than canary.max_extra_over. Return false until canary.min_task_windows are
  // counted.
  bool TooOftenOver(const CanarySettings& canary) const;
  bool TooOftenThrottled(const CanarySettings& canary) const;
};
inline constexpr double kRetryHours = 7;  // wait after a failed trial, as a multiple of canary.hours

// InTrial returns true if the task at this place, in [0, num_tasks), is on the trial's side, which is evenly
// spread. TrialTasks returns the number of tasks on the trial's side: 0 for a job of one task, else at least one
// task and not all tasks.
bool InTrial(uint32_t place, uint32_t num_tasks, double share);
uint32_t TrialTasks(uint32_t num_tasks, double share);

// State of the gate for one job and resource. Times are seconds since the epoch; INT64_MIN: never.
struct GateState {
  std::optional<double> in_force;     // limit set by Tautline; absent if the owner's limit is in force
  std::optional<double> shown;        // last limit shown in mode observe
  int64_t last_change_s = INT64_MIN;  // time of the last decision other than kWouldSet
  int64_t last_shown_s = INT64_MIN;
  Boxed<Trial> trial;
  // Last limit that failed a trial, and the time of the failure. The limit is not tried again until usage has
  // had time to change.
  double rolled_back_limit = 0;
  int64_t rolled_back_s = INT64_MIN;
  // Lowest limit that can be set, because an agent permanently refused a lower limit. 0: no limit was refused.
  double floor = 0;

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and changes nothing, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);
};

// Evidence that decided limits are applied. kNo: no evidence, as in a dry run or a replay. kActuatorSays:
// outcomes of orders. kAgentsReport: limits in the kernel.
enum class LimitsApplied : uint8_t { kNo, kActuatorSays, kAgentsReport };

// The input of Decide.
struct Proposal {
  Resource resource = Resource::kCpu;
  int64_t now_s = 0;
  std::optional<double> owner_limit;
  std::optional<double> recommended;  // limit within the policy's bounds; absent: no recommendation yet
  bool oom = false;                   // true if a task was just OOM-killed; a raise then does not wait
  bool grows = false;                 // true if a task will soon reach its limit; a raise then does not wait
  uint32_t num_tasks = 0;             // number of tasks in the last closed window
  // Numbers of the tasks on which a limit can be tried, ascending; nullptr if no window was just closed.
  const std::vector<uint32_t>* tasks = nullptr;
  LimitsApplied applied = LimitsApplied::kNo;
  // Explains the recommendation and forecasts the risk of a limit; may be null.
  const Recommender* recommender = nullptr;
  // Final limit; absent if `recommended` is the final limit. Otherwise `recommended` is only a step towards it,
  // or is bounded by the kernel's peak (step_is_of_peak).
  std::optional<double> step_to = {};
  bool step_is_of_peak = false;
};

// Result of Decide: a decision, or the reason why there is no decision.
struct Verdict {
  std::optional<DecisionKind> kind;  // kind of the decision; absent: there is none
  std::optional<double> before, after;
  // Explains the decision. Without a decision, explains why the recommendation waits; "" if it does not wait.
  std::string sentence;
};

// Returns the decision and updates `state`. A recommendation equal to the limit in force causes no decision.
Verdict Decide(const JobPolicy& policy, const Proposal& proposal, GateState& state);

// A closed window of a job, for the counts of a trial.
struct TrialWindow {
  Resource resource = Resource::kCpu;
  const Signal* signal = nullptr;
  std::span<const TaskReport> reports;  // reports of tasks with an agent, ascending by task
  LimitsApplied applied = LimitsApplied::kNo;
  std::span<const TaskThrottling> throttling = {};  // throttling of tasks without a report, ascending by task
};
// Adds a window to the counts of both sides of a trial. Call before Decide.
void CountTrialWindow(const TrialWindow& window, GateState& state);
// Adds OOM kills of a task to the counts of a trial. Call before Decide. `limit` is the limit in force at the
// kill; absent if unknown. Ignores a kill of a member at a limit above the trial's limit, because the trial's
// limit did not cause the kill.
void CountTrialOom(uint32_t task, uint64_t kills, std::optional<double> limit, GateState& state);
// Records the outcome of an order. Ignores an order that did not start the running trial.
void NoteTrialOutcome(const OutcomeUpdate& outcome, GateState& state);
// Returns true if a reported limit equals `limit` up to the rounding by the kernel or the agent.
bool IsAtLimit(Resource r, double reported, double limit);

// Applies a stored decision. Afterwards `state` equals the state after Decide, except for the counts of a trial.
void Redo(const Decision& decision, GateState& state);

}  // namespace taut::brain
