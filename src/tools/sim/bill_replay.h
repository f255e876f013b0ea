// What the jobs of a trace would have been billed, at their owners' limits and at those of a recommender.
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

// Limits in force over time, of every job: what Replay's on_change says of one policy.
class LimitsInForce {
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
  PerResource<std::vector<std::vector<Change>>> changes_;  // by resource and job
};

struct BillPeriod {
  int64_t start_s = 0, end_s = 0;  // half-open, at windows' borders
};
// The group and tier of a job, by index.
struct BilledJob {
  uint32_t group = 0;
  uint16_t tier = 0;
};

// A window of a job as an entry: usage is the tasks' mean, reservation and request their limits (without a limit
// their usage), peak the sum of their peaks. `limits`, where it has one, instead of the owner's; null: none.
// Absent if no task was measured.
std::optional<brain::UsageEntry> EntryOf(const JobDay& day, const JobWindow& window, const BilledJob& job,
                                         const LimitsInForce* limits);

struct BillTraceOptions {
  BillPeriod period;
  const LimitsInForce* limits = nullptr;        // instead of the owners' limits, where it has one
  std::span<const brain::CapacityWindow> pool;  // as MakeBill's windows
  brain::BillOptions bill;
  std::function<void(const brain::UsageEntry&)> on_entry;  // each that is billed; may be empty
  // False: the entry is not billed. May say that its SLO was missed. Empty: all are billed.
  std::function<bool(brain::UsageEntry&)> choose = nullptr;
};

// The bill of the period: each window of a job is an entry. `jobs`: by JobId. Errors as DaySource and Metering.
absl::StatusOr<brain::Bill> BillTrace(DaySource& source, const brain::PriceSheet& sheet,
                                      std::span<const BilledJob> jobs, const BillTraceOptions& options);

}  // namespace taut::tools
