// Which task runs on which machine, what is free, and what a task would score on each machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "brain/cell/cell_index.h"
#include "brain/cell/machine_load.h"
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
inline constexpr uint32_t kNowhere = UINT32_MAX;

// What a machine is short of for a task, the first that applies.
enum class CellObstacle : uint8_t { kNone, kOutOfService, kAttribute, kTooSmall, kSpread, kOwnJob, kFree };

// What a task counts for among the reservations of its machine.
enum class CellCounting : uint8_t {
  kReservation,  // its reservation, from the start
  kFromLimit,    // its limit when it is placed; Settle lowers it to the reservation (Borg, section 5.5)
};
// Steps of Settle from the limit to the reservation, equally large.
inline constexpr uint8_t kSettleSteps = 4;

class CellState {
 public:
  // The cell consists of `machines`, numbers of machines of the index's model; one may come several times.
  // In here a machine is its place in that list.
  // With a load, feasibility and scores take what it expects of a machine's tasks for the sum of their
  // reservations, and depend on the task: ScoreTask takes the place of Score, ScoreAll and IsFeasible. The limits
  // of production are added up as ever. REQUIRES: kReservation then.
  CellState(const CellIndex& index, std::span<const uint32_t> machines, const CellScoring& scoring,
            CellCounting counting = CellCounting::kReservation, std::unique_ptr<MachineLoad> load = nullptr);

  const CellIndex& index() const { return index_; }
  size_t machines() const { return model_machine_.size(); }
  uint32_t model_machine(uint32_t machine) const { return model_machine_[machine]; }
  uint32_t machine_of(uint32_t task) const { return machine_of_task_[task]; }  // kNowhere: not placed
  // The tasks of a machine, in no order: for (t = first_on(m); t != kNowhere; t = next_on(t)).
  uint32_t first_on(uint32_t machine) const { return first_on_[machine]; }
  uint32_t next_on(uint32_t task) const { return next_[task]; }

  // Capacity less the limits of production tasks, and less the reservations of all.
  int64_t production_free(size_t resource, uint32_t machine) const {
    return static_cast<int64_t>(free_[1][resource * machines() + machine]) + Withheld(machine);
  }
  int64_t free(size_t resource, uint32_t machine) const {
    return static_cast<int64_t>(free_[0][resource * machines() + machine]) + Withheld(machine);
  }
  int64_t capacity(size_t resource, uint32_t machine) const {
    return capacity_[resource * machines() + machine];
  }
  // Reservations of the tasks of a tier.
  int64_t reserved(CellTier tier, size_t resource, uint32_t machine) const {
    return reserved_[(static_cast<size_t>(tier) * machines() + machine) * kMaxCellResources + resource];
  }

  // What must be free of all reservations for a task to be placed, and of the capacity that decides.
  const CellAmounts& entry(const CellClass& c) const {
    return counting_ == CellCounting::kFromLimit ? c.limit : c.reservation;
  }
  const CellAmounts& need(const CellClass& c) const { return c.production ? c.limit : entry(c); }
  // What a placed task counts for among reservations, and one of its class after `steps` of Settle.
  CellAmounts counted(uint32_t task) const;
  CellAmounts CountedAt(const CellClass& c, uint8_t steps) const;
  // Sums over all placed tasks of a tier.
  const CellAmounts& limits(CellTier tier) const { return limits_[static_cast<size_t>(tier)]; }
  const CellAmounts& reservations(CellTier tier) const { return reservations_[static_cast<size_t>(tier)]; }

  // O(1). REQUIRES: the task is nowhere, and Score is finite; it is somewhere.
  void Place(uint32_t task, uint32_t machine);
  void Remove(uint32_t task);
  // Steps of Settle so far; all of them with kReservation.
  uint8_t settled(uint32_t task) const { return settled_.empty() ? kSettleSteps : settled_[task]; }
  // REQUIRES: kFromLimit, the task is placed, steps in [settled(task), kSettleSteps].
  void Settle(uint32_t task, uint8_t steps);
  // Place, of a task that had settled so far; REQUIRES: it fits.
  void PlaceSettled(uint32_t task, uint32_t machine, uint8_t steps);

  // Whether tasks may be placed there; those that are there stay. At first they may.
  bool in_service(uint32_t machine) const { return out_[machine] == 0; }
  void SetInService(uint32_t machine, bool in_service);
  // What is free may become negative: then remove tasks.
  void SetCapacity(uint32_t machine, const CellAmounts& capacity);
  // Number of Place and Remove so far, and the machine of each of the last change_window() ones.
  uint64_t changes() const { return changes_; }
  uint64_t change_window() const { return changed_.size(); }
  uint32_t changed(uint64_t change) const { return changed_[change % changed_.size()]; }

  // Counts the job's tasks by machine and domain, which its own bounds need. Call it before the functions
  // below for a class with own bounds. O(tasks of the job), nothing if it is the same job as before.
  void CountJob(uint32_t job);
  uint32_t on_machine(uint32_t machine) const { return on_machine_[machine]; }
  uint32_t in_domain(uint32_t domain) const { return in_domain_[domain]; }
  uint32_t domain(const CellClass& c, uint32_t machine) const {
    return index_.domains(c.domains).of_machine[model_machine_[machine]];
  }

  // kInfeasible if the task does not fit or may not run there.
  double Score(const CellClass& c, uint32_t machine);
  // Whether Score is finite. Faster where most machines lack the first resource.
  bool IsFeasible(const CellClass& c, uint32_t machine) {
    const CellAmounts& reserved = entry(c);
    for (size_t r = 0; r < resources_; ++r) {
      const size_t at = r * machines() + machine;
      if (free_[0][at] < static_cast<double>(reserved[r]) ||
          (c.production && free_[1][at] < static_cast<double>(c.limit[r])))
        return false;
    }
    return Rules(c, machine) != kInfeasible;
  }
  bool by_load() const { return load_ != nullptr; }
  // kInfeasible if the task does not fit or may not run there. REQUIRES: by_load(). Costs what the load costs.
  double ScoreTask(uint32_t task, uint32_t machine);
  // All machines' scores. O(machines).
  void ScoreAll(const CellClass& c, std::vector<double>& out);
  // Why a task may not run on a machine; kFree also if there is room in the capacity but not now.
  CellObstacle Obstacle(const CellClass& c, uint32_t machine);
  // kInfeasible, 0, or the sum of penalties, by everything but amounts.
  double Rules(const CellClass& c, uint32_t machine);

 private:
  struct Need {
    double need[2][kMaxCellResources];  // of free_[0], free_[1]
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
  int64_t Withheld(uint32_t machine) const { return out_[machine] == 0 ? 0 : kWithheld; }
  void Change(uint32_t task, uint32_t machine, int64_t sign);
  // Adds to what the tasks of a tier have on a machine.
  void Shift(CellTier tier, uint32_t machine, const CellAmounts& reserved, const CellAmounts& limit);
  void Grow(uint32_t machine);
  void NoteChange(uint32_t machine) { changed_[changes_++ % changed_.size()] = machine; }
  const uint8_t* SatisfiedHere(uint32_t constraints);
  void SetGrowth(const CellAmounts& amounts);

  const CellIndex& index_;
  const CellScoring scoring_;
  const CellCounting counting_;
  const size_t resources_;
  std::vector<uint32_t> model_machine_;
  // Of a machine that is out of service everything is withheld, so that nothing fits.
  static constexpr int64_t kWithheld = int64_t{1} << 52;
  std::vector<uint8_t> out_;
  std::vector<int64_t> capacity_;  // by resource, then machine
  // The same. Whole numbers, which a double holds up to 2^53: scores need no conversion.
  std::vector<double> free_[2];
  std::vector<double> inverse_;   // 1 / capacity, or 0
  std::vector<double> grown_[2];  // n^used, for kWorstFit
  // For kWorstFit: the capacities there are, by machine and themselves.
  std::vector<uint32_t> shape_;
  std::vector<CellAmounts> shapes_;
  std::vector<double> growth_;  // n^(need / capacity) - 1 by shape, then resource, of the last class
  CellAmounts growth_need_ = {-1};
  std::vector<int64_t> reserved_;
  CellAmounts limits_[kCellTiers] = {}, reservations_[kCellTiers] = {};
  std::vector<uint8_t> settled_;  // by task, for kFromLimit
  std::vector<uint32_t> machine_of_task_, first_on_, next_, previous_;
  std::vector<std::vector<uint8_t>> satisfied_;  // by constraint set, then machine; empty: not needed yet
  std::vector<uint32_t> changed_;
  uint64_t changes_ = 0;
  uint32_t counted_job_ = UINT32_MAX;
  std::vector<uint32_t> on_machine_, in_domain_;  // tasks of counted_job_
  std::unique_ptr<MachineLoad> load_;             // null: reservations are added up
};

}  // namespace taut::brain
