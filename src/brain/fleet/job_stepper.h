// Steps one resource of one job through time. The daemon, replays, retraining and what-ifs all use JobStepper,
// so that a replay makes the decisions of the daemon.
//
// Order of calls: StartDay, then for each window ObserveKill (for each kill before the window's end), Observe,
// Decide; finally EndDay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "brain/fleet/managed_lane.h"
#include "common/model/limit_risk.h"

namespace taut::brain {

// Facts that a decision depends on, as of the last closed window.
struct LaneFacts {
  Resource resource = Resource::kCpu;
  // Time of the decision, seconds since the epoch.
  int64_t now_s = 0;
  // The owner's limit per task; absent: no limit, or unknown.
  std::optional<double> owner_limit;
  uint32_t num_tasks = 0;
  // Tasks on which a limit can be tried (see Proposal); nullptr: the decision does not follow a closed window.
  const std::vector<uint32_t>* tasks = nullptr;
  bool oom = false;    // true if a task was just OOM-killed
  bool grows = false;  // true if a task will soon reach its limit
  LimitsApplied applied = LimitsApplied::kNo;
  bool knows_past = true;  // false: the recommender lacks its history, so only a kill may change the limit
  // Lowest limit to decide, within the policy's bounds. Absent in a replay.
  std::optional<double> at_least = {};
  // Highest recent usage of a task according to the kernel; no cut goes below this usage. Absent in a replay.
  std::optional<double> kernel_peak = {};
};

// If limits are applied, a cut lowers a limit by at most this share, and no cut follows a change of the limit
// within kLookSeconds. Replays and dry runs lower a limit at once.
inline constexpr double kMostCut = 0.5;
inline constexpr int64_t kLookSeconds = 2 * kWindowSeconds;

// Kills of one event, for the counts of a trial.
struct TrialKill {
  uint64_t kills = 0;           // number of kills; 0: the trial ignores the event
  std::optional<double> limit;  // limit in force at the time of the kill; absent: unknown
};

// A view of a lane, created for one step and not stored. Not thread-safe.
class JobStepper {
 public:
  // `lane` must be awake (unpacked) and must outlive the stepper.
  JobStepper(Resource resource, ManagedLane& lane) : resource_(resource), lane_(lane) {}

  // Starts a day. Call between two days, after the fleet models have learnt from the day before.
  void StartDay(int32_t day);
  // Ends a day after the day's last window. Appends the rows from which the fleet models learn; `job` is the
  // JobKey of the rows.
  void EndDay(int32_t day, uint64_t job, FleetRows& rows);
  // Ends a day from which the fleet models have learnt.
  void EndDay(int32_t day);
  // Observes a closed window: counts the window for both groups of a trial, and passes the signal and the limit in
  // force to the recommender. If limits are applied, usage above the limit in force cannot be observed.
  void Observe(const TrialWindow& window);
  // Observes a kill immediately, before the end of the kill's window.
  void ObserveKill(const OomEvent& kill, const TrialKill& trial = {});
  // Uses the answer of an external recommender for window `next` and later ones.
  void ObserveAnswer(const ExternalLimit& answer, WindowId next) { lane_.lane.TakeExternal(answer, next); }

  // Returns the decision for the current recommendation, or the reason why there is no decision.
  Verdict Decide(const JobPolicy& policy, const LaneFacts& facts);
  // Makes the decisions at the end of a window if no limits are applied, as in a replay. If a task was `killed`, a
  // decision after the kill precedes the regular decision. Call after Observe and ObserveKill. A limit can be
  // tried on all tasks of `signal`; `tasks` is reused memory. Returns the number of changes of the limit of tasks
  // on trial, in either direction.
  uint32_t DecideWindow(const JobPolicy& policy, const Signal& signal, bool killed,
                        std::vector<uint32_t>& tasks);
  // Applies a stored decision to the gate's state.
  void Redo(const Decision& decision) { taut::brain::Redo(decision, lane_.gate); }
  // Appends an explanation of the last recommendation.
  static void Explain(const ManagedLane& lane, Reason& reason) { lane.lane.recommender().Explain(reason); }

 private:
  Resource resource_;
  ManagedLane& lane_;
};

}  // namespace taut::brain
