// What jobs cost in a time, by the account and the prices of the configuration.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "api/json.h"
#include "control/control_plane.h"
#include "model/account.h"

namespace taut {

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

// A job of the account, one that is known or one that was forgotten. `record` may be null: its record is gone.
struct CostJob {
  JobId id;
  std::shared_ptr<const JobRecord> record;
  AccountEntry sums;
};

struct CostStep {
  WindowId first;
  AccountEntry sums;                                 // of all jobs
  absl::flat_hash_map<uint32_t, AccountEntry> jobs;  // by JobId; only if they were asked for
};

struct CostReport {
  WindowId from, to;            // what was read; to: exclusive
  std::vector<CostJob> jobs;    // by id
  std::vector<CostStep> steps;  // ascending; those in which something was measured
};

enum class StepJobs : uint8_t { kLeaveOut, kInclude };
// The account of [from_s, to_s), widened to whole hours of the newest day and to whole days (of UTC) before:
// the account tells no shorter times apart. Steps begin at multiples of `step_windows` > 0. O(account).
absl::StatusOr<CostReport> ReadCosts(History& history, const FleetView& view, int64_t from_s, int64_t to_s,
                                     int32_t step_windows, StepJobs step_jobs = StepJobs::kLeaveOut);

// Jobs with the same value of a label; `by` ":job" stands for the job itself.
struct CostGroup {
  std::optional<std::string> value;  // nullopt: of the jobs without the label
  uint32_t jobs = 0;
  AccountEntry sums;
};
inline constexpr std::string_view kByJob = ":job";
std::optional<std::string> CostKeyOf(const CostJob& job, std::string_view by);
// The dearest by allocation or usage first, then by value; those without the label last.
std::vector<CostGroup> CostsBy(const CostReport& report, std::string_view by, const Prices& prices);

}  // namespace taut
