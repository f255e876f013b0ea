// A limit as a schedule with a price: reserving costs, usage above the limit costs, and so does a change. The
// work function of the schedules (Borodin, Linial, Saks 1992, "An optimal on-line algorithm for metrical task
// system") says at every window what the best schedule in hindsight that ends at each level would have cost.
// The limit stays until it has cost one change more than another; usage above it raises it at once, as high
// as the job's own usage above it has gone before. One price for the whole fleet; people order a share of
// work above the limits (CPU: throttled work), and the price follows. Where a job has far more of it than ordered,
// bursts of the same hour of each day or week raise the limit for that hour alone (hour_levels.h).
//
// A step costs O(levels + tasks), about 0.4 us, and a job takes some 800 bytes; nothing happens at midnight but
// for the price.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "brain/recommend/hour_levels.h"
#include "brain/recommend/level_values.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "common/base/time.h"
#include "common/histogram/bucket_set.h"

namespace taut::brain {

// What all jobs of a fleet share for one resource: the price of work above a limit, the charge for a change.
// Read-only but for CloseDay, which one thread calls between days.
class WorkFunctionFleet {
 public:
  WorkFunctionFleet(Resource resource, const WorkFunctionSettings& settings);

  // Moves the price by what the day's jobs had above their limits. Rows without `work` are ignored.
  void CloseDay(const FleetRows& rows);

  // Windows of reserving one core (byte) that a window of one core (byte) above the limit is worth.
  double price() const { return price_; }
  // The price that an order of `share` would begin with, by the fleet's own.
  double PriceFor(double share) const;
  // The share of the jobs' work that was above their limits, newer days weighing more (half-life 7 days); of
  // jobs that are 14 days old and have no order of their own. nullopt before there are any.
  std::optional<double> share_over() const { return used_ > 0 ? std::optional(over_ / used_) : std::nullopt; }
  // The charge for a change: windows of a mean job's limit; and in core-windows or byte-windows, where
  // `job_size` stands in for the mean job's limit until a day is over.
  double change_windows() const;
  double change_charge(double job_size) const {
    return (mean_size_ > 0 ? mean_size_ : job_size) * change_windows();
  }
  // The number of coming hours in which a limit does not fall below what the job used in them yesterday.
  int look_ahead_hours() const;
  Resource resource() const { return resource_; }
  const WorkFunctionSettings& settings() const { return settings_; }
  // What this fleet has learnt, for another order or price.
  WorkFunctionFleet With(const WorkFunctionSettings& settings) const;

  void Save(ByteWriter& out) const;
  // All or nothing.
  absl::Status Load(ByteReader& in);

 private:
  void SetPrice(double price, double share);

  Resource resource_;
  WorkFunctionSettings settings_;
  double price_;
  double mean_size_ = 0;  // mean over jobs of the owner's limit (the day's peak without one); 0: unknown
  double over_ = 0, used_ = 0;  // decayed sums of work above limits and of all work
};

class WorkFunctionRecommender final : public Recommender {
 public:
  static constexpr int kLevels = LevelValues::kLevels;
  static constexpr int kLevelsPerOctave = 16;
  static constexpr int kHoursOfVersion2 = 48;  // in checkpoints of before hour_levels.h

  // `fleet` must outlive it. `price_factor`: what work above the limit costs this job, as a factor of the
  // fleet's price. `order`: the share of this job's work that shall be above its limits, which is kept by a
  // price of its own, whatever the factor; absent: the fleet's order holds for all jobs together.
  WorkFunctionRecommender(const WorkFunctionFleet& fleet, OomSettings oom, double price_factor = 1,
                          std::optional<double> order = std::nullopt);
  // Of a job's latency sensitivity: batch a quarter, tolerant serving a half, serving 1.
  static double PriceFactor(JobClass job_class);

  // The k-th limit there is: 10 millicores or 1 MiB times 2^(k/16).
  static double Level(Resource resource, int k);
  // The lowest level not below `usage`; the highest where none is.
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
    double over;    // the price, for this job
    double change;  // the charge for a change
  };
  enum class Move : uint8_t { kNone, kStart, kRaise, kFall };
  // What raises the limit for one hour.
  struct Ahead {
    int32_t hour = INT32_MIN;
    int32_t level = -1;  // -1: nothing
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
  // The share of this job's work that it is ordered to have above its limits, before the price of its own.
  double MostShare() const;
  bool IsFarOver() const;
  std::optional<HourLevels::Burst> WorthRaising(int32_t hour, const Prices& prices) const;
  void LookAhead(int32_t hour);
  static int32_t HourOf(int32_t window) { return static_cast<int32_t>(FloorDiv(window, kWindowsPerHour)); }
  // The level of the hour's raise that holds in a window; -1: none.
  int AheadAt(int32_t window) const { return HourOf(window) == ahead_.hour ? ahead_.level : -1; }
  int LevelAt(int32_t window) const { return std::max(level_, AheadAt(window)); }
  void CountWork(const Signal& signal, double limit);
  std::string ExplainAhead(const Prices& prices) const;
  std::string ExplainStarts() const;
  void MoveTo(int level, Move move, double usage);
  // `first`: what the checkpoint begins with.
  absl::Status LoadLevels(float first, ByteReader& in);
  absl::Status LoadHours(ByteReader& in);
  // Older checkpoints: by hour mod kHoursOfVersion2.
  void TakeHours(std::span<const float> peaks);

  const WorkFunctionFleet* fleet_;
  OomSettings oom_;
  double price_factor_;
  std::optional<double> order_;
  LevelValues cost_;      // the work function: 0 at its least, at most one change
  BucketFloats weights_;  // the job's usage by level; newer windows weigh more
  HourLevels hours_;
  Ahead ahead_;
  float weight_ = 1;    // of a window now
  int32_t level_ = -1;  // of the limit; -1: none yet
  int32_t first_window_ = 0, last_window_ = INT32_MIN;
  float over_ = 0, used_ = 0;  // decayed sums of this job
  float spared_ = 0;           // the same of work that only an hour's raise kept below the limit
  float start_over_ = 0;       // of over_, in the first two windows of a task
  // The highest task before the last measured window, and before the one before it: higher ones are young.
  std::array<int64_t, 2> known_tasks_{-1, -1};
  // The windows of tasks at their limit since one without.
  struct Cuts {
    float windows = 0;
    float limits = 0;  // sum over them
    float over = 0;    // what was counted as above them
  } cuts_;
  float day_over_ = 0, day_used_ = 0, day_peak_ = 0, owner_limit_ = -1;
  // The last move, for the explanation.
  Move move_ = Move::kNone;
  float move_usage_ = 0, move_from_ = 0;
};

}  // namespace taut::brain
