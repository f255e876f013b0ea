// One job's stored history stepped again under other parameters, through the gate as in mode auto: the replay
// of one lane.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/fleet/policies.h"
#include "brain/rollout/job_policy.h"
#include "common/model/rollout.h"
#include "common/model/usage.h"

namespace taut::server {

struct WhatIfChange {
  std::optional<brain::Policy> recommender;
  std::vector<std::pair<const brain::WhatIfKnob*, double>> knobs;  // values within what each accepts
  std::optional<double> lower, upper;                              // bounds
};

struct WhatIfLane {
  brain::Policy recommender = brain::Policy::kStatic;
  std::vector<std::optional<double>> limit;  // in force, a window measured
  double mean_limit = 0;                     // over windows that had one
  // Over: usage was above the limit; or a task was killed then at this limit or a higher one, which cut usage
  // off before it could be seen above it.
  uint32_t windows = 0, windows_over = 0;
  uint32_t days = 0, days_over = 0;
  uint32_t changes = 0;
  std::optional<double> saved_share;  // of the owner's limit, where that is known
};

struct WhatIfResult {
  uint64_t oom_kills = 0;       // recorded in the time that is scored
  std::vector<int64_t> time_s;  // starts of the windows measured
  std::vector<float> usage_peak;
  std::vector<std::optional<double>> owner_limit;
  WhatIfLane now, whatif;
};

struct WhatIfQuery {
  Resource resource = Resource::kMemory;
  const brain::JobPolicy* policy = nullptr;  // of now
  const brain::VerticalSettings* settings = nullptr;
  const brain::FleetModels* fleet =
      nullptr;  // never null: what the fleet knows today, so analogs have hindsight
  WhatIfChange change;
  std::string job;                           // its name: the hour of its daily decision follows from it
  WindowId score_from;                       // windows before it are stepped, not scored
  std::span<const Decision> decisions = {};  // the job's, ascending: see StoredHistory
};
// `ooms`: the job's, ascending by time; of memory only. About 2 us a window and lane; analogs 20 us a day.
WhatIfResult WhatIf(const WhatIfQuery& query, std::span<const JobDay> days, std::span<const OomRecord> ooms);

}  // namespace taut::server
