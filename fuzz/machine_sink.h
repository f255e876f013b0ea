// A sink of rows with machines, for the fuzzers of trace readers.
#pragma once

#include <cstdlib>

#include "tools/trace/placing_sink.h"

namespace taut {

inline void Require(bool holds) {
  if (!holds) std::abort();
}

// Checks that the machine of a row is known, and that the placement of the task is then found. `days` and
// `machines` must outlive the sink.
class MachineSink final : public tools::PlacingSink {
 public:
  MachineSink(tools::JobDayStore& days, brain::RecordedMachines& machines)
      : tools::PlacingSink(days, machines), machines_(machines) {}
  void OnPlaced(JobId id, uint32_t task, Timestamp start, uint32_t machine) override {
    Require(machine < machines_.size());
    tools::PlacingSink::OnPlaced(id, task, start, machine);
    Require(machines_.StayOf(id, task, WindowId::Of(start))->machine == machine);
  }

 private:
  brain::RecordedMachines& machines_;
};

}  // namespace taut
