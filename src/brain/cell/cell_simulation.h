// A cell over time: jobs come, run and end; machines fail, are drained and return; limits change; and the
// scheduler places what is in the queue.
//
// Simulated time goes from one event to the next. What is due at one time is done in this order: ends, steps of
// reservations, the workload's events as they stand, the autoscaler, drains, then one scheduling pass.
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
  SchedulerOptions scheduler;    // a task counts with its limit at first, whatever its `counting`
  int64_t end_ms = 0;            // > 0; what is due at the end is still done
  int64_t warmup_ms = 0;         // not measured; [0, end_ms)
  int64_t pass_every_ms = 1000;  // at most one pass in this time; > 0
  // Whether a task's reservation settles from its limit to what it needs (Borg, section 5.5: after 300 s; how fast
  // is not published): a quarter of the way after this time, and one more quarter after each step. > 0.
  bool reclaim = true;
  int64_t settle_after_ms = 300'000, settle_step_ms = 60'000;
  // A task of kWork runs for its job's time times a factor between 1 - spread and 1 + spread, always the same for
  // the task; of a gang 1. [0, 1).
  double run_spread = 0.2;
  // A drain takes a job's task only while at most this share of the job's tasks (but one at least) waits for a
  // machine, and tries the others again after this time. What is there when the machine goes down goes with it.
  double drain_share = 0.1;
  int64_t drain_every_ms = 60'000;
  uint64_t seed = 1;  // of the tasks' factors
};
// InvalidArgument names the option.
absl::Status CheckCellSimulation(const CellSimulationOptions& options);

// Something that happened to a task, a job or a machine.
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
  EvictionCause cause = EvictionCause::kPreempted;  // of kEvicted
  uint32_t id = 0;              // a task; kSubmitted, kLimit: a job; from kOut on: a machine
  uint32_t machine = kNowhere;  // of kStarted
};

// Sets the limits of jobs while the cell runs, window by window.
class CellAutoscaler {
 public:
  virtual ~CellAutoscaler() = default;
  struct Window {
    int64_t end_ms = 0;    // a multiple of kCellWindowMs
    uint32_t running = 0;  // tasks of the job that run at its end; > 0
    CellAmounts limit = {};
  };
  struct Decision {
    uint32_t kills = 0;  // of the tasks, for using more than their limit: they lose their machine
    std::optional<CellAmounts> limit;  // from now on; absent: it stays
  };
  virtual Decision Close(uint32_t job, const Window& window) = 0;
};
inline constexpr int64_t kCellWindowMs = 300'000;

struct CellSimulationHooks {
  CellAutoscaler* autoscaler = nullptr;  // null: limits change by the workload's events only
  std::function<void(const CellStep&)> on_step;
  // Asked and told now and then; true ends the simulation.
  std::function<bool(double share)> should_stop;
};

class CellSimulation {
 public:
  // Keeps references to the model and the workload. REQUIRES: CheckCell and CheckCellWorkload accepted them, and
  // CheckCellSimulation the options.
  CellSimulation(const CellModel& model, const CellWorkload& workload, const CellSimulationOptions& options,
                 CellSimulationHooks hooks = {});

  // To the end.
  CellTotals Run();

  // One thing that is due; false at the end. Then Finish.
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
  // The time that a task ran from its last start on is over.
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
  size_t input_ = 0;                                   // the next of the workload's events
  EventHeap ends_;                                     // kind 0: a task's, 1: a service's
  std::array<std::deque<Due>, kSettleSteps> settles_;  // by step
  int64_t pass_at_ = kNoEnd, last_pass_ = -1;
  int64_t drain_at_ = kNoEnd;
  int64_t limits_at_ = kNoEnd;
  std::vector<uint32_t> there_;  // jobs that the autoscaler looks at, in the order in which they came

  std::vector<Job> jobs_;
  std::vector<int64_t> since_;  // by task: its last start or eviction; kNoEnd: it never ran
  enum class Service : uint8_t { kIn, kDraining, kDown };
  std::vector<Service> machines_;
  std::vector<uint32_t> draining_;  // machines
  CellAmounts capacity_ = {};       // in service
  uint32_t machines_out_ = 0;
  uint64_t running_ = 0;
  std::vector<uint32_t> evicted_;
};

}  // namespace taut::brain
