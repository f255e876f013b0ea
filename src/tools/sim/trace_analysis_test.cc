#include "tools/sim/trace_analysis.h"

#include <array>
#include <cmath>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "tools/sim/analysis_sums.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

// Adds two tasks to the windows [first, last). Each uses 1 core and 1 GiB, with limits of 4 cores and 2 GiB.
void Put(MadeDays& days, JobId job, int32_t first, int32_t last) {
  for (int32_t window = first; window < last; ++window) {
    for (uint32_t task = 0; task < 2; ++task) {
      TaskWindow t;
      t.task = task;
      t.cpu_mean_cores = 1;
      t.memory_mean_bytes = static_cast<float>(kGiB);
      days.Put(job, window, t);
    }
    days.SetOwner(job, window, 4, 2 * kGiB);
  }
}

TEST(TraceAnalysisTest, SumsUsageByTierAndHour) {
  MadeDays days;
  JobInfo production = Named("production"), batch = Named("batch");
  production.priority = 200;
  batch.priority = 110;
  const JobId first = days.AddJob(production), second = days.AddJob(batch);
  days.AddJob(Named("without usage"));
  Put(days, first, 0, 3 * kWindowsPerDay);
  // The job has usage in half of one hour of the second day.
  Put(days, second, kWindowsPerDay + 5 * kWindowsPerHour, kWindowsPerDay + 5 * kWindowsPerHour + 6);
  days.Finish();
  const absl::StatusOr<TraceAnalysis> a = AnalyseTrace(days);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->jobs, 2U);
  EXPECT_EQ(a->hours.size(), 72U);
  EXPECT_TRUE(a->has_priorities);
  const auto tier = [](TraceTier t) { return static_cast<size_t>(t); };
  const AnalysisHour& hour = a->hours[29];
  EXPECT_EQ(hour.start_s, 29 * 3600);
  EXPECT_EQ(hour.new_jobs, 1U);
  EXPECT_DOUBLE_EQ(hour.of[0][tier(TraceTier::kProduction)].usage, 2);
  EXPECT_DOUBLE_EQ(hour.of[0][tier(TraceTier::kProduction)].limit, 8);
  EXPECT_DOUBLE_EQ(hour.of[0][tier(TraceTier::kBatch)].usage, 1) << "of half an hour";
  const TierSummary& of_production = a->tiers[1][tier(TraceTier::kProduction)];
  EXPECT_EQ(of_production.jobs, 1U);
  EXPECT_NEAR(of_production.usage, 2 * kGiB, 1);
  EXPECT_NEAR(of_production.slack(), 0.5, 1e-9);
  EXPECT_EQ(a->tiers[1][tier(TraceTier::kFree)].slack(), -1) << "not known is not 0";
  EXPECT_NEAR(a->sizes[0].max, 144, 1e-9) << "2 cores for 72 h";
  EXPECT_NEAR(a->sizes[0].total, 145, 1e-9);
  EXPECT_NEAR(a->sizes[1].total, 145, 1e-3);
  EXPECT_NEAR(a->correlation, 1, 1e-9);
  EXPECT_EQ(a->arrivals.hours, 48U) << "the hours from the second day on";
  EXPECT_NEAR(a->arrivals.mean, 1.0 / 48, 1e-12);
}

TEST(TraceAnalysisTest, SlackAtThePeakAndInTheTrough) {
  std::vector<AnalysisHour> hours(20);
  EXPECT_FALSE(PeakSlackOf(hours, Resource::kCpu).has_value()) << "no limit is known";
  for (size_t i = 0; i < hours.size(); ++i) {
    // Usage of 1 to 20 cores of a limit of 40, half of it in each of two tiers. Other tasks have no limit.
    for (const size_t tier : {0, 1}) {
      hours[(7 * i) % hours.size()].of[0][tier] = {100, 20, 0.5 * static_cast<double>(i + 1)};
    }
  }
  const std::optional<PeakSlack> slack = PeakSlackOf(hours, Resource::kCpu);
  ASSERT_TRUE(slack.has_value());
  EXPECT_DOUBLE_EQ(slack->peak, 1 - 19.5 / 40);
  EXPECT_DOUBLE_EQ(slack->trough, 1 - 1.5 / 40);
  EXPECT_FALSE(PeakSlackOf(hours, Resource::kMemory).has_value());
}

TEST(TraceAnalysisTest, WithoutUsageOrStopped) {
  MadeDays none;
  none.AddJob(Named("idle"));
  none.Finish();
  EXPECT_TRUE(absl::IsFailedPrecondition(AnalyseTrace(none).status()));
  MadeDays days;
  Put(days, days.AddJob(Named("a")), 0, 12);
  days.Finish();
  AnalysisHooks hooks;
  hooks.should_stop = [] { return true; };
  EXPECT_TRUE(absl::IsCancelled(AnalyseTrace(days, hooks).status()));
  const absl::StatusOr<TraceAnalysis> a = AnalyseTrace(days);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->arrivals.hours, 0U) << "less than a day";
  EXPECT_FALSE(a->has_priorities);
}

constexpr uint32_t kAnalysedJobs = 30;

// Returns the days of the jobs with number % parts == part. Some jobs have no usage, no priority or no limit.
MadeDays AnalysedPart(uint32_t part, uint32_t parts) {
  MadeDays days;
  for (uint32_t j = part; j < kAnalysedJobs; j += parts) {
    JobInfo info = Named(StrCat("job-", j));
    if (j % 4 != 0) info.priority = j == 29 ? 200 : static_cast<int>(j % 12);
    const JobId job = days.AddJob(info);
    Rng rng = Rng(3).Fork(j);
    if (j % 7 == 6) continue;
    for (int32_t w = static_cast<int32_t>(j) * 20; w < 3 * kWindowsPerDay; w += 5) {
      TaskWindow t;
      t.cpu_mean_cores = static_cast<float>(std::exp(rng.Uniform(-9, 9)));
      t.memory_mean_bytes = static_cast<float>(std::exp(rng.Uniform(10, 25)));
      days.Put(job, w, t);
      if (j % 3 != 0) days.SetOwner(job, w, rng.Uniform(1, 9), rng.Uniform(1e9, 1e10));
    }
  }
  days.Finish();
  return days;
}

AnalysisHooks ModeHooks() {
  AnalysisHooks hooks;
  hooks.mode_of = [](const std::string& job) {
    return static_cast<brain::ScalingMode>(job.size() % 2 * 3);  // full for jobs of one digit
  };
  return hooks;
}

std::string SumsOf(const AnalysisSums& sums) {
  std::string bytes;
  ByteWriter out(&bytes);
  sums.Save(out);
  return bytes;
}

TEST(AnalysisSums, PartsMergeToTheBytesOfTheWhole) {
  MadeDays all = AnalysedPart(0, 1);
  const std::string whole = SumsOf(*SumTrace(all, ModeHooks()));
  for (const uint32_t parts : {1, 2, 7, 40}) {
    AnalysisSums merged;
    for (uint32_t p = parts; p-- > 0;) {
      MadeDays days = AnalysedPart(p, parts);
      const std::string bytes = SumsOf(*SumTrace(days, ModeHooks()));
      ByteReader in(bytes);
      AnalysisSums part;
      ASSERT_TRUE(part.Load(in).ok());
      EXPECT_EQ(in.remaining(), 0U);
      EXPECT_EQ(SumsOf(part), bytes);
      merged.Merge(part);
    }
    EXPECT_EQ(SumsOf(merged), whole) << parts;
    const absl::StatusOr<TraceAnalysis> result = merged.Result();
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->jobs, 26U);
    EXPECT_TRUE(result->has_modes);
    // The priority 200 of one job decides that 11 is "free" and not "monitoring".
    EXPECT_EQ(result->tiers[0][static_cast<size_t>(TraceTier::kMonitoring)].jobs, 0U);
    EXPECT_EQ(result->tiers[0][static_cast<size_t>(TraceTier::kProduction)].jobs, 1U);
  }
}

TEST(AnalysisSums, DamagedBytesAreRefused) {
  MadeDays days = AnalysedPart(0, 1);
  const std::string bytes = SumsOf(*SumTrace(days));
  for (size_t cut = 0; cut < bytes.size(); cut += 101) {
    ByteReader in(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(AnalysisSums().Load(in).ok()) << cut;
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(AnalysisSums().Result().status()));
}

// If there are more jobs than are kept, the largest are exact, and the others are a sample.
TEST(JobSizes, OfASampleAreThoseOfAllJobs) {
  constexpr uint64_t kJobs = 50'000;
  JobSizes all, whole(2000);
  std::array<JobSizes, 7> parts;
  parts.fill(JobSizes(2000));
  for (uint64_t j = 0; j < kJobs; ++j) {
    const double u = (static_cast<double>(j) + 0.5) / kJobs;
    const JobSizes::Sizes sizes = {std::pow(u, -1 / 1.2), 1 + u};
    for (JobSizes* of : {&all, &whole, &parts[j % 7]}) of->Add(MixBits(j), sizes);
  }
  JobSizes merged(2000);
  for (const JobSizes& part : parts) {
    std::string bytes;
    ByteWriter out(&bytes);
    part.Save(out);
    ByteReader in(bytes);
    JobSizes loaded(2000);
    ASSERT_TRUE(loaded.Load(in));
    merged.Merge(loaded);
  }
  std::string of_merged, of_whole;
  ByteWriter merged_out(&of_merged), whole_out(&of_whole);
  merged.Save(merged_out);
  whole.Save(whole_out);
  EXPECT_EQ(of_merged, of_whole);
  const auto cpu = [](const JobSizes& sizes) {
    return sizes.DistributionOf(Resource::kCpu, sizes.SortedOf(Resource::kCpu));
  };
  const SizeDistribution exact = cpu(all), kept = cpu(merged);
  EXPECT_EQ(kept.jobs, kJobs);
  for (const auto figure : {&SizeDistribution::total, &SizeDistribution::variance, &SizeDistribution::p99,
                            &SizeDistribution::p999, &SizeDistribution::max, &SizeDistribution::top_1_percent,
                            &SizeDistribution::top_0_1_percent})
    EXPECT_EQ(kept.*figure, exact.*figure);
  for (const auto figure : {&SizeDistribution::median, &SizeDistribution::p90})
    EXPECT_NEAR(kept.*figure, exact.*figure, 0.05 * exact.*figure);
  EXPECT_NEAR(kept.others.squared_coefficient(), exact.others.squared_coefficient(), 0.1);
  EXPECT_EQ(kept.others.count(), exact.others.count());
  EXPECT_NEAR(kept.pareto.alpha, 1.2, 0.1);
  EXPECT_EQ(merged.Correlation(), all.Correlation());
}

}  // namespace
}  // namespace taut::tools
