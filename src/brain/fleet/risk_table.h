// Promised and delivered risk of recommended limits: sums over job-days by resource, order class and size of the
// job. The daemon and replays use this table.
//
// A forecasting recommender states the chance that a day's peak exceeds its limit. Another recommender keeps an
// target share of work above its limits. The outcome is counted at the limit in force, which follows from the
// recommendation by floors, bounds, rounding, the floor after an OOM kill, and the gate.
// docs/algorithms/vertical.md, "Promised and delivered".
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/recommend/policy.h"
#include "brain/recommend/settings.h"
#include "brain/rollout/gate.h"
#include "common/base/bytes.h"
#include "common/model/resource.h"
#include "common/model/signal.h"

namespace taut::brain {

// Kind of a day's promise: none; the stated chance that the day's peak exceeds the limit; the target share
// of work above the limits, of all jobs together or of the job alone.
enum class RiskPromise : uint8_t { kNone, kChance, kFleetShare, kJobShare };
inline constexpr std::array<std::string_view, 4> kPromiseNames = {"none", "chance", "fleet_share",
                                                                  "job_share"};

// Size class by the limit of a task in cores or GiB: the owner's limit, or else the recommended one. The limit
// predicts the outcome better than the number of tasks.
using JobSize = uint8_t;
inline constexpr std::array<std::string_view, 5> kJobSizeNames = {"<0.25", "0.25-1", "1-4", "4-16", "16+"};
JobSize JobSizeOf(Resource r, double limit);

// Key of the table's rows.
struct RiskKey {
  Resource resource = Resource::kCpu;
  bool set = false;  // true: tasks ran at the limit; false: the limit was only shown and did not affect usage
  RiskPromise promise = RiskPromise::kNone;
  uint8_t job_class = 0;  // JobClass for CPU; OomTolerance for memory
  JobSize size = 0;

  std::string_view class_name() const;
  std::string_view limits_name() const { return set ? "set" : "shown"; }
  std::string_view promise_name() const { return kPromiseNames[static_cast<size_t>(promise)]; }
  std::string_view size_name() const { return kJobSizeNames[size]; }
  bool is_share() const { return promise == RiskPromise::kFleetShare || promise == RiskPromise::kJobShare; }
  // Returns true if work is counted (promises of a share, and CPU without a promise), false if job-days are.
  bool counts_work() const {
    return is_share() || (promise == RiskPromise::kNone && resource == Resource::kCpu);
  }
  auto operator<=>(const RiskKey&) const = default;
};

// One job-day (UTC) of one resource.
struct RiskDay {
  RiskKey key;
  double promised = 0;       // the chance or the share; 0 without a promise
  bool over = false;         // usage exceeded the limit in some window, or a task was killed at the limit
  double used = 0, cut = 0;  // core-seconds or byte-seconds: total, and the part above the limit
};

// Sums over job-days; recent sums are weighted by age.
struct RiskSums {
  double days = 0, days_over = 0;
  double used = 0, cut = 0;
  double promised = 0;  // expected days_over, or expected `cut`
  double spread = 0;    // sum of squares of (outcome - promise) per job-day

  void Add(const RiskDay& day);
  void Add(const RiskSums& other);
  // Multiplies by the weight after `days` days.
  void Age(double days);
};

// One row: recent and lifetime sums.
struct RiskRow {
  RiskSums recent;  // a day's weight halves every kRiskHalfLifeDays
  RiskSums all;
  void Add(const RiskRow& other);
};
inline constexpr double kRiskHalfLifeDays = 30;

// Returns the promised share of days or work; absent without a promise or without any days or work.
std::optional<double> PromisedShare(const RiskKey& key, const RiskSums& sums);
// Returns the delivered share, after adding one job-day that went as promised (half a day over if there is no
// promise), so that few days do not yield a share of 0. Absent without days.
std::optional<double> DeliveredShare(const RiskKey& key, const RiskSums& sums);
// Formats a share for people: "2.7 %", "under 0.1 %" of days or "under 0.001 %" of work.
std::string RiskShareText(bool of_work, double share);

// Returns whether the recent outcome exceeds kBrokenBy times the promise, by more than kBrokenErrors standard
// errors (as if job-days were independent), over at least kBrokenDays.
bool IsBroken(const RiskKey& key, const RiskSums& recent);
// Returns IsBroken for the row of one class and size; false if the share is promised for all jobs together, which
// promises nothing for a single class.
bool IsBrokenRow(const RiskKey& key, const RiskSums& recent);
inline constexpr double kBrokenBy = 1.2, kBrokenErrors = 3, kBrokenDays = 300;

// Not thread-safe.
class RiskTable {
 public:
  using Rows = std::map<RiskKey, RiskRow>;

  // Sets the day of later Add calls and ages older days. If the day is not after the last day, nothing ages.
  void BeginDay(int32_t day);
  void Add(const RiskDay& day);

  const Rows& rows() const { return rows_; }
  // Returns sums over classes and sizes: one row for each resource, promise, and whether limits were set.
  // Class and size of the keys are 0. O(rows).
  Rows Totals() const;

  void Save(ByteWriter& out) const;
  // All or nothing: returns DataLoss, and changes nothing, if the bytes are damaged.
  absl::Status Load(ByteReader& in);

 private:
  Rows rows_;
  int32_t day_ = INT32_MIN;
};

// A broken promise, of one row or of a total.
struct BrokenPromise {
  RiskKey key;
  bool total = false;
  RiskSums recent;
};
// Returns the broken totals, and the broken rows of totals that hold, in the order of keys.
std::vector<BrokenPromise> BrokenPromises(const RiskTable& table);
// Returns one sentence for people.
std::string BrokenText(const BrokenPromise& broken);

// The promise that a recommender states with its limit.
struct StatedPromise {
  RiskPromise promise = RiskPromise::kNone;
  double share = 0;
};
// Returns the promise: `chance` (for a day) if the recommender states it, else the target share of work above
// limits in `settings`, which include the job's own risk target.
StatedPromise StatedPromiseOf(std::optional<double> chance, Policy policy, Resource r,
                              const WorkFunctionSettings& settings);

// An open job-day of one resource. The key and promise of its first window apply to the whole day.
class OpenRiskDay {
 public:
  bool is_of(int32_t day) const { return day_ == day; }
  // Starts the day; discards an open one.
  void Begin(int32_t day, const RiskKey& key, double promised);
  const RiskKey& key() const { return key_; }
  // Adds a window in which each task had `limit`, or trial->limit if the task belongs to the trial (nullptr: no
  // trial).
  void Add(const Signal& signal, double limit, const Trial* trial);
  void AddOver() { over_ = true; }
  // Closes the open day and returns the day.
  RiskDay End();

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  int32_t day_ = INT32_MIN;  // INT32_MIN: no open day
  float promised_ = 0;
  float used_ = 0, cut_ = 0;
  RiskKey key_;
  bool over_ = false;
};

}  // namespace taut::brain
