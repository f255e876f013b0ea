// Calls a Python function for the limits of a replay, once per day and resource.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "arrow_table.h"
#include "tools/sim/replay.h"
#include "watched.h"

namespace taut::python {

// The state of one replay. Used only by the replay's thread, which does not hold the interpreter's lock.
class PythonLane {
 public:
  // `ask` is called as ask(start_s, resource, jobs, usage, stopped). `start_s` is the start of the day, and `jobs`
  // names the jobs with usage on the day. `usage` is a table of the usage of the previously replayed day, or None.
  // `stopped` is a function that returns true when the replay must stop. `ask` returns a list of (position in
  // `jobs`, limit). All objects must outlive the lane.
  PythonLane(nb::handle ask, const tools::DaySource& source, const std::vector<Resource>& resources,
             const Watch& watch)
      : ask_(ask), source_(source), resources_(resources), watch_(watch) {}

  // Calls `ask` for the day and returns its limits, for ReplayHooks::answers.
  absl::StatusOr<std::vector<tools::DayAnswer>> AnswersFor(int32_t day, const std::vector<JobDay>& jobs);

 private:
  std::shared_ptr<const ArrowTable> UsageOf(Resource resource, const std::vector<JobDay>& jobs) const;

  nb::handle ask_;
  const tools::DaySource& source_;
  const std::vector<Resource>& resources_;
  const Watch& watch_;
  std::vector<std::shared_ptr<const ArrowTable>> last_;  // by resource; empty before the first day
};

}  // namespace taut::python
