// The machine of each task, as reported by a source: agents, or the nodes of a cluster.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/resource.h"
#include "server/control/task_intake.h"

namespace taut::server {

// Amounts by Resource, cores and bytes; absent: unknown or unlimited.
using PlacedAmounts = PerResource<std::optional<double>>;

struct PlacedTask {
  std::string job, task;  // names as in TaskIntake
  // True if windows contain the task's limits; false if `asked` and `cap` contain the limits.
  bool limits_measured = false;
  PlacedAmounts asked = {};  // amount that the scheduler counts: request or limit
  PlacedAmounts cap = {};    // upper bound of the usage
  // Number of the task in windows; absent if no window of the task arrived lately. Sources leave this member
  // absent, because only tautd assigns numbers.
  std::optional<TaskRef> number = {};
};

struct PlacedMachine {
  std::string name = {};        // name, unique within its source
  PlacedAmounts capacity = {};  // amounts that are available to tasks
  bool ready = true;            // false if the machine accepts no tasks or is disconnected
  std::vector<PlacedTask> tasks = {};
};

// A source of placements. Thread-safe.
class PlacementSource {
 public:
  virtual ~PlacementSource() = default;
  // Returns the name of the source, "agents" or "kubernetes"; the name does not change.
  virtual std::string_view placement_name() const = 0;
  // Returns the present machines, without machines of which only the names are known.
  virtual std::vector<PlacedMachine> Placement() const = 0;
};

}  // namespace taut::server
