// What jobs cost in a time, by the account and the prices of the configuration.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/account.h"
#include "server/config/daemon_config.h"
#include "server/control/control_plane.h"

namespace taut::server {

// What resources cost.
struct Prices {
  PerResource<double> per_hour = {};  // of a core or GiB; 0: not known
  std::string currency;

  bool known() const { return std::ranges::max(per_hour) > 0; }
  // Of a number of cores or bytes for a twelfth of a year.
  double PerMonth(Resource r, double amount) const;
};

Prices PricesOf(const PricesConfig& config);

// In cores or GiB over hours.
double UnitHours(Resource r, uint64_t quantity);

// In money; 0 where the price is.
struct Costs {
  double usage = 0;
  double allocation = 0;
  double billed = 0;    // by the larger of both, window by window
  double owner = 0;     // had the owners' limits held
  double would_be = 0;  // had the recommended limits held
  double idle() const { return billed - usage; }
  double saved() const { return owner - allocation; }
  double would_save() const { return owner - would_be; }
};
Costs CostsOf(const AccountEntry& sums, const Prices& prices);

inline constexpr std::string_view kByJob = ":job";  // in place of a label: the job itself

struct CostQuery {
  int64_t from_s = 0, to_s = 0;           // half-open
  int32_t step_windows = kWindowsPerDay;  // > 0; steps begin at multiples of it
  std::vector<std::string> by;            // labels, or kByJob; none: all jobs are one group
  enum class Steps : uint8_t { kNone, kTotals, kGroups } steps = Steps::kTotals;
  // Which jobs count; empty: all. Those whose record is gone do not count where it is set.
  std::function<bool(const JobRecord&)> which = nullptr;
};

// Jobs with the same values of the labels in CostQuery::by.
struct CostGroup {
  std::vector<std::optional<std::string>> values;  // nullopt: the jobs do not have the label
  uint64_t jobs = 0;
  AccountEntry sums;
};
struct CostStep {
  WindowId first;
  AccountEntry sums;  // of all jobs
  std::vector<AccountEntry>
      groups;  // by the numbers of the groups, for Steps::kGroups; those at the end may be missing
};
struct CostReport {
  WindowId from, to;  // what was read; to: exclusive
  uint64_t jobs = 0;
  AccountEntry sums;
  AccountEntry late;              // part of sums: counted later than its time
  std::vector<CostGroup> groups;  // in no order
  std::vector<CostStep> steps;    // ascending; those in which something was measured
  std::set<std::string> labels;   // that its jobs have
};

// The start of the newest day, whose hours the account tells apart: days before it are summed up. to_s: the end of
// the times that are asked for, which is taken for now as long as the view has no window.
WindowId HoursFrom(const FleetView& view, int64_t to_s);
// The account of [from_s, to_s), widened to whole hours of the newest day and to whole days (of UTC) before:
// the account tells no shorter times apart. Of forgotten jobs the first 100,000 are jobs of their own under
// kByJob; the others, and those whose record is gone, have no value there. O(account), and a read of the store
// for each forgotten job; space O(groups * steps) and some bytes a job.
absl::StatusOr<CostReport> ReadCosts(History& history, const FleetView& view, const CostQuery& query);

// Numbers of the report's groups: the dearest first, by the larger of allocation and usage, then by value;
// those without a value last.
std::vector<size_t> ByCost(const CostReport& report, const Prices& prices);

}  // namespace taut::server
