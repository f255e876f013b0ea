// What sellers of a pool's slack would have sold over a recorded series, and how their promises turned out.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/actuary.h"
#include "brain/economy/promise_ledger.h"

namespace taut::tools {

// Per step: the pool's capacity and what the higher tiers use, in one unit; NaN where not measured.
struct PoolSeries {
  int64_t step_s = 300;
  std::vector<double> capacity, use;
};

struct ActuaryReplayOptions {
  brain::ActuaryOptions actuary;  // capacity and step_s are the series'
  int64_t warmup_steps = 0;       // at the start, without sales
};

// Of one seller, over the time after the warm-up. A sale lasts one horizon; a seller that refuses is asked again
// after a day, or a horizon if that is shorter. Sold is what runs when it is available.
struct SellerScore {
  std::string seller;  // "actuary", "cloudrm", "greedy", "all", "clairvoyant"
  uint64_t sales = 0,
           broken = 0;        // broken: more was sold than its horizon had for the promised share of steps
  double kept_share = 0;      // of the sold steps
  double refused_share = 0;   // of all steps
  double of_clairvoyant = 0;  // sold / the clairvoyant's, over all steps
  double mean_amount = 0, least_amount = 0;
  double taken_back_per_day = 0;  // amounts that stopped running
  double net_of_clairvoyant = 0;  // revenue less penalties / the clairvoyant's (SaleAccount's rule)
};

struct ActuaryReplayResult {
  std::vector<SellerScore> sellers;
  brain::KeptSummary kept;  // the actuary's
  brain::Quote next;        // for the horizon after the series
};

// InvalidArgument: options as Actuary::Make, or a series that is not longer than the warm-up.
absl::StatusOr<ActuaryReplayResult> ReplayActuary(const PoolSeries& series,
                                                  const ActuaryReplayOptions& options);

}  // namespace taut::tools
