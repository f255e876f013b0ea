// A pass over a closed window is three calls, so that a caller can let others look in between two pieces:
//   for pieces of closed.jobs:  Observe(closed, first, last, output)
//   EndWindow(closed, output)                  once; the day rolls over with its last window
//   for pieces of closed.jobs:  Decide(closed, first, last, output)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "brain/fleet/fleet_state.h"
#include "brain/fleet/live_risk.h"
#include "brain/fleet/live_trials.h"
#include "brain/fleet/replica_pass.h"
#include "brain/fleet/signal_builder.h"
#include "common/model/account.h"
#include "common/model/closed_window.h"

namespace taut::brain {

class VerticalPass {
 public:
  VerticalPass(FleetState& state, ReplicaPass& replicas, LiveTrials& trials, LiveRisk& risk)
      : s_(state), replicas_(replicas), trials_(trials), risk_(risk) {}

  // Jobs are stepped in turns of kTurnJobs; on how many threads `run` calls them changes no result.
  static constexpr size_t kTurnJobs = 64, kTurnsAtATime = 32;
  // Before Observe: what the owner asked for, as each job's allocation says. Where limits are set by another than
  // agents, series may read back what was ordered: then the owner's amount is what it was.
  void TakeOwnersAmounts(ClosedWindow& closed, size_t first, size_t last);
  void Observe(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when = When::kNow,
               RunTurns run = RunInOrder);
  // Takes in the windows of these jobs again, without a word to the point of the fleet.
  void ObserveAgain(const ClosedWindow& closed, std::span<const uint32_t> indices, RunTurns run) {
    ObserveJobs(closed, indices, nullptr, run);
  }
  // After Observe and before Decide, so that allocations are those of the window: appends an entry for each of
  // these jobs.
  void Account(const ClosedWindow& closed, size_t first, size_t last, std::vector<AccountEntry>& out) const;
  void EndWindow(const ClosedWindow& closed, PassOutput& out, When when = When::kNow);
  void Decide(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when = When::kNow);
  // Decides one limit of one job. `at_least`: nothing lower is decided, within bounds.
  void DecideLane(LiveJob& job, Resource r, int64_t now_s, Trigger trigger, PassOutput& out,
                  std::optional<double> at_least = {});

 private:
  // What one turn needs and leaves behind.
  struct Turn {
    JobDay job_day;
    DaySignals signals;
    FleetPoint point;  // counts only, so that the order of turns does not matter
  };
  void ObserveTurn(const ClosedWindow& closed, std::span<const uint32_t> indices, bool counts, Turn& turn);
  void ObserveJobs(const ClosedWindow& closed, std::span<const uint32_t> indices, FleetPoint* point,
                   RunTurns run);
  // A window of one job.
  struct JobInWindow {
    const JobWindowData& data;
    std::span<const TaskReport> reports;
    std::span<const TaskThrottling> throttling;
    const SaidReplicas& said;
    FleetPoint* point;  // nullptr: it does not count
    bool is_stored;     // it comes without requests, and mostly without reports
  };
  // Touches nothing but the job.
  void ObserveJob(const ClosedWindow& closed, size_t index, FleetPoint* point, Turn& turn);
  // Returns how many tasks were measured.
  uint32_t ObserveLane(const JobInWindow& in, Resource r, LiveJob& job, Turn& turn) const;
  static void ObserveIdle(const JobDay& day, const SaidReplicas& said, LiveJob& job);
  // What the window means for the counts of days: REQUIRES: before the lane has taken it in.
  void MarkDay(const Signal& signal, const LiveJob& job, LiveLane& lane) const;
  void ObserveStarts(const JobDay& day, LiveJob& job) const;
  static void TakeReports(LiveJob& job, std::span<const TaskReport> reports,
                          std::span<const TaskThrottling> throttling);
  void FindCandidates(const ClosedWindow& closed, const JobWindowData& data, Resource r);
  void EndDay(PassOutput& out, When when);
  void Migrate(LiveJob& job, int64_t now_s, PassOutput& out, When when);

  FleetState& s_;
  ReplicaPass& replicas_;
  LiveTrials& trials_;
  LiveRisk& risk_;
  // Scratch.
  std::vector<uint32_t> candidates_;
  std::vector<uint32_t> indices_;
  std::vector<Turn> turns_;
};

}  // namespace taut::brain
