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
  SchedulerOptions scheduler;    // `counting` is ignored: a task counts with its limit when placed
  int64_t end_ms = 0;            // > 0; events at the end still run
  int64_t warmup_ms = 0;         // initial time that is not measured; in [0, end_ms)
  int64_t pass_every_ms = 1000;  // shortest time between two passes; > 0
  // If true, a task's reservation settles from its limit to its reservation (Borg, section 5.5: after 300 s;
  // the speed is not published). A quarter of the way is done after settle_after_ms, and one more quarter
  // after each settle_step_ms. Both > 0.
  bool reclaim = true;
  int64_t settle_after_ms = 300'000, settle_step_ms = 60'000;
  // Spread of run times, in [0, 1). A kWork task runs for its job's time times a factor in [1 - spread, 1 +
  // spread), which is constant for the task. The factor of a gang's tasks is 1.
  double run_spread = 0.2;
  // Share in [0, 1]. A drain evicts a task only while less than this share of the job's tasks (at least one task)
  // is pending. The drain retries the remaining tasks every drain_every_ms; tasks that remain when the machine
  // goes down are evicted.
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
  EvictionCause cause = EvictionCause::kPreempted;  // for kEvicted
  uint32_t id = 0;              // job for kSubmitted and kLimit; machine from kOut on; else task
  uint32_t machine = kNowhere;  // machine of the task, for kStarted
};

// Sets the limits of jobs while the cell runs, window by window. Called by the simulation's thread.
class CellAutoscaler {
 public:
  virtual ~CellAutoscaler() = default;
  struct Window {
    int64_t end_ms = 0;    // a multiple of kCellWindowMs
    uint32_t running = 0;  // tasks of the job that run at the end of the window; > 0
    CellAmounts limit = {};
  };
  struct Decision {
    // Number of tasks that the kernel killed in the window for exceeding their limit; these tasks lose their
    // machine.
    uint32_t kills = 0;
    std::optional<CellAmounts> limit;  // new limit; absent: unchanged
  };
  // Called at the end of each window for each job with running tasks, in order of submission.
  virtual Decision Close(uint32_t job, const Window& window) = 0;
};
inline constexpr int64_t kCellWindowMs = 300'000;

// Callbacks of a simulation, called by the simulation's thread.
struct CellSimulationHooks {
  CellAutoscaler* autoscaler = nullptr;          // null: only the workload's events change limits
  std::function<void(const CellStep&)> on_step;  // called for each event, in order; may be empty
  // Called every 16,384 steps with the share of time that has passed; returning true ends the simulation.
  std::function<bool(double share)> should_stop;
};

// One run of a simulation. Not thread-safe.
class CellSimulation {
 public:
  // Keeps references to the model and the workload, which must outlive the simulation. REQUIRES: CheckCell and
  // CheckCellWorkload accepted them, and CheckCellSimulation the options.
  CellSimulation(const CellModel& model, const CellWorkload& workload, const CellSimulationOptions& options,
                 CellSimulationHooks hooks = {});

  // Runs to the end and returns the totals. Call once, instead of Step and Finish.
  CellTotals Run();

  // Runs the next event; returns false at the end. Then call Finish once.
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
  // Adds the time since the task's last start to the totals. `lost`: the task has to start over.
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
  size_t input_ = 0;  // next event of the workload
  EventHeap ends_;    // kTaskEnd: id of a task, kServiceEnd: id of a job
  // Queues of due steps, by number of the step. Each queue is in order of time, since every step has an equal
  // duration.
  std::array<std::deque<Due>, kSettleSteps> settles_;
  int64_t pass_at_ = kNoEnd, last_pass_ = -1;
  int64_t drain_at_ = kNoEnd;
  int64_t limits_at_ = kNoEnd;
  std::vector<uint32_t> there_;  // jobs that are passed to the autoscaler, in order of submission

  std::vector<Job> jobs_;
  std::vector<int64_t> since_;  // by task: time of the last start or eviction; kNoEnd: the task never ran
  enum class Service : uint8_t { kIn, kDraining, kDown };
  std::vector<Service> machines_;
  std::vector<uint32_t> draining_;  // machines
  CellAmounts capacity_ = {};       // sum over the machines in service
  uint32_t machines_out_ = 0;
  uint64_t running_ = 0;
  std::vector<uint32_t> evicted_;
};

}  // namespace taut::brain
