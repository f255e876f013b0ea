// Steps one resource of one job through time. The daemon, replays, retraining and what-ifs use only JobStepper, so
// a replay decides as the daemon does.
//
// Order: StartDay, then for each window ObserveKill for each kill before its end, Observe, Decide; then
// EndDay.
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
  // The owner's limit per task; absent: none or unknown.
  std::optional<double> owner_limit;
  uint32_t num_tasks = 0;
  // Tasks that a limit can be tried on (see Proposal); nullptr: the decision does not follow a closed window.
  const std::vector<uint32_t>* tasks = nullptr;
  bool oom = false;    // a task was just OOM-killed
  bool grows = false;  // a task will soon reach its limit
  LimitsApplied applied = LimitsApplied::kNo;
  bool knows_past = true;  // false: the recommender waits for history, so only a kill may change the limit
  // Lowest limit to decide, within the policy's bounds. Absent in a replay.
  std::optional<double> at_least = {};
  // Highest recent usage of a task according to the kernel; no cut goes below this usage. Absent in a replay.
  std::optional<double> kernel_peak = {};
};

// Where limits are applied and kill, each cut lowers a limit by at most this share, and no cut follows a change
// within kLookSeconds. Replays and dry runs lower a limit at once.
inline constexpr double kMostCut = 0.5;
inline constexpr int64_t kLookSeconds = 2 * kWindowSeconds;

// A kill as counted by a trial.
struct TrialKill {
  uint64_t kills = 0;           // 0: the trial ignores it
  std::optional<double> limit;  // limit in force at the kill; absent: unknown
};

// A view of a lane: created for a step and not stored. Not thread-safe.
class JobStepper {
 public:
  // `lane` must be awake (unpacked) and must outlive the stepper.
  JobStepper(Resource resource, ManagedLane& lane) : resource_(resource), lane_(lane) {}

  // Starts a day. Call between two days, after the fleet models have learnt from the day before.
  void StartDay(int32_t day);
  // Ends a day after its last window; appends to `rows` what the fleet models learn from it.
  void EndDay(int32_t day, FleetRows& rows) { lane_.lane.EndDay(day, rows); }
  // Observes a closed window: counts it for both sides of a trial, and passes the signal and the limit in force to
  // the recommender. Where limits are applied, usage above the limit in force is not visible.
  void Observe(const TrialWindow& window);
  // Observes a kill at once.
  void ObserveKill(const OomEvent& kill, const TrialKill& trial = {});
  // Uses the answer of an external recommender for window `next` and later ones.
  void ObserveAnswer(const ExternalLimit& answer, WindowId next) { lane_.lane.TakeExternal(answer, next); }

  // Returns the decision for the current recommendation, or why there is none.
  Verdict Decide(const JobPolicy& policy, const LaneFacts& facts);
  // Makes the decisions at the end of a window where no limits are applied, as in a replay: a decision after a
  // kill if a task was `killed`, then the regular decision. Call after Observe and ObserveKill. A limit can be
  // tried on all tasks of `signal`; `tasks` is scratch. Returns how often a trial moved the limit of its tasks, in
  // either direction.
  uint32_t DecideWindow(const JobPolicy& policy, const Signal& signal, bool killed,
                        std::vector<uint32_t>& tasks);
  // Applies a stored decision to the gate.
  void Redo(const Decision& decision) { taut::brain::Redo(decision, lane_.gate); }
  // Appends how the last recommendation was computed.
  static void Explain(const ManagedLane& lane, Reason& reason) { lane.lane.recommender().Explain(reason); }

 private:
  Resource resource_;
  ManagedLane& lane_;
};

}  // namespace taut::brain
