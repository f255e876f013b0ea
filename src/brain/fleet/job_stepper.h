// One resource of one job, stepped through time. The daemon, a replay, retraining and a what-if step lanes by
// these calls alone, so that what a replay shows is what the daemon does.
//
//   StartDay, then for each window: ObserveKill for each kill before its end, Observe, Decide; then EndDay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "brain/fleet/managed_lane.h"
#include "common/model/limit_risk.h"

namespace taut::brain {

// Facts of the window that was closed last.
struct LaneFacts {
  Resource resource = Resource::kCpu;
  int64_t now_s = 0;
  std::optional<double> owner_limit;
  uint32_t num_tasks = 0;
  // As of Proposal: the tasks that a limit can be tried on; nullptr: no window has just been closed.
  const std::vector<uint32_t>* tasks = nullptr;
  bool oom = false;    // a task was just killed
  bool grows = false;  // a task will soon be at its limit
  LimitsApplied applied = LimitsApplied::kNo;
  bool knows_past = true;  // false: the recommender knows only what a kill asks for
  // Nothing lower is decided, within the policy's bounds. Absent in a replay.
  std::optional<double> at_least = {};
  // The most that the kernel saw a task have lately: no cut goes below it. Absent in a replay.
  std::optional<double> kernel_peak = {};
};

// Where limits are applied, and tasks are killed at them, a limit is lowered by at most this share at a time, and
// not within kLookSeconds after a change. A replay and a dry run lower it at once.
inline constexpr double kMostCut = 0.5;
inline constexpr int64_t kLookSeconds = 2 * kWindowSeconds;

// A kill as a trial counts it.
struct TrialKill {
  uint64_t kills = 0;           // 0: the trial does not count it
  std::optional<double> limit;  // in force then; absent: not known
};

// Two words: made for a step, and not kept. One thread.
class JobStepper {
 public:
  // `lane` is awake.
  JobStepper(Resource resource, ManagedLane& lane) : resource_(resource), lane_(lane) {}

  // Between two days, after the fleet models have taken in the day before.
  void StartDay(int32_t day);
  // After the day's last window: what the job's day teaches the fleet is appended to `rows`.
  void EndDay(int32_t day, FleetRows& rows) { lane_.lane.EndDay(day, rows); }
  // Takes in a closed window: both sides of a trial are counted, and the recommender learns, by the limit that was
  // in force. Where limits are applied, usage above that limit could not show.
  void Observe(const TrialWindow& window);
  // Takes in a kill at once.
  void ObserveKill(const OomEvent& kill, const TrialKill& trial = {});
  // Takes in an answer of an external recommender, for window `next` and later ones.
  void ObserveAnswer(const ExternalLimit& answer, WindowId next) { lane_.lane.TakeExternal(answer, next); }

  // Decides by the recommendation as it stands.
  Verdict Decide(const JobPolicy& policy, const LaneFacts& facts);
  // The decisions at the end of a window in which no limit was applied, as in a replay: one at once where a task
  // was `killed`, and that of every window. After Observe and ObserveKill. A limit can be tried on all tasks of
  // `signal`; `tasks` is scratch. Returns how often a trial moved the limit of its tasks, there or back.
  uint32_t DecideWindow(const JobPolicy& policy, const Signal& signal, bool killed,
                        std::vector<uint32_t>& tasks);
  // Takes in a decision that was stored.
  void Redo(const Decision& decision) { taut::brain::Redo(decision, lane_.gate); }
  // Appends how the last recommendation came about.
  static void Explain(const ManagedLane& lane, Reason& reason) { lane.lane.recommender().Explain(reason); }

 private:
  Resource resource_;
  ManagedLane& lane_;
};

}  // namespace taut::brain
