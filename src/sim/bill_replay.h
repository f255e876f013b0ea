// What the jobs of a trace would have been billed, at their owners' limits and at those of a recommender.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "economy/bill.h"
#include "economy/price_sheet.h"
#include "sim/replay.h"

namespace taut {

// Limits in force over time, of every job: what Replay's on_change says of one policy.
class LimitHistory {
 public:
  // Ascending by time for each job and resource.
  void Add(const LimitChange& change);
  // Per task, from this window on; absent: none is known, or unlimited.
  std::optional<double> At(JobId job, Resource r, WindowId window) const;

 private:
  struct Change {
    WindowId from;
    std::optional<double> limit;
  };
  std::array<std::vector<std::vector<Change>>, 2> changes_;  // by resource and job
};

// Bills of the period of `options`. Each window is an entry: usage is the tasks' mean, reservation and request
// their limits (without a limit their usage), peak their largest window. `tiers`: by job. `limits`: instead of the
// owners', where it has one; may be null. Errors as DaySource and Biller.
absl::StatusOr<PoolBill> BillTrace(DaySource& source, const PriceSheet& sheet,
                                   std::span<const uint32_t> tiers, const BillOptions& options,
                                   const LimitHistory* limits);

}  // namespace taut
