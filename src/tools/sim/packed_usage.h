// Compares later usage of packed tasks with the capacity of their machines.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/compaction.h"
#include "tools/sim/recorded_tasks.h"

namespace taut::tools {

// Counts of machine-hours of one packing. A machine-hour is counted if a task of the machine was measured. A
// machine-hour is over if the tasks used more than the capacity in any window (CPU: mean of the window, memory:
// sum of the peaks). A task's usage is capped at its limit in the packing, where it would be throttled or killed.
struct PackedUsage {
  uint64_t machine_hours = 0;
  PerResource<uint64_t> over = {};  // machine-hours above the capacity, by resource
  uint64_t over_any = 0;

  void Add(const PackedUsage& other);
  double share(uint64_t of) const {
    return machine_hours > 0 ? static_cast<double>(of) / static_cast<double>(machine_hours) : 0;
  }
};

// The machines of several packings of one cell.
class PackedMachines {
 public:
  explicit PackedMachines(RecordedTasks recorded) : recorded_(std::move(recorded)) {}
  // Adds a packing and returns its number. Jobs of `model` and recorded jobs are matched by name. A job without a
  // recording uses nothing.
  size_t Add(const brain::CellModel& model, const brain::TrialPacking& packing);
  size_t size() const { return packings_.size(); }

  // Returns the usage of each packing in the windows [from, to). If a recorded task stands for several tasks of
  // the cell, its usage counts on the machine of each of these tasks. Reads the days of the windows once. Returns
  // Cancelled if should_stop returned true.
  absl::StatusOr<std::vector<PackedUsage>> Measure(DaySource& source, WindowId from, WindowId to,
                                                   const std::function<bool()>& should_stop = {}) const;

 private:
  struct Packing {
    // Capacity by machine in cores and bytes; negative if the cell lacks the resource.
    std::vector<PerResource<double>> capacity;
    struct Place {
      uint32_t machine = 0;
      PerResource<float> limit = {};  // limit in cores and bytes
    };
    std::vector<uint32_t> first;  // index into places by recorded task; the last entry is places.size()
    std::vector<Place> places;
  };
  class Meter;

  RecordedTasks recorded_;
  std::vector<Packing> packings_;
};

}  // namespace taut::tools
