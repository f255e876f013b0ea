// Computes the charges that a job would have had in another tier, with another request or reservation, or with a
// shorter run time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "brain/economy/bill.h"

namespace taut::brain {

// A hypothetical change of one job.
struct ChargeChange {
  std::optional<uint16_t> tier;  // index of another tier in the price sheet; absent: the tier stays
  // Factors in parts per million. A run time below 1'000'000 charges the job for that share of each window, with
  // unchanged usage per time and unchanged peak. To omit certain hours, the caller omits the entries of these
  // hours.
  UsageScale scale;
};

// Charges before and after the change.
struct ChangedCharges {
  JobBill before, after;  // bills of the job, without idle cost and overhead
  Money difference;       // total of `after` less total of `before`
};

// Computes the charges before and after a change. `entries` are all entries of one job in `bill`; `windows` and
// `options` must be the windows and options of the bill. Other jobs are unchanged, but the slack tax is computed
// again with the job's new usage and request. If the tier changes, an entry without a reservation counts as having
// reserved its scaled request.
// `before` may differ from the bill by 3 units of quantity per slack window and 2 micro-units per line, because
// `before` is rounded without the other jobs. Returns InvalidArgument for entries of several jobs, and for entries
// that cannot belong to `bill`. Also returns InvalidArgument for a factor that is negative or above 1'000 (run
// time: above 1). Otherwise returns the errors of Metering. O(entries + slack windows).
absl::StatusOr<ChangedCharges> WhatIf(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                                      const BillOptions& options, const Bill& bill,
                                      std::span<const UsageEntry> entries, const ChargeChange& change);

}  // namespace taut::brain
