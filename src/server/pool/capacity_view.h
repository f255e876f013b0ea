// What the capacity service shows: what can still be sold of each tier, and how past statements of it were kept.
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

// How long what is sold is to be available, and how long ended promises of it are kept.
struct CapacityHorizon {
  std::string_view name;
  int32_t hours = 0, keep_days = 0;

  int64_t seconds() const { return int64_t{hours} * 3600; }
};
inline constexpr std::array<CapacityHorizon, 4> kCapacityHorizons = {
    {{"hour", 1, 14}, {"day", 24, 100}, {"month", 30 * 24, 400}, {"quarter", 90 * 24, 800}}};

// One tier, resource and horizon.
struct CapacityOffer {
  size_t tier = 0;
  Resource resource = Resource::kCpu;
  std::optional<size_t> horizon;  // absent: at any time (a reserved tier)
  double promise = 0;             // share of the hours in which the amount is available throughout

  // In all, also of what is sold: absent without capacity, or refused.
  std::optional<double> sellable;
  std::optional<double> sold;            // bought (quota), or where that is more, allocated
  std::optional<double> left, oversold;  // where both are known, >= 0
  bool measured = false;                 // an hour with capacity and usage is known
  brain::Refusal refusal = brain::Refusal::kNone;
  std::optional<int64_t> ready_s;  // when history may suffice, at the earliest
  bool never = false;              // it does not with what is kept
  brain::Evidence evidence;
  brain::KeptSummary kept;  // promises that have ended
};

struct CapacityPromise {
  size_t tier = 0, horizon = 0;
  Resource resource = Resource::kCpu;
  brain::PromiseOutcome outcome;
};

struct CapacityView {
  std::optional<CellCapacity> latest;  // of the newest window
  std::vector<CapacityTier> tiers;
  std::vector<CapacityOffer> offers;  // by tier, horizon, resource; none of spare tiers
  std::vector<CapacityPromise>
      promises;  // by tier, horizon, resource; the newest first, kShownPromises at most
  PerResource<int32_t> measured_hours = {};  // by Resource: with capacity and usage
  std::optional<int64_t> first_s;            // the first hour of the lines
  size_t bytes = 0;                          // of the lines and promises
};
inline constexpr size_t kShownPromises = 10;  // of one tier, horizon and resource

// The lines between two times in steps of whole hours; absent: not known.
struct CapacityHistory {
  int64_t resolution_s = 3600;
  std::vector<int64_t> time_s;  // the start of each step
  // By Resource and CapacityLine.
  PerResource<std::array<std::vector<std::optional<double>>, 6>> lines;
};

}  // namespace taut::server
