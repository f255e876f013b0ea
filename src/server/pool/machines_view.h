// Snapshot of the machine service: the figures of one window.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/resource.h"

namespace taut::server {

// Counts of machine-days whose prediction was compared with the usage that followed.
struct PromiseCounts {
  uint64_t judged = 0, passed = 0;  // numbers of compared days, and of days with a peak above the prediction
};

// Amounts of one resource on a machine, in cores or bytes; absent: unknown for the reason in `why`.
struct MachineAmounts {
  std::optional<double> capacity;
  std::optional<double> limits;  // sum over the tasks with a limit (a request for containers of Kubernetes)
  uint32_t without_limit = 0;    // number of tasks without a limit
  uint32_t measured_tasks = 0;   // number of tasks with known usage
  std::optional<double> reservations, usage;
  std::optional<double> predicted;        // peak within the horizon at the risk target
  bool learnt = false;                    // true if the prediction is based on observations instead of limits
  std::optional<double> reclaimable;      // capacity less prediction, at least 0
  std::optional<double> reclaimable_now;  // limits less reservations, at least 0
  std::string why;                        // reason for absent figures; "" if none is absent
  PromiseCounts promises;                 // outcomes of this machine's predictions
};

// A task, with amounts in cores and bytes.
struct MachineTaskView {
  std::string job, task;
  PerResource<std::optional<double>> limit, reservation, usage;
};

struct MachineView {
  std::string name, source;
  std::vector<std::string> also_in;  // other sources with a machine of this name
  bool present = false;              // true if the source had the machine when the window closed
  bool ready = false;
  int64_t seen_s = 0;  // end of the last window with the machine, Unix time
  PerResource<MachineAmounts> amounts;
  std::vector<MachineTaskView> tasks;  // tasks in any order

  const MachineAmounts& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Sum of a figure over the machines of a source, and the number of machines with a known figure.
struct MachineSum {
  double amount = 0;
  uint32_t machines = 0;

  void Add(const std::optional<double>& figure) {
    if (!figure.has_value()) return;
    amount += *figure;
    ++machines;
  }
  std::optional<double> value() const { return machines > 0 ? std::optional(amount) : std::nullopt; }
};
struct MachineTotals {
  std::string source;
  uint32_t machines = 0, present = 0, tasks = 0;
  struct Of {
    MachineSum capacity, limits, reservations, usage, predicted, reclaimable, reclaimable_now;
    uint32_t learnt = 0;  // number of machines with a learned prediction
  };
  PerResource<Of> of;
};

struct MachinesView {
  std::optional<WindowId> window;  // window of the figures; nullopt before the first window
  double risk = 0, horizon_h = 0;
  std::vector<std::shared_ptr<const MachineView>> machines;  // machines by name and source
  // totals by source, in the order of their first appearance
  std::vector<MachineTotals> totals;
  // Counts over the last kPromiseDays, by resource.
  PerResource<PromiseCounts> promises;
};

}  // namespace taut::server
