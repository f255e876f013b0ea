// Simulates a cell over time: jobs start, run and end; machines fail, are drained and return; limits change;
// the scheduler places queued tasks.
//
// Discrete events: time jumps from one event to the next. Events of equal time run in this order: ends of tasks
// and services, steps of reservations, the workload's events in their order, the autoscaler, drains. One
// scheduling pass runs last, so that it includes all of these changes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "brain/cell/cell_events.h"
#include "brain/cell/cell_totals.h"
#include "brain/cell/event_heap.h"
#include "brain/cell/scheduler.h"

namespace taut::brain {

struct CellSimulationOptions {
  SchedulerOptions scheduler;    // `counting` is ignored, because a placed task is counted at its limit
  int64_t end_ms = 0;            // end of the simulation, > 0; events at this time still run
  int64_t warmup_ms = 0;         // length of the initial time that is not measured; in [0, end_ms)
  int64_t pass_every_ms = 1000;  // shortest time between two passes; > 0
  // If true, the counted amount of a task falls from its limit to its reservation (Borg, section 5.5: after 300
  // s; the speed is not published). The amount falls by a quarter of the difference after settle_after_ms, and
  // by one more quarter after each settle_step_ms. Both times are > 0.
  bool reclaim = true;
  int64_t settle_after_ms = 300'000, settle_step_ms = 60'000;
  // Spread of run times, in [0, 1). A task of a kWork job runs for the job's time multiplied by a factor in [1 -
  // spread, 1 + spread). The factor is constant for a task, and 1 for the tasks of a gang.
  double run_spread = 0.2;
  // Share of a job's tasks, in [0, 1]. A drain evicts a task only while less than this share of the job's tasks
  // (at least one task) is pending. The drain retries the other tasks every drain_every_ms; the last tasks are
  // evicted when the machine goes down.
  double drain_share = 0.1;
  int64_t drain_every_ms = 60'000;
  uint64_t seed = 1;  // seed of the tasks' run factors
};
// Returns InvalidArgument, which names the option, if an option is out of range.
absl::Status CheckCellSimulation(const CellSimulationOptions& options);

// Kinds of events of tasks, jobs and machines that a simulation reports.
enum class CellStepKind : uint8_t {
  kSubmitted,
  kStarted,
  kFinished,
  kEvicted,
  kRemoved,
  kLimit,
  kOut,
  kBack,
  kCapacity
};
std::string_view Name(CellStepKind kind);
struct CellStep {
  int64_t time_ms = 0;
  CellStepKind kind = CellStepKind::kSubmitted;
  EvictionCause cause = EvictionCause::kPreempted;  // cause of a kEvicted step
  uint32_t id = 0;  // job for kSubmitted and kLimit; machine for kOut, kBack and kCapacity; otherwise task
  uint32_t machine = kNowhere;  // machine on which a kStarted task runs
};

// Sets the limits of jobs while the cell runs, window by window. Called on the simulation's thread.
class CellAutoscaler {
 public:
  virtual ~CellAutoscaler() = default;
  struct Window {
    int64_t end_ms = 0;    // end of the window, a multiple of kCellWindowMs
    uint32_t running = 0;  // number of the job's tasks that run at the end of the window; > 0
    CellAmounts limit = {};
  };
  struct Decision {
    // Number of tasks that the kernel killed in the window, because they exceeded their limit. These tasks lose
    // their machine.
    uint32_t kills = 0;
    std::optional<CellAmounts> limit;  // new limit; absent if the limit does not change
  };
  // Called at the end of each window for each job with running tasks, in order of submission. Returns the kills
  // of the window and the new limit.
  virtual Decision Close(uint32_t job, const Window& window) = 0;
};
inline constexpr int64_t kCellWindowMs = 300'000;

// Callbacks that the simulation's thread calls.
struct CellSimulationHooks {
  CellAutoscaler* autoscaler = nullptr;          // autoscaler; null: only the workload's events change limits
  std::function<void(const CellStep&)> on_step;  // called for each step, in order; may be empty
  // Called every 16,384 steps with the share of simulated time. Returns true to end the simulation.
  std::function<bool(double share)> should_stop;
};

// One run of a simulation. Not thread-safe.
class CellSimulation {
 public:
  // Refers to the model and the workload, which must outlive the simulation. REQUIRES: CheckCell,
  // CheckCellWorkload and CheckCellSimulation accepted the arguments.
  CellSimulation(const CellModel& model, const CellWorkload& workload, const CellSimulationOptions& options,
                 CellSimulationHooks hooks = {});

  // Runs to the end and returns the totals. Call once, instead of Step and Finish.
  CellTotals Run();

  // Runs the next event. Returns false if there are no more events; then call Finish once.
  bool Step();
  CellTotals Finish();

  int64_t now_ms() const { return now_; }
  const CellScheduler& scheduler() const { return scheduler_; }
  const CellTotals& totals() const { return totals_; }

 private:
  enum class Source : uint8_t { kEnd, kSettle, kInput, kLimits, kDrain, kPass, kNone };
  enum class Phase : uint8_t { kUnknown, kThere, kOver };
  struct Job {
    Phase phase = Phase::kUnknown;
    uint32_t started = 0;  // tasks that have run at least once
    uint32_t left = 0;     // tasks that are not finished
    int64_t submit_ms = 0;
  };
  struct Due {
    int64_t time_ms;
    uint32_t id;
  };

  Source Next(int64_t& time) const;
  void AdvanceTo(int64_t time);
  void TakeEnd();
  void TakeSettle();
  void TakeInput(const CellEvent& event);
  void TakeLimits();
  void Kill(uint32_t job, uint32_t kills);
  void TakeDrains();
  void TakePass();
  void WantPass();

  void Submit(uint32_t job);
  void EndJob(uint32_t job, CellStepKind how);
  void ChangeLimit(uint32_t job, const CellAmounts& limit);
  void TakeOut(uint32_t machine, CellEventKind kind);
  void TakeBack(uint32_t machine);
  void ChangeCapacity(uint32_t machine, const CellAmounts& capacity);
  void EvictAll(uint32_t machine, EvictionCause cause);
  void Started(uint32_t task, uint32_t machine);
  void Evicted(uint32_t task, EvictionCause cause);
  void TellEvicted(EvictionCause cause);
  // Adds the time since the task's last start to the totals. `lost` is true if the task has to start again.
  void CountRun(uint32_t task, uint32_t job, bool lost);

  CellTierTotals& tier(uint32_t job) { return totals_.tiers[static_cast<size_t>(model_.jobs[job].tier)]; }
  int64_t RunOf(uint32_t task, uint32_t job) const;
  bool measured() const { return now_ >= options_.warmup_ms; }
  CellHour Present() const;
  void Tell(CellStepKind kind, uint32_t id, uint32_t machine = kNowhere, EvictionCause cause = {}) {
    ++totals_.events;
    if (hooks_.on_step) hooks_.on_step({now_, kind, cause, id, machine});
  }

  const CellModel& model_;
  const CellWorkload& workload_;
  const CellSimulationOptions options_;
  const CellSimulationHooks hooks_;
  CellIndex index_;
  CellScheduler scheduler_;
  CellTotals totals_;

  int64_t now_ = 0;
  size_t input_ = 0;  // position of the workload's next event
  EventHeap ends_;    // ends of tasks (kTaskEnd, id of a task) and of services (kServiceEnd, id of a job)
  // Due steps of reservations, by number of the step. Each queue is in order of time, because all tasks have
  // equal durations of steps.
  std::array<std::deque<Due>, kSettleSteps> settles_;
  int64_t pass_at_ = kNoEnd, last_pass_ = -1;
  int64_t drain_at_ = kNoEnd;
  int64_t limits_at_ = kNoEnd;
  std::vector<uint32_t> there_;  // jobs that the autoscaler observes, in order of submission

  std::vector<Job> jobs_;
  std::vector<int64_t> since_;  // last start or eviction of each task; kNoEnd: the task has never run
  enum class Service : uint8_t { kIn, kDraining, kDown };
  std::vector<Service> machines_;
  std::vector<uint32_t> draining_;  // machines that are being drained
  CellAmounts capacity_ = {};       // sum of the capacities of the machines in service
  uint32_t machines_out_ = 0;
  uint64_t running_ = 0;
  std::vector<uint32_t> evicted_;
};

}  // namespace taut::brain
