// Tests of every recommender as the engine composes it: names, checkpoints and copies.
#include "brain/fleet/policies.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

TEST(Policies, NamesLeadBack) {
  for (const PolicyInfo& p : Policies()) {
    EXPECT_EQ(Name(p.policy), p.name);
    ASSERT_TRUE(ParsePolicy(p.name).ok());
    EXPECT_EQ(*ParsePolicy(p.name), p.policy);
  }
  const absl::StatusOr<Policy> none = ParsePolicy("autopilot");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Message(none.status())), ::testing::HasSubstr("moving_window"));
}

TEST(Policies, APairIsNamedByTheRowThatMakesTheSameOrByBoth) {
  for (const PolicyInfo& p : Policies()) {
    EXPECT_EQ(Name(PolicyPair(p.policy)), p.name);
    EXPECT_EQ(*ParsePolicyPair(p.name), PolicyPair(p.policy));
  }
  const PolicyPair pair(Policy::kMovingWindow, Policy::kCombined);
  EXPECT_EQ(pair.of(Resource::kCpu), Policy::kMovingWindow);
  EXPECT_EQ(pair.of(Resource::kMemory), Policy::kAnalogs);
  EXPECT_EQ(Name(pair), "moving_window+analogs");
  EXPECT_EQ(*ParsePolicyPair("moving_window+analogs"), pair);
  EXPECT_EQ(ParsePolicyPair("work_function+analogs")->one(), Policy::kCombined);
  for (const std::string_view bad : {"peak+", "+peak", "peak+autopilot", "peak+peak+peak"}) {
    EXPECT_THAT(std::string(Message(ParsePolicyPair(bad).status())),
                ::testing::HasSubstr("expected static, peak"))
        << bad;
  }
}

TEST(Policies, JobsHaveNoneThatRunsOnlyInAReplay) {
  EXPECT_TRUE(ParseJobPolicy("peak").ok());
  const std::string refused(Message(ParseJobPolicy("krr").status()));
  EXPECT_THAT(refused, ::testing::HasSubstr("\"krr\" runs only in taut replay"));
  EXPECT_THAT(refused, ::testing::Not(::testing::HasSubstr("crane")));
  // Recommenders for jobs must have the first values, without gaps, because a list of choices depends on this
  // order.
  for (size_t i = 0; i < Policies().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(Policies()[i].policy), i);
    EXPECT_EQ(Policies()[i].replay_only, i > static_cast<size_t>(Policy::kBoosted));
  }
}

TEST(Policies, EachKnobIsOneParameterWithASliderInsideWhatIsAccepted) {
  for (const PolicyInfo& p : Policies()) {
    for (const WhatIfKnob& knob : p.knobs) {
      EXPECT_LE(knob.least, knob.low) << knob.key;
      EXPECT_LE(knob.low, knob.initial) << knob.key;
      EXPECT_LE(knob.initial, knob.high) << knob.key;
      EXPECT_LE(knob.high, knob.most) << knob.key;
      EXPECT_FALSE(knob.logarithmic && knob.low <= 0) << knob.key;
      ASSERT_NE(FindKnob(knob.key), nullptr);
      EXPECT_EQ(FindKnob(knob.key)->set, knob.set) << knob.key << " is two parameters";
    }
  }
  EXPECT_EQ(FindKnob("none"), nullptr);
}

// Usage has rare bursts. With a higher tolerance of the job, the ensemble reserves less for the bursts.
TEST(Policies, TheEnsemblePaysForOverrunsByClassAndTolerance) {
  const auto limit = [](Resource r, Sensitivity sensitivity, OomTolerance tolerance) {
    VerticalSettings settings;
    settings.ensemble.w_over = 4000;
    settings.ensemble.cpu_w_over.reset();
    settings.ensemble.young_margin = 0;
    settings.moving_window.oom_tolerance = tolerance;
    FleetModels fleet(settings);
    JobInfo job;
    job.sensitivity = sensitivity;
    const auto one = NewRecommender(Policy::kEnsemble, r, job, settings, fleet);
    const double unit = r == Resource::kCpu ? 1 : 1024 * kMiB;
    for (int32_t w = 0; w < 7 * kWindowsPerDay; ++w) {
      one->Observe(MadeSignal(r, w, (w % 1000 == 900 ? 4 : 1) * unit));
    }
    return *one->Recommend(WindowId{7 * kWindowsPerDay}) / unit;
  };
  const auto cpu = [&](Sensitivity s) { return limit(Resource::kCpu, s, OomTolerance::kBySize); };
  EXPECT_GT(cpu(Sensitivity::kMostSensitive), 3.9);
  EXPECT_LT(cpu(Sensitivity::kBatch), 1.5);
  const auto memory = [&](OomTolerance t) { return limit(Resource::kMemory, Sensitivity::kUnknown, t); };
  EXPECT_GT(memory(OomTolerance::kMinimal), 3.9);
  EXPECT_LT(memory(OomTolerance::kIntermediate), 1.5);
}

TEST(Policies, DailyDecisionsAreSpreadOverTheDayByTheJobsName) {
  EXPECT_EQ(DecisionWindow("shop/web"), DecisionWindow("shop/web"));
  std::vector<int> at(kWindowsPerDay);
  for (int i = 0; i < 28'800; ++i) {
    const int32_t window = DecisionWindow(StrCat("job-", i));
    ASSERT_TRUE(window >= 0 && window < kWindowsPerDay);
    ++at[static_cast<size_t>(window)];
  }
  for (const int jobs : at) EXPECT_TRUE(jobs > 40 && jobs < 170) << jobs;
}

TEST(Policies, NoLimitIsBelowTheDefaultFloorUnlessALowerBoundIsSet) {
  const VerticalSettings settings;
  EXPECT_EQ(settings.bounds_by[kMemoryIndex].lower, 32 * kMiB);
  EXPECT_EQ(settings.bounds_by[kCpuIndex].lower, 0.01);
  for (const Resource r : kResources) {
    FleetModels fleet(settings);
    VerticalSettings low = settings;
    low.bounds_by[IndexOf(r)].lower = r == Resource::kCpu ? 0.002 : 2 * kMiB;
    for (const Policy policy : {Policy::kEnsemble, Policy::kAnalogs, Policy::kMovingWindow, Policy::kPeak}) {
      const auto floored = NewRecommender(policy, r, JobInfo(), settings, fleet);
      const auto chosen = NewRecommender(policy, r, JobInfo(), low, fleet);
      std::optional<double> limit;
      std::optional<double> lower;
      for (int32_t w = 0; w < 2 * kWindowsPerDay; ++w) {
        for (Recommender* one : {floored.get(), chosen.get()}) {
          if (w % kWindowsPerDay == 0) one->StartDay(w / kWindowsPerDay);
          one->Observe(MadeSignal(r, w, r == Resource::kCpu ? 0.0005 : kMiB));
        }
        limit = floored->Recommend(WindowId{w + 1});
        lower = chosen->Recommend(WindowId{w + 1});
      }
      EXPECT_EQ(limit, settings.bounds(r).lower) << Name(policy);
      ASSERT_TRUE(lower.has_value());
      EXPECT_LT(*lower, *limit) << Name(policy);
    }
  }
}

VerticalSettings QuickSettings() {
  VerticalSettings s;
  s.analogs.min_rows = 10;
  s.analogs.min_days = 3;
  return s;
}

// Some jobs over some days with 24 windows each, from which a fleet learns. The first job is tested.
class SmallFleet {
 public:
  static constexpr int kJobs = 5;
  static constexpr int kDays = 9;
  static constexpr int kWindows = 24;

  SmallFleet(Policy policy, Resource resource, const VerticalSettings& settings, uint64_t seed)
      : policy_(policy), resource_(resource), settings_(settings), models_(settings), rng_(seed) {
    for (int j = 0; j < kJobs; ++j) jobs_.push_back(New());
  }
  std::unique_ptr<Recommender> New() {
    return NewRecommender(policy_, resource_, JobInfo(), settings_, models_);
  }
  Recommender& subject() { return *jobs_[0]; }

  // Steps all days. Calls `twin` before each day (window -1) and before each window. After `twin` has returned a
  // second recommender, both recommenders are stepped and must agree.
  template <typename Fn>
  void Live(Fn twin) {
    std::unique_ptr<Recommender> other;
    const auto ask = [&](int day, int window) {
      if (other == nullptr) other = twin(subject(), day, window);
    };
    for (int day = 0; day < kDays; ++day) {
      ask(day, -1);
      for (auto& j : jobs_) j->StartDay(day);
      if (other != nullptr) other->StartDay(day);
      Compare(other.get(), WindowId{day * kWindowsPerDay});
      for (int i = 0; i < kWindows; ++i) {
        ask(day, i);
        StepWindow(WindowId{day * kWindowsPerDay + 12 * i}, other.get());
      }
      EndDay(day, other.get());
    }
  }

 private:
  void StepWindow(WindowId w, Recommender* other) {
    for (size_t j = 0; j < jobs_.size(); ++j) {
      const double scale = (resource_ == Resource::kCpu ? 1 : 300 * kMiB) * static_cast<double>(j + 1);
      std::vector<TaskUsage> tasks;
      for (uint32_t t = 0; t < 1 + j % 3; ++t) {
        const auto v = static_cast<float>(scale * std::exp(0.3 * rng_.Normal()));
        tasks.push_back({t, v, resource_ == Resource::kCpu ? v : 1.1F * v});
      }
      const MadeSignal signal(resource_, w.index, tasks, 3 * scale);
      const std::optional<double> limit = jobs_[j]->Recommend(w);
      jobs_[j]->Observe(signal);
      if (j == 0 && other != nullptr) {
        (void)other->Recommend(w);
        other->Observe(signal);
      }
      if (resource_ == Resource::kMemory && limit.has_value() && signal.get().peak > *limit) {
        jobs_[j]->ObserveOom({w, 0, *limit});
        if (j == 0 && other != nullptr) other->ObserveOom({w, 0, *limit});
      }
    }
    Compare(other, w.next());
  }
  void EndDay(int day, Recommender* other) {
    FleetRows rows, other_rows;
    for (auto& j : jobs_) j->EndDay(day, rows);
    if (other != nullptr) other->EndDay(day, other_rows);
    if (!other_rows.empty()) {
      RC_ASSERT(rows[0].lesson.has_value() == other_rows[0].lesson.has_value());
      if (rows[0].lesson.has_value()) RC_ASSERT(rows[0].lesson->outcome == other_rows[0].lesson->outcome);
      RC_ASSERT(rows[0].tomorrow.week_peak == other_rows[0].tomorrow.week_peak);
    }
    models_.of(resource_).CloseDay(day, rows);
  }
  void Compare(Recommender* other, WindowId next) {
    const std::optional<double> limit = subject().Recommend(next);
    if (other != nullptr) RC_ASSERT(other->Recommend(next) == limit);
  }

  Policy policy_;
  Resource resource_;
  VerticalSettings settings_;
  FleetModels models_;
  Rng rng_;
  std::vector<std::unique_ptr<Recommender>> jobs_;
};

Policy AnyPolicy() {
  std::vector<Policy> all;
  for (const PolicyInfo& p : Policies()) all.push_back(p.policy);
  return *rc::gen::elementOf(all);
}

VerticalSettings AnySettings() {
  VerticalSettings s = QuickSettings();
  s.moving_window.oom_tolerance =
      *rc::gen::element(OomTolerance::kLow, OomTolerance::kMinimal, OomTolerance::kIntermediate);
  s.moving_window.job_class = *rc::gen::element(JobClass::kBatch, JobClass::kServing);
  return s;
}

std::string Saved(const Recommender& r) {
  std::string bytes;
  ByteWriter out(&bytes);
  r.Save(out);
  return bytes;
}

RC_GTEST_PROP(Recommenders, ContinueFromACheckpointAsIfNothingHadHappened, ()) {
  const Policy policy = AnyPolicy();
  SmallFleet fleet(policy, *rc::gen::element(Resource::kCpu, Resource::kMemory), AnySettings(),
                   *rc::gen::arbitrary<uint64_t>());
  const int at_day = *rc::gen::inRange(0, SmallFleet::kDays);
  const int at_window = *rc::gen::inRange(0, SmallFleet::kWindows);
  fleet.Live([&](Recommender& subject, int day, int window) -> std::unique_ptr<Recommender> {
    if (day != at_day || window != at_window) return nullptr;
    const std::string bytes = Saved(subject);
    auto twin = fleet.New();
    ByteReader in(bytes);
    const absl::Status s = twin->Load(in);
    RC_ASSERT(s.ok());
    RC_ASSERT(in.remaining() == 0U);
    RC_ASSERT(Saved(*twin) == bytes);
    return twin;
  });
}

// The copy is made between days, as in a restart. A copy lacks the last hour and the last usage, so settings
// that use them are switched off.
RC_GTEST_PROP(Recommenders, CopiesGoOnAsTheOriginal, ()) {
  VerticalSettings s = AnySettings();
  s.moving_window.hold_windows = 1;
  s.analogs.raise_at = 0;
  SmallFleet fleet(AnyPolicy(), *rc::gen::element(Resource::kCpu, Resource::kMemory), s,
                   *rc::gen::arbitrary<uint64_t>());
  const int at_day = *rc::gen::inRange(0, SmallFleet::kDays);
  fleet.Live([&](Recommender& subject, int day, int window) {
    return day == at_day && window < 0 ? subject.Clone() : nullptr;
  });
}

constexpr size_t kFloorBytes = 4 * sizeof(float) + 4 * sizeof(int32_t);

// Damaged bytes result in an error, or in a recommender that can be stepped, explained and saved.
RC_GTEST_PROP(Recommenders, SurviveDamagedCheckpoints, ()) {
  const Policy policy = AnyPolicy();
  const Resource resource = *rc::gen::element(Resource::kCpu, Resource::kMemory);
  SmallFleet fleet(policy, resource, AnySettings(), *rc::gen::arbitrary<uint64_t>());
  const int at_day = *rc::gen::inRange(0, SmallFleet::kDays);
  fleet.Live([&](Recommender& subject, int day, int window) -> std::unique_ptr<Recommender> {
    if (day != at_day || window != SmallFleet::kWindows / 2) return nullptr;
    const std::string bytes = Saved(subject);
    // The last part of the state belongs to the floor. Without some of its fields, the bytes equal the
    // bytes of versions without floors, without the job's first window, or without provisional limits.
    const bool floored = policy != Policy::kVpa && policy != Policy::kStatic && policy != Policy::kKrr &&
                         policy != Policy::kCrane && policy != Policy::kRecorded;
    const size_t before_floors = floored ? bytes.size() - kFloorBytes : bytes.size();
    const size_t before_early = floored ? bytes.size() - sizeof(float) - sizeof(int32_t) : bytes.size();
    const size_t before_age = floored ? before_early - sizeof(int32_t) : bytes.size();
    for (int i = 0; i < 40 && !bytes.empty(); ++i) {
      const auto cut = *rc::gen::inRange<size_t>(0, bytes.size());
      ByteReader in(std::string_view(bytes).substr(0, cut));
      RC_ASSERT(fleet.New()->Load(in).ok() ==
                (cut == before_floors || cut == before_age || cut == before_early));

      std::string damaged = bytes;
      const int flips = *rc::gen::inRange(1, 4);
      for (int f = 0; f < flips; ++f) {
        damaged[*rc::gen::inRange<size_t>(0, bytes.size())] ^=
            static_cast<char>(1 << *rc::gen::inRange(0, 8));
      }
      auto victim = fleet.New();
      ByteReader damaged_in(damaged);
      if (!victim->Load(damaged_in).ok()) continue;
      const int32_t w = day * kWindowsPerDay + 12 * window;
      for (int32_t step = 0; step < 5; ++step) {
        victim->Observe(MadeSignal(resource, w + step, resource == Resource::kCpu ? 1.0 : 300 * kMiB));
        (void)victim->Recommend(WindowId{w + step + 1});
      }
      Reason reason;
      victim->Explain(reason);
      FleetRows rows;
      victim->EndDay(day, rows);
      RC_ASSERT(!Saved(*victim).empty());
    }
    return nullptr;
  });
}

TEST(Policies, CpuHasNoOomFloor) {
  VerticalSettings settings;
  settings.peak.min_history_s = 0;
  FleetModels models(settings);
  for (Resource r : kResources) {
    auto recommender = NewRecommender(Policy::kPeak, r, JobInfo(), settings, models);
    recommender->ObserveOom({WindowId{0}, 0, 1000 * kMiB});
    EXPECT_EQ(recommender->Recommend(WindowId{1}).has_value(), r == Resource::kMemory);
  }
}

// For a mostly idle job, the sensitivity selects the statistic: batch average < p90 < p95.
TEST(Policies, TheMovingWindowFollowsTheDeclaredSensitivity) {
  VerticalSettings settings;
  settings.moving_window.min_history_s = 0;
  FleetModels models(settings);
  const auto limit = [&](Sensitivity sensitivity) {
    JobInfo job;
    job.sensitivity = sensitivity;
    auto r = NewRecommender(Policy::kMovingWindow, Resource::kCpu, job, settings, models);
    // The distribution 150 x 0.1, 16 x 1, 1 x 2 has a p90 of 1 and a p95 of 2, weighted by load.
    r->Observe(MadeSignal(Resource::kCpu, 0,
                          MadeSignal::AtBuckets{{{Grid::Cpu().BucketOf(0.1), 150},
                                                 {Grid::Cpu().BucketOf(1), 16},
                                                 {Grid::Cpu().BucketOf(2), 1}}}));
    return *r->Recommend(WindowId{1});
  };
  EXPECT_LT(limit(Sensitivity::kBatch), limit(Sensitivity::kSensitive));
  EXPECT_LT(limit(Sensitivity::kSensitive), limit(Sensitivity::kMostSensitive));
  EXPECT_EQ(limit(Sensitivity::kBestEffort), limit(Sensitivity::kBatch));
  EXPECT_EQ(limit(Sensitivity::kUnknown), limit(Sensitivity::kMostSensitive))
      << "the settings' own class: serving";
}

}  // namespace
}  // namespace taut::brain
