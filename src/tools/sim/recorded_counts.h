// Counts what happens on the machines of a trace, window by window, and quotes what does not fit.
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

// One resource. Keeps references. One thread.
class RecordedCounts {
 public:
  RecordedCounts(const DaySource& source, const brain::RecordedMachines& machines, Resource resource)
      : source_(source),
        machines_(machines),
        resource_(resource),
        largest_(machines.Largest(static_cast<size_t>(resource))) {}

  // What the machine has in that window; null: it has none, or none is known.
  const brain::MachineCapacity* Capacity(uint32_t machine, int32_t window) const;
  // The tasks of a machine in a window, of which there is one; windows ascend.
  void Count(uint32_t machine, int32_t window, std::span<const brain::TaskLoad> tasks,
             const brain::MachineWindow& sums);

  size_t tasks() const { return tasks_.size(); }
  // With what the days left out. InvalidArgument if `whole` and no task-window has a machine and a limit.
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
