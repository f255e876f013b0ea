// Sellers with which the actuary is compared, and the account of a sale. In all functions, `available` is the
// capacity minus the usage of higher tiers, one value per step; NaN if not measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"

namespace taut::tools {

// Returns the largest amount that is available in at least the share `promise` of the measured steps; nullopt if
// no step is measured. Example: 60 for a promise of 0.99 means that 60 units are available with a probability of
// 99 %. O(n), allocates.
std::optional<double> QuantileAmount(std::span<const double> available, double promise);

// Returns an upper bound on the mean amount of sellers that know the future. These sellers sell one amount per
// horizon of `horizon_steps`, and over all horizons at most the share 1 - promise of the steps is short. If every
// horizon must keep the promise, QuantileAmount() of the horizon is the exact maximum.
//
// The bound is a Lagrangian dual, within `horizon_steps` missed steps of the optimum. It excludes horizons without
// measured steps, and an incomplete last horizon. Returns nullopt if no horizon is left. O(n log n).
std::optional<double> PooledBound(std::span<const double> available, int64_t horizon_steps, double promise);

// Returns the quota of cloudrm-sim (Carvalho et al., CloudCom'15), with the paper's conservative mean. The mean is
// the minimum of several means: of the last hour, of the last day, and, for each step of the next hour, of the
// last 7 values at the same time of day. The quota is (mean - sd * t_{.95, n-1} * sqrt(1 + 1/n)) / SLO, at least
// 0, with sd and n of the last 30 days.
//
// With fewer than 12 values, returns GreedyQuota(). REQUIRES: `slo` is in (0, 1], and `step_s` divides an hour.
// Returns nullopt if no step is measured. O(steps of 30 days).
std::optional<double> CloudrmQuota(std::span<const double> past_available, int64_t step_s, double slo);
// Returns the quota of CloudrmQuota() without the term with sd.
std::optional<double> MeanQuota(std::span<const double> past_available, int64_t step_s, double slo);
// Returns available / SLO at the last measured step; nullopt if no step is measured.
std::optional<double> GreedyQuota(std::span<const double> past_available, double slo);

// Returns the q-quantile of Student's t distribution, for q in (0.5, 1) and n >= 3 degrees of freedom. The
// relative error is below 1e-3 for q up to 0.99 and n >= 10 (Abramowitz and Stegun, 26.7.5 and 26.2.23).
double StudentQuantile(double q, double n);

// Account of one sale of `amount`, by the rule of cloudrm-sim. Each unit of the amount is a VM, and the newest VM
// is reclaimed first. So the unit at height z runs while z <= available. A unit that ran at least the share `slo`
// of the horizon earns price * SLO for its running time. Any other unit costs price * SLO for the whole horizon.
// Excludes steps that were not measured.
struct SaleAccount {
  int64_t revenue_micro = 0, penalty_micro = 0;
  double kept_amount = 0;  // number of units that ran at least the share `slo`
  int64_t measured_steps = 0;
  int64_t missed_steps = 0;  // number of measured steps with less than `amount` available
  double taken_back = 0;     // number of stopped units, summed over all stops
};
// Computes the account. `price_micro` is the price of a unit and step at SLO 1. Returns InvalidArgument if a
// number is out of range, or if a result exceeds 64 bits.
absl::StatusOr<SaleAccount> Settle(std::span<const double> available, double amount, double slo,
                                   int64_t price_micro);

// Returns the part of `wanted` that a group obtains from a shared pool while other groups use `used_by_others`,
// which is not preempted.
double Obtainable(double capacity, double used_by_others, double wanted);

}  // namespace taut::tools
