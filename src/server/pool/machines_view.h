// What the machine service shows: figures of one window.
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

// Machine-days whose promise was compared with what came.
struct PromiseCounts {
  uint64_t judged = 0, passed = 0;  // passed: the peak was above the prediction
};

// One resource of a machine, in cores or bytes; absent: not known, and `why` says why.
struct MachineAmounts {
  std::optional<double> capacity;
  std::optional<double> limits;  // of the tasks that have one; a request, for containers of Kubernetes
  uint32_t without_limit = 0;    // tasks that have none
  uint32_t measured_tasks = 0;   //
  std::optional<double> reservations, usage;
  std::optional<double> predicted;        // the peak of the coming horizon, at the ordered risk
  bool learnt = false;                    // it rests on what was observed; else it is the limits
  std::optional<double> reclaimable;      // capacity less prediction; not below 0
  std::optional<double> reclaimable_now;  // limits less reservations; not below 0
  std::string why;                        // of figures that are absent; "": none is
  PromiseCounts promises;                 // of this machine
};

// Per Resource, in cores and bytes.
struct MachineTaskView {
  std::string job, task;
  PerResource<std::optional<double>> limit, reservation, usage;
};

struct MachineView {
  std::string name, source;
  std::vector<std::string> also_in;  // other sources that have a machine of this name
  bool present = false;              // its source had it when the window closed; else figures are absent
  bool ready = false;
  int64_t seen_s = 0;  // the end of the last window in which it was present
  PerResource<MachineAmounts> amounts;
  std::vector<MachineTaskView> tasks;  // in no order

  const MachineAmounts& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Of the machines of one source, of one resource: sums over those whose figure is known, and their number.
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
    uint32_t learnt = 0;  // machines
  };
  PerResource<Of> of;  // by Resource
};

struct MachinesView {
  std::optional<WindowId> window;  // of the figures; nullopt: none has closed
  double risk = 0, horizon_h = 0;
  std::vector<std::shared_ptr<const MachineView>> machines;  // by name, then source
  std::vector<MachineTotals> totals;                         // by source, in the order of sources
  // Of the last kPromiseDays, by Resource.
  PerResource<PromiseCounts> promises;
};

}  // namespace taut::server
