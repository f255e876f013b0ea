// Bills the jobs of a trace, at their owners' limits or at the limits of a recommender.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/bill.h"
#include "brain/economy/metering.h"
#include "brain/economy/price_sheet.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Limits of every job over time: the changes that Replay's on_change reports for one policy. Not thread-safe.
class LimitsInForce {
 public:
  // Appends a change. REQUIRES: changes of one job and resource arrive in ascending order of time.
  void Add(const LimitChange& change);
  // Returns the limit of each task in `window`; absent if none is known, or if the job is unlimited. O(log
  // changes).
  std::optional<double> At(JobId job, Resource r, WindowId window) const;

 private:
  struct Change {
    WindowId from;
    std::optional<double> limit;
  };
  PerResource<std::vector<std::vector<Change>>> changes_;  // by resource and job
};

struct BillPeriod {
  int64_t start_s = 0, end_s = 0;  // half-open, at windows' borders
};
// Group and tier of a job, as indices of the caller's groups and the price sheet's tiers.
struct BilledJob {
  uint32_t group = 0;
  uint16_t tier = 0;
};

// Returns a window of a job as a billing entry. Usage is the sum of the tasks' means, peak the sum of their
// peaks. Reservation and request are the sum of the tasks' limits: of `limits` where it has one, else of the
// owner, else the usage. `limits` may be null. Absent if no task was measured.
std::optional<brain::UsageEntry> EntryOf(const JobDay& day, const JobWindow& window, const BilledJob& job,
                                         const LimitsInForce* limits);

struct BillTraceOptions {
  BillPeriod period;
  // Replace the owners' limits where they have one; null: owners' limits.
  const LimitsInForce* limits = nullptr;
  std::span<const brain::CapacityWindow> pool;  // windows of the pool's capacity, as MakeBill takes them
  brain::BillOptions bill;
  // Called for each entry that is billed; may be empty.
  std::function<void(const brain::UsageEntry&)> on_entry;
  // Returns false if the entry is not billed; may set `slo_missed`. Empty: all entries are billed.
  std::function<bool(brain::UsageEntry&)> choose = nullptr;
};

// Returns the bill of the period, with one entry for each window of a job. `jobs` is indexed by JobId. Windows
// that are not whole in the period are left out. Errors are those of DaySource and Metering.
absl::StatusOr<brain::Bill> BillTrace(DaySource& source, const brain::PriceSheet& sheet,
                                      std::span<const BilledJob> jobs, const BillTraceOptions& options);

}  // namespace taut::tools
