// A shared pool over a trace: its jobs are admitted, run, are reclaimed and are billed, once for each policy
// of selling what the reserved tiers leave. The pool is one lump of capacity, without machines.
//
// Tiers come one after the other, by priority: what a tier does never depends on those below it. How a tier
// is sold: tier_sale.h. Slack is sold as the policy's seller says (tier_simulation.h), spare tiers nothing
// with the policy none.
// Jobs of slack and spare tiers ask from the end of the warm-up on: what is there then asks at once.
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
  std::vector<brain::TierSale> tiers;           // by tier of the sheet; reserved ones first
  std::optional<PerResource<double>> capacity;  // cores and bytes
  double capacity_share = 0.5;  // without a capacity: of the highest sum of the owners' limits
  int64_t warmup_s = 7 * kDaySeconds;
  int64_t horizon_s = kDaySeconds;          // of the actuary's quotes
  int64_t reclaim_s = 600;                  // after which capacity that comes back is free
  int64_t patience_s = 600;                 // a request granted within this counts as obtained
  const LimitsInForce* limits = nullptr;    // instead of the owners'; null: none
  const brain::QuotaTree* quota = nullptr;  // for the tiers that it has; null: none
  std::span<const std::string> groups;      // names of BilledJob::group; only read with a quota
  int threads = 0;                          // 0: one a core
};

// A decision of one policy, or of all of them (about a reserved tier).
struct EconomyDecision {
  std::optional<SellerPolicy> policy;
  uint16_t tier = 0;
  SaleDecision sale;
};

struct EconomyHooks {
  // By tier, day, policy and time. Called between days.
  std::function<void(const EconomyDecision&)> on_decision;
  std::function<void(double share)> on_progress;
  std::function<bool()> should_stop;  // checked between days
};

struct EconomyTier {
  TierTotals totals;
  brain::Money charges, credits;  // for what ran; credits for months in which the availability was not kept
  brain::Money missed;            // of the charges: for months in which it was not
  // What these months would have been charged if their jobs had run whenever they wanted to: the penalty of
  // cloudrm-sim (SaleAccount's rule), whatever the sheet's credits are.
  brain::Money penalty;
  // By that rule only kept months earn.
  brain::Money strict_net() const { return {charges.micros - missed.micros - penalty.micros}; }
};
struct EconomyPolicy {
  SellerPolicy policy = SellerPolicy::kNone;
  std::vector<EconomyTier> tiers;  // by tier of the sheet
  brain::Bill bill;
  std::vector<PoolLines> lines;  // of all tiers, by step
};
struct EconomyResult {
  int64_t start_s = 0;     // of step 0; a step is a window
  int32_t count_from = 0;  // the first step that is sold, counted and billed
  PoolAmounts capacity = {};
  std::vector<bool> measured;           // by step: whether any job has usage
  std::vector<PoolAmounts> reserved;    // bought by the reserved tiers, by step
  std::vector<EconomyPolicy> policies;  // as ordered
  std::vector<brain::TierSale> tiers;   // as ordered
};

// `jobs`: by JobId. InvalidArgument for options that do not fit the sheet or the trace, Cancelled if stopped; else
// as DaySource, Metering and TierQuota. Reads the days once, once more for each tier, and at most twice for each
// policy. The
// same to the bit on any number of threads. Memory: a day, and per policy some bytes for each step and job.
absl::StatusOr<EconomyResult> ReplayEconomy(DaySource& source, const brain::PriceSheet& sheet,
                                            std::span<const BilledJob> jobs, const EconomyOptions& options,
                                            const EconomyHooks& hooks = {});

}  // namespace taut::tools
