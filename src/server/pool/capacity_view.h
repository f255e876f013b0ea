// Snapshot of the capacity service: capacity that can still be sold in each tier, and outcomes of past promises.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "brain/economy/actuary.h"
#include "brain/economy/promise_ledger.h"
#include "common/base/time.h"
#include "server/pool/cell_capacity.h"

namespace taut::server {

// Duration of a promise of sold capacity, and the retention of ended promises.
struct CapacityHorizon {
  std::string_view name;
  int32_t hours = 0, keep_days = 0;

  int64_t seconds() const { return int64_t{hours} * 3600; }
};
inline constexpr std::array<CapacityHorizon, 4> kCapacityHorizons = {
    {{"hour", 1, 14}, {"day", 24, 100}, {"month", 30 * 24, 400}, {"quarter", 90 * 24, 800}}};

// Capacity for sale in one tier, for one resource and horizon.
struct CapacityOffer {
  size_t tier = 0;
  Resource resource = Resource::kCpu;
  std::optional<size_t> horizon;  // index of the horizon; absent: any time (a reserved tier)
  double promise = 0;             // share of the hours in which the amount is to be available

  // Total amount for sale, including the amount already sold; absent without known capacity, or if the quote is
  // refused.
  std::optional<double> sellable;
  std::optional<double> sold;            // larger of the bought amount (quota) and the allocated amount
  std::optional<double> left, oversold;  // amounts >= 0; absent unless sellable and sold are known
  bool measured = false;                 // true if an hour with capacity and usage is known
  brain::Refusal refusal = brain::Refusal::kNone;
  std::optional<int64_t> ready_s;  // earliest Unix time at which the history may suffice
  bool never = false;              // true if the stored history can never suffice
  brain::Evidence evidence;
  brain::KeptSummary kept;  // summary of ended promises
};

struct CapacityPromise {
  size_t tier = 0, horizon = 0;
  Resource resource = Resource::kCpu;
  brain::PromiseOutcome outcome;
};

struct CapacityView {
  std::optional<CellCapacity> latest;  // newest window
  std::vector<CapacityTier> tiers;
  std::vector<CapacityOffer> offers;  // offers by tier, horizon and resource; none for spare tiers
  // Promises by tier, horizon and resource, newest first, with at most kShownPromises per combination.
  std::vector<CapacityPromise> promises;
  PerResource<int32_t> measured_hours = {};  // number of hours with capacity and usage
  std::optional<int64_t> first_s;            // start of the first known hour, Unix time
  size_t bytes = 0;                          // memory of time series and promises in bytes
};
inline constexpr size_t kShownPromises = 10;  // maximum number per tier, horizon and resource

// Time series of a time range in steps of whole hours. Unknown values are absent.
struct CapacityHistory {
  int64_t resolution_s = 3600;
  std::vector<int64_t> time_s;  // start of each step, Unix time
  // Values by resource and line.
  PerResource<std::array<std::vector<std::optional<double>>, 6>> lines;
};

}  // namespace taut::server
