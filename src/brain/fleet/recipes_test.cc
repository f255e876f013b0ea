// Tests of the wrappers around each recommender, and of the state of fleet models that is copied and saved.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/fleet/policies.h"
#include "brain/recommend/made_signal.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::Optional;

// A job with one task that is stepped day by day.
class OneJob {
 public:
  OneJob(Policy policy, Resource r, const VerticalSettings& settings)
      : models_(settings), resource_(r), one_(NewRecommender(policy, r, JobInfo(), settings, models_)) {}

  void Use(double value, int32_t windows, std::optional<double> owner = std::nullopt) {
    for (int32_t i = 0; i < windows; ++i, ++window_) {
      if (window_ % kWindowsPerDay == 0) one_->StartDay(window_ / kWindowsPerDay);
      one_->Observe(
          MadeSignal(resource_, window_, {{0, static_cast<float>(value), static_cast<float>(value)}}, owner));
      limit_ = one_->Recommend(WindowId{window_ + 1});
    }
  }
  void Kill(double at) {
    one_->ObserveOom({WindowId{window_ - 1}, 0, at});
    limit_ = one_->Recommend(WindowId{window_});
  }
  // Returns the limit for the window after the last observed window.
  std::optional<double> limit() const { return limit_; }
  Recommender& recommender() { return *one_; }

 private:
  FleetModels models_;
  Resource resource_;
  std::unique_ptr<Recommender> one_;
  int32_t window_ = 0;
  std::optional<double> limit_;
};

constexpr Policy kWithoutComparators[] = {Policy::kPeak, Policy::kMovingWindow, Policy::kEnsemble,
                                          Policy::kAnalogs, Policy::kWorkFunction};

// Every program must compute the same window for a name, so the values are fixed.
TEST(Recipes, TheWindowOfADailyDecisionIsTheSameInEveryProgram) {
  EXPECT_EQ(DecisionWindow("shop/web"), 263);
  EXPECT_EQ(DecisionWindow("search/frontend"), 190);
  EXPECT_EQ(DecisionWindow(""), 50);
}

TEST(Recipes, MemoryStaysAboveWhatAStartNeeded) {
  for (const Policy policy : kWithoutComparators) {
    OneJob job(policy, Resource::kMemory, VerticalSettings());
    job.Use(1000 * kMiB, 2);
    job.Use(100 * kMiB, 20 * kWindowsPerDay);
    ASSERT_TRUE(job.limit().has_value()) << Name(policy);
    if (policy == Policy::kPeak) {
      EXPECT_LT(*job.limit(), 200 * kMiB) << "the exact peak of a week, as its name says";
    } else {
      EXPECT_GE(*job.limit(), 1000 * kMiB) << Name(policy);
    }
    // A process survives a slow start, so the floor applies only to memory.
    OneJob cpu(policy, Resource::kCpu, VerticalSettings());
    cpu.Use(4, 2);
    cpu.Use(0.2, 40 * kWindowsPerDay);
    ASSERT_TRUE(cpu.limit().has_value()) << Name(policy);
    EXPECT_LT(*cpu.limit(), 2) << Name(policy);
  }
}

TEST(Recipes, MemoryOfYoungJobsIsWiderWhereTheRecommenderHasNoCautionOfItsOwn) {
  for (const Policy policy : kWithoutComparators) {
    for (const Resource r : kResources) {
      VerticalSettings plain;
      plain.ensemble.young_margin = 0;
      VerticalSettings wide = plain;
      wide.ensemble.young_margin = 0.5;
      OneJob narrow_job(policy, r, plain), wide_job(policy, r, wide);
      for (OneJob* job : {&narrow_job, &wide_job})
        job->Use(r == Resource::kCpu ? 1 : 400 * kMiB, 2 * kWindowsPerDay);
      ASSERT_TRUE(narrow_job.limit().has_value() && wide_job.limit().has_value()) << Name(policy);
      const bool widens =
          r == Resource::kMemory && (policy == Policy::kEnsemble || policy == Policy::kAnalogs);
      if (widens) {
        EXPECT_GT(*wide_job.limit(), 1.45 * *narrow_job.limit()) << Name(policy);
      } else {
        EXPECT_EQ(*wide_job.limit(), *narrow_job.limit()) << Name(policy) << " " << Name(r);
      }
    }
  }
}

// The default floor is limited by the owner's limit; a bound set by a person is not.
TEST(Recipes, OnlyALowerBoundThatWasSetIsAboveTheOwnersLimit) {
  OneJob by_default(Policy::kPeak, Resource::kMemory, VerticalSettings());
  by_default.Use(4 * kMiB, 2 * kWindowsPerDay, 16 * kMiB);
  EXPECT_THAT(by_default.limit(), Optional(16.0 * kMiB));
  VerticalSettings bounded;
  bounded.bounds_by[kMemoryIndex].lower = 24 * kMiB;
  OneJob chosen(Policy::kPeak, Resource::kMemory, bounded);
  chosen.Use(4 * kMiB, 2 * kWindowsPerDay, 16 * kMiB);
  EXPECT_THAT(chosen.limit(), Optional(24.0 * kMiB));
}

// With a setting, the VPA has the floor after a kill, like Tautline's recommenders.
TEST(Recipes, AFloorAfterAKillIsOurs) {
  const auto after_kill = [](Policy policy, bool oom_floor) {
    VerticalSettings settings;
    settings.vpa.oom_floor = oom_floor;
    OneJob job(policy, Resource::kMemory, settings);
    job.Use(100 * kMiB, 1);
    job.Kill(4000 * kMiB);
    job.Use(100 * kMiB, 5 * kWindowsPerDay);
    return job.limit().value_or(0);
  };
  EXPECT_LT(after_kill(Policy::kVpa, false), 4000 * kMiB);
  EXPECT_GT(after_kill(Policy::kVpa, true), 4000 * kMiB);
  EXPECT_GT(after_kill(Policy::kPeak, false), 4000 * kMiB);
}

// If the number of tasks follows the load, a limit that followed the usage per task would in turn change this
// usage.
TEST(Recipes, TheSizeOfATaskIsGivenOnlyToTheResourceThatScales) {
  using ScaledBy = VerticalSettings::ScaledBy;
  const auto recommended = [](ScaledBy by, Resource r) {
    VerticalSettings settings;
    settings.scaled_by = by;
    const double unit = r == Resource::kCpu ? 1 : 100 * kMiB;
    OneJob job(Policy::kPeak, r, settings);
    job.Use(unit, 2 * kWindowsPerDay);
    return job.limit().has_value() ? std::optional(*job.limit() / unit) : std::nullopt;
  };
  EXPECT_FALSE(recommended(ScaledBy::kCpu, Resource::kCpu).has_value()) << "no size was given yet";
  for (const Resource r : kResources) {
    EXPECT_THAT(recommended(ScaledBy::kNothing, r), Optional(::testing::DoubleNear(1.15, 0.02)));
    EXPECT_THAT(recommended(ScaledBy::kSeries, r), Optional(::testing::DoubleNear(1.15, 0.02)));
  }
  EXPECT_THAT(recommended(ScaledBy::kCpu, Resource::kMemory), Optional(::testing::DoubleNear(1.15, 0.02)));
}

// Tasks with half of the load use less memory, which must not lower the limit needed by a busy task.
TEST(Recipes, ATaskOfAScaledJobIsSizedForABusyOne) {
  using ScaledBy = VerticalSettings::ScaledBy;
  // Returns the limit after the number of tasks has grown, for tasks that share a load of 8 units. Each task
  // uses 50 MiB plus 100 MiB per unit. `of_series`: true if the load is a series, false if the load is CPU.
  const auto limit_after_scale_out = [](ScaledBy by, bool of_series) {
    VerticalSettings settings;
    settings.scaled_by = by;
    settings.peak.days = 1;
    FleetModels models(settings);
    const auto one = NewRecommender(Policy::kPeak, Resource::kMemory, JobInfo(), settings, models);
    double limit = 0;
    for (int32_t w = 0; w < 8 * kWindowsPerDay; ++w) {
      if (w % kWindowsPerDay == 0) one->StartDay(w / kWindowsPerDay);
      // The number of tasks varies on the first days, so that the relation of memory and load is learnt, and is
      // 8 later.
      const uint32_t num = w < 5 * kWindowsPerDay ? 1 + static_cast<uint32_t>(w / 24) % 2 : 8;
      const auto each = static_cast<float>((50 + 100 * 8.0 / num) * kMiB);
      std::vector<TaskUsage> tasks;
      for (uint32_t t = 0; t < num; ++t) tasks.push_back({t, each, each});
      const MadeSignal made(Resource::kMemory, w, tasks);
      Signal s = made.get();
      (of_series ? s.load : s.used_together[IndexOf(Resource::kCpu)]) = 8;
      one->Observe(s);
      limit = one->Recommend(WindowId{w + 1}).value_or(0);
    }
    return limit / kMiB;
  };
  const double plain = limit_after_scale_out(ScaledBy::kNothing, false);
  EXPECT_NEAR(plain, 150 * 1.15, 15);
  EXPECT_GT(limit_after_scale_out(ScaledBy::kCpu, false), 2 * plain);
  EXPECT_GT(limit_after_scale_out(ScaledBy::kSeries, true), 2 * plain);
  EXPECT_NEAR(limit_after_scale_out(ScaledBy::kSeries, false), plain, 1) << "that series is not there";
  EXPECT_NEAR(limit_after_scale_out(ScaledBy::kCpu, true), plain, 1) << "its CPU is not known";
}

FleetRows WorkOf(double over, double used) {
  FleetRow row;
  row.work = FleetWork{.over = over, .used = used, .size = 2, .seasoned = true};
  return {row};
}

// Returns models that learnt from a fleet in which a day's peak exceeds the previous week's peak by up to 59 %.
FleetModels LearntModels(const VerticalSettings& settings) {
  FleetModels models(settings);
  for (int32_t day = 0; day < 8; ++day) {
    FleetRows rows(60);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].lesson =
          FleetLesson{.features = {}, .outcome = static_cast<float>(0.01 * static_cast<double>(i))};
      rows[i].tomorrow.week_peak = 1000 * kMiB;
    }
    models.of(Resource::kMemory).CloseDay(day, rows);
  }
  return models;
}

// Neither a wrapper nor an earlier limit that is kept may let the chance exceed the bound.
TEST(Recipes, NoLimitIsAboveTheHighestChance) {
  using ScaledBy = VerticalSettings::ScaledBy;
  Rng rng(3);
  int held = 0, forecasts = 0;
  for (const ScaledBy scaled_by : {ScaledBy::kNothing, ScaledBy::kSeries, ScaledBy::kCpu}) {
    for (const double keep : {0.05, 0.5}) {
      VerticalSettings settings;
      settings.scaled_by = scaled_by;
      settings.analogs.min_rows = 20;
      settings.analogs.min_days = 3;
      settings.analogs.keep = keep;
      settings.analogs.max_overrun_chance = 0.07;
      FleetModels models = LearntModels(settings);
      std::unique_ptr<Recommender> one =
          NewRecommender(Policy::kAnalogs, Resource::kMemory, JobInfo(), settings, models);
      LimitRisk risk;
      std::optional<double> before;
      for (int32_t w = 8 * kWindowsPerDay; w < 24 * kWindowsPerDay; ++w) {
        if (w % kWindowsPerDay == 0) one->StartDay(w / kWindowsPerDay);
        // Replaces the recommender by a copy, as in a restart of the program.
        if (w % 1000 == 0) one = one->Clone();
        const double load = 1 + rng.Uniform(0, 2) * (w % kWindowsPerDay) / kWindowsPerDay;
        const double value =
            (200 + 300 * load) * kMiB * rng.Uniform(0.9, 1.1) * (rng.Below(500) == 0 ? 1.6 : 1);
        const MadeSignal made(Resource::kMemory, w,
                              {{0, static_cast<float>(value), static_cast<float>(value)}}, 4 * kGiB);
        Signal signal = made;  // a view of `made`
        signal.load = load;
        one->Observe(signal);
        std::optional<double> limit = one->Recommend(WindowId{w + 1});
        if (rng.Below(700) == 0 && limit.has_value()) one->ObserveOom({WindowId{w}, 0, *limit});
        one->TakeTaskSize({.limit = 2, .load = rng.Uniform(1, 3)});
        limit = one->Recommend(WindowId{w + 1});
        if (!limit.has_value()) continue;
        one->UpdateRisk(*limit, risk);
        ASSERT_FALSE(risk.is_too_high()) << risk.chance << " in window " << w;
        ASSERT_EQ(risk.limit, *limit);
        if (w % 16 == 0) {
          ASSERT_EQ(risk.chance, one->RiskOf(*limit).chance) << "what is kept is what would be found anew";
        }
        forecasts += risk.chance >= 0 ? 1 : 0;
        held += before == limit ? 1 : 0;
        before = limit;
      }
    }
  }
  EXPECT_GT(forecasts, 6 * 14 * kWindowsPerDay);
  EXPECT_GT(held, 1000);
}

// The explanation of a scaled job's limit contains the risk that is shown for this limit.
TEST(Recipes, TheRiskOfAScaledLimitIsTheOneExplained) {
  VerticalSettings settings;
  settings.scaled_by = VerticalSettings::ScaledBy::kSeries;
  settings.analogs.min_rows = 20;
  settings.analogs.min_days = 3;
  FleetModels models = LearntModels(settings);
  const std::unique_ptr<Recommender> one =
      NewRecommender(Policy::kAnalogs, Resource::kMemory, JobInfo(), settings, models);
  std::optional<double> limit;
  for (int32_t w = 8 * kWindowsPerDay; w < 11 * kWindowsPerDay; ++w) {
    if (w % kWindowsPerDay == 0) one->StartDay(w / kWindowsPerDay);
    const double load = 1 + (w % kWindowsPerDay) / 100.0;
    const auto value = static_cast<float>((100 + 300 * load) * kMiB);
    const MadeSignal made(Resource::kMemory, w, {{0, value, value}}, 4 * kGiB);
    Signal signal = made;  // a view of `made`
    signal.load = load;
    one->Observe(signal);
    one->TakeTaskSize({.limit = 2, .load = 8});
    limit = one->Recommend(WindowId{w + 1});
  }
  ASSERT_TRUE(limit.has_value());
  Reason reason;
  one->Explain(reason);
  ASSERT_TRUE(reason.chance.has_value());
  EXPECT_EQ(reason.limit, limit);
  EXPECT_EQ(*reason.chance, one->RiskOf(*limit).chance);
  EXPECT_EQ(reason.days_over, one->RiskOf(*limit).days_over);
  EXPECT_GE(one->RiskOf(0.8 * *limit).chance, *reason.chance);
}

TEST(FleetRisk, IsWhatTheRecommenderOfTheResourceWasOrdered) {
  VerticalSettings settings;
  FleetModels models(settings);
  models.CloseDay(Resource::kCpu, 0, WorkOf(1, 100));
  models.CloseDay(Resource::kMemory, 0, WorkOf(3, 100));
  const auto of = [&](Policy policy, Resource r) {
    FleetRisk risk;
    AddRisk(policy, r, models, settings, risk);
    return risk;
  };
  for (const Resource r : kResources) {
    const FleetRisk peak = of(Policy::kPeak, r);
    EXPECT_FALSE(peak.days_ordered.has_value() || peak.work_ordered.has_value() ||
                 peak.work_over.has_value());
    const FleetRisk analogs = of(Policy::kAnalogs, r);
    EXPECT_THAT(analogs.days_ordered, Optional(settings.analogs.order(r)));
    EXPECT_FALSE(analogs.work_ordered.has_value() || analogs.work_over.has_value());
    const FleetRisk work = of(Policy::kWorkFunction, r);
    EXPECT_FALSE(work.days_ordered.has_value());
    EXPECT_THAT(work.work_ordered, Optional(settings.work_function.order(r)));
    EXPECT_THAT(work.work_over, Optional(::testing::DoubleNear(r == Resource::kCpu ? 0.01 : 0.03, 1e-9)));
  }
  EXPECT_TRUE(of(Policy::kCombined, Resource::kMemory).days_ordered.has_value());
  EXPECT_TRUE(of(Policy::kCombined, Resource::kCpu).work_ordered.has_value());
  settings.work_function.price = 500;
  EXPECT_FALSE(of(Policy::kWorkFunction, Resource::kCpu).work_ordered.has_value()) << "a price, and no order";
  EXPECT_TRUE(of(Policy::kWorkFunction, Resource::kCpu).work_over.has_value());
}

// Trains the models with jobs whose usage grows a little each day.
void Train(FleetModels& models, const VerticalSettings& settings) {
  std::vector<std::unique_ptr<Recommender>> jobs;
  for (int j = 0; j < 6; ++j)
    jobs.push_back(NewRecommender(Policy::kAnalogs, Resource::kMemory, JobInfo(), settings, models));
  for (int32_t day = 0; day < 10; ++day) {
    FleetRows rows;
    for (size_t j = 0; j < jobs.size(); ++j) {
      jobs[j]->StartDay(day);
      for (int32_t i = 0; i < 6; ++i) {
        const double usage = (100.0 + 10 * static_cast<double>(j) + day % 3) * kMiB;
        jobs[j]->Observe(MadeSignal(Resource::kMemory, day * kWindowsPerDay + 48 * i, usage, 900 * kMiB));
        (void)jobs[j]->Recommend(WindowId{day * kWindowsPerDay + 48 * i + 1});
      }
      jobs[j]->EndDay(day, rows);
    }
    models.CloseDay(Resource::kMemory, day, rows);
    models.CloseDay(Resource::kCpu, day, WorkOf(1, 50));
    models.CloseDay(Resource::kMemory, day, WorkOf(2, 50));
  }
}

VerticalSettings Quick() {
  VerticalSettings s;
  s.analogs.min_rows = 10;
  s.analogs.min_days = 3;
  return s;
}

TEST(FleetModels, ForecastersKnowWhatTheFleetHasLearnt) {
  const VerticalSettings settings = Quick();
  FleetModels models(settings);
  Train(models, settings);
  ASSERT_TRUE(models.of(Resource::kMemory).ready());
  const FleetModels analogs = models.ForecastersFor(Policy::kAnalogs, Resource::kMemory, settings);
  EXPECT_TRUE(analogs.of(Resource::kMemory).ready());
  EXPECT_FALSE(analogs.of(Resource::kCpu).ready()) << "one resource alone";
  EXPECT_EQ(analogs.of(Resource::kMemory).price(), models.of(Resource::kMemory).price()) << "the same order";
  EXPECT_TRUE(
      models.ForecastersFor(Policy::kCombined, Resource::kMemory, settings).of(Resource::kMemory).ready());
  // A copy of a forest is expensive, so models for a recommender that does not read the forest lack the forest.
  EXPECT_FALSE(
      models.ForecastersFor(Policy::kPeak, Resource::kMemory, settings).of(Resource::kMemory).ready());
  const FleetModels work = models.ForecastersFor(Policy::kWorkFunction, Resource::kCpu, settings);
  EXPECT_EQ(work.work_of(Resource::kCpu).share_over(), models.work_of(Resource::kCpu).share_over());
  EXPECT_FALSE(work.work_of(Resource::kMemory).share_over().has_value());
}

std::string Saved(const FleetModels& models) {
  std::string bytes;
  ByteWriter out(&bytes);
  models.Save(out);
  return bytes;
}

TEST(FleetModels, ComeBackFromACheckpointAlsoOfAnEarlierVersion) {
  const VerticalSettings settings = Quick();
  FleetModels models(settings);
  Train(models, settings);
  const std::string current = Saved(models);
  const auto load = [&](std::string_view text, FleetModels& into) {
    ByteReader in(text);
    return into.Load(in);
  };
  FleetModels same(settings);
  ASSERT_TRUE(load(current, same).ok());
  EXPECT_EQ(Saved(same), current);

  // An older version had no boosted recommender.
  std::string boosted;
  ByteWriter boosted_out(&boosted);
  for (const BoostedFleet& fleet : models.boosted) fleet.Save(boosted_out);
  const std::string bytes = current.substr(0, current.size() - boosted.size());
  FleetModels unboosted(settings);
  ASSERT_TRUE(load(bytes, unboosted).ok());
  EXPECT_FALSE(load(current.substr(0, current.size() - 1), unboosted).ok());

  std::string work;
  ByteWriter out(&work);
  models.work_of(Resource::kCpu).Save(out);
  const size_t first_work = work.size();
  models.work_of(Resource::kMemory).Save(out);
  FleetModels earlier(settings);
  ASSERT_TRUE(load(std::string_view(bytes).substr(0, bytes.size() - work.size()), earlier).ok());
  EXPECT_TRUE(earlier.of(Resource::kMemory).ready());
  EXPECT_FALSE(earlier.work_of(Resource::kCpu).share_over().has_value());

  // Bytes that are truncated within one of the four models are rejected.
  const size_t whole = bytes.size();
  for (const size_t cut : {size_t{3}, whole - work.size() - 1, whole - work.size() + 3,
                           whole - work.size() + first_work + 3, whole - 1}) {
    FleetModels damaged(settings);
    EXPECT_FALSE(load(std::string_view(bytes).substr(0, cut), damaged).ok()) << cut << " of " << whole;
  }
}

}  // namespace
}  // namespace taut::brain
