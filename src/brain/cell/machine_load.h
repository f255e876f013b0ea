// Predicts the joint usage of a machine's tasks, which replaces the sum of their reservations in feasibility
// rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "brain/cell/cell_index.h"

namespace taut::brain {

// Predicted load of the machines of one packing. Machines are numbered as in the packing's CellState. Not
// thread-safe.
class MachineLoad {
 public:
  virtual ~MachineLoad() = default;

  // Returns the number of resources that the load predicts: the first rows of CellModel::resources. Reservations
  // are added up for the other resources.
  virtual size_t resources() const = 0;
  // Add puts a task on a machine, Remove takes a task off its machine. REQUIRES for Add: the task is on no
  // machine; for Remove: the task is on `machine`.
  virtual void Add(uint32_t task, uint32_t machine) = 0;
  virtual void Remove(uint32_t task, uint32_t machine) = 0;
  // Peak returns the highest expected usage of the machine's tasks; 0 without tasks. PeakWith returns the
  // highest expected usage including one more task.
  virtual CellAmounts Peak(uint32_t machine) = 0;
  virtual CellAmounts PeakWith(uint32_t task, uint32_t machine) = 0;
};

// Creates one MachineLoad for each packing. Thread-safe.
class MachineLoads {
 public:
  virtual ~MachineLoads() = default;
  // Creates the load of `machines` machines without tasks. The index must outlive the load.
  virtual std::unique_ptr<MachineLoad> New(const CellIndex& index, size_t machines) const = 0;
};

}  // namespace taut::brain
