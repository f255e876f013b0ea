// Tests analogs end to end: fleets with known outcomes receive the target share.
#include "brain/recommend/analogs.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/recommend/ensemble.h"
#include "brain/recommend/made_signal.h"
#include "brain/recommend/wrappers.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

struct Job {
  double base, sigma;
  std::unique_ptr<AnalogsRecommender> recommender;
};

// A fleet whose daily peaks are base * lognormal(sigma), independent from day to day. A day has two windows,
// with the spike in the second window.
class Fleet {
 public:
  Fleet(int jobs, const AnalogSettings& settings, uint64_t seed)
      : config_(EnsembleSettings()), fleet_(Resource::kMemory, settings), rng_(seed) {
    for (int j = 0; j < jobs; ++j) AddJob();
  }
  Job& AddJob() {
    jobs_.push_back({std::exp(rng_.Uniform(18, 23)), rng_.Uniform(0.02, 0.4), nullptr});
    jobs_.back().recommender = std::make_unique<AnalogsRecommender>(
        fleet_, std::make_unique<EnsembleRecommender>(Resource::kMemory, config_, OomSettings()),
        OomSettings());
    return jobs_.back();
  }
  // Simulates a day of all jobs; returns the share of limited jobs whose peak exceeded the limit.
  double LiveDay(int32_t day) {
    FleetRows rows;
    double limited = 0, over = 0;
    for (Job& j : jobs_) {
      AnalogsRecommender& r = *j.recommender;
      r.StartDay(day);
      const int32_t w = day * kWindowsPerDay;
      (void)r.Recommend(WindowId{w});
      r.Observe(MadeSignal(Resource::kMemory, w, 0.05 * j.base));
      const double peak = j.base * std::exp(j.sigma * rng_.Normal());
      const std::optional<double> limit = r.Recommend(WindowId{w + 100});
      limited += limit.has_value() ? 1 : 0;
      over += limit.has_value() && peak > *limit ? 1 : 0;
      r.Observe(MadeSignal(Resource::kMemory, w + 100, peak));
      r.EndDay(day, rows);
    }
    fleet_.CloseDay(day, rows);
    return limited > 0 ? over / limited : 0;
  }
  const AnalogFleet& fleet() const { return fleet_; }
  AnalogFleet& fleet() { return fleet_; }
  std::vector<Job>& jobs() { return jobs_; }

 private:
  EnsembleConfig config_;
  AnalogFleet fleet_;
  Rng rng_;
  std::vector<Job> jobs_;
};

AnalogSettings Order(double share) {
  AnalogSettings s;
  s.memory_oom_days = share;
  s.max_rows = 8000;  // a small forest suffices, and many tests train one
  s.retrain_days = 10;
  s.solver_jobs = 300;
  return s;
}

TEST(Analogs, DeliverTheOrderedShareOfOomDays) {
  for (double share : {0.03, 0.08}) {
    Fleet fleet(300, Order(share), 17);
    double over = 0;
    int days = 0;
    for (int32_t day = 0; day < 60; ++day) {
      const double today = fleet.LiveDay(day);
      if (day < 20) continue;
      over += today;
      ++days;
    }
    ASSERT_TRUE(fleet.fleet().ready());
    EXPECT_NEAR(over / days, share, share / 3);
  }
}

TEST(Analogs, ACheaperOrderBuysLowerLimits) {
  double bytes[2] = {};
  for (int i = 0; i < 2; ++i) {
    Fleet fleet(100, Order(i == 0 ? 0.02 : 0.15), 23);
    for (int32_t day = 0; day < 25; ++day) (void)fleet.LiveDay(day);
    for (Job& j : fleet.jobs())
      bytes[i] += j.recommender->Recommend(WindowId{25 * kWindowsPerDay}).value_or(0);
  }
  EXPECT_LT(bytes[1], 0.95 * bytes[0]);
}

// On its second day, a new job has a forecast from one own day and the fleet's days.
TEST(Analogs, AYoungJobIsForecastFromTheFleet) {
  Fleet fleet(100, Order(0.03), 29);
  for (int32_t day = 0; day < 15; ++day) (void)fleet.LiveDay(day);
  Job& young = fleet.AddJob();
  young.recommender->StartDay(15);
  EXPECT_FALSE(young.recommender->Recommend(WindowId{15 * kWindowsPerDay}).has_value())
      << "nothing known: the owner's";
  (void)fleet.LiveDay(15);
  young.recommender->StartDay(16);
  const std::optional<double> limit = young.recommender->Recommend(WindowId{16 * kWindowsPerDay});
  ASSERT_TRUE(limit.has_value());
  EXPECT_GT(*limit, 0.3 * young.base);
  Reason reason;
  young.recommender->Explain(reason);
  EXPECT_THAT(reason.sentence, ::testing::HasSubstr("similar job-days in the fleet"));
  ASSERT_FALSE(reason.steps.empty());
  EXPECT_EQ(reason.steps.back().after, *limit);
}

// With too few job-days, the recommendations are exactly the ensemble's.
TEST(Analogs, ASmallFleetFallsBackToTheEnsemble) {
  const EnsembleConfig config{EnsembleSettings()};
  AnalogFleet fleet(Resource::kMemory, AnalogSettings());
  AnalogsRecommender analogs(
      fleet, std::make_unique<EnsembleRecommender>(Resource::kMemory, config, OomSettings()), OomSettings());
  EnsembleRecommender ensemble(Resource::kMemory, config, OomSettings());
  Rng rng(3);
  for (int32_t day = 0; day < 12; ++day) {
    analogs.StartDay(day);
    for (int32_t i = 0; i < kWindowsPerDay; i += 3) {
      const WindowId w{day * kWindowsPerDay + i};
      const MadeSignal signal(Resource::kMemory, w.index, 1000 * kMiB * std::exp(0.2 * rng.Normal()));
      analogs.Observe(signal);
      ensemble.Observe(signal);
      ASSERT_EQ(analogs.Recommend(w.next()), ensemble.Recommend(w.next())) << w.index;
    }
    FleetRows rows;
    analogs.EndDay(day, rows);
    fleet.CloseDay(day, rows);
  }
  EXPECT_FALSE(fleet.ready());
  Reason reason;
  analogs.Explain(reason);
  EXPECT_EQ(reason.recommender, "analogs");
  EXPECT_THAT(reason.sentence,
              ::testing::AnyOf(::testing::HasSubstr("too small to forecast from yet: it has "),
                               ::testing::HasSubstr("too young")));
}

// Usage close to the limit raises the limit at once for some hours. The next day starts without the raise.
TEST(Analogs, RaisesWhenUsageComesNear) {
  AnalogSettings s = Order(0);
  s.memory_price_bytes = 1e15;  // at this price in bytes, every raise is worth its cost
  Fleet fleet(60, s, 31);
  for (int32_t day = 0; day < 15; ++day) (void)fleet.LiveDay(day);
  AnalogsRecommender& r = *fleet.jobs()[0].recommender;
  r.StartDay(15);
  const int32_t w = 15 * kWindowsPerDay;
  const double limit = *r.Recommend(WindowId{w});
  r.Observe(MadeSignal(Resource::kMemory, w, 0.79 * limit));
  EXPECT_EQ(*r.Recommend(WindowId{w + 1}), limit);
  r.Observe(MadeSignal(Resource::kMemory, w + 1, 0.9 * limit));
  EXPECT_NEAR(*r.Recommend(WindowId{w + 2}), 1.6 * 0.9 * limit, 1e-6 * limit);
  r.Observe(MadeSignal(Resource::kMemory, w + 2, 0.1 * limit));
  EXPECT_NEAR(*r.Recommend(WindowId{w + 73}), 1.6 * 0.9 * limit, 1e-6 * limit);
  EXPECT_EQ(*r.Recommend(WindowId{w + 74}), limit) << "six hours are 72 windows";
}

// Usage above the limit raises the limit above the usage until the next decision. The next overrun raises the
// limit further.
TEST(Analogs, AnOverrunRaisesUntilTheNextDecision) {
  Fleet fleet(60, Order(0.05), 31);
  for (int32_t day = 0; day < 15; ++day) (void)fleet.LiveDay(day);
  AnalogsRecommender& r = *fleet.jobs()[0].recommender;
  r.StartDay(15);
  const int32_t w = 15 * kWindowsPerDay;
  const double limit = *r.Recommend(WindowId{w});
  r.Observe(MadeSignal(Resource::kMemory, w, 1.1 * limit));
  const double raised = *r.Recommend(WindowId{w + 1});
  EXPECT_DOUBLE_EQ(raised, OomBump(static_cast<float>(1.1 * limit), OomSettings()));
  r.Observe(MadeSignal(Resource::kMemory, w + 1, 0.1 * limit));
  EXPECT_EQ(*r.Recommend(WindowId{w + 200}), raised) << "also when usage has gone";
  r.Observe(MadeSignal(Resource::kMemory, w + 200, 1.1 * raised));
  const auto seen = static_cast<float>(1.1 * raised);
  EXPECT_DOUBLE_EQ(*r.Recommend(WindowId{w + 201}), OomBump(OomBump(seen, OomSettings()), OomSettings()));
  r.StartDay(16);
  EXPECT_GT(*r.Recommend(WindowId{w + kWindowsPerDay}), 0);
}

// An OOM-day costs a job of many tasks once, but each task reserves the limit.
TEST(Analogs, AJobOfManyTasksHasALowerLimit) {
  Fleet fleet(60, Order(0.05), 31);
  for (int32_t day = 0; day < 15; ++day) (void)fleet.LiveDay(day);
  AnalogsRecommender& r = *fleet.jobs()[0].recommender;
  const auto many = r.Clone();
  const double peak = fleet.jobs()[0].base;
  const int32_t w = 15 * kWindowsPerDay;
  FleetRows rows;
  for (auto& [one, tasks] : {std::pair<Recommender*, uint32_t>(&r, 1), {many.get(), 200}}) {
    one->StartDay(15);
    std::vector<TaskUsage> usage;
    for (uint32_t t = 0; t < tasks; ++t)
      usage.push_back({t, static_cast<float>(peak), static_cast<float>(peak)});
    one->Observe(MadeSignal(Resource::kMemory, w, usage));
    one->EndDay(15, rows);
    one->StartDay(16);
  }
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].tomorrow.tasks, 1);
  EXPECT_EQ(rows[1].tomorrow.tasks, 200);
  EXPECT_LT(*many->Recommend(WindowId{w + kWindowsPerDay}), *r.Recommend(WindowId{w + kWindowsPerDay}));
  Reason reason;
  many->Explain(reason);
  EXPECT_THAT(reason.facts,
              ::testing::Contains(::testing::Field(&Fact::name, std::string("tasks, mean of the last day"))));
}

// Older checkpoints have no number of tasks, so the number is 1 until a day has ended.
TEST(Analogs, ACheckpointWithoutTasksIsRead) {
  Fleet fleet(60, Order(0.05), 31);
  for (int32_t day = 0; day < 15; ++day) (void)fleet.LiveDay(day);
  AnalogsRecommender& r = *fleet.jobs()[0].recommender;
  r.StartDay(15);
  const double limit = *r.Recommend(WindowId{15 * kWindowsPerDay});
  std::string bytes;
  ByteWriter out(&bytes);
  r.Save(out);
  // Sizes in bytes: the two counts and the mean that older checkpoints lack, the flag of a fallback after these
  // fields, and the state from the flags to its end.
  constexpr size_t kTasks = 12, kAfter = 1, kFlagsToEnd = 131;
  char& flags = bytes[bytes.size() - kFlagsToEnd];
  ASSERT_EQ(flags, 1 | 2 | 4 | 8);
  flags = 1 | 2 | 4;
  bytes.erase(bytes.size() - kTasks - kAfter, kTasks);
  AnalogsRecommender again(fleet.fleet(), nullptr, OomSettings());
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(*again.Recommend(WindowId{15 * kWindowsPerDay}), limit);
}

// Promises and outcomes refer to the limit in force, which another program may have kept higher.
TEST(Analogs, JudgeThemselvesByTheLimitInForce) {
  double overruns[2] = {};
  double promised[2] = {};
  for (int held = 0; held < 2; ++held) {
    Fleet fleet(60, Order(0.05), 31);
    for (int32_t day = 0; day < 15; ++day) (void)fleet.LiveDay(day);
    for (Job& job : fleet.jobs()) {
      AnalogsRecommender& r = *job.recommender;
      r.StartDay(15);
      const int32_t w = 15 * kWindowsPerDay;
      const double own = *r.Recommend(WindowId{w});
      const MadeSignal made(Resource::kMemory, w, 1.5 * own);
      Signal signal = made;
      signal.limit = held == 1 ? 20 * own : own;
      r.Observe(signal);
      FleetRows rows;
      r.EndDay(15, rows);
      ASSERT_EQ(rows.size(), 1U);
      ASSERT_TRUE(rows[0].verdict.has_value());
      overruns[held] += rows[0].verdict->overrun ? 1 : 0;
      promised[held] += rows[0].verdict->promised;
    }
  }
  EXPECT_EQ(overruns[0], 60);
  EXPECT_EQ(overruns[1], 0);
  EXPECT_LT(promised[1], 0.2 * promised[0]);
}

// The training sample has a fixed size, and equal rows yield equal prices.
TEST(AnalogFleet, IsTheSameForTheSameRows) {
  double price[2] = {};
  for (double& p : price) {
    Fleet fleet(50, Order(0.05), 41);
    for (int32_t day = 0; day < 14; ++day) (void)fleet.LiveDay(day);
    EXPECT_EQ(fleet.fleet().rows_seen(), 50U * 13);
    p = fleet.fleet().price();
  }
  EXPECT_EQ(price[0], price[1]);
  EXPECT_GT(price[0], 0);
}

// Returns the price after 40 days of given promises and outcomes. The forecasts do not depend on the arguments.
double PriceAfter(double promised, int overruns_of_100) {
  AnalogFleet fleet(Resource::kMemory, Order(0.03));
  Rng rng(5);
  for (int32_t day = 0; day < 40; ++day) {
    FleetRows rows;
    for (int j = 0; j < 100; ++j) {
      FleetRow& row = rows.emplace_back();
      row.lesson = FleetLesson{.features = {}, .outcome = static_cast<float>(0.2 * rng.Normal())};
      row.tomorrow.week_peak = 1 << 30;
      row.verdict = FleetVerdict{.promised = static_cast<float>(promised), .overrun = j < overruns_of_100};
    }
    fleet.CloseDay(day, rows);
  }
  EXPECT_TRUE(fleet.ready());
  return fleet.price();
}

TEST(AnalogFleet, ThePriceIsCorrectedForHowPromisesWereKept) {
  const double kept = PriceAfter(0.03, 3);
  EXPECT_GT(PriceAfter(0.01, 3), 1.2 * kept) << "three times what was promised: dearer";
  EXPECT_LT(PriceAfter(0.09, 3), kept / 1.2) << "a third of it: cheaper";
  // A promise that was kept but is below the target share leaves a deviation, which the price compensates.
  EXPECT_GT(PriceAfter(0.05, 5), 1.02 * kept);
  EXPECT_LT(PriceAfter(0.01, 1), kept / 1.02);
}

// A full training sample still accepts new rows.
TEST(AnalogFleet, AFullSampleStillLearns) {
  AnalogSettings settings = Order(0.03);
  settings.max_rows = 500;
  settings.retrain_days = 1;
  AnalogFleet fleet(Resource::kMemory, settings);
  const auto live = [&](int32_t from, int32_t to, float outcome) {
    for (int32_t day = from; day < to; ++day) {
      FleetRows rows(100);
      for (FleetRow& row : rows) {
        row.job = MixBits(static_cast<uint64_t>(&row - rows.data()));
        row.lesson = FleetLesson{.features = {}, .outcome = outcome};
        row.tomorrow.week_peak = 1 << 30;
      }
      fleet.CloseDay(day, rows);
    }
    return fleet.Forecast(AnalogCase{}).Exceedance(0.5);
  };
  EXPECT_LT(live(0, 10, 0), 0.01);
  // Half of all rows have the new outcome, and therefore half of the sample.
  EXPECT_NEAR(live(10, 20, 1), 0.5, 0.1);
}

std::string Saved(const AnalogFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.Save(out);
  return bytes;
}

// A fleet that is saved and loaded midway continues unchanged.
TEST(AnalogFleet, GoesOnFromACheckpoint) {
  Fleet straight(50, Order(0.05), 41);
  Fleet broken(50, Order(0.05), 41);
  for (int32_t day = 0; day < 20; ++day) {
    if (day == 11) {
      const std::string bytes = Saved(broken.fleet());
      broken.fleet() = AnalogFleet(Resource::kMemory, Order(0.05));
      ByteReader in(bytes);
      ASSERT_TRUE(broken.fleet().Load(in).ok());
      EXPECT_EQ(in.remaining(), 0U);
      EXPECT_TRUE(broken.fleet().ready());
    }
    EXPECT_EQ(straight.LiveDay(day), broken.LiveDay(day)) << day;
  }
  EXPECT_EQ(Saved(straight.fleet()), Saved(broken.fleet()));
}

TEST(AnalogFleet, ADamagedCheckpointIsRefusedAndChangesNothing) {
  Fleet fleet(30, Order(0.05), 5);
  for (int32_t day = 0; day < 12; ++day) (void)fleet.LiveDay(day);
  const std::string bytes = Saved(fleet.fleet());
  AnalogFleet other(Resource::kMemory, Order(0.05));
  const std::string empty = Saved(other);
  for (size_t cut = 0; cut < bytes.size(); cut += 97) {
    ByteReader in(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(other.Load(in).ok()) << cut;
  }
  EXPECT_EQ(Saved(other), empty);
  // Damaged bytes may load, because only a checksum elsewhere detects them. A loaded fleet must still be safe to
  // use.
  Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Next());
    ByteReader in(damaged);
    if (other.Load(in).ok() && other.ready()) (void)other.Forecast(AnalogCase());
  }
  AnalogFleet cpu(Resource::kCpu, Order(0.05));
  ByteReader in(bytes);
  EXPECT_EQ(cpu.Load(in).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace taut::brain
