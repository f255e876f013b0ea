// The work function: limits as a schedule at a price. Reserved capacity, usage above the limit and changes of
// the limit have a cost. For every level, the work function is the cost of the best schedule in hindsight that
// ends at this level. (Borodin, Linial, Saks 1992, "An optimal on-line algorithm for metrical task system".) The
// limit moves when its level has cost one charge for a change more than another level. Usage above the limit
// raises the limit at once, to a height that the job's past usage above the limit determines. The fleet has one
// price: people set a target share of work above the limits (CPU: throttled work), which determines the price.
// For a job with far more work above its limits than the target, bursts may recur in one hour of each day or
// week. Such bursts raise the limit for this hour alone (hour_levels.h).
//
// A step takes O(levels + tasks), about 0.4 us, and a job requires some 800 bytes. At midnight only the price
// changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "brain/recommend/cut_usage.h"
#include "brain/recommend/fleet_share.h"
#include "brain/recommend/hour_levels.h"
#include "brain/recommend/level_values.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "common/base/time.h"
#include "common/histogram/bucket_set.h"

namespace taut::brain {

// The part shared by all jobs of a fleet for one resource: the price of work above a limit, and the charge
// for a change. Read-only except for CloseDay, which one thread calls between days.
class WorkFunctionFleet {
 public:
  WorkFunctionFleet(Resource resource, const WorkFunctionSettings& settings);

  // Changes the price according to the day's work above limits.
  void CloseDay(const WorkShare& day);
  // Learns from a day, and ignores rows without `work`. REQUIRES: `rows` contains all rows of the day.
  void CloseDay(const FleetRows& rows);

  // Returns the price of one window of one core (byte) above the limit, in windows of one reserved core (byte).
  double price() const { return price_; }
  // Returns the initial price for a target share of `share`: derived from a fixed price, else from the constants,
  // because the fleet's price also compensates for the fleet's past.
  double PriceFor(double share) const;
  // Returns the decayed share of the jobs' work above their limits, with a half-life of 7 days. Only jobs with
  // at least 14 days of history and no own target share count; nullopt before the first such job.
  std::optional<double> share_over() const { return used_ > 0 ? std::optional(over_ / used_) : std::nullopt; }
  // Return the charge for a change: change_windows in windows of a mean job's limit, change_charge in
  // core-windows or byte-windows. `job_size` replaces the mean job's limit until the first day has ended.
  double change_windows() const;
  double change_charge(double job_size) const {
    return (mean_size_ > 0 ? mean_size_ : job_size) * change_windows();
  }
  // Returns the number of hours of look-ahead: a limit does not fall below yesterday's usage in this number of
  // coming hours.
  int look_ahead_hours() const;
  Resource resource() const { return resource_; }
  const WorkFunctionSettings& settings() const { return settings_; }
  // Returns a fleet with equal history and another target share or price.
  WorkFunctionFleet With(const WorkFunctionSettings& settings) const;

  void Save(ByteWriter& out) const;
  // Restores the state. On DataLoss nothing changes.
  absl::Status Load(ByteReader& in);

 private:
  void SetPrice(double price, double share);
  void MovePrice(const WorkShare& day);

  Resource resource_;
  WorkFunctionSettings settings_;
  double price_;
  double mean_size_ = 0;        // mean of FleetWork::size over the last day; 0: unknown
  double over_ = 0, used_ = 0;  // decayed sums of work above limits and of all work
  // The conformal control of the price. A miss is a day's work above the limits less the target, in targets of a
  // mean day.
  struct Control {
    double work_days = 0;          // decayed number of days in used_
    double squares = 0, days = 0;  // decayed sums of squared misses and of days
    double owed = 0;               // misses that the price has yet to follow
    std::array<double*, 4> fields() { return {&work_days, &squares, &days, &owed}; }
  } control_;
};

// The recommender of one job and resource.
class WorkFunctionRecommender final : public Recommender {
 public:
  static constexpr int kLevels = LevelValues::kLevels;
  static constexpr int kLevelsPerOctave = 16;
  static constexpr int kHoursOfVersion2 = 48;  // hours in checkpoints older than hour_levels.h

  // `fleet` must outlive the object. `price_factor` multiplies the fleet's price for this job. `order` is the
  // target share of this job's work above its limits; it replaces the fleet's price and `price_factor` by a
  // price for this job alone. If `order` is absent, the fleet's target share applies to all jobs together.
  WorkFunctionRecommender(const WorkFunctionFleet& fleet, OomSettings oom, double price_factor = 1,
                          std::optional<double> order = std::nullopt);
  // Returns the factor of a job's latency sensitivity: 1/4 for batch, 1/2 for tolerant serving, 1 for
  // serving.
  static double PriceFactor(JobClass job_class);

  // Returns the k-th level: 10 millicores or 1 MiB times 2^(k/16).
  static double Level(Resource resource, int k);
  // Returns the lowest level that is not below `usage`; the highest level if all levels are below `usage`.
  static int LevelOf(Resource resource, double usage);

  void Observe(const Signal& signal) override;
  void ObserveOom(const OomEvent& event) override;
  std::optional<double> Recommend(WindowId next) override;
  void EndDay(int32_t day, FleetRows& rows) override;
  void UpdateRisk(double limit, LimitRisk& risk) const override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<Recommender> Clone() const override {
    return std::make_unique<WorkFunctionRecommender>(*this);
  }
  size_t state_bytes() const override { return sizeof(*this) + cost_.heap_bytes() + weights_.heap_bytes(); }
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;

 private:
  struct Prices {
    double over;    // price of work above the limit, for this job
    double change;  // the charge for a change
  };
  enum class Move : uint8_t { kNone, kStart, kRaise, kFall };
  // A raise for one hour.
  struct Ahead {
    int32_t hour = INT32_MIN;
    int32_t level = -1;  // level of the raise; -1: no raise
  };

  Prices PricesNow() const;
  double OwnPrice() const;
  void Pay(const Signal& signal, const Prices& prices);
  void Remember(const Signal& signal);
  void JudgeCuts(const Signal& signal, double limit);
  void Decide(WindowId window, double usage, bool over, const Prices& prices);
  int Cheapest() const;
  int NextUsedLevel(int above) const;
  int YesterdaysLevel(WindowId window) const;
  // Returns the share of this job's work that may be above its limits before its price rises.
  double MostShare() const;
  bool IsFarOver() const;
  std::optional<HourLevels::Burst> WorthRaising(int32_t hour, const Prices& prices) const;
  void LookAhead(int32_t hour);
  static int32_t HourOf(int32_t window) { return static_cast<int32_t>(FloorDiv(window, kWindowsPerHour)); }
  // Returns the level of the hour's raise in a window; -1: none.
  int AheadAt(int32_t window) const { return HourOf(window) == ahead_.hour ? ahead_.level : -1; }
  int LevelAt(int32_t window) const { return std::max(level_, AheadAt(window)); }
  void CountWork(const Signal& signal, double limit);
  std::string ExplainAhead(const Prices& prices) const;
  std::string ExplainStarts() const;
  void MoveTo(int level, Move move, double usage);
  // `first` is the first value of the checkpoint, which marks its version.
  absl::Status LoadLevels(float first, ByteReader& in);
  absl::Status LoadHours(ByteReader& in);
  // Restores the hours of an older checkpoint, whose peaks are stored by hour mod kHoursOfVersion2.
  void TakeHours(std::span<const float> peaks);

  const WorkFunctionFleet* fleet_;
  OomSettings oom_;
  double price_factor_;
  std::optional<double> order_;
  LevelValues cost_;      // the work function: its minimum is 0, its maximum the charge for a change
  BucketFloats weights_;  // the job's usage by level; newer windows have a higher weight
  HourLevels hours_;
  Ahead ahead_;
  float weight_ = 1;    // weight of a window that is added now
  int32_t level_ = -1;  // level of the limit; -1: none yet
  int32_t first_window_ = 0, last_window_ = INT32_MIN;
  float over_ = 0, used_ = 0;  // decayed sums of this job: work above limits, and all work
  float spared_ = 0;           // decayed work that was below the limit only because of an hour's raise
  float start_over_ = 0;       // part of over_ from the first two windows of tasks
  // Highest task number up to the last measured window, and up to the measured window before it. Tasks with
  // numbers above the second value are young.
  std::array<int64_t, 2> known_tasks_{-1, -1};
  CutRun cuts_;
  float day_over_ = 0, day_used_ = 0, day_peak_ = 0, owner_limit_ = -1;
  // The last move, for the explanation.
  Move move_ = Move::kNone;
  float move_usage_ = 0, move_from_ = 0;
};

}  // namespace taut::brain
