// Counts tasks, usage and capacity on a trace's machines, window by window, with examples of contradictory
// records.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "brain/cell/recorded_machines.h"
#include "brain/overcommit/peak_predictor.h"
#include "tools/sim/machine_days.h"
#include "tools/sim/overcommit_replay.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Counts for one resource. The arguments of the constructor must outlive this object. Not thread-safe.
class RecordedCounts {
 public:
  RecordedCounts(const DaySource& source, const brain::RecordedMachines& machines, Resource resource)
      : source_(source),
        machines_(machines),
        resource_(resource),
        largest_(machines.Largest(static_cast<size_t>(resource))) {}

  // Returns a machine's capacity in the window; null if the machine is not in the cell or has no known capacity.
  const brain::MachineCapacity* Capacity(uint32_t machine, int32_t window) const;
  // Counts the tasks of a machine in a window. REQUIRES: `tasks` is not empty; windows ascend.
  void Count(uint32_t machine, int32_t window, std::span<const brain::TaskLoad> tasks,
             const brain::MachineWindow& sums);

  size_t tasks() const { return tasks_.size(); }
  // Returns the counts, including the task-windows that `days` omitted. Call once. Returns InvalidArgument if
  // `whole` is true and no task-window has a machine and a limit.
  absl::StatusOr<RecordedUse> Take(const MachineDays& days, bool whole);

 private:
  void CountMissing(uint32_t machine, int32_t window);
  std::string Amounts(double used, double of) const;

  const DaySource& source_;
  const brain::RecordedMachines& machines_;
  const Resource resource_;
  const double largest_;
  absl::flat_hash_set<uint64_t> tasks_, too_large_;
  brain::CellFindings findings_;
  RecordedUse use_;
};

}  // namespace taut::tools
