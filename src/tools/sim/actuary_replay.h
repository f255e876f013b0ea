// Replays sellers of a pool's slack over a recorded series. Compares how much each seller would have sold, and how
// often its promises would have been kept.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/actuary.h"
#include "brain/economy/promise_ledger.h"

namespace taut::tools {

// Capacity of a pool and usage of higher tiers by step, in one common unit; NaN if not measured.
struct PoolSeries {
  int64_t step_s = 300;
  std::vector<double> capacity, use;
};

struct ActuaryReplayOptions {
  brain::ActuaryOptions actuary;  // ReplayActuary() sets `capacity` and `step_s` from the series
  int64_t warmup_steps = 0;       // number of steps at the start without sales
};

// Score of one seller after the warm-up. A sale lasts one horizon. After a refusal, the seller receives the next
// request one day later, or one horizon later if that is shorter.
struct SellerScore {
  std::string seller;  // name: "actuary", "cloudrm", "greedy", "all" or "clairvoyant"
  // Number of sales, and number of sales whose amount was available in too few steps to keep the promise.
  uint64_t sales = 0, broken = 0;
  double kept_share = 0;      // share of sold, measured steps in which the sold amount was available
  double refused_share = 0;   // share of all steps after the warm-up without a sale
  double of_clairvoyant = 0;  // sold amount as a share of the amount sold by the clairvoyant, over all steps
  double mean_amount = 0, least_amount = 0;
  double taken_back_per_day = 0;  // capacity reclaimed from running work, per day
  double net_of_clairvoyant = 0;  // ratio of (revenue - penalties) to the clairvoyant's revenue (SaleAccount)
};

struct ActuaryReplayResult {
  std::vector<SellerScore> sellers;
  brain::KeptSummary kept;  // kept promises of the actuary
  brain::Quote next;        // quote of the actuary for the horizon after the series
};

// Runs the actuary and the sellers of sellers.h over the series. Returns InvalidArgument for options that
// Actuary::Make() rejects, for vectors of different lengths, and for a series no longer than the warm-up. Cost:
// "cloudrm" reads 30 days of steps per sale.
absl::StatusOr<ActuaryReplayResult> ReplayActuary(const PoolSeries& series,
                                                  const ActuaryReplayOptions& options);

}  // namespace taut::tools
