#include "brain/recommend/work_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "brain/recommend/wrappers.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using Levels = WorkFunctionRecommender;

WorkFunctionSettings LevelsAtPrice(double price) {
  WorkFunctionSettings s;
  s.price = price;
  s.job_cap = 0;
  return s;
}

// A job with one task and its own recommender, simulated window by window.
class LevelsJob {
 public:
  explicit LevelsJob(const WorkFunctionFleet& fleet)
      : recommender_(fleet, OomSettings()), resource_(fleet.resource()) {}
  // Observes a window and returns the limit that was in force.
  std::optional<double> Live(double usage) {
    const std::optional<double> limit = recommender_.Recommend(WindowId{window_});
    const MadeSignal made(resource_, window_++, usage);
    Signal signal = made;
    signal.limit = limit;
    signal.owner_limit = 8;
    recommender_.Observe(signal);
    return limit;
  }
  void Live(double usage, int windows) {
    for (int i = 0; i < windows; ++i) Live(usage);
  }
  double limit() { return *recommender_.Recommend(WindowId{window_}); }
  WorkFunctionRecommender& recommender() { return recommender_; }
  int32_t window() const { return window_; }

 private:
  WorkFunctionRecommender recommender_;
  Resource resource_;
  int32_t window_ = 0;
};

// Checks that no prefix of a checkpoint, in steps of `step` bytes, can be loaded.
void RefusesParts(std::string_view bytes, size_t step, const WorkFunctionFleet& fleet) {
  for (size_t size = 0; size < bytes.size(); size += step) {
    ByteReader part(bytes.substr(0, size));
    EXPECT_FALSE(WorkFunctionRecommender(fleet, OomSettings()).Load(part).ok()) << size;
  }
}

RC_GTEST_PROP(WorkFunction, ALevelIsTheLowestNotBelowTheUsage, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  for (const Resource r : kResources) {
    const double first = Levels::Level(r, 0);
    const double usage = first * std::exp2(rng.Uniform(-2, 14));
    const int k = Levels::LevelOf(r, usage);
    RC_ASSERT(Levels::Level(r, k) >= usage * (1 - 1e-5));
    RC_ASSERT(k == 0 || Levels::Level(r, k - 1) < usage);
    RC_ASSERT(Levels::LevelOf(r, static_cast<float>(Levels::Level(r, k))) == k);
  }
}

// Computes the definition by brute force over all schedules that end at a level: reservations + price * usage
// above + charge per change. The state is this cost minus its minimum, capped at one change.
TEST(WorkFunction, KeepsTheCheapestScheduleThatEndsAtEachLevel) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(100));
  LevelsJob job(fleet);
  const double change = fleet.change_charge(8);
  Rng rng(3);
  std::vector<double> best(Levels::kLevels, 0);  // best cost of a schedule that ends at level k
  for (int t = 0; t < 600; ++t) {
    const double usage = rng.Below(20) == 0 ? 3.1 : 0.4 * rng.Uniform(0.5, 1);
    job.Live(usage);
    const double least_before = *std::min_element(best.begin(), best.end());
    for (int k = 0; k < Levels::kLevels; ++k) {
      const double level = Levels::Level(Resource::kCpu, k);
      best[static_cast<size_t>(k)] = std::min(best[static_cast<size_t>(k)], least_before + change) + level +
                                     100 * std::max(0.0, static_cast<float>(usage) - level);
    }
  }
  const double least = *std::min_element(best.begin(), best.end());
  Reason reason;
  (void)job.limit();
  job.recommender().Explain(reason);
  ASSERT_FALSE(reason.candidates.empty());
  for (const Candidate& c : reason.candidates) {
    const int k = Levels::LevelOf(Resource::kCpu, c.limit);
    const double want = std::min(best[static_cast<size_t>(k)] - least, change);
    EXPECT_NEAR(c.cost * kWindowsPerHour, want, 1e-3 * change) << c.name;
  }
}

TEST(WorkFunction, TheOwnersLimitStaysForADay) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  for (int t = 0; t < kWindowsPerDay; ++t) ASSERT_FALSE(job.Live(0.5).has_value()) << t;
  EXPECT_NEAR(job.limit(), 0.5, 0.03);
}

TEST(WorkFunction, SaysForHowLongTheOwnersLimitStays) {
  WorkFunctionSettings settings;
  settings.min_history_s = 6 * kHour;
  const WorkFunctionFleet fleet(Resource::kCpu, settings);
  LevelsJob job(fleet);
  job.Live(0.5);
  Reason reason;
  job.recommender().Explain(reason);
  EXPECT_EQ(reason.sentence, "The owner's limit stays for the first 6 hours of a job.");
}

TEST(WorkFunction, ASteadyJobIsChangedOnce) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  job.Live(0.5, kWindowsPerDay);
  const double limit = job.limit();
  for (int t = 0; t < 30 * kWindowsPerDay; ++t) ASSERT_EQ(*job.Live(0.5), limit);
}

// A job that has used 3 cores is raised to 3 cores at the first step above its limit. The limit falls when the
// reservation has cost one change.
TEST(WorkFunction, RaisesToWhatTheJobUsedBeforeAndLetsGo) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  for (int day = 0; day < 5; ++day) {
    job.Live(0.2, 200);
    job.Live(3, 88);
  }
  int windows = 0;
  while (job.limit() > 1 && windows < 3 * kWindowsPerDay) {
    job.Live(0.2);
    ++windows;
  }
  EXPECT_LT(windows, 3 * kWindowsPerDay) << "it lets go";
  EXPECT_GT(windows, 10) << "but not at once";
  job.Live(0.5);
  EXPECT_GE(job.limit(), 3);
}

TEST(WorkFunction, DearerThrottlingNeverMakesTheReservationSmaller) {
  double last = 0;
  for (const double price : {30, 100, 300, 1000, 3000}) {
    const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(price));
    LevelsJob job(fleet);
    Rng rng(11);
    double reserved = 0;
    for (int t = 0; t < 40 * kWindowsPerDay; ++t) {
      const double busy = t % 700 < 100 ? 2.5 : 0.3;
      reserved += job.Live(busy * rng.Uniform(0.7, 1)).value_or(0);
    }
    EXPECT_GT(reserved, 0.95 * last) << price;
    last = reserved;
  }
}

// Usage that is cut off at the limit cannot exceed the limit, yet the limit must rise.
TEST(WorkFunction, UsageCutAtTheLimitRaisesIt) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  job.Live(0.5, 2 * kWindowsPerDay);
  const double before = job.limit();
  int32_t window = job.window();
  for (int i = 0; i < 30; ++i) {
    const double limit = *job.recommender().Recommend(WindowId{window});
    const MadeSignal made(Resource::kCpu, window++, std::min(2.0, limit));
    Signal signal = made;
    signal.limit = signal.cut_at = limit;
    job.recommender().Observe(signal);
  }
  EXPECT_GE(*job.recommender().Recommend(WindowId{window}), 2) << "from " << before;
}

// Returns the day's share of work above the limits, for a job whose usage is cut off every five hours. The usage
// after the cut determines the assumed need.
double ShareOfCuts(double cores_after) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  job.Live(0.5, 2 * kWindowsPerDay);
  FleetRows before, rows;
  job.recommender().EndDay(1, before);
  int32_t window = job.window();
  for (int i = 0; i < kWindowsPerDay; ++i, ++window) {
    const double limit = *job.recommender().Recommend(WindowId{window});
    const bool burst = i % 60 == 0;
    const MadeSignal made(Resource::kCpu, window, burst ? limit : i % 60 == 1 ? cores_after : 0.1);
    Signal signal = made;
    signal.limit = limit;
    if (burst) signal.cut_at = limit;
    job.recommender().Observe(signal);
  }
  job.recommender().EndDay(2, rows);
  return rows.at(0).work->over / rows.at(0).work->used;
}

TEST(WorkFunction, CutsAreJudgedByWhatIsUsedRightAfter) {
  const double guessed = ShareOfCuts(0.1);  // usage below the limit proves nothing
  EXPECT_GT(guessed, 0);
  EXPECT_GT(ShareOfCuts(8), 1.2 * guessed);
}

TEST(WorkFunction, CutsThatAreNotJudgedYetSurviveACheckpoint) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  job.Live(0.5, 2 * kWindowsPerDay);
  int32_t window = job.window();
  const double limit = job.limit();
  const MadeSignal made(Resource::kCpu, window++, limit);
  Signal cut = made;
  cut.limit = cut.cut_at = limit;
  job.recommender().Observe(cut);
  std::string bytes;
  ByteWriter out(&bytes);
  job.recommender().Save(out);
  WorkFunctionRecommender again(fleet, OomSettings());
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  const MadeSignal after(Resource::kCpu, window, 3 * limit);
  FleetRows rows, rows_again;
  job.recommender().Observe(after);
  again.Observe(after);
  job.recommender().EndDay(2, rows);
  again.EndDay(2, rows_again);
  EXPECT_EQ(rows.at(0).work->over, rows_again.at(0).work->over);
  RefusesParts(bytes, 3, fleet);
}

// A mean far below the limit can hide throttled bursts: the throttled periods reveal them.
TEST(WorkFunction, ThrottledPeriodsRaiseTheLimit) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  const auto after = [&](std::optional<double> throttled) {
    LevelsJob job(fleet);
    job.Live(0.5, 2 * kWindowsPerDay);
    const double before = job.limit();
    for (int32_t i = 0, window = job.window(); i < 60; ++i) {
      const MadeSignal made(Resource::kCpu, window++, 0.3);
      Signal signal = made;
      signal.limit = signal.cut_at = *job.recommender().Recommend(WindowId{window});
      signal.throttled = throttled;
      job.recommender().Observe(signal);
    }
    return job.limit() / before;
  };
  EXPECT_GE(after(0.2), 1.9);
  EXPECT_GE(after(0.02), 1.2);
  EXPECT_LE(after(std::nullopt), 1);
  EXPECT_EQ(after(0.0), after(std::nullopt));
}

// Without a known limit, throttling is ignored because it cannot be attributed to a limit.
TEST(WorkFunction, ThrottlingWithoutALimitIsIgnored) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob with(fleet), without(fleet);
  for (int32_t i = 0; i < 3 * kWindowsPerDay; ++i) {
    const MadeSignal made(Resource::kCpu, i, i % 7 * 0.1 + 0.1);
    Signal signal = made;
    without.recommender().Observe(signal);
    signal.throttled = 0.5;
    with.recommender().Observe(signal);
    ASSERT_EQ(with.recommender().Recommend(WindowId{i + 1}),
              without.recommender().Recommend(WindowId{i + 1}));
  }
}

TEST(WorkFunction, AKillRaisesMemoryAtOnce) {
  const WorkFunctionFleet fleet(Resource::kMemory, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  job.Live(300 * kMiB, 2 * kWindowsPerDay);
  const double before = job.limit();
  job.recommender().ObserveOom({WindowId{job.window()}, 0, before});
  EXPECT_GE(job.limit(), OomBump(before, OomSettings()) * (1 - 1e-4));
}

// The need assumed at a kill counts as usage. On the next day, the limit does not fall below this need in the
// hours before the time of the kill.
TEST(WorkFunction, DoesNotFallBelowWhatAKillAskedForYesterday) {
  constexpr int kLookAhead = 8 * kWindowsPerHour;
  int falls = 0;
  for (int scale = 1; scale <= 12; ++scale) {
    WorkFunctionSettings settings = LevelsAtPrice(2400);
    settings.change_scale = scale;
    const WorkFunctionFleet fleet(Resource::kMemory, settings);
    ASSERT_EQ(fleet.look_ahead_hours(), 8);
    LevelsJob job(fleet);
    for (int t = 0; t < 2 * kWindowsPerDay; ++t) job.Live(300 * kMiB);
    job.recommender().ObserveOom({WindowId{job.window()}, 0, job.limit()});
    const double raised = job.limit();
    for (int after = 0; after < 2 * kWindowsPerDay && job.limit() >= raised; ++after) {
      job.Live(300 * kMiB);
      if (job.limit() >= raised) continue;
      ++falls;
      EXPECT_TRUE(after < kWindowsPerDay - kLookAhead || after >= kWindowsPerDay - kWindowsPerHour) << after;
    }
  }
  EXPECT_GE(falls, 8);
}

// The limit can leave the lowest level and stays at the highest level.
TEST(WorkFunction, MovesFromTheLowestLevelAndStaysAtTheHighest) {
  const WorkFunctionFleet fleet(Resource::kMemory, LevelsAtPrice(1000));
  LevelsJob small(fleet);
  small.Live(kMiB / 2, 2 * kWindowsPerDay);
  EXPECT_EQ(small.limit(), kMiB);
  small.recommender().ObserveOom({WindowId{small.window()}, 0, kMiB});
  EXPECT_GT(small.limit(), 50 * kMiB);
  Reason reason;
  small.recommender().Explain(reason);
  EXPECT_THAT(reason.why, ::testing::HasSubstr("was above the limit of 1.00 MiB"));
  const double highest = Levels::Level(Resource::kMemory, Levels::kLevels - 1);
  LevelsJob large(fleet);
  large.Live(2 * highest, 2 * kWindowsPerDay);
  EXPECT_EQ(large.limit(), highest);
}

TEST(WorkFunction, AJobWithoutUsageHasNothingAboveItsLimit) {
  const WorkFunctionFleet fleet(Resource::kCpu, LevelsAtPrice(1000));
  LevelsJob job(fleet);
  job.Live(0, 2 * kWindowsPerDay);
  EXPECT_EQ(job.limit(), 0.01);
  Reason reason;
  job.recommender().Explain(reason);
  EXPECT_THAT(reason.sentence, ::testing::StartsWith("0 % of this job's work"));
}

TEST(WorkFunction, GoesOnFromACheckpoint) {
  const WorkFunctionFleet fleet(Resource::kCpu, WorkFunctionSettings());
  Rng rng(5);
  LevelsJob job(fleet);
  std::vector<double> usages;
  for (int t = 0; t < 5 * kWindowsPerDay; ++t) usages.push_back(rng.Below(50) == 0 ? 4 : rng.Uniform(0.1, 1));
  for (const double u : usages) job.Live(u);
  std::string bytes;
  ByteWriter out(&bytes);
  job.recommender().Save(out);
  WorkFunctionRecommender again(fleet, OomSettings());
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  for (int t = 0; t < 2000; ++t) {
    const int32_t window = job.window();
    const double usage = usages[static_cast<size_t>(t) % usages.size()];
    const std::optional<double> limit = again.Recommend(WindowId{window});
    const MadeSignal made(Resource::kCpu, window, usage);
    Signal signal = made;
    signal.limit = limit;
    signal.owner_limit = 8;
    again.Observe(signal);
    ASSERT_EQ(job.Live(usage), limit) << t;
  }
  RefusesParts(bytes, 7, fleet);
}

// Each job with its own target share of work above the limits receives this share from day 20 on, for any
// price factor. The other jobs together receive the fleet's share.
TEST(WorkFunction, AJobsOwnOrderIsKeptForThatJob) {
  WorkFunctionSettings settings;
  settings.cpu_throttled = 0.002;
  WorkFunctionFleet fleet(Resource::kCpu, settings);
  struct One {
    WorkFunctionRecommender recommender;
    std::optional<double> order;
    double size, share, over = 0, used = 0;
  };
  Rng rng(17);
  std::vector<One> jobs;
  for (int i = 0; i < 60; ++i) {
    const std::optional<double> order = i < 15   ? std::optional(0.01)
                                        : i < 30 ? std::optional(0.0005)
                                                 : std::nullopt;
    jobs.push_back({WorkFunctionRecommender(fleet, OomSettings(), i % 2 == 0 ? 1 : 0.25, order), order,
                    std::exp(rng.Uniform(-1, 2)), rng.Uniform(0.01, 0.1)});
  }
  constexpr int32_t kDays = 90, kScoredFrom = 20;
  for (int32_t day = 0; day < kDays; ++day) {
    FleetRows rows;
    for (One& j : jobs) {
      double burst = 1;
      for (int32_t w = 0; w < kWindowsPerDay; ++w) {
        const WindowId window{day * kWindowsPerDay + w};
        if (rng.Below(6) == 0) burst = rng.Uniform() < j.share ? 1 + 3 * rng.Uniform() : 1;
        const double usage = j.size * burst * std::exp(0.15 * rng.Normal());
        const std::optional<double> limit = j.recommender.Recommend(window);
        const MadeSignal made(Resource::kCpu, window.index, usage);
        Signal signal = made;
        signal.limit = limit;
        signal.owner_limit = 5 * j.size;
        j.recommender.Observe(signal);
        if (day < kScoredFrom) continue;
        j.used += usage;
        j.over += std::max(0.0, usage - limit.value_or(HUGE_VAL));
      }
      j.recommender.EndDay(day, rows);
    }
    fleet.CloseDay(rows);
  }
  // sum and number of the shares by target share; 0: jobs with the fleet's share
  std::map<double, std::pair<double, int>> means;
  for (const One& j : jobs) {
    auto& [sum, count] = means[j.order.value_or(0)];
    sum += j.over / j.used;
    ++count;
    if (j.order.has_value()) {
      EXPECT_NEAR(std::log2(j.over / j.used / *j.order), 0, 1) << *j.order << ", size " << j.size;
    }
  }
  Reason reason;
  jobs.front().recommender.Explain(reason);
  EXPECT_THAT(reason.sentence, ::testing::HasSubstr("(1 % ordered for this job)"));
  const auto mean = [&](double order) { return means[order].first / means[order].second; };
  EXPECT_NEAR(mean(0.01), 0.01, 0.0025);
  EXPECT_NEAR(mean(0.0005), 0.0005, 0.000125);
  EXPECT_NEAR(*fleet.share_over(), 0.002, 0.001) << "the others keep the fleet's";
}

// Returns the checkpoint `now` in a format older than hour_levels.h: with packed levels if `packed`, else with
// costs and weights as floats.
std::string OfVersionBefore(const std::string& now, bool packed) {
  ByteReader in(now);
  EXPECT_EQ(in.Get<float>(), -3);
  LevelValues costs;
  EXPECT_TRUE(costs.Load(in).ok());
  BucketFloats weights;
  EXPECT_TRUE(weights.Load(in, LevelValues::kLevels).ok());
  const auto last = in.Get<int32_t>();
  std::array<uint8_t, HourLevels::kHours> hours;
  for (uint8_t& level : hours) level = in.Get<uint8_t>();
  for (int i = 0; i < 8; ++i) (void)in.Get<int32_t>();  // the hour's raise, two sums, known tasks
  std::string bytes;
  ByteWriter out(&bytes);
  if (packed) {
    out.Put(-1.0F);
    costs.Save(out);
    weights.Save(out);
  } else {
    for (int k = 0; k < LevelValues::kLevels; ++k) out.Put(costs.At(k));
    for (int k = 0; k < LevelValues::kLevels; ++k) {
      const float* weight = weights.Find(static_cast<Bucket>(k));
      out.Put(weight != nullptr ? *weight : 0.0F);
    }
  }
  constexpr int32_t kOldHours = 48;
  for (int32_t slot = 0; slot < kOldHours; ++slot) {
    const int32_t hour = last - (last - slot) % kOldHours;
    const int level = hours[static_cast<size_t>(hour % HourLevels::kHours)] - 1;
    out.Put(level < 0 ? 0.0F : static_cast<float>(Levels::Level(Resource::kCpu, level)));
  }
  return bytes + now.substr(now.size() - in.remaining());
}

TEST(WorkFunction, ReadsCheckpointsOfOlderVersions) {
  const WorkFunctionFleet fleet(Resource::kCpu, WorkFunctionSettings());
  Rng rng(6);
  LevelsJob job(fleet);
  for (int t = 0; t < 3 * kWindowsPerDay; ++t) job.Live(rng.Below(50) == 0 ? 4 : rng.Uniform(0.1, 1));
  std::string bytes;
  ByteWriter out(&bytes);
  job.recommender().Save(out);
  ASSERT_GT(OfVersionBefore(bytes, false).size(), 2 * LevelValues::kLevels * sizeof(float));
  EXPECT_LT(bytes.size(), OfVersionBefore(bytes, false).size() / 2);
  for (const bool packed : {false, true}) {
    const std::string old = OfVersionBefore(bytes, packed);
    WorkFunctionRecommender again(fleet, OomSettings());
    ByteReader in(old);
    ASSERT_TRUE(again.Load(in).ok());
    EXPECT_EQ(in.remaining(), 0U);
    std::string bytes_again;
    ByteWriter out_again(&bytes_again);
    again.Save(out_again);
    EXPECT_EQ(OfVersionBefore(bytes_again, packed), old) << "with the last two days of hours";
    EXPECT_EQ(again.Recommend(WindowId{job.window()}), job.limit());
    EXPECT_LE(again.state_bytes(), 1280U);
    RefusesParts(old, 97, fleet);
  }
}

}  // namespace
}  // namespace taut::brain
