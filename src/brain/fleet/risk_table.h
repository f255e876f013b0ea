// What recommendations promised of their limits, and what came: sums over job-days, by resource, the class that
// decides the order, and the size of the job. The daemon and the replay keep the same table.
//
// A recommender that forecasts states with its limit the chance that a day's peak is above it; another keeps an
// ordered share of work above its limits. What came is counted at the limit that held: after floors, bounds,
// rounding, the floor after an OOM kill, and the gate. docs/algorithms/vertical.md, "Promised and delivered".
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

// What a day's promise is: nothing; the stated chance that the day's peak is above the limit; the share of work
// above the limits that is ordered for all jobs together, or for the job by itself.
enum class RiskPromise : uint8_t { kNone, kChance, kFleetShare, kJobShare };
inline constexpr std::array<std::string_view, 4> kPromiseNames = {"none", "chance", "fleet_share",
                                                                  "job_share"};

// By the limit of a task, the owner's or where there is none the recommended one, in cores or GiB: it tells
// more of what is delivered than the number of tasks.
using JobSize = uint8_t;
inline constexpr std::array<std::string_view, 5> kJobSizeNames = {"<0.25", "0.25-1", "1-4", "4-16", "16+"};
JobSize JobSizeOf(Resource r, double limit);

struct RiskKey {
  Resource resource = Resource::kCpu;
  bool set = false;  // tasks ran at the limit; else it was only shown, and usage is what it was without it
  RiskPromise promise = RiskPromise::kNone;
  uint8_t job_class = 0;  // CPU: JobClass; memory: OomTolerance
  JobSize size = 0;

  std::string_view class_name() const;
  std::string_view limits_name() const { return set ? "set" : "shown"; }
  std::string_view promise_name() const { return kPromiseNames[static_cast<size_t>(promise)]; }
  std::string_view size_name() const { return kJobSizeNames[size]; }
  bool is_share() const { return promise == RiskPromise::kFleetShare || promise == RiskPromise::kJobShare; }
  // Work is what is counted: of a promise that is a share of it, and of CPU without a promise. Else job-days.
  bool counts_work() const {
    return is_share() || (promise == RiskPromise::kNone && resource == Resource::kCpu);
  }
  auto operator<=>(const RiskKey&) const = default;
};

// One job-day (UTC) of one resource.
struct RiskDay {
  RiskKey key;
  double promised = 0;       // the chance or the share; 0 where nothing is promised
  bool over = false;         // usage was above the limit in some window, or a task was killed at it
  double used = 0, cut = 0;  // core-seconds or byte-seconds: all, and what was above the limit
};

// Sums over job-days; of recent ones weighed by their age.
struct RiskSums {
  double days = 0, days_over = 0;
  double used = 0, cut = 0;
  double promised = 0;  // of days over, or of cut work
  double spread = 0;    // sum of squares of what came less what was promised, a job-day each

  void Add(const RiskDay& day);
  void Add(const RiskSums& other);
  void Age(double days);
};

struct RiskRow {
  RiskSums recent;  // a day weighs half after kRiskHalfLifeDays
  RiskSums all;
  void Add(const RiskRow& other);
};
inline constexpr double kRiskHalfLifeDays = 30;

// Absent without a promise, or without anything it is about.
std::optional<double> PromisedShare(const RiskKey& key, const RiskSums& sums);
// The share that came, with one job-day more that went as promised (without a promise, half a day over), so that
// few days do not say never. Absent without a day.
std::optional<double> DeliveredShare(const RiskKey& key, const RiskSums& sums);
// Either, for people: "2.7 %", "under 0.1 %" of days or "under 0.001 %" of work.
std::string RiskShareText(bool of_work, double share);

// Of recent days: more came than kBrokenBy times what was promised, by more than kBrokenErrors standard errors
// (as if job-days were independent), over at least kBrokenDays.
bool IsBroken(const RiskKey& key, const RiskSums& recent);
// The same of one class and size, of which a share for all jobs together promises nothing.
bool IsBrokenRow(const RiskKey& key, const RiskSums& recent);
inline constexpr double kBrokenBy = 1.2, kBrokenErrors = 3, kBrokenDays = 300;

// Not thread-safe.
class RiskTable {
 public:
  using Rows = std::map<RiskKey, RiskRow>;

  // Days that are added from now on are of `day`; older ones age. An earlier day than before: nothing ages.
  void BeginDay(int32_t day);
  void Add(const RiskDay& day);

  const Rows& rows() const { return rows_; }
  // Over classes and sizes: one row for each resource, promise, and whether limits were set. Class and size of the
  // keys are 0.
  Rows Totals() const;

  void Save(ByteWriter& out) const;
  // All or nothing.
  absl::Status Load(ByteReader& in);

 private:
  Rows rows_;
  int32_t day_ = INT32_MIN;
};

// A promise that does not hold: of one row, or of a total.
struct BrokenPromise {
  RiskKey key;
  bool total = false;
  RiskSums recent;
};
// Totals; and where a total holds, its rows. In the order of keys.
std::vector<BrokenPromise> BrokenPromises(const RiskTable& table);
// One sentence for people.
std::string BrokenText(const BrokenPromise& broken);

// What a recommender promises with its limit.
struct StatedPromise {
  RiskPromise promise = RiskPromise::kNone;
  double share = 0;
};
// `chance`: what it states of a day; else the share of work above its limits that is ordered, by `settings`
// with what is ordered for the job.
StatedPromise StatedPromiseOf(std::optional<double> chance, Policy policy, Resource r,
                              const WorkFunctionSettings& settings);

// A job's day of one resource that is not over: what holds in its first window counts for the day.
class OpenRiskDay {
 public:
  bool is_of(int32_t day) const { return day_ == day; }
  void Begin(int32_t day, const RiskKey& key, double promised);
  const RiskKey& key() const { return key_; }
  // A window in which each task had `limit`, those on trial (nullptr: none is) the one that is tried.
  void Add(const Signal& signal, double limit, const Trial* trial);
  void AddOver() { over_ = true; }
  // The day, which is closed.
  RiskDay End();

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  int32_t day_ = INT32_MIN;  // INT32_MIN: none
  float promised_ = 0;
  float used_ = 0, cut_ = 0;
  RiskKey key_;
  bool over_ = false;
};

}  // namespace taut::brain
