// Replays a shared pool over a trace. Jobs are admitted, run, reclaimed and billed, once per policy for selling
// the capacity that reserved tiers leave. The pool is a single amount of capacity without machines.
//
// Tiers are simulated one after the other in order of priority, because a tier does not depend on lower tiers.
// tier_sale.h defines how each tier is sold. A policy's seller sells slack tiers (tier_simulation.h). Jobs of
// spare tiers receive all capacity that they request, or none under the policy "none". Jobs of slack and spare
// tiers request capacity after the warm-up only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/bill.h"
#include "brain/economy/price_sheet.h"
#include "brain/economy/quota_tree.h"
#include "brain/economy/tier_sale.h"
#include "tools/sim/bill_replay.h"
#include "tools/sim/replay.h"
#include "tools/sim/tier_seller.h"
#include "tools/sim/tier_simulation.h"

namespace taut::tools {

struct EconomyOptions {
  std::vector<SellerPolicy> policies;
  std::vector<brain::TierSale> tiers;           // kind of sale by tier of the sheet; reserved tiers first
  std::optional<PerResource<double>> capacity;  // capacity in cores and bytes; absent: a share of the limits
  double capacity_share = 0.5;  // share of the highest sum of the owners' limits, if `capacity` is absent
  int64_t warmup_s = 7 * kDaySeconds;
  int64_t horizon_s = kDaySeconds;          // horizon of the actuary's quotes
  int64_t reclaim_s = 600;                  // delay until capacity that higher tiers release is available
  int64_t patience_s = 600;                 // time within which a granted request counts as obtained
  const LimitsInForce* limits = nullptr;    // limits in place of the owners' limits; null: owners' limits
  const brain::QuotaTree* quota = nullptr;  // quota of some tiers; null: no quota
  std::span<const std::string> groups;      // names of the groups by BilledJob::group; required with a quota
  int threads = 0;                          // number of threads; 0: one per core
};

// A decision of one policy. `policy` is absent for reserved tiers, whose decisions are equal under all policies.
struct EconomyDecision {
  std::optional<SellerPolicy> policy;
  uint16_t tier = 0;
  SaleDecision sale;
};

struct EconomyHooks {
  // Receives decisions ordered by tier, day, policy and time. Called between days.
  std::function<void(const EconomyDecision&)> on_decision;
  std::function<void(double share)> on_progress;
  std::function<bool()> should_stop;  // called between days; true ends the replay
};

struct EconomyTier {
  TierTotals totals;
  // Charges for the usage of jobs while they ran, and credits for months with missed availability.
  brain::Money charges, credits;
  brain::Money missed;  // part of the charges for months with missed availability
  // Charges for months with missed availability, as if the jobs had run in all windows with usage. This is the
  // penalty of cloudrm-sim (SaleAccount), independent of the price sheet's credits.
  brain::Money penalty;
  // Returns the net revenue by SaleAccount's rule, in which only months with kept availability earn.
  brain::Money strict_net() const { return {charges.micros - missed.micros - penalty.micros}; }
};
struct EconomyPolicy {
  SellerPolicy policy = SellerPolicy::kNone;
  std::vector<EconomyTier> tiers;  // results, one per tier of the sheet
  brain::Bill bill;
  std::vector<PoolLines> lines;  // sums over all tiers by step
};
struct EconomyResult {
  int64_t start_s = 0;     // start of step 0; a step is a window
  int32_t count_from = 0;  // first step that is sold and billed
  PoolAmounts capacity = {};
  std::vector<bool> measured;           // true if any job has usage, by step
  std::vector<PoolAmounts> reserved;    // amounts sold to reserved tiers, by step
  std::vector<EconomyPolicy> policies;  // results in the order of the options
  std::vector<brain::TierSale> tiers;   // kinds of sale, copied from EconomyOptions::tiers
};

// Replays the pool. `jobs` is indexed by JobId. Returns InvalidArgument if the options do not fit the sheet or the
// trace, Cancelled if should_stop returned true, and errors of DaySource, Metering and TierQuota. Reads each day
// once, once more per tier, and at most twice per policy. The result is bitwise independent of the number of
// threads. Memory: one day, and some bytes per policy, step and job.
absl::StatusOr<EconomyResult> ReplayEconomy(DaySource& source, const brain::PriceSheet& sheet,
                                            std::span<const BilledJob> jobs, const EconomyOptions& options,
                                            const EconomyHooks& hooks = {});

}  // namespace taut::tools
