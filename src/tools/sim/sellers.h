// Other sellers, for comparison with the actuary, and the account of a sale. In all functions `available` is
// the capacity minus the use by higher tiers, one value per step, NaN if not measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"

namespace taut::tools {

// Returns the largest amount that is available in at least the share `promise` of the measured steps; nullopt
// if no step is measured. Example: 60 at 0.99 means that 60 can be freed with a probability of 99 %. O(n),
// allocates.
std::optional<double> QuantileAmount(std::span<const double> available, double promise);

// Returns an upper bound for sellers that know the future and keep the promise only on average over all
// horizons. For sellers that keep every promise, the bound is QuantileAmount of the horizon itself, which may
// be lower.
//
// The bound is for constant amounts per horizon of `horizon_steps`, with at most the share 1 - promise of all
// steps short of the amount. It is the largest mean amount, up to a Lagrangian dual within `horizon_steps`
// missed steps of the optimum. Horizons without measured steps, and an incomplete last one, are left out.
// Returns nullopt if no horizon is left. O(n log n).
std::optional<double> PooledBound(std::span<const double> available, int64_t horizon_steps, double promise);

// Returns the quota of cloudrm-sim (Carvalho et al., CloudCom'15), with the conservative mean of that paper.
// This mean is the lowest of: the mean of the last hour, the mean of the last day, and for each step of the
// next hour the mean of the last 7 values at the same time of day. The quota is (mean - sd * t_{.95, n-1} *
// sqrt(1 + 1/n)) / SLO, at least 0, with sd and n of the last 30 days.
//
// With fewer than 12 values the result is GreedyQuota. `slo` is in (0, 1]; `step_s` divides an hour. Returns
// nullopt if no step is measured. O(steps of 30 days).
std::optional<double> CloudrmQuota(std::span<const double> past_available, int64_t step_s, double slo);
// Returns the quota of CloudrmQuota without the error correction (the term with sd).
std::optional<double> MeanQuota(std::span<const double> past_available, int64_t step_s, double slo);
// Returns available / SLO of the last measured step; nullopt if there is none.
std::optional<double> GreedyQuota(std::span<const double> past_available, double slo);

// Returns the q-quantile of Student's t distribution, q in (0.5, 1), n >= 3 degrees of freedom. The relative
// error is below 1e-3 for q up to 0.99 and n >= 10 (Abramowitz and Stegun 26.7.5 on 26.2.23).
double StudentQuantile(double q, double n);

// Account of one sale of `amount` over `available`, unit by unit. Each unit is a VM, and the newest VM is
// reclaimed first, so the unit at height z runs while z <= available. Rule of cloudrm-sim: a unit that ran at
// least the share `slo` of the horizon earns price * SLO for its running time. Any other unit costs price *
// SLO for the whole horizon. Steps that were not measured are left out.
struct SaleAccount {
  int64_t revenue_micro = 0, penalty_micro = 0;
  double kept_amount = 0;  // units that ran at least the share `slo`
  int64_t measured_steps = 0;
  int64_t missed_steps = 0;  // measured steps in which less than the amount was available
  double taken_back = 0;     // sum of the units that stopped running, over all stops
};
// Computes the account; `price_micro` is the price of a unit and step, at SLO 1. Returns InvalidArgument if a
// number is out of range or a result exceeds 64 bits.
absl::StatusOr<SaleAccount> Settle(std::span<const double> available, double amount, double slo,
                                   int64_t price_micro);

// Returns the part of `wanted` that is free in a shared pool while other groups use `used_by_others`. Usage
// of other groups is not preempted.
double Obtainable(double capacity, double used_by_others, double wanted);

}  // namespace taut::tools
