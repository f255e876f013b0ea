// Promised and delivered risk of recommended limits: sums over job-days by resource, class (CPU) or tolerance of
// OOM kills (memory), and size of the job. The daemon and replays use this table.
//
// A forecasting recommender states the chance that a day's peak exceeds its limit. Other recommenders keep the
// share of work above their limits at a target. The outcome is counted at the limit in force, which follows from
// the recommendation by floors, bounds, rounding, the floor after an OOM kill, and the gate. See
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

// Kind of a day's promise. kNone: no promise. kChance: the stated chance that the day's peak exceeds the limit.
// kFleetShare and kJobShare: the target share of work above the limits, of all jobs together or of the job alone.
enum class RiskPromise : uint8_t { kNone, kChance, kFleetShare, kJobShare };
inline constexpr std::array<std::string_view, 4> kPromiseNames = {"none", "chance", "fleet_share",
                                                                  "job_share"};

// Size class by the limit of a task in cores or GiB: the owner's limit, or else the recommended limit. The class
// is based on the limit, because the limit predicts the outcome better than the number of tasks.
using JobSize = uint8_t;
inline constexpr std::array<std::string_view, 5> kJobSizeNames = {"<0.25", "0.25-1", "1-4", "4-16", "16+"};
JobSize JobSizeOf(Resource r, double limit);

// Key of the table's rows.
struct RiskKey {
  Resource resource = Resource::kCpu;
  bool set = false;  // true: tasks ran at the limit; false: the limit was only shown and did not affect usage
  RiskPromise promise = RiskPromise::kNone;
  uint8_t job_class = 0;  // value of JobClass for CPU, of OomTolerance for memory
  JobSize size = 0;

  std::string_view class_name() const;
  std::string_view limits_name() const { return set ? "set" : "shown"; }
  std::string_view promise_name() const { return kPromiseNames[static_cast<size_t>(promise)]; }
  std::string_view size_name() const { return kJobSizeNames[size]; }
  bool is_share() const { return promise == RiskPromise::kFleetShare || promise == RiskPromise::kJobShare; }
  // Returns true if the outcome is counted in work (promises of a share, and CPU without a promise), false if in
  // job-days.
  bool counts_work() const {
    return is_share() || (promise == RiskPromise::kNone && resource == Resource::kCpu);
  }
  auto operator<=>(const RiskKey&) const = default;
};

void SaveRiskKey(const RiskKey& key, ByteWriter& out);
// Reads the bytes that SaveRiskKey wrote. Returns false for bytes that SaveRiskKey cannot have written.
bool LoadRiskKey(ByteReader& in, RiskKey& key);

// One job-day (UTC) of one resource.
struct RiskDay {
  RiskKey key;
  double promised = 0;       // promised chance or share; 0 without a promise
  bool over = false;         // true if usage exceeded the limit, or a task was killed at the limit
  double used = 0, cut = 0;  // total and the part above the limit, in core-seconds or byte-seconds
};

// Sums over job-days; in recent sums, job-days are weighted by age.
struct RiskSums {
  double days = 0, days_over = 0;
  double used = 0, cut = 0;
  double promised = 0;  // expected value of days_over or of `cut`
  double spread = 0;    // sum of squared differences between outcome and promise per job-day

  static const std::array<double RiskSums::*, 6> kFields;
  void Add(const RiskDay& day);
  void Add(const RiskSums& other);
  // Multiplies all sums by the weight after `days` days.
  void Age(double days);
};

inline constexpr std::array<double RiskSums::*, 6> RiskSums::kFields = {
    &RiskSums::days, &RiskSums::days_over, &RiskSums::used,
    &RiskSums::cut,  &RiskSums::promised,  &RiskSums::spread};

// One row of the table.
struct RiskRow {
  RiskSums recent;  // sums in which a day's weight halves every kRiskHalfLifeDays
  RiskSums all;
  void Add(const RiskRow& other);
};
inline constexpr double kRiskHalfLifeDays = 30;

// Returns the promised share of days or work; absent without a promise, or without days or work.
std::optional<double> PromisedShare(const RiskKey& key, const RiskSums& sums);
// Returns the delivered share. One job-day with the promised outcome (half a day over the limit without a
// promise) is added, so that few days do not yield a share of 0. Absent without days.
std::optional<double> DeliveredShare(const RiskKey& key, const RiskSums& sums);
// Formats a share for people: "2.7 %", "under 0.1 %" of days or "under 0.001 %" of work.
std::string RiskShareText(bool of_work, double share);

// Returns true if, over at least kBrokenDays, the recent outcome exceeds kBrokenBy times the promise, and exceeds
// the promise by more than kBrokenErrors standard errors. Standard errors are computed as if job-days were
// independent.
bool IsBroken(const RiskKey& key, const RiskSums& recent);
// Returns IsBroken for the row of one class and size. Returns false for a share promised for all jobs together,
// because such a promise makes no statement about a single class.
bool IsBrokenRow(const RiskKey& key, const RiskSums& recent);
inline constexpr double kBrokenBy = 1.2, kBrokenErrors = 3, kBrokenDays = 300;

// Table of promised and delivered risk. Not thread-safe.
class RiskTable {
 public:
  using Rows = std::map<RiskKey, RiskRow>;

  // Sets the day for later calls of Add and ages the recent sums. Nothing ages if the day is not after the
  // previous day.
  void BeginDay(int32_t day);
  void Add(const RiskDay& day);
  // Adds the sums over job-days of the current day.
  void Add(const RiskKey& key, const RiskSums& of_day);

  const Rows& rows() const { return rows_; }
  // Returns sums over classes and sizes: one row for each resource, promise, and value of `set`. Class and size
  // of the keys are 0. O(rows).
  Rows Totals() const;

  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. Returns DataLoss, and changes nothing, if the bytes are damaged.
  absl::Status Load(ByteReader& in);

 private:
  Rows rows_;
  int32_t day_ = INT32_MIN;
};

// A broken promise, of a row or of a total.
struct BrokenPromise {
  RiskKey key;
  bool total = false;
  RiskSums recent;
};
// Returns the broken totals, and the broken rows of totals that are not broken, in the order of keys.
std::vector<BrokenPromise> BrokenPromises(const RiskTable& table);
// Returns a sentence about the broken promise for people.
std::string BrokenText(const BrokenPromise& broken);

// The promise that a recommender states with its limit.
struct StatedPromise {
  RiskPromise promise = RiskPromise::kNone;
  double share = 0;
};
// Returns the promise: `chance` (for a day) if the recommender states a chance, else the target share of work
// above limits in `settings`. The settings include the job's own risk target.
StatedPromise StatedPromiseOf(std::optional<double> chance, Policy policy, Resource r,
                              const WorkFunctionSettings& settings);

// An unfinished job-day of one resource. The key and promise of the first window apply to the whole day.
class OpenRiskDay {
 public:
  bool is_of(int32_t day) const { return day_ == day; }
  // Starts the day; discards an unfinished day.
  void Begin(int32_t day, const RiskKey& key, double promised);
  const RiskKey& key() const { return key_; }
  // Adds a window in which each task had `limit`, or trial->limit if the task belongs to the trial. `trial`:
  // nullptr if there is none.
  void Add(const Signal& signal, double limit, const Trial* trial);
  void AddOver() { over_ = true; }
  // Ends the current day and returns the day.
  RiskDay End();

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  int32_t day_ = INT32_MIN;  // current day; INT32_MIN: none
  float promised_ = 0;
  float used_ = 0, cut_ = 0;
  RiskKey key_;
  bool over_ = false;
};

}  // namespace taut::brain
