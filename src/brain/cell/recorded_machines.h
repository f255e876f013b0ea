// Recorded machines of a trace: their capacity over time, and the machine of each task.
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

// A row of a table of machines: the state of one machine from `time` on.
struct MachineEvent {
  Timestamp time = {};
  MachineEventKind kind = MachineEventKind::kAdd;
  // Capacity of the machine; absent if the table has no value.
  std::optional<double> cpu_cores = {}, memory_bytes = {};
  uint64_t place = 0;  // position of the row, for reports
};

// Capacity of a machine from the time `from` on. An amount of 0 is unknown.
struct MachineCapacity {
  Timestamp from;
  bool in_cell = false;
  double cpu_cores = 0, memory_bytes = 0;

  // Returns the capacity of a resource; `resource` is the index of a Resource.
  double of(size_t resource) const { return resource == 0 ? cpu_cores : memory_bytes; }
};

// Machines and placements of tasks. Uses about 100 bytes per machine and event, 60 bytes per task and 12 bytes
// per move of a task. Not thread-safe.
class RecordedMachines {
 public:
  // Highest number of consecutive windows without a row for which a task is assumed to stay on its machine.
  static constexpr int32_t kLongestGap = kWindowsPerHour;

  // A run of consecutive windows of a task on one machine, [first, last].
  struct Stay {
    int32_t first = 0, last = 0;
    uint32_t machine = 0;
  };

  // Returns the number of the machine with this name; adds the machine if the name is new. Numbers are dense, from
  // 0, in order of first appearance.
  uint32_t Number(std::string_view name);
  const std::string& name(uint32_t machine) const { return machines_[machine].name; }
  size_t size() const { return machines_.size(); }
  // Returns true if a table of machines has an event of the machine.
  bool listed(uint32_t machine) const { return !machines_[machine].events.empty(); }
  // Returns the last added event of the machine; null if there is none. Invalid after the next AddEvent of this
  // machine.
  const MachineEvent* LastEvent(uint32_t machine) const {
    return listed(machine) ? &machines_[machine].events.back() : nullptr;
  }

  // Adds an event. Events may arrive in any order.
  void AddEvent(uint32_t machine, const MachineEvent& event);
  // Records that the task was measured on the machine in the window. Calls may have any order. If a window has
  // several machines, the last call applies.
  void Place(JobId job, uint32_t task, WindowId window, uint32_t machine);

  // Sorts the events of each machine by time (stable) and computes its capacities. Calls `odd` for inconsistent
  // events, which are kept:
  // - an addition of a machine that is in the cell,
  // - a removal or an update of a machine that is not in the cell; an update adds the machine,
  // - an unknown capacity.
  // Call once, after the last AddEvent and before CapacityAt.
  using Odd = std::function<void(std::string_view cause, uint32_t machine, const MachineEvent& event)>;
  void SettleEvents(const Odd& odd);

  // Returns the capacity at time `t`; null before the machine's first event. O(log events).
  const MachineCapacity* CapacityAt(uint32_t machine, Timestamp t) const;
  // Returns all capacities, ascending by time.
  std::span<const MachineCapacity> capacities(uint32_t machine) const {
    return machines_[machine].capacities;
  }
  // Returns the largest amount of the resource that any machine has at any time; 0 without machines. O(machines
  // and capacities).
  double Largest(size_t resource) const;

  // Returns the stay that contains the window; null if the task's machine is unknown. Invalid after the next
  // Place. O(log stays).
  const Stay* StayOf(JobId job, uint32_t task, WindowId window) const;
  size_t tasks() const { return stays_.size(); }  // returns the number of placed tasks

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
  // Stays by job and task. The stays of a task ascend without overlap.
  absl::flat_hash_map<uint64_t, Stays> stays_;
};

}  // namespace taut::brain
