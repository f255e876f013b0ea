// Input and answer of an external recommender, a service that the owner runs, for one window of a job. Plain
// values; proto/recommender.proto defines their wire format.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/histogram/grid.h"
#include "common/model/target.h"
#include "common/model/usage.h"

namespace taut {

// One resource in the window. Amounts are per task, in cores or bytes; absent: unknown.
struct ExternalSignal {
  std::optional<double> owner_limit, limit_in_force;
  std::optional<double> recommended;  // limit by the job's own recommender; used if no answer arrives
  uint32_t oom_kills_of_week = 0;     // OOM kills of the last week; memory only
  std::optional<double> throttled;    // share of the CFS periods that were throttled; CPU only
};

struct ExternalReplicas {
  int running = 0;
  std::optional<int> in_force, recommended;
  std::optional<double> load, task_capacity;  // cores, or the unit of the job's load series
  bool is_of_cpu = true;
};

// The mean of a named signal of the job (common/model/signal_name.h) in the window.
struct ExternalNamed {
  std::string name;
  std::optional<double> value;  // absent: not measured, but used by the job's replica policy
};

// One measured window of one job.
struct ExternalJob {
  JobId id;
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by key
  std::vector<TaskWindow> tasks;                            // ascending by task
  std::vector<BucketWeight> cpu_seconds;                    // seconds at each usage, over all tasks
  PerResource<ExternalSignal> signals;                      // signals, indexed by Resource
  std::vector<ExternalNamed> named;                         // ascending by name
  std::optional<ExternalReplicas> replicas;                 // present if a policy sets the number of tasks

  const ExternalSignal& of(Resource r) const { return signals[static_cast<size_t>(r)]; }
};

struct ExternalBatch {
  WindowId window;
  std::vector<ExternalJob> jobs;
};

// An answer: a limit per task, or the number of tasks. Valid for windows up to and including `until`.
struct ExternalAnswer {
  JobId job;
  Target target = Resource::kCpu;
  double value = 0;  // limit in cores or bytes, or number of tasks
  std::string why;   // one human-readable sentence; may be ""
  WindowId until;
};

}  // namespace taut
