// Placement of tasks on machines, and the free capacity of each machine.
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

// Selects the amounts that a placed task adds to the reservations on its machine.
enum class CellCounting : uint8_t {
  kReservation,  // the task is counted at its reservation
  // the task is counted at its limit when placed; Settle lowers the amount to the reservation (Borg, section 5.5)
  kFromLimit,
};
// Number of equal steps in which Settle lowers the counted amount from the limit to the reservation.
inline constexpr uint8_t kSettleSteps = 4;

// Computes the amounts that count for a task of a class.
struct CellCounts {
  CellCounting counting;
  size_t resources;

  // entry() returns the amounts that must be free of reservations to place a task. need() returns the amounts
  // that must fit into the machine's capacity.
  const CellAmounts& entry(const CellClass& c) const {
    return counting == CellCounting::kFromLimit ? c.limit : c.reservation;
  }
  const CellAmounts& need(const CellClass& c) const { return c.production ? c.limit : entry(c); }
  // Returns the amounts that a task adds to the reservations after `steps` steps of Settle.
  CellAmounts Settled(const CellClass& c, uint8_t steps) const;
};

// Log of the machines whose tasks, capacity or service changed, in order. Contains only the last window()
// changes.
class MachineChanges {
 public:
  explicit MachineChanges(size_t window) : machines_(window) {}
  void Note(uint32_t machine) { machines_[count_++ % machines_.size()] = machine; }
  uint64_t count() const { return count_; }             // number of all changes so far
  uint64_t window() const { return machines_.size(); }  // number of changes that at() can return
  // Returns the machine of the change with this number. REQUIRES: change in [count() - window(), count()).
  uint32_t at(uint64_t change) const { return machines_[change % machines_.size()]; }

 private:
  std::vector<uint32_t> machines_;
  uint64_t count_ = 0;
};

// Number of tasks of one job by machine and by domain, for the bounds of the job.
struct JobSpread {
  uint32_t job = UINT32_MAX;  // the counted job; UINT32_MAX before the first count
  std::vector<uint32_t> on_machine, in_domain;
};

// Tasks on machines. Not thread-safe.
class CellState {
 public:
  // Creates a cell of `machines`, which are numbers of machines of the index's model; a number may appear several
  // times. All other functions of this class identify a machine by its position in `machines`. `index` must
  // outlive the state. If `load` is not null, feasibility and scores use the load's prediction instead of the sum
  // of reservations (machine_scores.h); the limits of production are still added up. REQUIRES: `counting` is
  // kReservation if `load` is not null. O(machines + tasks).
  CellState(const CellIndex& index, std::span<const uint32_t> machines,
            CellCounting counting = CellCounting::kReservation, std::unique_ptr<MachineLoad> load = nullptr);

  const CellIndex& index() const { return index_; }
  size_t machines() const { return model_machine_.size(); }
  uint32_t model_machine(uint32_t machine) const { return model_machine_[machine]; }
  uint32_t machine_of(uint32_t task) const { return machine_of_task_[task]; }  // kNowhere: not placed
  // Iterate over a machine's tasks, in no order: for (t = first_on(m); t != kNowhere; t = next_on(t)).
  uint32_t first_on(uint32_t machine) const { return first_on_[machine]; }
  uint32_t next_on(uint32_t task) const { return next_[task]; }
  const CellSpace& space() const { return space_; }
  const CellCounts& counts() const { return counts_; }
  // Returns the amounts that a placed task adds to the reservations on its machine.
  CellAmounts counted(uint32_t task) const {
    return counts_.Settled(index_.class_of(index_.job_of(task)), settled(task));
  }
  // Returns the task's number of steps of Settle; always kSettleSteps with kReservation.
  uint8_t settled(uint32_t task) const { return settled_.empty() ? kSettleSteps : settled_[task]; }
  const MachineChanges& changes() const { return changes_; }
  // Returns the prediction of loads; null if reservations are added up.
  MachineLoad* load() const { return load_.get(); }

  // Place puts an unplaced task on a machine, Remove removes a placed task. O(1). `settled` is the number of
  // steps of Settle with which the task starts. REQUIRES for Place: the task's score on the machine is finite,
  // or the task fits.
  void Place(uint32_t task, uint32_t machine, uint8_t settled = 0);
  void Remove(uint32_t task);
  // Sets the number of steps that the task has settled. REQUIRES: kFromLimit, the task is placed, steps in
  // [settled(task), kSettleSteps].
  void Settle(uint32_t task, uint8_t steps);
  // Allows or forbids new tasks on the machine; running tasks stay. All machines start in service.
  void SetInService(uint32_t machine, bool in_service);
  // Sets the capacity. The free amounts may become negative, in which case the caller must remove tasks.
  void SetCapacity(uint32_t machine, const CellAmounts& capacity);

  // Counts the job's tasks for spread(). O(tasks of the job); O(1) if the last call counted this job.
  void CountJob(uint32_t job);
  const JobSpread& spread() const { return spread_; }
  // Returns the machine's domain for the class's spread; kNoDomain if the machine lacks the attribute. REQUIRES:
  // the class has a spread.
  uint32_t domain(const CellClass& c, uint32_t machine) const {
    return index_.domains(c.domains).of_machine[model_machine_[machine]];
  }

 private:
  void Change(uint32_t task, uint32_t machine, int64_t sign);

  const CellIndex& index_;
  const CellCounts counts_;
  std::vector<uint32_t> model_machine_;
  CellSpace space_;
  std::vector<uint8_t> settled_;  // steps of Settle by task; empty with kReservation
  std::vector<uint32_t> machine_of_task_, first_on_, next_, previous_;
  MachineChanges changes_;
  JobSpread spread_;
  std::unique_ptr<MachineLoad> load_;
};

}  // namespace taut::brain
