// Replays one job's stored history with other parameters, through the gate as in mode auto.
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
  // changed parameters; values in the accepted range
  std::vector<std::pair<const brain::WhatIfKnob*, double>> knobs;
  std::optional<double> lower, upper;  // bounds of the limit; absent: unbounded
};

struct WhatIfLane {
  brain::Policy recommender = brain::Policy::kStatic;
  std::vector<std::optional<double>> limit;  // limit in force per measured window; absent: none
  double mean_limit = 0;                     // mean over windows with a limit
  // Numbers of windows and days over the limit: with usage above the limit, or with a kill of a task at this limit
  // or a higher limit. After such a kill, the usage that the task would have reached is unknown.
  uint32_t windows = 0, windows_over = 0;
  uint32_t days = 0, days_over = 0;
  uint32_t changes = 0;
  std::optional<double> saved_share;  // saving as a share of the owner's limit; absent: unknown owner's limit
};

struct WhatIfResult {
  uint64_t oom_kills = 0;       // kills recorded in the scored time
  std::vector<int64_t> time_s;  // starts of the measured windows
  std::vector<float> usage_peak;
  std::vector<std::optional<double>> owner_limit;
  WhatIfLane now, whatif;
};

struct WhatIfQuery {
  Resource resource = Resource::kMemory;
  const brain::JobPolicy* policy = nullptr;  // present policy of the job
  const brain::VerticalSettings* settings = nullptr;
  // Models of the fleet at present; never null. The recommender analogs therefore also uses days after the
  // replayed time.
  const brain::FleetModels* fleet = nullptr;
  WhatIfChange change;
  std::string job;      // name of the job, which determines the hour of the daily decision
  WindowId score_from;  // first window that is scored; earlier windows are only stepped
  std::span<const Decision> decisions = {};  // decisions of the job, ascending; see StoredHistory
};
// Replays the present and the changed lane side by side and returns both. `ooms`: OOM kills of the job,
// ascending by time, used for memory only. Cost: about 2 µs per window and lane; analogs 20 µs per day.
WhatIfResult WhatIf(const WhatIfQuery& query, std::span<const JobDay> days, std::span<const OomRecord> ooms);

}  // namespace taut::server
