// Replays sellers of a pool's slack over a recorded series. Compares how much each seller would have sold,
// and how often each seller would have kept its promise.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/actuary.h"
#include "brain/economy/promise_ledger.h"

namespace taut::tools {

// The pool's capacity and the use by higher tiers, per step, in one common unit; NaN if not measured.
struct PoolSeries {
  int64_t step_s = 300;
  std::vector<double> capacity, use;
};

struct ActuaryReplayOptions {
  brain::ActuaryOptions actuary;  // ReplayActuary sets `capacity` and `step_s` from the series
  int64_t warmup_steps = 0;       // steps at the start without sales
};

// Score of one seller over the time after the warm-up. A sale lasts one horizon. A seller that refuses a sale
// gets the next request after one day, or after one horizon if that is shorter.
struct SellerScore {
  std::string seller;  // "actuary", "cloudrm", "greedy", "all", "clairvoyant"
  uint64_t sales = 0,  // sales that were made
      // Sales of an amount that was not available in the promised share of the steps of the sale's horizon.
      broken = 0;
  double kept_share = 0;      // share of the measured sold steps in which the sold amount was available
  double refused_share = 0;   // share of all steps after the warm-up
  double of_clairvoyant = 0;  // amount sold / amount that the clairvoyant sells, over all steps
  double mean_amount = 0, least_amount = 0;
  double taken_back_per_day = 0;  // sum of the amounts that stopped running, per day
  double net_of_clairvoyant = 0;  // (revenue - penalties) / the clairvoyant's revenue, by SaleAccount's rule
};

struct ActuaryReplayResult {
  std::vector<SellerScore> sellers;
  brain::KeptSummary kept;  // promises of the actuary
  brain::Quote next;        // the actuary's quote for the horizon after the series
};

// Runs the actuary and the sellers of sellers.h over the series. Returns InvalidArgument for options that
// Actuary::Make rejects, for vectors of different lengths, and for a series that is not longer than the
// warm-up. The cost of "cloudrm" is 30 days of steps per sale.
absl::StatusOr<ActuaryReplayResult> ReplayActuary(const PoolSeries& series,
                                                  const ActuaryReplayOptions& options);

}  // namespace taut::tools
