// A cell of synthetic machines for tests, whose tasks have usage and limits, window by window.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/control/in_memory_placement.h"
#include "server/pool/machine_service.h"

namespace taut::server {

class MadeMachines {
 public:
  struct MadeTask {
    float cpu = 1, memory = 1e9F;  // usage; negative: not measured
    std::optional<double> cpu_limit = 4, memory_limit = 4e9;
  };
  // Tasks by machine and name of the task. A task TASK belongs to the job "job-TASK".
  std::map<std::string, std::map<std::string, MadeTask>> machines;
  std::map<std::string, PlacedAmounts> capacity;  // capacity by machine; absent: 16 cores and 64e9 bytes
  std::string source = "kubernetes";

  // Returns the placement with the task numbers of the last window.
  std::vector<PlacedMachine> Placed() const {
    std::vector<PlacedMachine> out;
    for (const auto& [name, tasks] : machines) {
      PlacedMachine& m = out.emplace_back();
      m.name = name;
      const auto at = capacity.find(name);
      m.capacity = at != capacity.end() ? at->second : PlacedAmounts{16.0, 64e9};
      for (const auto& [task, made] : tasks) {
        PlacedTask& placed = m.tasks.emplace_back();
        placed.job = "job-" + task;
        placed.task = task;
        placed.asked = placed.cap = {made.cpu_limit, made.memory_limit};
        placed.number = NumberOf(placed.job);
      }
    }
    return out;
  }
  // Returns a window with all tasks. Jobs are numbered in the order of their tasks' names.
  ClosedWindow Closed(WindowId window) {
    numbers_.clear();
    std::map<std::string, MadeTask> all;
    for (const auto& [name, tasks] : machines) all.insert(tasks.begin(), tasks.end());
    ClosedWindow out;
    out.window = window;
    uint32_t number = 0;
    for (const auto& [task, made] : all) {
      const JobId job{number++};
      numbers_["job-" + task] = job;
      if (made.cpu < 0 && made.memory < 0) continue;
      JobWindowData& data = out.jobs.emplace_back();
      data.job = job;
      data.window.window = window;
      data.window.first_task = static_cast<uint32_t>(out.tasks.size());
      data.window.num_tasks = 1;
      out.tasks.push_back({0, made.cpu, made.cpu, made.memory, made.memory});
    }
    return out;
  }
  void Window(MachineService& service) {
    const ClosedWindow closed = Closed(now);
    service.OnWindow(closed, {{source, Placed()}});
    now = now.next();
  }
  WindowId now{288 * 100};

 private:
  std::optional<TaskRef> NumberOf(const std::string& job) const {
    const auto at = numbers_.find(job);
    return at == numbers_.end() ? std::nullopt : std::optional(TaskRef{at->second, 0});
  }

  std::map<std::string, JobId> numbers_;
};

}  // namespace taut::server
