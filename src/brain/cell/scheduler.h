// Places the tasks of a cell: a queue by tier and user, feasibility, a score, preemption by tier.
//
// Feasibility (Verma et al., EuroSys 2015, sections 2.5, 3.2, 5.5): the limits of the production tasks of a
// machine fit into its capacity, and the reservations of all of its tasks do. So production does not depend on
// reclaimed resources, and other tasks may.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_index.h"
#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"
#include "brain/cell/score_tree.h"
#include "common/base/random.h"

namespace taut::brain {

// A score by name, for options and tables.
struct CellScoreInfo {
  std::string_view name, help;
  CellScore score;
};
const std::vector<CellScoreInfo>& CellScores();
// InvalidArgument names the known ones.
absl::StatusOr<CellScore> CellScoreByName(std::string_view name);

struct SchedulerOptions {
  CellScoring scoring;
  CellCounting counting = CellCounting::kReservation;
  bool preempt = true;
  // Identical tasks are evaluated together, and machines that had no room are not looked at again until they
  // change; without, every task looks at all machines. The placement is the same.
  bool equivalence_classes = true;
  // Classes whose scores are kept until their machines change; 0: none. The placement is the same. Each takes
  // 12 to 16 bytes a machine.
  uint32_t cached_classes = 64;
  // Relaxed randomisation: machines in random order until this many are feasible, then the best of them.
  // 0: the best of all.
  uint32_t enough = 0;
  // Machines whose victims are compared, of those where the least important victim's tier is the lowest; 0:
  // all.
  uint32_t preemption_candidates = 200;
  uint64_t seed = 1;  // of relaxed randomisation
  // Where a machine's tasks do not need the sum of their reservations; null: they do. Each task then looks at all
  // machines, or at `enough`. Outlives the scheduler. REQUIRES: !preempt and kReservation; no Resize.
  const MachineLoads* loads = nullptr;
};

struct PassResult {
  uint64_t placed = 0;     // tasks, also those that were preempted later in the pass
  uint64_t preempted = 0;  // tasks back in the queue
  uint64_t pending = 0;    // tasks of the queue after the pass
};

// A task was placed, or (kNowhere) lost its machine and is in the queue again.
struct CellMove {
  uint32_t task = 0, machine = kNowhere;
};

class CellScheduler {
 public:
  // `machines`: see CellState. The index outlives the scheduler.
  CellScheduler(const CellIndex& index, std::vector<uint32_t> machines, const SchedulerOptions& options);
  // Of all machines of the model.
  CellScheduler(const CellIndex& index, const SchedulerOptions& options);
  CellScheduler(const CellScheduler&) = delete;

  // Puts the tasks of a job that are nowhere at the end of the queue. O(1).
  void Submit(uint32_t job);
  void SubmitAll();
  // Removes all tasks of a job from their machines, and the job from the queue. O(its tasks + queue).
  void Stop(uint32_t job);
  // Goes through the queue once: tiers from high to low; within a tier one job of each user in turn, users in
  // the order in which they came. Tasks that do not fit stay pending; a job behind them has its turn. A task
  // preempts only tasks of lower tiers, and never within production (a task of monitoring does not preempt
  // one of production); a task preempted in this pass does not preempt in it. Preempting one task of a gang
  // preempts the gang.
  // With `give_up_above`, stops as soon as more tasks than that could not be placed.
  PassResult Pass(std::optional<uint64_t> give_up_above = {});

  // What the last pass did, in order; what a gang that did not fit did and undid is left out.
  const std::vector<CellMove>& moves() const { return moves_; }

  // A task that runs ends for good. O(1).
  void Finish(uint32_t task);
  bool Finished(uint32_t task) const { return !finished_.empty() && finished_[task] != 0; }
  // Takes a task that runs from its machine and puts it in the queue; with all tasks of its gang. Each is
  // appended to `evicted`.
  void Evict(uint32_t task, std::vector<uint32_t>& evicted);
  // A task's reservation comes closer to what it needs: see CellState.
  void Settle(uint32_t task, uint8_t steps) { state_.Settle(task, steps); }
  // New tasks are placed on the machine or not; those that are there stay.
  void SetInService(uint32_t machine, bool in_service) { state_.SetInService(machine, in_service); }
  // Tasks for which the capacity no longer suffices are evicted: of all tiers from the lowest up.
  void SetCapacity(uint32_t machine, const CellAmounts& capacity, std::vector<uint32_t>& evicted);
  // Other amounts for all tasks of a job. A task stays on its machine if it fits there, if need be without tasks
  // of lower tiers, which are evicted; else it is evicted itself, with its gang. REQUIRES: `index` is the
  // scheduler's; amounts as of CheckCell. O(tasks of the job), and victims.
  void Resize(CellIndex& index, uint32_t job, const CellAmounts& limit, const CellAmounts& reservation,
              std::vector<uint32_t>& evicted);

  const CellState& state() const { return state_; }
  const SchedulerOptions& options() const { return options_; }
  // Tasks of the job that were submitted and are nowhere.
  uint32_t pending(uint32_t job) const { return pending_[job]; }
  uint64_t pending() const { return all_pending_; }

  // For Explain (pending_reason.h), which changes nothing but scratch.
  MachineScores& scores() { return scores_; }

 private:
  struct CachedClass {
    uint32_t number = UINT32_MAX;  // of the class
    uint64_t seen = 0;             // changes of the state that the tree knows
    uint64_t used = 0;             // when last
    ScoreTree tree;
  };

  void Enqueue(uint32_t job);
  std::vector<uint32_t> TurnsOfTier(CellTier tier);
  void PlaceJob(uint32_t job, PassResult& result);
  void PlaceByLoad(uint32_t job, PassResult& result);
  // The job's turn is over: counts it, or undoes it if it is a gang of which a task is pending.
  void EndTurn(uint32_t job, const PassResult& before, PassResult& result);
  // The best machine for one more task of the class, kNowhere if none is feasible.
  uint32_t BestOf(const CellClass& c, CachedClass* cached);
  uint32_t BestOfAll(const CellClass& c);
  // `score` of each machine that is looked at; `enough` > 0.
  template <typename Score>
  uint32_t BestOfEnough(const Score& score);
  uint32_t BestByLoad(uint32_t task);
  CachedClass* TreeOf(uint32_t job);
  void Refresh(const CellClass& c, CachedClass& cached);
  void Took(uint32_t task, uint32_t machine);
  bool Preempt(uint32_t task, PassResult& result);
  void EvictFor(uint32_t task);
  void BackToQueue(uint32_t task);
  // Whether the task fits on its machine again, after others have gone from there if need be.
  bool KeepsMachine(uint32_t task, uint32_t machine, uint8_t settled, std::vector<uint32_t>& evicted);
  // `known`: when no machine had room, or enough to preempt. True if that still holds for all machines.
  template <typename Feasible>
  bool StillNone(const CellClass& c, uint64_t known, const Feasible& feasible);
  bool StillFull(uint32_t job, const CellClass& c);
  bool StillNoVictims(uint32_t job, const CellClass& c);
  uint64_t& NoRoomSince(uint32_t job);
  uint64_t& NoVictimsSince(uint32_t job);

  const CellIndex& index_;
  const SchedulerOptions options_;
  CellState state_;
  MachineScores scores_;
  std::vector<uint32_t> pending_;  // by job
  std::vector<uint8_t> queued_;    // by job
  std::vector<uint32_t> queue_[kCellTiers];
  uint64_t all_pending_ = 0;
  std::vector<uint8_t> submitted_;      // by job
  std::vector<uint32_t> preempted_in_;  // by task: the number of the pass; empty until the first
  std::vector<uint8_t> finished_;       // by task; empty until the first
  std::vector<CellMove> moves_;
  // By class, and by class and tier: the number of changes of the state when it was found, 1 more; 0: it was not.
  std::vector<uint64_t> no_room_, no_victims_;
  uint32_t pass_ = 0;
  std::vector<CachedClass> cache_;
  absl::flat_hash_map<uint32_t, uint32_t> cached_;  // class -> place in cache_
  uint64_t uses_ = 0;
  Rng rng_;
  std::vector<uint32_t> random_order_;  // of machines, for relaxed randomisation
  // What the job that is being placed did, to undo a gang: tasks that it placed, and its victims as they were.
  struct Evicted {
    uint32_t task, machine;
    uint8_t settled;
  };
  std::vector<uint32_t> placed_now_;
  std::vector<Evicted> evicted_now_;
};

}  // namespace taut::brain
