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

// Limits of every job over time, as Replay's on_change reports the changes for one policy. Not thread-safe.
class LimitsInForce {
 public:
  // Appends a change. REQUIRES: changes of one job and resource arrive in ascending order of time.
  void Add(const LimitChange& change);
  // Returns the limit of each task of the job in `window`. Absent if no limit is known, or if the job is
  // unlimited. O(log changes).
  std::optional<double> At(JobId job, Resource r, WindowId window) const;

 private:
  struct Change {
    WindowId from;
    std::optional<double> limit;
  };
  PerResource<std::vector<std::vector<Change>>> changes_;  // changes by resource and job
};

struct BillPeriod {
  int64_t start_s = 0, end_s = 0;  // half-open, at windows' borders
};
// Group and tier of a job: an index of the caller's groups, and an index of the price sheet's tiers.
struct BilledJob {
  uint32_t group = 0;
  uint16_t tier = 0;
};

// Returns a window of a job as a billing entry; absent if no task was measured. Usage is the sum of the
// tasks' means, peak the sum of the tasks' peaks. Reservation and request are the sum of the tasks' limits.
// Each limit is that of `limits` if it contains one, else the owner's, else the usage. `limits` may be null.
std::optional<brain::UsageEntry> EntryOf(const JobDay& day, const JobWindow& window, const BilledJob& job,
                                         const LimitsInForce* limits);

struct BillTraceOptions {
  BillPeriod period;
  // These limits replace the owners' limits in the windows for which they contain a limit; null: owners'
  // limits everywhere.
  const LimitsInForce* limits = nullptr;
  std::span<const brain::CapacityWindow> pool;  // windows of the pool's capacity, in the format of MakeBill
  brain::BillOptions bill;
  // Called for each entry that is billed; may be empty.
  std::function<void(const brain::UsageEntry&)> on_entry;
  // Returns false if the entry is not billed; may set the entry's `slo_missed`. Empty: all entries are
  // billed.
  std::function<bool(brain::UsageEntry&)> choose = nullptr;
};

// Returns the bill of the period, with one entry for each window of a job. `jobs` is indexed by JobId.
// Windows that are only partly in the period are left out. Returns the errors of DaySource and Metering.
absl::StatusOr<brain::Bill> BillTrace(DaySource& source, const brain::PriceSheet& sheet,
                                      std::span<const BilledJob> jobs, const BillTraceOptions& options);

}  // namespace taut::tools
