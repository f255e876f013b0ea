// Compares the later usage of the tasks on packed machines with the machines' capacity.
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

// Machine-hours of one packing. An hour of a machine is included if a task on the machine was measured in the
// hour. The hour is over if in any window the machine's tasks used more than the machine's capacity (CPU:
// mean of the window; memory: sum of the peaks). A task's usage is capped at the task's limit in the packing:
// above the limit the task is throttled or killed.
struct PackedUsage {
  uint64_t machine_hours = 0;
  PerResource<uint64_t> over = {};  // machine-hours over, by Resource
  uint64_t over_any = 0;

  void Add(const PackedUsage& other);
  double share(uint64_t of) const {
    return machine_hours > 0 ? static_cast<double>(of) / static_cast<double>(machine_hours) : 0;
  }
};

// Machines of several packings of one cell's jobs.
class PackedMachines {
 public:
  explicit PackedMachines(RecordedTasks recorded) : recorded_(std::move(recorded)) {}
  // Adds a packing and returns its number. Jobs of `model` are matched with the recorded jobs by name; jobs
  // without a recording use nothing.
  size_t Add(const brain::CellModel& model, const brain::TrialPacking& packing);
  size_t size() const { return packings_.size(); }

  // Returns the usage of each packing in the windows [from, to). A recorded task that stands for several
  // tasks of the cell adds its usage to the machine of each of them. Reads the days of these windows of
  // `source` once. Returns Cancelled if should_stop returned true.
  absl::StatusOr<std::vector<PackedUsage>> Measure(DaySource& source, WindowId from, WindowId to,
                                                   const std::function<bool()>& should_stop = {}) const;

 private:
  struct Packing {
    // Capacity by machine, in cores and bytes; negative: the cell does not have the resource.
    std::vector<PerResource<double>> capacity;
    struct Place {
      uint32_t machine = 0;
      PerResource<float> limit = {};  // the task's limit in cores and bytes
    };
    std::vector<uint32_t> first;  // recorded task i is at places[first[i]] to places[first[i + 1] - 1]
    std::vector<Place> places;
  };
  class Meter;

  RecordedTasks recorded_;
  std::vector<Packing> packings_;
};

}  // namespace taut::tools
