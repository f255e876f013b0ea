// The idle capacity of a cell as OpenCost has it: what its machines have less what allocations are charged.
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
  // Hours that a span needs beside its own: a span of the open hour has the capacity of the last one that closed.
  static constexpr int64_t kBeforeSeconds = 2 * 3600;
  // `history` by the hour, from kBeforeSeconds before the first span.
  explicit IdleCapacity(CapacityHistory history) : history_(std::move(history)) {}

  // As the billed amounts of an entry, never below 0: the mean capacity of a span's hours for the time in which
  // anything was measured, less `allocated`, what all jobs are charged for the span. A resource whose capacity is
  // not known has 0; nullopt: no resource has a known one.
  std::optional<AccountEntry> Of(int64_t start_s, int64_t end_s, const AccountEntry& allocated) const;

 private:
  // Of a unit times hours; nullopt: not known.
  std::optional<double> CapacityHours(Resource r, int64_t start_s, int64_t end_s) const;

  const CapacityHistory history_;
};

}  // namespace taut::server
