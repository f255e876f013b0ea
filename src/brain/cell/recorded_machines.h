// The machines of a trace as it recorded them: their capacity over time, and on which of them each task ran.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "common/model/usage.h"

namespace taut::brain {

enum class MachineEventKind : uint8_t { kAdd, kRemove, kUpdate };

// What a table of machines says of one machine from a time on.
struct MachineEvent {
  Timestamp time = {};
  MachineEventKind kind = MachineEventKind::kAdd;
  std::optional<double> cpu_cores = {}, memory_bytes = {};  // absent: the table does not say
  uint64_t place = 0;                                       // of the row, for who reports it; not used here
};

// What a machine has, once its events are in order. 0: it is not in the cell, or its capacity is not known.
struct MachineCapacity {
  Timestamp from;
  bool in_cell = false;
  double cpu_cores = 0, memory_bytes = 0;

  double of(size_t resource) const { return resource == 0 ? cpu_cores : memory_bytes; }  // by Resource
};

// About 100 bytes a machine and event, 60 bytes a task, 12 bytes each time a task moves. One thread.
class RecordedMachines {
 public:
  // A task stays on its machine through this many windows without a row of it.
  static constexpr int32_t kLongestGap = kWindowsPerHour;

  // One run of windows of a task on a machine, first and last included.
  struct Stay {
    int32_t first = 0, last = 0;
    uint32_t machine = 0;
  };

  // The number of the machine of that name; numbers are dense, from 0, in order of first appearance.
  uint32_t Number(std::string_view name);
  const std::string& name(uint32_t machine) const { return machines_[machine].name; }
  size_t size() const { return machines_.size(); }
  // Whether a table of machines has the machine.
  bool listed(uint32_t machine) const { return !machines_[machine].events.empty(); }
  // The one added last; null: none.
  const MachineEvent* LastEvent(uint32_t machine) const {
    return listed(machine) ? &machines_[machine].events.back() : nullptr;
  }

  // In any order.
  void AddEvent(uint32_t machine, const MachineEvent& event);
  // The task was measured on the machine in that window. In any order; of two machines of a window the one that
  // comes last counts.
  void Place(JobId job, uint32_t task, WindowId window, uint32_t machine);

  // Puts the events of each machine in order of time; those of one time stay in their order. Calls `odd` for
  // what is kept although it cannot be right: a second addition, a removal of what is not in the cell, an update
  // of what is not in the cell (which puts it there), a capacity that is not known. Call once, after the last
  // event, before CapacityAt.
  using Odd = std::function<void(std::string_view cause, uint32_t machine, const MachineEvent& event)>;
  void SettleEvents(const Odd& odd);

  // Nothing before the machine's first event, and for a machine without events.
  const MachineCapacity* CapacityAt(uint32_t machine, Timestamp t) const;
  std::span<const MachineCapacity> capacities(uint32_t machine) const {
    return machines_[machine].capacities;
  }
  // The largest amount that any machine ever has.
  double Largest(size_t resource) const;

  // The stay that holds the window; null: it is not known where the task was. Invalid after the next Place.
  const Stay* StayOf(JobId job, uint32_t task, WindowId window) const;
  size_t tasks() const { return stays_.size(); }  // that were placed

 private:
  struct Machine {
    std::string name;
    std::vector<MachineEvent> events;
    std::vector<MachineCapacity> capacities;
  };
  using Stays = absl::InlinedVector<Stay, 1>;
  static void Insert(Stays& stays, int32_t window, uint32_t machine);

  std::vector<Machine> machines_;
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  absl::flat_hash_map<uint64_t, Stays> stays_;  // by job and task; each ascending, none overlap
};

}  // namespace taut::brain
