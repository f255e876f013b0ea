// What the tasks of a machine are expected to use together, for feasibility that is not a sum over its tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "brain/cell/cell_index.h"

namespace taut::brain {

// Of the machines of one packing, which are numbered as those of its CellState. One thread.
class MachineLoad {
 public:
  virtual ~MachineLoad() = default;

  // The first rows of CellModel::resources: it speaks for them. Of the others reservations are added up.
  virtual size_t resources() const = 0;
  // REQUIRES: the task is on no machine, or on this one.
  virtual void Add(uint32_t task, uint32_t machine) = 0;
  virtual void Remove(uint32_t task, uint32_t machine) = 0;
  // The most that the machine's tasks are expected to use, alone and with one more; 0 for a machine without any.
  virtual CellAmounts Peak(uint32_t machine) = 0;
  virtual CellAmounts PeakWith(uint32_t task, uint32_t machine) = 0;
};

// Makes one for each packing. From any thread.
class MachineLoads {
 public:
  virtual ~MachineLoads() = default;
  // Of that many machines without tasks. The index outlives it.
  virtual std::unique_ptr<MachineLoad> New(const CellIndex& index, size_t machines) const = 0;
};

}  // namespace taut::brain
