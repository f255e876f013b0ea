// What a job would have been charged at another tier, with another request or reservation, or for fewer
// hours.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "brain/economy/bill.h"

namespace taut::brain {

struct ChargeChange {
  std::optional<uint16_t> tier;  // the tier to charge at; index in the price sheet
  // Factors in parts per million. A run time of less than 1'000'000 charges the job for that share of each
  // window, at the same rates of usage and the same peak. To leave out certain hours, leave out their
  // entries.
  UsageScale scale;
};

struct ChangedCharges {
  JobBill before, after;  // charges and credits; no idle cost and no overhead
  Money difference;       // after - before, of the totals
};

// `entries` are all entries of one job in a bill, `bill` that bill, `windows` and `options` as it was made
// with. Other jobs stay as they are; the slack tax is computed again with the job's new usage and request. If
// the tier is changed, an entry without a reservation counts as having reserved its (scaled) request.
// `before` may differ from the job's part of the bill by 3 units of quantity per slack window and 2
// micro-units per line, as it is rounded without the other jobs. InvalidArgument for entries of several jobs,
// for factors that are negative or above 1'000 (run time: above 1), or if the entries cannot be of that bill;
// else as Metering's. O(entries + slack windows).
absl::StatusOr<ChangedCharges> WhatIf(const PriceSheet& sheet, std::span<const CapacityWindow> windows,
                                      const BillOptions& options, const Bill& bill,
                                      std::span<const UsageEntry> entries, const ChargeChange& change);

}  // namespace taut::brain
