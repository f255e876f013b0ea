// Idle capacity of a cell as OpenCost defines it: capacity of the machines less charged allocations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/model/account.h"
#include "server/pool/capacity_view.h"

namespace taut::server {

inline constexpr std::string_view kIdleName = "__idle__";

class IdleCapacity {
 public:
  // Length of history required before a span, because the open hour has the capacity of the last closed hour.
  static constexpr int64_t kBeforeSeconds = 2 * 3600;
  // REQUIRES: `history` is hourly and starts kBeforeSeconds before the first span.
  explicit IdleCapacity(CapacityHistory history) : history_(std::move(history)) {}

  // Returns the idle capacity of a span as billed amounts, at least 0: the capacity less `allocated`, the charges
  // of all jobs. The capacity is the mean over the span's hours, times the measured time. A resource with unknown
  // capacity has 0. Returns nullopt if the capacity of all resources is unknown. O(hours).
  std::optional<AccountEntry> Of(int64_t start_s, int64_t end_s, const AccountEntry& allocated) const;

 private:
  // Returns the capacity in the resource's unit times hours; nullopt if unknown.
  std::optional<double> CapacityHours(Resource r, int64_t start_s, int64_t end_s) const;

  const CapacityHistory history_;
};

}  // namespace taut::server
