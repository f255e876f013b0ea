// Other ways to decide how much to sell, for comparison, and the account of a sale. Shared by all:
// `available` is capacity less what higher tiers use, one value per step, NaN where not measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"

namespace taut::tools {

// The largest amount that is available in at least a share `promise` of the measured steps; unset if none is
// measured. "With 99 % probability 60 can be freed" is 60 at 0.99. O(n), allocates.
std::optional<double> QuantileAmount(std::span<const double> available, double promise);

// The seller that knows the future: what QuantileAmount gives for the horizon itself. A bound for sellers
// that keep every promise. One that only keeps the promise on average may sell more: see PooledBound.
//
// The largest mean amount of constant amounts per horizon of `horizon_steps` with which the steps with too
// little available are a share of at most 1 - promise of all steps. An upper bound (Lagrangian dual) within
// `horizon_steps` missed steps of the optimum. Horizons without measured steps are left out, as is an
// incomplete last one. Unset if there is none. O(n log n).
std::optional<double> PooledBound(std::span<const double> available, int64_t horizon_steps, double promise);

// The admission quota of cloudrm-sim (Carvalho et al., CloudCom'15), with its conservative mean: the lowest
// of the means of the last hour, the last day and, for each step of the next hour, the last 7 values at the
// same time of day; less sd * t_{.95, n-1} * sqrt(1 + 1/n) of the last 30 days; over the SLO, and not below
// 0. With fewer than 12 values: available / SLO. `slo` in (0, 1]; `step_s` divides an hour. Unset while
// nothing is measured. O(30 days).
std::optional<double> CloudrmQuota(std::span<const double> past_available, int64_t step_s, double slo);
// The same without the error correction.
std::optional<double> MeanQuota(std::span<const double> past_available, int64_t step_s, double slo);
// available / SLO of the last measured step.
std::optional<double> GreedyQuota(std::span<const double> past_available, double slo);

// The q-quantile of Student's t, q in (0.5, 1), n >= 3 degrees of freedom; relative error below 1e-3 for q
// up to 0.99 and n >= 10 (Abramowitz and Stegun 26.7.5 on 26.2.23).
double StudentQuantile(double q, double n);

// What one sale of `amount` over `available` comes to, unit by unit: each unit is a VM, the newest is taken
// back first, so the unit at height z runs while z <= available. Rule of cloudrm-sim: a unit that ran at
// least a share `slo` of the horizon earns price * SLO for its running time, any other costs price * SLO for
// the whole horizon. Steps that were not measured are left out.
struct SaleAccount {
  int64_t revenue_micro = 0, penalty_micro = 0;
  double kept_amount = 0;  // units that ran often enough
  int64_t measured_steps = 0;
  int64_t missed_steps = 0;  // in which less than the amount was available
  double taken_back = 0;     // sum of the units that stopped running, each time they did
};
// `price_micro`: of a unit and step, at SLO 1. InvalidArgument if a number is out of range or a result too
// large.
absl::StatusOr<SaleAccount> Settle(std::span<const double> available, double amount, double slo,
                                   int64_t price_micro);

// What `wanted` gets of a shared pool of which others, not to be preempted for it, use a part.
double Obtainable(double capacity, double used_by_others, double wanted);

}  // namespace taut::tools
