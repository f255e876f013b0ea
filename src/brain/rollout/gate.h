// Between a recommendation and a limit: mode, minimum change, one change a period, maintenance windows,
// trials on a share of the tasks, and what an OOM may do at once. Arithmetic only; the same for daemon and
// replay.
//
// What waits for what:
//                       min_change   change_period   maintenance window   trial
//   a lower limit       yes          yes             yes                  in mode canary
//   a higher limit      for a day    a sixth of it   yes                  no: it can only help the tasks
//   a raise after OOM   no           no              no                   no
//   a trial's way back  no           no              no
//   a release           no           no              no
//   mode observe        yes          as above        no                   no
// After a new version of the program began (JobPolicy::version) nothing is lowered for watch_version, so that no
// limit is below what the version before it had; a higher limit waits for no period; and a trial into which the
// version came ends without promotion, since its tasks were of both.
// A limit whose chance of an overrun has come above the highest that is allowed is raised without min_change and
// change_period (Recommender::UpdateRisk).
// A limit in force that is below the lower bound of now is raised to it at once; one above the upper bound is
// lowered to it, and waits for nothing but a maintenance window.
// "A higher limit" is above the limit in force (the owner's, as long as Tautline has set none). Whatever is
// done starts the period again. "For a day": a raise under min_change waits for a day after the last change,
// and for ever where Tautline has set no limit.
//
// A trial is of named tasks, chosen when it starts from those alive; tasks that end are replaced by others.
// Where agents report limits, a trial's task-window counts only if the agent reported the limit on trial for
// the whole window; where only the actuator says what it did, once it has said that the limit is applied. A
// trial whose limit was applied to no task within a bound, or was refused, ends without promotion.
//
// A job of one task has no control group. In mode canary a lower limit is watched first: nothing is set
// for canary.hours and canary.min_task_windows while usage is compared with it. It is set, as in mode auto, if
// no task was killed and at most canary.max_extra_over of the windows were above it; else it counts as rolled
// back. A trial that ends badly keeps limits up to a min_change above the one tried from being tried for
// kRetryHours times canary.hours.
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
  // Task-windows whose usage came to 99 % of the limit of their side: what a limit cuts off is not above it.
  uint64_t over = 0;
  double usage_sum = 0;                 // of means, over task-windows
  double limit_sum = 0;                 // of limits, where there is one
  uint64_t periods = 0, throttled = 0;  // of CFS, where they are counted

  double OverShare() const;       // of the task-windows; 0 without any
  double ThrottledShare() const;  // of the periods; 0 without any
};

// A task on trial. Its name stays when its number changes, as it does when the daemon restarts.
struct TrialTask {
  static constexpr uint32_t kGone = UINT32_MAX;
  uint32_t number = kGone;  // in its job; kGone: there is no such task now
  std::string name;         // "" without task names (a replay)
};

// A new limit on some tasks.
struct Trial {
  double limit = 0;
  std::optional<double> old_limit;  // of the rest
  int64_t since_s = 0;
  TrialSide tasks, rest;
  bool watched = false;   // a job of one task: nothing is set, all counts are in `tasks`
  uint64_t decision = 0;  // that started it; 0: not known
  std::vector<TrialTask> members;
  // Task-windows of members that ran at another limit: not applied yet, or raised by the agent.
  uint64_t elsewhere = 0;
  // What the actuator said of the order.
  bool delivered = false;           // some task has it
  int64_t delivered_s = INT64_MIN;  // windows from here on are at the limit; INT64_MIN: none closed since
  bool refused = false;             // no task will have it
  bool failed = false;              // ... though an actuator was to apply it; else it was a dry run
  std::string refusal;              // why

  bool Has(uint32_t number) const;
  // Adds `wanted` of those alive (ascending) that are not on trial, evenly spread over these.
  void AddMembers(std::span<const uint32_t> alive, uint32_t wanted);
  // Adds members until `wanted` are alive. Those that ended are kept, in case they return, while they are few.
  void ReplaceMembers(std::span<const uint32_t> alive, uint32_t wanted);

  // More OOM kills in a task-window than the rest has.
  bool TooManyOoms() const;
  // At their limit, or throttled, in a larger share than the rest by more than canary.max_extra_over. False until
  // canary.min_task_windows.
  bool TooOftenOver(const CanarySettings& canary) const;
  bool TooOftenThrottled(const CanarySettings& canary) const;
};
inline constexpr double kRetryHours = 7;

// Is the task at this place among `num_tasks` on the trial's side? Evenly spread; at least one is and at
// least one is not; of a single task, none.
bool InTrial(uint32_t place, uint32_t num_tasks, double share);
uint32_t TrialTasks(uint32_t num_tasks, double share);

// One job and resource.
struct GateState {
  std::optional<double> in_force;     // what Tautline has set; absent: the owner's limit stands
  std::optional<double> shown;        // mode observe: what was said last
  int64_t last_change_s = INT64_MIN;  // of anything but kWouldSet
  int64_t last_shown_s = INT64_MIN;
  Boxed<Trial> trial;
  // Limits that failed in a trial are not tried again until usage has had time to change.
  double rolled_back_limit = 0;
  int64_t rolled_back_s = INT64_MIN;
  // Nothing lower can be set: an agent refused it for good. 0: not known.
  double floor = 0;

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);
};

// Whether tasks run at the limits that are decided, and who knows: kNo: no one, as in a dry run or
// a replay; kActuatorSays: by the outcomes of orders; kAgentsReport: by the limits in the kernel.
enum class LimitsApplied : uint8_t { kNo, kActuatorSays, kAgentsReport };

struct Proposal {
  Resource resource = Resource::kCpu;
  int64_t now_s = 0;
  std::optional<double> owner_limit;
  std::optional<double> recommended;  // within the policy's bounds already; absent: none yet
  bool oom = false;                   // a task was just killed: a raise may not wait
  bool grows = false;                 // a task will soon be at its limit: neither may this one
  uint32_t num_tasks = 0;             // of the window closed last
  // The numbers of those that a limit can be tried on, ascending. nullptr: no window has just been closed.
  const std::vector<uint32_t>* tasks = nullptr;
  LimitsApplied applied = LimitsApplied::kNo;
  // Says why, where there is a sentence to say it in, and what a limit risks.
  const Recommender* recommender = nullptr;
  // `recommended` is a step on the way down to this, or as low as the kernel's peak allows.
  std::optional<double> step_to = {};
  bool step_is_of_peak = false;
};

// What to do: a decision, or nothing and why not.
struct Verdict {
  std::optional<DecisionKind> kind;  // absent: nothing is done
  std::optional<double> before, after;
  std::string
      sentence;  // of the decision; without one, what the recommendation waits for ("" if for nothing)
};

// Takes the verdict into `state`. A recommendation that comes to the limit in force asks for nothing.
Verdict Decide(const JobPolicy& policy, const Proposal& proposal, GateState& state);

// A closed window, before Decide: counts both sides of a trial.
struct TrialWindow {
  Resource resource = Resource::kCpu;
  const Signal* signal = nullptr;
  std::span<const TaskReport> reports;  // ascending by task
  LimitsApplied applied = LimitsApplied::kNo;
  std::span<const TaskThrottling> throttling = {};  // the same, of tasks without a report
};
void CountTrialWindow(const TrialWindow& window, GateState& state);
// An OOM kill of a task, before Decide. `limit`: in force then, if known; a kill at another limit than the
// one on trial says nothing about that.
void CountTrialOom(uint32_t task, uint64_t kills, std::optional<double> limit, GateState& state);
// What the actuator said of order `decision`. Only those of a running trial count.
void NoteTrialOutcome(const OutcomeUpdate& outcome, GateState& state);
// Is what an agent reports this limit? Kernels round.
bool IsAtLimit(Resource r, double reported, double limit);

// A decision made before a stop and stored: brings `state` to where Decide left it then, apart from the
// counts of a trial.
void Redo(const Decision& decision, GateState& state);

}  // namespace taut::brain
