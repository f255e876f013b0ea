// Computes the costs of jobs over a span of time from the account and the prices of the configuration.
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

// Prices of the resources, from the configuration.
struct Prices {
  PerResource<double> per_hour = {};  // price per core or GiB and hour; 0: unknown
  std::string currency;

  bool known() const { return std::ranges::max(per_hour) > 0; }
  // Returns the price of an amount, in cores or bytes, for a twelfth of a year.
  double PerMonth(Resource r, double amount) const;
};

Prices PricesOf(const PricesConfig& config);

// Converts a quantity to core-hours or GiB-hours.
double UnitHours(Resource r, uint64_t quantity);

// Amounts of money for usage and limits; 0 if the price is 0.
struct Costs {
  double usage = 0;
  double allocation = 0;
  double billed = 0;    // costs of the larger of allocation and usage per window
  double owner = 0;     // costs if the owners' limits had been in force
  double would_be = 0;  // costs if the recommended limits had been in force
  double idle() const { return billed - usage; }
  double saved() const { return owner - allocation; }
  double would_save() const { return owner - would_be; }
};
// Returns the costs of the amounts at these prices.
Costs CostsOf(const AccountEntry& sums, const Prices& prices);

inline constexpr std::string_view kByJob = ":job";  // value of CostQuery::by for groups with one job each

struct CostQuery {
  int64_t from_s = 0, to_s = 0;
  int32_t step_windows = kWindowsPerDay;  // length of a step, > 0; steps start at multiples of it
  std::vector<std::string> by;            // labels, or kByJob; empty: one group of all jobs
  enum class Steps : uint8_t { kNone, kTotals, kGroups } steps = Steps::kTotals;
  // Selects jobs by record; empty: all jobs. Otherwise jobs without a record are omitted.
  std::function<bool(const JobRecord&)> which = nullptr;
};

// A group of jobs with equal values of the labels in CostQuery::by.
struct CostGroup {
  std::vector<std::optional<std::string>> values;  // values of the labels; nullopt: no such label
  uint64_t jobs = 0;
  AccountEntry sums;
};
struct CostStep {
  WindowId first;
  AccountEntry sums;  // sums over all jobs of the group
  // Sums by group for Steps::kGroups; elements of the last groups may be missing.
  std::vector<AccountEntry> groups;
};
struct CostReport {
  WindowId from, to;  // windows that were read, [from, to)
  uint64_t jobs = 0;
  AccountEntry sums;
  AccountEntry late;              // part of `sums` that was added late
  std::vector<CostGroup> groups;  // groups in any order
  std::vector<CostStep> steps;    // steps with usage, ascending
  std::set<std::string> labels;   // names of all labels of the jobs
};

// Returns the start of the newest day. The account has hourly entries for this day, and one entry for each earlier
// day. `to_s`, the end of the requested time, is the current time if the view has no window.
WindowId HoursFrom(const FleetView& view, int64_t to_s);
// Reads the account of [from_s, to_s), widened to whole hours in the newest day and to whole UTC days before. With
// kByJob, each of the first 100,000 forgotten jobs is a group of its own. Later forgotten jobs, and jobs without a
// record, are in a group without a name. O(account), with one read of the store per forgotten job. Memory:
// O(groups * steps), and a few bytes per job.
absl::StatusOr<CostReport> ReadCosts(History& history, const FleetView& view, const CostQuery& query);

// Returns the indices of the groups by descending cost (the larger of allocation and usage), then by value. Groups
// without a value are last.
std::vector<size_t> ByCost(const CostReport& report, const Prices& prices);

}  // namespace taut::server
