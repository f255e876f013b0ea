// Which tasks run on which machines, as a source of them sees it: agents, or the nodes of a cluster.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/resource.h"
#include "server/control/task_intake.h"

namespace taut::server {

// By Resource, in cores and bytes; absent: not known, or none.
using PlacedAmounts = PerResource<std::optional<double>>;

struct PlacedTask {
  std::string job, task;  // as TaskIntake names them
  // The windows say what its limits are; else it is this:
  bool limits_measured = false;
  PlacedAmounts asked = {};  // what the scheduler counts: its request, or its limit
  PlacedAmounts cap = {};    // it cannot use more
  // Its number in windows; absent: none of it may have come. Sources leave it out: only tautd gives numbers.
  std::optional<TaskRef> number = {};
};

struct PlacedMachine {
  std::string name = {};        // unique in its source
  PlacedAmounts capacity = {};  // what tasks may have of it
  bool ready = true;            // false: its source says that it takes no tasks, or is disconnected
  std::vector<PlacedTask> tasks = {};
};

// Any thread may call.
class PlacementSource {
 public:
  virtual ~PlacementSource() = default;
  // "agents", "kubernetes": the same at every call.
  virtual std::string_view placement_name() const = 0;
  // As of now. A machine of which nothing is known but its name is not among them.
  virtual std::vector<PlacedMachine> Placement() const = 0;
};

}  // namespace taut::server
