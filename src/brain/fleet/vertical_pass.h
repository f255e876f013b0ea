// A pass over a closed window consists of three calls, so that a caller can release its lock between batches:
// 1. For batches of closed.jobs: Observe(closed, first, last, output).
// 2. Once: EndWindow(closed, output). The last window of a day also ends the day.
// 3. For batches of closed.jobs: Decide(closed, first, last, output).
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

// Steps all jobs of a closed window. Not thread-safe; Observe may step jobs in parallel through `run`.
class VerticalPass {
 public:
  VerticalPass(FleetState& state, ReplicaPass& replicas, LiveTrials& trials, LiveRisk& risk)
      : s_(state), replicas_(replicas), trials_(trials), risk_(risk) {}

  // Jobs are stepped in turns of kTurnJobs. The result does not depend on the number of threads on which `run`
  // calls the turns.
  static constexpr size_t kTurnJobs = 64, kTurnsAtATime = 32;
  // Determines the owner's amounts by each job's allocation setting. Call before Observe. If an actuator other
  // than agents sets limits, a series may report Tautline's order; the owner's last known amount then replaces
  // the reported amount.
  void TakeOwnersAmounts(ClosedWindow& closed, size_t first, size_t last);
  // Observes closed.jobs[first, last). The batch with first = 0 also starts the window, and ends an earlier day
  // that has not ended.
  void Observe(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when = When::kNow,
               RunTurns run = RunInOrder);
  // Replays the jobs closed.jobs[indices] of a stored window, without counting them in the fleet's totals.
  void ObserveAgain(const ClosedWindow& closed, std::span<const uint32_t> indices, RunTurns run) {
    ObserveJobs(closed, indices, nullptr, run);
  }
  // Appends an account entry for each job in closed.jobs[first, last). Call after Observe and before Decide, so
  // that the entries have the allocations in force during the window.
  void Account(const ClosedWindow& closed, size_t first, size_t last, std::vector<AccountEntry>& out) const;
  // Ends the window. At the last window of a day, the fleet models learn, and jobs move to other modes and begin
  // the next day.
  void EndWindow(const ClosedWindow& closed, PassOutput& out, When when = When::kNow);
  // Decides limits and numbers of tasks of closed.jobs[first, last).
  void Decide(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when = When::kNow);
  // Decides one limit of one job. `at_least`: lowest limit to decide, within the policy's bounds.
  void DecideLane(LiveJob& job, Resource r, int64_t now_s, Trigger trigger, PassOutput& out,
                  std::optional<double> at_least = {});

 private:
  // Reused memory and results of one turn.
  struct Turn {
    JobDay job_day;
    DaySignals signals;
    FleetPoint point;  // counts of the turn, which do not depend on the order of turns
  };
  void ObserveTurn(const ClosedWindow& closed, std::span<const uint32_t> indices, bool counts, Turn& turn);
  void ObserveJobs(const ClosedWindow& closed, std::span<const uint32_t> indices, FleetPoint* point,
                   RunTurns run);
  // The data of one job in a window.
  struct JobInWindow {
    const JobWindowData& data;
    std::span<const TaskReport> reports;
    std::span<const TaskThrottling> throttling;
    const SaidReplicas& said;
    FleetPoint* point;  // sums of the fleet; nullptr: the job is not counted
    bool is_stored;     // true: replayed from the store, without requests, and mostly without reports
  };
  // Observes a job. Only the job changes, so several jobs may be observed in parallel.
  void ObserveJob(const ClosedWindow& closed, size_t index, FleetPoint* point, Turn& turn);
  // Returns the number of measured tasks.
  uint32_t ObserveLane(const JobInWindow& in, Resource r, LiveJob& job, Turn& turn) const;
  static void ObserveIdle(const JobDay& day, const SaidReplicas& said, LiveJob& job);
  // Sets the marks of the day record. REQUIRES: the lane has not observed the window yet.
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
  // Scratch memory, reused between calls.
  std::vector<uint32_t> candidates_;
  std::vector<uint32_t> indices_;
  std::vector<Turn> turns_;
};

}  // namespace taut::brain
