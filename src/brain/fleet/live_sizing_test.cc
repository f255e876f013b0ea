// Tests that the number and the size of a job's tasks are chosen together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "brain/fleet/live_fixture.h"
#include "common/base/byte_units.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;

LiveSettings Sizing(Mode mode, std::string_view size) {
  LiveSettings s = Settings(Policy::kMovingWindow, mode);
  JobPolicy defaults = s.rules.defaults();
  for (const auto& [key, value] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"replicas.policy", "hpa"}, {"replicas.hpa.target", "0.7"}, {"replicas.size", size}}) {
    EXPECT_TRUE(SetJobSetting(key, value, defaults).ok());
  }
  s.rules = *PolicyRules::Compile({}, defaults);
  return s;
}

// A job whose tasks have 4 cores and 3 GiB, with a daily load between 2 and 8.4 cores. Ordered limits and
// numbers apply from the next window on.
struct SizedJob {
  explicit SizedJob(const LiveSettings& settings) : fleet(settings) {
    fleet.AddJob({JobId{0}, "web", {}, 0});
  }

  static double LoadAt(int w) { return 5.2 - 3.2 * std::cos(w * 2 * M_PI / kWindowsPerDay); }

  void Run(int windows) {
    for (const int end = index + windows; index < end; ++index) Window();
  }
  void Window() {
    const double load = LoadAt(index);
    const auto each = static_cast<float>(load / running);
    const auto bytes = static_cast<float>((0.5 + 0.25 * each) * kGiB);
    ClosedWindow closed;
    closed.window = WindowId{index};
    JobWindow w;
    w.window = closed.window;
    w.num_tasks = static_cast<uint32_t>(running);
    w.cpu_limit_cores = 4;
    w.memory_limit_bytes = static_cast<float>(3 * kGiB);
    for (uint32_t t = 0; t < w.num_tasks; ++t) closed.tasks.push_back({t, each, each, bytes, bytes});
    closed.cpu_buckets.push_back({Grid::Cpu().BucketOf(each), 300.0F * static_cast<float>(running)});
    w.num_buckets = 1;
    closed.jobs.push_back({JobId{0}, w});
    if (each > Limit(Resource::kCpu)) ++throttled;
    if (bytes > Limit(Resource::kMemory)) ++killed;
    PassOutput out;
    fleet.pass.Observe(closed, 0, 1, out);
    fleet.pass.EndWindow(closed, out);
    fleet.pass.Decide(closed, 0, 1, out);
    for (const Decision& d : out.decisions) {
      if (d.kind != DecisionKind::kSet) continue;
      if (d.target.is_replicas()) running = static_cast<int>(*d.after);
      if (d.target == Target(Resource::kCpu)) sizes.insert(*d.after);
      if (d.target == Target(Resource::kCpu)) ++size_changes;
    }
    most = std::max(most, running);
  }
  double Limit(Resource r) const {
    return fleet.job(JobId{0}).of(r).real_limit().value_or(r == Resource::kCpu ? 4 : 3 * kGiB);
  }

  LiveFleet fleet;
  std::set<double> sizes;
  int size_changes = 0, throttled = 0, killed = 0, most = 0;
  int running = 3;
  int index = 0;
};

TEST(LiveSizing, SmallerTasksComeAfterThereAreEnoughAndStay) {
  SizedJob job(Sizing(Mode::kAuto, "cheapest"));
  job.Run(21 * kWindowsPerDay);
  EXPECT_LT(job.Limit(Resource::kCpu), 4) << "3 x 4 cores lose too much with one task";
  EXPECT_EQ(job.size_changes, 1) << "a size is not an answer to the usage that follows from it";
  EXPECT_EQ(job.throttled, 0);
  EXPECT_EQ(job.killed, 0);
  const double size = job.Limit(Resource::kCpu);
  EXPECT_GE((job.most - 1) * size, 8.4);
  EXPECT_LE(job.most, std::ceil(8.4 / (0.7 * size)) + 1);
  EXPECT_LT(job.Limit(Resource::kMemory), 3 * kGiB);
}

TEST(LiveSizing, LargerTasksComeBeforeThereAreFewer) {
  LiveSettings settings = Sizing(Mode::kAuto, "cheapest");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.size.spare", "0", defaults).ok());
  ASSERT_TRUE(SetJobSetting("replicas.size.gib_price", "20", defaults).ok());
  ASSERT_TRUE(SetJobSetting("replicas.min", "1", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  SizedJob job(settings);
  job.Run(10 * kWindowsPerDay);
  EXPECT_GT(job.Limit(Resource::kCpu), 4) << "memory is dear, and each task pays half a GiB anew";
  EXPECT_EQ(job.size_changes, 1);
  EXPECT_EQ(job.throttled, 0);
  EXPECT_EQ(job.killed, 0);
  EXPECT_LE(job.running, 2);
}

TEST(LiveSizing, TheOwnersSizeStays) {
  SizedJob job(Sizing(Mode::kAuto, "owner"));
  job.Run(7 * kWindowsPerDay);
  EXPECT_EQ(job.Limit(Resource::kCpu), 4);
  EXPECT_EQ(job.size_changes, 0);
  EXPECT_EQ(job.fleet.job(JobId{0}).of(Resource::kCpu).lane.recommended(), std::nullopt);
}

TEST(LiveSizing, ObserveShowsNumberAndSizeThatBelongTogether) {
  SizedJob job(Sizing(Mode::kObserve, "cheapest"));
  job.Run(7 * kWindowsPerDay + kWindowsPerDay / 2);  // the run ends at the daily peak
  const LiveJob& live = job.fleet.job(JobId{0});
  const double size = *live.of(Resource::kCpu).lane.recommended();
  EXPECT_LT(size, 4);
  EXPECT_EQ(job.Limit(Resource::kCpu), 4);
  EXPECT_NEAR(*live.replicas->figures().recommended, std::ceil(8.4 / (0.7 * size)), 1);
  EXPECT_EQ(live.replicas->figures().capacity, size);
  const Reason reason = job.fleet.risk.Explain(JobId{0}, Resource::kCpu);
  EXPECT_THAT(reason.sentence, HasSubstr(" x "));
  EXPECT_THAT(reason.sentence, HasSubstr("at the peak of 8.40 cores"));
  EXPECT_FALSE(reason.candidates.empty());
}

// If no limits are applied, tasks have the owner's size, so the number is computed for the owner's size.
TEST(LiveSizing, WithoutAgentsTheSizeIsTheOwners) {
  LiveSettings settings = Sizing(Mode::kAuto, "cheapest");
  settings.enforcement = Enforcement::kByAgents;
  SizedJob job(settings);
  job.Run(7 * kWindowsPerDay);
  EXPECT_EQ(job.fleet.job(JobId{0}).of(Resource::kCpu).lane.recommended(), std::nullopt);
  EXPECT_EQ(job.fleet.job(JobId{0}).replicas->figures().capacity, 4.0);
  EXPECT_EQ(job.most, 3);
}

TEST(LiveSizing, ARestartInTheMiddleChangesNothing) {
  const LiveSettings settings = Sizing(Mode::kAuto, "cheapest");
  SizedJob through(settings);
  through.Run(5 * kWindowsPerDay);
  for (const int stop : {kWindowsPerDay - 1, kWindowsPerDay + 2, 3 * kWindowsPerDay}) {
    SizedJob before(settings), after(settings);
    before.Run(stop);
    const std::string bytes = Chunk(before.fleet);
    LiveFleet restored(settings);
    restored.AddRestoredJob({JobId{0}, "web", {}, 0});
    ByteReader in(bytes);
    ASSERT_TRUE(restored.checkpoint.LoadChunk(0, WindowId{stop - 1}, in).ok());
    EXPECT_EQ(Chunk(restored), bytes);
  }
}

TEST(LiveSizing, OtherSettingsOfTheSizeAreWeighedWithinTheHour) {
  SizedJob job(Sizing(Mode::kAuto, "cheapest"));
  job.Run(3 * kWindowsPerDay);
  const double size = job.Limit(Resource::kCpu);
  PassOutput out;
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.size.max_cpu", "2.5", 0, out).ok());
  job.Run(26);
  EXPECT_GT(size, 2.5);
  EXPECT_LE(*job.fleet.job(JobId{0}).of(Resource::kCpu).lane.recommended(), 2.5);
}

// The stored days contain the windows that the job would have reported.
TEST(LiveSizing, HistoryTeachesTheSize) {
  SizedJob job(Sizing(Mode::kObserve, "cheapest"));
  std::vector<JobDay> days(3);
  for (int w = 0; w < 3 * kWindowsPerDay; ++w) {
    JobDay& day = days[static_cast<size_t>(w / kWindowsPerDay)];
    day.job = JobId{0};
    day.day = w / kWindowsPerDay;
    JobWindow window{.window = WindowId{w},
                     .first_task = static_cast<uint32_t>(day.tasks.size()),
                     .num_tasks = 3,
                     .cpu_limit_cores = 4,
                     .memory_limit_bytes = static_cast<float>(3 * kGiB)};
    const auto each = static_cast<float>(SizedJob::LoadAt(w) / 3);
    const auto bytes = static_cast<float>((0.5 + 0.25 * each) * kGiB);
    for (uint32_t t = 0; t < 3; ++t) day.tasks.push_back({t, each, each, bytes, bytes});
    day.windows.push_back(window);
  }
  job.fleet.history.Retrain(JobId{0}, days, {});
  job.index = 3 * kWindowsPerDay;
  job.Run(2);
  EXPECT_LT(job.fleet.job(JobId{0}).of(Resource::kCpu).lane.recommended().value_or(4), 4);
}

}  // namespace
}  // namespace taut::brain
