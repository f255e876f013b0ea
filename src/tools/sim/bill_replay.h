// Computes bills for the jobs of a trace, at the owners' limits or at the limits of a recommender.
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

// Limits of every job over time under one policy, collected from Replay's on_change. Not thread-safe.
class LimitsInForce {
 public:
  // Appends a change. REQUIRES: the changes of one job and resource ascend in time.
  void Add(const LimitChange& change);
  // Returns the limit of a task of the job in `window`; absent if unknown or unlimited. O(log changes).
  std::optional<double> At(JobId job, Resource r, WindowId window) const;

 private:
  struct Change {
    WindowId from;
    std::optional<double> limit;
  };
  PerResource<std::vector<std::vector<Change>>> changes_;  // changes by resource and job, ascending by time
};

struct BillPeriod {
  int64_t start_s = 0, end_s = 0;  // period [start_s, end_s), multiples of a window
};
// Group and tier of a job, as indices into the caller's groups and the price sheet's tiers.
struct BilledJob {
  uint32_t group = 0;
  uint16_t tier = 0;
};

// Converts a window of a job to a billing entry; absent if no task was measured. Usage is the sum of the tasks'
// means, and peak the sum of their peaks. Reservation and request are the sum of the tasks' limits. A task's limit
// is the limit in `limits`, which may be null, else the owner's limit, else the task's usage.
std::optional<brain::UsageEntry> EntryOf(const JobDay& day, const JobWindow& window, const BilledJob& job,
                                         const LimitsInForce* limits);

struct BillTraceOptions {
  BillPeriod period;
  // Replaces the owners' limits in windows for which `limits` has a limit; null: owners' limits only.
  const LimitsInForce* limits = nullptr;
  std::span<const brain::CapacityWindow> pool;  // capacity of the pool over time, for MakeBill()
  brain::BillOptions bill;
  // Receives each billed entry; may be empty.
  std::function<void(const brain::UsageEntry&)> on_entry;
  // Returns false if the entry must not be billed; may set the entry's `slo_missed`. Empty function: all entries
  // are billed.
  std::function<bool(brain::UsageEntry&)> choose = nullptr;
};

// Returns the bill of the period with one entry per job and window. `jobs` is indexed by JobId. Windows that are
// partly outside the period are omitted. Returns errors of DaySource and Metering.
absl::StatusOr<brain::Bill> BillTrace(DaySource& source, const brain::PriceSheet& sheet,
                                      std::span<const BilledJob> jobs, const BillTraceOptions& options);

}  // namespace taut::tools
