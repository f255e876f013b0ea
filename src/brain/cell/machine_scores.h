// Computes the score of a task on each machine of a cell, and whether the task may run there.
#pragma once

#include <cstdint>
#include <vector>

#include "brain/cell/cell_index.h"
#include "brain/cell/cell_state.h"
#include "brain/cell/score_tree.h"

namespace taut::brain {

// Formula of the score of a machine. The machine with the lowest score is chosen. u and f are the used and the
// free share of a resource's capacity once the task is on the machine. For a production task, the used amount is
// the sum of the limits of production tasks; for any other task, the sum of all reservations. Sums run over the
// machine's resources.
enum class CellScore : uint8_t {
  kBestFit,   // sum of f
  kWorstFit,  // E-PVM: sum of n^u(with the task) - n^u(without the task)
  // sum of f + stranded_weight * sum of (f - min f); (f - min f) is capacity that a full resource makes unusable
  kHybrid,
};

// Choice and parameters of a score.
struct CellScoring {
  CellScore score = CellScore::kHybrid;
  double epvm_base = 10;       // n in the formula of kWorstFit; > 1
  double stranded_weight = 2;  // weight in the formula of kHybrid; >= 0
};

// Penalty added to a score for each preference that the machine does not meet. The penalty far exceeds the scores
// of usual amounts.
inline constexpr double kSoftPenalty = 1e6;

// First reason why a task may not run on a machine.
enum class CellObstacle : uint8_t { kNone, kOutOfService, kAttribute, kTooSmall, kSpread, kOwnJob, kFree };

// Scores of classes or tasks on the state's machines. REQUIRES: CellState::CountJob was called before each call if
// the class's job has a spread or a bound per machine. With a load, scores depend on the task, so that ScoreTask
// must replace Score, ScoreAll and IsFeasible. Not thread-safe.
class MachineScores {
 public:
  // `state` must outlive this object.
  MachineScores(CellState& state, const CellScoring& scoring);

  CellState& state() { return state_; }

  // Returns the score of a machine; kInfeasible if the task does not fit or may not run there.
  double Score(const CellClass& c, uint32_t machine);
  // Returns true if the score is finite. Faster than Score if most machines lack room in the first resource.
  bool IsFeasible(const CellClass& c, uint32_t machine) {
    const CellAmounts& reserved = state_.counts().entry(c);
    for (size_t r = 0; r < resources_; ++r) {
      const size_t at = r * machines_ + machine;
      if (free_[0][at] < static_cast<double>(reserved[r]) ||
          (c.production && free_[1][at] < static_cast<double>(c.limit[r])))
        return false;
    }
    return Rules(c, machine) != kInfeasible;
  }
  // Writes the score of each machine to `out`. O(machines).
  void ScoreAll(const CellClass& c, std::vector<double>& out);
  // Returns the score of a task by the state's load; kInfeasible if the task does not fit or may not run there.
  // REQUIRES: the state has a load. Costs at most two predictions of the load.
  double ScoreTask(uint32_t task, uint32_t machine);
  // Returns the reason why a task may not run on the machine. Returns kFree also if the capacity suffices but is
  // in use.
  CellObstacle Obstacle(const CellClass& c, uint32_t machine);
  // Returns the score by all rules except amounts: kInfeasible, 0, or the sum of penalties.
  double Rules(const CellClass& c, uint32_t machine);

 private:
  struct Need {
    // Amounts that must be free of reservations (first row), and free of production's limits (second row).
    double need[2][kMaxCellResources];
    int view = 0;  // index of the row of `need` that is scored
    const uint8_t* satisfied = nullptr;
  };
  Need NeedOf(const CellClass& c);
  // Calls `use` with the kind of score, the number of resources and `production` as compile-time constants.
  template <typename Use>
  auto WithKind(const Need& need, const Use& use) const;
  template <CellScore kScore, size_t kResources, bool kProduction, typename T>
  T Amounts(const Need& need, size_t machine) const;
  template <CellScore kScore, size_t kResources, bool kProduction>
  void FillAll(const Need& need, double* out) const;
  const uint8_t* SatisfiedHere(uint32_t constraints);
  // For kWorstFit: CatchUp applies the state's changes to grown_, Grow recomputes one machine, and SetGrowth
  // computes growth_ for `amounts`.
  void CatchUp();
  void Grow(uint32_t machine);
  void SetGrowth(const CellAmounts& amounts);

  CellState& state_;
  const CellSpace& space_;
  const CellScoring scoring_;
  const size_t resources_, machines_;
  const double *const free_[2], *const inverse_;  // data of space_
  // Machines that satisfy a constraint set, by set, then machine. Empty: not computed yet.
  std::vector<std::vector<uint8_t>> satisfied_;
  // For kWorstFit: n^(used share) by resource, then machine, including the first seen_ changes of the state.
  std::vector<double> grown_[2];
  uint64_t seen_ = 0;
  // shape_: index in shapes_ of each machine's capacity. shapes_: the distinct capacities.
  std::vector<uint32_t> shape_;
  std::vector<CellAmounts> shapes_;
  std::vector<double> growth_;  // n^(need / capacity) - 1 by shape, then resource, for growth_need_
  CellAmounts growth_need_ = {-1};
};

}  // namespace taut::brain
