// Tests KRR and Crane against their published rules, on usage whose figures can be computed by hand.
#include "brain/recommend/report_tools.h"

#include <string>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr int32_t kAt = 100;  // window of the day in which the tools run

TEST(Krr, CpuIsTheHighestOfTheTasksPercentiles) {
  const auto r = NewKrrRecommender(Resource::kCpu, KrrSettings(), kAt);
  // Task 0 uses 1 core, task 1 half a core and 4 cores in 6 % of its windows.
  for (int32_t w = kAt; w < kAt + 288; ++w) {
    const float second = w % 16 == 0 ? 4.0F : 0.5F;
    r->Observe(MadeSignal(Resource::kCpu, w, std::vector<TaskUsage>{{0, 1, 1}, {1, second, second}}));
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    ASSERT_EQ(limit.has_value(), w + 1 == kAt + 288) << w;
    if (limit.has_value()) {
      EXPECT_DOUBLE_EQ(*limit, 4);
    }
  }
}

TEST(Krr, CpuPercentileIsOfEachTaskNotOfAllSamples) {
  const auto r = NewKrrRecommender(Resource::kCpu, KrrSettings(), kAt);
  // The usage of 4 cores in 4 % of the windows is above the 95th percentile, which is 1 core.
  for (int32_t w = kAt; w < kAt + 288; ++w) {
    const float second = w % 25 == 0 ? 4.0F : 0.5F;
    r->Observe(MadeSignal(Resource::kCpu, w, std::vector<TaskUsage>{{0, 1, 1}, {1, second, second}}));
  }
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{kAt + 288}), 1);
}

TEST(Krr, MemoryIsTheHighestOfFourteenDaysAndFifteenPercent) {
  const auto r = NewKrrRecommender(Resource::kMemory, KrrSettings(), kAt);
  const double gib = 1024 * kMiB;
  for (int32_t w = kAt; w < kAt + 20 * 288; ++w) {
    r->Observe(MadeSignal(Resource::kMemory, w, w == kAt + 5 ? 8 * gib : gib));
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    const int32_t reports = (w + 1 - kAt) / 288;
    if (reports == 0) {
      ASSERT_FALSE(limit.has_value());
    } else {
      ASSERT_NEAR(*limit, (reports <= 14 ? 8 : 1) * gib * 1.15, 1) << reports;
    }
  }
}

TEST(Krr, ChangesNothingBelowAHundredPoints) {
  const auto r = NewKrrRecommender(Resource::kMemory, KrrSettings(), kAt);
  const double gib = 1024 * kMiB;
  // A window has four points at KRR's step of 75 s: 24 windows are too few, 25 are enough.
  for (int32_t w = kAt + 288 - 24; w < kAt + 288; ++w) r->Observe(MadeSignal(Resource::kMemory, w, gib));
  EXPECT_FALSE(r->Recommend(WindowId{kAt + 288}).has_value());
  r->Observe(MadeSignal(Resource::kMemory, kAt + 288, gib));
  EXPECT_FALSE(r->Recommend(WindowId{kAt + 289}).has_value());
  EXPECT_TRUE(r->Recommend(WindowId{kAt + 2 * 288}).has_value());
}

TEST(Krr, AnOomRaisesTheNextReportByAQuarter) {
  const auto r = NewKrrRecommender(Resource::kMemory, KrrSettings(), kAt);
  const double gib = 1024 * kMiB;
  for (int32_t w = kAt; w < kAt + 288; ++w) r->Observe(MadeSignal(Resource::kMemory, w, gib));
  const double before = *r->Recommend(WindowId{kAt + 288});
  r->ObserveOom({WindowId{kAt + 288}, 0, before});
  EXPECT_EQ(*r->Recommend(WindowId{kAt + 289}), before);
  EXPECT_NEAR(*r->Recommend(WindowId{kAt + 2 * 288}), before * 1.25, 100);
}

TEST(Krr, HasItsMinima) {
  const auto cpu = NewKrrRecommender(Resource::kCpu, KrrSettings(), kAt);
  const auto memory = NewKrrRecommender(Resource::kMemory, KrrSettings(), kAt);
  for (int32_t w = kAt; w < kAt + 288; ++w) {
    cpu->Observe(MadeSignal(Resource::kCpu, w, 0.001));
    memory->Observe(MadeSignal(Resource::kMemory, w, kMiB));
  }
  EXPECT_EQ(*cpu->Recommend(WindowId{kAt + 288}), 0.01);
  EXPECT_EQ(*memory->Recommend(WindowId{kAt + 288}), 1e8);
}

TEST(Crane, TakesThePercentileOfTheLoadInLinearBuckets) {
  const auto r = NewCraneRecommender(Resource::kCpu, CraneSettings(), OomSettings(), kAt);
  // 1 % of the windows use 10 cores, the other windows half a core. p99 of the time is half a core, but the
  // windows at 10 cores are 17 % of the load.
  for (int32_t w = kAt; w < kAt + 288; ++w) {
    r->Observe(MadeSignal(Resource::kCpu, w, w % 100 == 0 ? 10.04 : 0.54));
    ASSERT_EQ(r->Recommend(WindowId{w + 1}).has_value(), w + 1 == kAt + 288);
  }
  EXPECT_NEAR(*r->Recommend(WindowId{kAt + 289}), 10.1 * 1.15, 1e-9);
}

TEST(Crane, LetsADayGoAfterSeven) {
  const auto r = NewCraneRecommender(Resource::kMemory, CraneSettings(), OomSettings(), kAt);
  const double bucket = 100 * kMiB;
  for (int32_t w = kAt; w < kAt + 10 * 288; ++w) {
    r->Observe(MadeSignal(Resource::kMemory, w, w < kAt + 288 ? 20.5 * bucket : 2.5 * bucket));
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    const int32_t reports = (w + 1 - kAt) / 288;
    if (reports == 0) continue;
    ASSERT_NEAR(*limit, (reports <= 7 ? 21 : 3) * bucket * 1.15, 1) << reports;
  }
}

TEST(Crane, AnOomIsAFloorForAWeek) {
  const auto r = NewCraneRecommender(Resource::kMemory, CraneSettings(), OomSettings(), kAt);
  const double bucket = 100 * kMiB;
  for (int32_t w = kAt; w < kAt + 288; ++w) r->Observe(MadeSignal(Resource::kMemory, w, 9.5 * bucket));
  EXPECT_NEAR(*r->Recommend(WindowId{kAt + 288}), 11.5 * bucket, 1);
  r->ObserveOom({WindowId{kAt + 290}, 0, 11.5 * bucket});
  for (int32_t day = 2; day < 12; ++day) {
    for (int32_t w = kAt + (day - 1) * 288; w < kAt + day * 288; ++w) {
      r->Observe(MadeSignal(Resource::kMemory, w, 9.5 * bucket));
    }
    const double expected = day <= 8 ? 11.5 * 1.2 : 11.5;
    EXPECT_NEAR(*r->Recommend(WindowId{kAt + day * 288}), expected * bucket, 1) << day;
  }
}

TEST(ReportTools, StateSurvivesSaveAndLoad) {
  for (const bool krr : {true, false}) {
    for (const Resource resource : kResources) {
      const auto make = [&] {
        return krr ? NewKrrRecommender(resource, KrrSettings(), kAt)
                   : NewCraneRecommender(resource, CraneSettings(), OomSettings(), kAt);
      };
      const auto value = [&](int32_t w) {
        return (1.0 + w % 7) * (resource == Resource::kCpu ? 1 : 200 * kMiB);
      };
      const auto r = make();
      for (int32_t w = 0; w < 700; ++w) {
        r->Observe(MadeSignal(resource, w, value(w)));
        r->Recommend(WindowId{w + 1});
      }
      if (resource == Resource::kMemory) r->ObserveOom({WindowId{699}, 0, 3000 * kMiB});
      std::string state;
      ByteWriter out(&state);
      r->Save(out);
      const auto copy = make();
      ByteReader in(state);
      ASSERT_TRUE(copy->Load(in).ok());
      EXPECT_EQ(in.remaining(), 0U);
      for (int32_t w = 700; w < 1400; ++w) {
        r->Observe(MadeSignal(resource, w, value(w)));
        copy->Observe(MadeSignal(resource, w, value(w)));
        ASSERT_EQ(r->Recommend(WindowId{w + 1}), copy->Recommend(WindowId{w + 1})) << w;
      }
      for (size_t size = 0; size < state.size(); size += 1 + size / 3) {
        ByteReader cut(std::string_view(state).substr(0, size));
        EXPECT_FALSE(make()->Load(cut).ok()) << size;
      }
    }
  }
}

}  // namespace
}  // namespace taut::brain
