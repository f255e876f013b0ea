// Replays a shared pool over a trace. The trace's jobs are admitted, run, reclaimed and billed, once per
// policy that sells the capacity left by the reserved tiers. The pool is one amount of capacity, without
// machines.
//
// Tiers are simulated one after the other, by priority, because a tier never depends on the tiers below it.
// tier_sale.h defines how each tier is sold. The policy's seller sells slack tiers (tier_simulation.h). Jobs
// of spare tiers are granted all capacity that they request, or none under the policy "none". Jobs of slack
// and spare tiers request capacity from the end of the warm-up on.
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
  std::vector<brain::TierSale> tiers;           // sale of each tier of the sheet; reserved tiers first
  std::optional<PerResource<double>> capacity;  // cores and bytes
  double capacity_share = 0.5;  // without `capacity`: share of the highest sum of the owners' limits
  int64_t warmup_s = 7 * kDaySeconds;
  int64_t horizon_s = kDaySeconds;          // horizon of the actuary's quotes
  int64_t reclaim_s = 600;                  // delay until capacity that higher tiers return counts as free
  int64_t patience_s = 600;                 // a request granted within this time counts as obtained
  const LimitsInForce* limits = nullptr;    // replace the owners' limits; null: owners' limits
  const brain::QuotaTree* quota = nullptr;  // quota of the tiers that it contains; null: no quota
  std::span<const std::string> groups;      // names of BilledJob::group; read only with a quota
  int threads = 0;                          // 0: one per core
};

// A decision of one policy; absent policy: a reserved tier's decision, which is the same under all policies.
struct EconomyDecision {
  std::optional<SellerPolicy> policy;
  uint16_t tier = 0;
  SaleDecision sale;
};

struct EconomyHooks {
  // Reports decisions ordered by tier, day, policy and time. Called between days.
  std::function<void(const EconomyDecision&)> on_decision;
  std::function<void(double share)> on_progress;
  std::function<bool()> should_stop;  // checked between days
};

struct EconomyTier {
  TierTotals totals;
  brain::Money charges, credits;  // charges for usage that ran; credits for months with missed availability
  brain::Money missed;            // part of the charges that belongs to months with missed availability
  // Charges of the months with missed availability, as if their jobs had run whenever they had usage. This is
  // the penalty of cloudrm-sim (SaleAccount's rule), whatever the sheet's credits are.
  brain::Money penalty;
  // Returns the net revenue by SaleAccount's rule: only months with kept availability earn.
  brain::Money strict_net() const { return {charges.micros - missed.micros - penalty.micros}; }
};
struct EconomyPolicy {
  SellerPolicy policy = SellerPolicy::kNone;
  std::vector<EconomyTier> tiers;  // results of each tier of the sheet
  brain::Bill bill;
  std::vector<PoolLines> lines;  // sums over all tiers, by step
};
struct EconomyResult {
  int64_t start_s = 0;     // start of step 0; a step is a window
  int32_t count_from = 0;  // first step that is sold, counted and billed
  PoolAmounts capacity = {};
  std::vector<bool> measured;           // true for a step in which any job has usage
  std::vector<PoolAmounts> reserved;    // amounts bought by the reserved tiers, by step
  std::vector<EconomyPolicy> policies;  // results of each policy, in the order of the options
  std::vector<brain::TierSale> tiers;   // sale of each tier, as in the options
};

// Replays the pool; `jobs` is indexed by JobId. Returns InvalidArgument for options that do not fit the sheet
// or the trace, Cancelled if should_stop returned true, and else the errors of DaySource, Metering and
// TierQuota. Reads the days once, once more per tier, and at most twice per policy. The result is the same to
// the bit on any number of threads. Memory: one day, and some bytes per policy, step and job.
absl::StatusOr<EconomyResult> ReplayEconomy(DaySource& source, const brain::PriceSheet& sheet,
                                            std::span<const BilledJob> jobs, const EconomyOptions& options,
                                            const EconomyHooks& hooks = {});

}  // namespace taut::tools
