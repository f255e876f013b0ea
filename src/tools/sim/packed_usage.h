// What the tasks of packed machines used afterwards, beside what the machines have.
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

// Machine-hours of one packing. A machine counts in an hour in which a task on it was measured; over is one with a
// window in which its tasks used more than it has (CPU: the mean of the window; memory: the sum of their peaks). A
// task uses at most its limit in the packing: more is throttled, or killed.
struct PackedUsage {
  uint64_t machine_hours = 0;
  PerResource<uint64_t> over = {};  // by Resource
  uint64_t over_any = 0;

  void Add(const PackedUsage& other);
  double share(uint64_t of) const {
    return machine_hours > 0 ? static_cast<double>(of) / static_cast<double>(machine_hours) : 0;
  }
};

// The machines of several packings of one cell's jobs.
class PackedMachines {
 public:
  explicit PackedMachines(RecordedTasks recorded) : recorded_(std::move(recorded)) {}
  // Returns its number. Jobs of `model` are those of the recorded by name; those that it lacks use nothing.
  size_t Add(const brain::CellModel& model, const brain::TrialPacking& packing);
  size_t size() const { return packings_.size(); }

  // The usage of the recorded tasks from `from` to before `to`; a recorded task that stands for several tasks of
  // the cell uses on the machine of each. Reads those days of `source` once. Cancelled if should_stop ended it.
  absl::StatusOr<std::vector<PackedUsage>> Measure(DaySource& source, WindowId from, WindowId to,
                                                   const std::function<bool()>& should_stop = {}) const;

 private:
  struct Packing {
    std::vector<PerResource<double>> capacity;  // by machine, in cores and bytes; negative: of no such row
    struct Place {
      uint32_t machine = 0;
      PerResource<float> limit = {};  // in cores and bytes
    };
    std::vector<uint32_t> first;  // of the recorded task i: places[first[i]] to [first[i + 1]]
    std::vector<Place> places;
  };
  class Meter;

  RecordedTasks recorded_;
  std::vector<Packing> packings_;
};

}  // namespace taut::tools
