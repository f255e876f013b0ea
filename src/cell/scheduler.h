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
#include "base/random.h"
#include "cell/cell_index.h"
#include "cell/cell_state.h"
#include "cell/score_tree.h"

namespace taut {

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
  bool preempt = true;
  // Identical tasks are evaluated together; without, every task looks at all machines. The placement is the
  // same.
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
};

struct PassResult {
  uint64_t placed = 0;     // tasks, also those that were preempted later in the pass
  uint64_t preempted = 0;  // tasks back in the queue
  uint64_t pending = 0;    // tasks of the queue after the pass
};

class CellScheduler {
 public:
  // `machines`: see CellState. The index outlives the scheduler.
  CellScheduler(const CellIndex& index, std::vector<uint32_t> machines, const SchedulerOptions& options);
  // Of all machines of the model.
  CellScheduler(const CellIndex& index, const SchedulerOptions& options);

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

  const CellState& state() const { return state_; }
  const SchedulerOptions& options() const { return options_; }
  // Tasks of the job that were submitted and are nowhere.
  uint32_t pending(uint32_t job) const { return pending_[job]; }
  uint64_t pending() const { return all_pending_; }

  // For Explain (pending_reason.h), which changes nothing but the state's scratch.
  CellState& mutable_state() { return state_; }

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
  // The best machine for one more task of the class, kNowhere if none is feasible.
  uint32_t BestOf(const CellClass& c, CachedClass* cached);
  uint32_t BestOfAll(const CellClass& c);
  uint32_t BestOfEnough(const CellClass& c);
  CachedClass* TreeOf(uint32_t job);
  void Refresh(const CellClass& c, CachedClass& cached);
  void Took(uint32_t task, uint32_t machine);
  bool Preempt(uint32_t task, PassResult& result);
  void Evict(uint32_t task);

  const CellIndex& index_;
  const SchedulerOptions options_;
  CellState state_;
  std::vector<uint32_t> pending_;  // by job
  std::vector<uint8_t> queued_;    // by job
  std::vector<uint32_t> queue_[kCellTiers];
  uint64_t all_pending_ = 0;
  std::vector<uint8_t> submitted_;      // by job
  std::vector<uint32_t> preempted_in_;  // by task: the number of the pass; empty until the first
  uint32_t pass_ = 0;
  std::vector<CachedClass> cache_;
  absl::flat_hash_map<uint32_t, uint32_t> cached_;  // class -> place in cache_
  uint64_t uses_ = 0;
  Rng rng_;
  std::vector<uint32_t> random_order_;  // of machines, for relaxed randomisation
  // What the job that is being placed did, to undo a gang: tasks that it placed, and its victims with their
  // machines.
  std::vector<uint32_t> placed_now_;
  std::vector<std::pair<uint32_t, uint32_t>> evicted_now_;
};

}  // namespace taut
