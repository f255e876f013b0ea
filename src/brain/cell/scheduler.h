// Places the tasks of a cell: a queue by tier and user, feasibility, a score, and preemption by tier.
//
// Feasibility (Verma et al., EuroSys 2015, sections 2.5, 3.2, 5.5): on each machine, the limits of production
// tasks must fit into the capacity. The reservations of all tasks must fit, too. Production therefore does not
// depend on reclaimed resources, but other tasks may.
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

// A score with its name, for options and tables.
struct CellScoreInfo {
  std::string_view name, help;
  CellScore score;
};
// Returns all scores.
const std::vector<CellScoreInfo>& CellScores();
// Returns the score with this name; InvalidArgument lists the known names.
absl::StatusOr<CellScore> CellScoreByName(std::string_view name);

struct SchedulerOptions {
  CellScoring scoring;
  CellCounting counting = CellCounting::kReservation;
  bool preempt = true;
  // True if the scheduler evaluates identical tasks together, and skips machines without room until they change.
  // If false, the scheduler examines all machines for each task. The placement does not depend on this option.
  bool equivalence_classes = true;
  // Number of classes whose scores are cached until their machines change; 0 disables the cache. The placement
  // does not depend on this option. A cached class requires 12 to 16 bytes per machine.
  uint32_t cached_classes = 64;
  // Relaxed randomisation: the scheduler examines machines in random order until `enough` machines are feasible,
  // and chooses the best of these machines. 0: the scheduler examines all machines.
  uint32_t enough = 0;
  // Number of machines whose victims are compared, among the machines whose most important victim has the lowest
  // tier. 0: all of these machines are compared.
  uint32_t preemption_candidates = 200;
  uint64_t seed = 1;  // seed of relaxed randomisation
  // Predicts the joint usage of a machine's tasks; null: the sum of the reservations is used. With a prediction,
  // all machines (or `enough`) are examined for each task. Must outlive the scheduler. REQUIRES: !preempt,
  // kReservation, and Resize is not called.
  const MachineLoads* loads = nullptr;
};

struct PassResult {
  uint64_t placed = 0;     // number of placed tasks, including tasks that the pass preempted later
  uint64_t preempted = 0;  // number of tasks that were preempted and queued again
  uint64_t pending = 0;    // number of tasks in the queue after the pass
};

// A placed task and its machine. kNowhere: the task lost its machine and was queued again.
struct CellMove {
  uint32_t task = 0, machine = kNowhere;
};

// The queue and the placement of a cell's tasks. Not thread-safe.
class CellScheduler {
 public:
  // Creates a scheduler of `machines`, which the constructor of CellState describes. The index must outlive the
  // scheduler.
  CellScheduler(const CellIndex& index, std::vector<uint32_t> machines, const SchedulerOptions& options);
  // Creates a scheduler of all machines of the model.
  CellScheduler(const CellIndex& index, const SchedulerOptions& options);
  CellScheduler(const CellScheduler&) = delete;

  // Appends the job with all its tasks to the queue. Has no effect if the job was already submitted. O(1).
  void Submit(uint32_t job);
  // Submits all jobs of the model, in the model's order.
  void SubmitAll();
  // Removes all tasks of a job from their machines, and the job from the queue. O(tasks of the job + queue).
  void Stop(uint32_t job);
  // Processes the queue once: tiers from high to low, and within a tier one job of each user in turn. Users are
  // in the order of their first queued job. Tasks that do not fit stay pending and do not block later jobs. A
  // task preempts only tasks of lower tiers, and never within production: monitoring does not preempt
  // production. A task that this pass preempted does not preempt in this pass. Preempting one task of a gang
  // preempts the whole gang. With `give_up_above`, stops as soon as more than `give_up_above` tasks could not be
  // placed.
  PassResult Pass(std::optional<uint64_t> give_up_above = {});

  // Returns the moves of the last pass, in order, without moves that were undone because a gang did not fit.
  const std::vector<CellMove>& moves() const { return moves_; }

  // Ends a running task permanently. O(1).
  void Finish(uint32_t task);
  bool Finished(uint32_t task) const { return !finished_.empty() && finished_[task] != 0; }
  // Removes a running task, together with all tasks of its gang, from its machine, and queues the removed tasks
  // again. Appends the removed tasks to `evicted`.
  void Evict(uint32_t task, std::vector<uint32_t>& evicted);
  // Lowers a task's counted amounts towards its reservation, see CellState::Settle.
  void Settle(uint32_t task, uint8_t steps) { state_.Settle(task, steps); }
  // Allows or forbids new tasks on the machine; running tasks stay.
  void SetInService(uint32_t machine, bool in_service) { state_.SetInService(machine, in_service); }
  // Sets the capacity and evicts tasks that no longer fit, lowest tiers first.
  void SetCapacity(uint32_t machine, const CellAmounts& capacity, std::vector<uint32_t>& evicted);
  // Sets the amounts of all tasks of a job. A task stays on its machine if the new amounts fit, if necessary
  // after evicting tasks of lower tiers; otherwise the task is evicted with its gang. REQUIRES: `index` is the
  // scheduler's index, and CheckAmounts accepts the amounts. O(tasks of the job + victims).
  void Resize(CellIndex& index, uint32_t job, const CellAmounts& limit, const CellAmounts& reservation,
              std::vector<uint32_t>& evicted);

  const CellState& state() const { return state_; }
  const SchedulerOptions& options() const { return options_; }
  // Returns the number of the job's submitted tasks that are neither placed nor finished.
  uint32_t pending(uint32_t job) const { return pending_[job]; }
  uint64_t pending() const { return all_pending_; }

  // Returns the scores for ExplainPending (pending_reason.h), which changes only their scratch data.
  MachineScores& scores() { return scores_; }

 private:
  struct CachedClass {
    uint32_t number = UINT32_MAX;  // class number; UINT32_MAX if the entry is unused
    uint64_t seen = 0;             // number of the state's changes that the tree includes
    uint64_t used = 0;             // value of uses_ at the last use
    ScoreTree tree;
  };

  void Enqueue(uint32_t job);
  std::vector<uint32_t> TurnsOfTier(CellTier tier);
  void PlaceJob(uint32_t job, PassResult& result);
  void PlaceByLoad(uint32_t job, PassResult& result);
  // Ends the job's turn: records the job's moves, or undoes them if the job is a gang with a pending task.
  void EndTurn(uint32_t job, const PassResult& before, PassResult& result);
  // Returns the best machine for one more task of the class; kNowhere if no machine is feasible.
  uint32_t BestOf(const CellClass& c, CachedClass* cached);
  uint32_t BestOfAll(const CellClass& c);
  // Returns the best of `enough` feasible machines. `score` maps a machine to its score. REQUIRES: `enough` > 0.
  template <typename Score>
  uint32_t BestOfEnough(const Score& score);
  uint32_t BestByLoad(uint32_t task);
  CachedClass* TreeOf(uint32_t job);
  void Refresh(const CellClass& c, CachedClass& cached);
  void Took(uint32_t task, uint32_t machine);
  bool Preempt(uint32_t task, PassResult& result);
  void EvictFor(uint32_t task);
  void BackToQueue(uint32_t task);
  // Returns true if a removed task fits on its machine again, if necessary after evicting tasks of lower tiers.
  bool KeepsMachine(uint32_t task, uint32_t machine, uint8_t settled, std::vector<uint32_t>& evicted);
  // Returns true if no machine has become feasible since change number `known` - 1 of the state. At that time
  // no machine was feasible.
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
  std::vector<uint32_t> pending_;  // number of pending tasks by job
  std::vector<uint8_t> queued_;    // 1 if the job is in queue_, by job
  std::vector<uint32_t> queue_[kCellTiers];
  uint64_t all_pending_ = 0;
  std::vector<uint8_t> submitted_;  // 1 if the job was submitted, by job
  // Number of the last pass that preempted the task, by task; empty until the first preemption.
  std::vector<uint32_t> preempted_in_;
  std::vector<uint8_t> finished_;  // 1 if the task has ended, by task; empty until the first end
  std::vector<CellMove> moves_;
  // 1 + the number of the state's changes at the time when no machine had room (by class), or victims (by class
  // and tier); 0: unknown.
  std::vector<uint64_t> no_room_, no_victims_;
  uint32_t pass_ = 0;
  std::vector<CachedClass> cache_;
  absl::flat_hash_map<uint32_t, uint32_t> cached_;  // position in cache_ by class
  uint64_t uses_ = 0;
  Rng rng_;
  std::vector<uint32_t> random_order_;  // order of machines for relaxed randomisation
  // Tasks that the current job placed, and the job's victims with their former machines. Undoing a gang requires
  // both.
  struct Evicted {
    uint32_t task, machine;
    uint8_t settled;
  };
  std::vector<uint32_t> placed_now_;
  std::vector<Evicted> evicted_now_;
};

}  // namespace taut::brain
