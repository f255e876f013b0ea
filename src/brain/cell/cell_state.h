// Placement of tasks on machines, and the free part of each machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "brain/cell/cell_index.h"
#include "brain/cell/cell_space.h"
#include "brain/cell/machine_load.h"

namespace taut::brain {

inline constexpr uint32_t kNowhere = UINT32_MAX;

// What a task counts for among the reservations of its machine.
enum class CellCounting : uint8_t {
  kReservation,  // its reservation, from the start
  kFromLimit,    // its limit when it is placed; Settle lowers it to the reservation (Borg, section 5.5)
};
// Steps of Settle from the limit to the reservation, equally large.
inline constexpr uint8_t kSettleSteps = 4;

// Amounts that tasks of a class count for.
struct CellCounts {
  CellCounting counting;
  size_t resources;

  // Amounts that must be free of all reservations for a task to be placed, and of the capacity that decides.
  const CellAmounts& entry(const CellClass& c) const {
    return counting == CellCounting::kFromLimit ? c.limit : c.reservation;
  }
  const CellAmounts& need(const CellClass& c) const { return c.production ? c.limit : entry(c); }
  // Among reservations, after `steps` of Settle.
  CellAmounts Settled(const CellClass& c, uint8_t steps) const;
};

// The machines whose tasks, capacity or service changed, in order: the last ones of them.
class MachineChanges {
 public:
  explicit MachineChanges(size_t window) : machines_(window) {}
  void Note(uint32_t machine) { machines_[count_++ % machines_.size()] = machine; }
  uint64_t count() const { return count_; }             // so far
  uint64_t window() const { return machines_.size(); }  // of which the machines are known
  uint32_t at(uint64_t change) const { return machines_[change % machines_.size()]; }

 private:
  std::vector<uint32_t> machines_;
  uint64_t count_ = 0;
};

// How many tasks of one job there are by machine and domain, which the job's own bounds need.
struct JobSpread {
  uint32_t job = UINT32_MAX;  // UINT32_MAX: of none so far
  std::vector<uint32_t> on_machine, in_domain;
};

class CellState {
 public:
  // The cell consists of `machines`, numbers of machines of the index's model; one may come several times.
  // In here a machine is its place in that list.
  // With a load, feasibility and scores take what it expects of a machine's tasks for the sum of their
  // reservations (CellScores). The limits of production are added up as ever. REQUIRES: kReservation then.
  CellState(const CellIndex& index, std::span<const uint32_t> machines,
            CellCounting counting = CellCounting::kReservation, std::unique_ptr<MachineLoad> load = nullptr);

  const CellIndex& index() const { return index_; }
  size_t machines() const { return model_machine_.size(); }
  uint32_t model_machine(uint32_t machine) const { return model_machine_[machine]; }
  uint32_t machine_of(uint32_t task) const { return machine_of_task_[task]; }  // kNowhere: not placed
  // The tasks of a machine, in no order: for (t = first_on(m); t != kNowhere; t = next_on(t)).
  uint32_t first_on(uint32_t machine) const { return first_on_[machine]; }
  uint32_t next_on(uint32_t task) const { return next_[task]; }
  const CellSpace& space() const { return space_; }
  const CellCounts& counts() const { return counts_; }
  // Amounts that a placed task counts for among reservations.
  CellAmounts counted(uint32_t task) const {
    return counts_.Settled(index_.class_of(index_.job_of(task)), settled(task));
  }
  // Steps of Settle so far; all of them with kReservation.
  uint8_t settled(uint32_t task) const { return settled_.empty() ? kSettleSteps : settled_[task]; }
  const MachineChanges& changes() const { return changes_; }
  MachineLoad* load() const { return load_.get(); }  // null: reservations are added up

  // O(1). REQUIRES: the task is nowhere, and its score there is finite, or it fits; it is somewhere.
  // `settled`: the steps that it has settled so far.
  void Place(uint32_t task, uint32_t machine, uint8_t settled = 0);
  void Remove(uint32_t task);
  // REQUIRES: kFromLimit, the task is placed, steps in [settled(task), kSettleSteps].
  void Settle(uint32_t task, uint8_t steps);
  // Whether tasks may be placed there; those that are there stay. At first they may.
  void SetInService(uint32_t machine, bool in_service);
  // The free part may become negative: then remove tasks.
  void SetCapacity(uint32_t machine, const CellAmounts& capacity);

  // Counts the job's tasks for spread(). O(tasks of the job), nothing if it is the same job as before.
  void CountJob(uint32_t job);
  const JobSpread& spread() const { return spread_; }
  uint32_t domain(const CellClass& c, uint32_t machine) const {
    return index_.domains(c.domains).of_machine[model_machine_[machine]];
  }

 private:
  void Change(uint32_t task, uint32_t machine, int64_t sign);

  const CellIndex& index_;
  const CellCounts counts_;
  std::vector<uint32_t> model_machine_;
  CellSpace space_;
  std::vector<uint8_t> settled_;  // by task, for kFromLimit
  std::vector<uint32_t> machine_of_task_, first_on_, next_, previous_;
  MachineChanges changes_;
  JobSpread spread_;
  std::unique_ptr<MachineLoad> load_;
};

}  // namespace taut::brain
