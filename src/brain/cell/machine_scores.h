// Score of a task on each machine of a cell, and whether it may run there.
#pragma once

#include <cstdint>
#include <vector>

#include "brain/cell/cell_index.h"
#include "brain/cell/cell_state.h"
#include "brain/cell/score_tree.h"

namespace taut::brain {

// The lower score wins. u and f: the share of a resource's capacity that is used, or free, once the task is
// on the machine, counted as feasibility counts it (limits of production for a production task, reservations
// of all for another); sums are over the resources that the machine has.
enum class CellScore : uint8_t {
  kBestFit,   // sum of f
  kWorstFit,  // E-PVM: sum of n^u(with the task) - n^u(without)
  kHybrid,    // sum of f + stranded_weight * sum of (f - the least f): what a full resource leaves unusable
};

struct CellScoring {
  CellScore score = CellScore::kHybrid;
  double epvm_base = 10;       // n; > 1
  double stranded_weight = 2;  // >= 0
};

// A soft preference that is not met adds this much to a score.
inline constexpr double kSoftPenalty = 1e6;

// What a machine is short of for a task, the first that applies.
enum class CellObstacle : uint8_t { kNone, kOutOfService, kAttribute, kTooSmall, kSpread, kOwnJob, kFree };

// Before a call for a class with own bounds the state has counted its job (CellState::CountJob). With a load,
// scores depend on the task: ScoreTask takes the place of Score, ScoreAll and IsFeasible.
class MachineScores {
 public:
  // The state outlives it.
  MachineScores(CellState& state, const CellScoring& scoring);

  CellState& state() { return state_; }

  // kInfeasible if the task does not fit or may not run there.
  double Score(const CellClass& c, uint32_t machine);
  // Whether Score is finite. Faster where most machines lack the first resource.
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
  // All machines' scores. O(machines).
  void ScoreAll(const CellClass& c, std::vector<double>& out);
  // As Score. REQUIRES: the state has a load. Costs what the load costs.
  double ScoreTask(uint32_t task, uint32_t machine);
  // Why a task may not run on a machine; kFree also if there is room in the capacity but not now.
  CellObstacle Obstacle(const CellClass& c, uint32_t machine);
  // kInfeasible, 0, or the sum of penalties, by everything but amounts.
  double Rules(const CellClass& c, uint32_t machine);

 private:
  struct Need {
    double need[2][kMaxCellResources];  // of what is free of reservations, and of production's limits
    int view = 0;                       // which of the two is scored
    const uint8_t* satisfied = nullptr;
  };
  Need NeedOf(const CellClass& c);
  // Calls `use` for the score, the number of resources and whether the need is one of production.
  template <typename Use>
  auto WithKind(const Need& need, const Use& use) const;
  template <CellScore kScore, size_t kResources, bool kProduction, typename T>
  T Amounts(const Need& need, size_t machine) const;
  template <CellScore kScore, size_t kResources, bool kProduction>
  void FillAll(const Need& need, double* out) const;
  const uint8_t* SatisfiedHere(uint32_t constraints);
  // For kWorstFit: brings grown_ and shapes up to the state's changes, and growth_ to a need.
  void CatchUp();
  void Grow(uint32_t machine);
  void SetGrowth(const CellAmounts& amounts);

  CellState& state_;
  const CellSpace& space_;
  const CellScoring scoring_;
  const size_t resources_, machines_;
  const double *const free_[2], *const inverse_;  // of space_
  std::vector<std::vector<uint8_t>> satisfied_;   // by constraint set, then machine; empty: not needed yet
  // For kWorstFit. n^used by resource, then machine, and the changes of the state that it knows.
  std::vector<double> grown_[2];
  uint64_t seen_ = 0;
  // The capacities there are, by machine and themselves.
  std::vector<uint32_t> shape_;
  std::vector<CellAmounts> shapes_;
  std::vector<double> growth_;  // n^(need / capacity) - 1 by shape, then resource, of the last class
  CellAmounts growth_need_ = {-1};
};

}  // namespace taut::brain
