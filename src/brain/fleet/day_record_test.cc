#include "brain/fleet/day_record.h"

#include <set>

#include "brain/fleet/live_fixture.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using What = DayRecord::What;

TEST(DayRecord, CountsAsASetOfDaysWould) {
  Rng rng(3);
  DayRecord record;
  std::set<int32_t> days;
  int32_t newest = 100;
  for (int i = 0; i < 500; ++i) {
    if (rng.Below(3) == 0) newest += static_cast<int32_t>(rng.Below(40) == 0 ? 50 : rng.Below(3));
    const int32_t day = newest - static_cast<int32_t>(rng.Below(6));
    record.Mark(newest, What::kRecommended);
    record.Mark(day, What::kOver);
    days.insert(day);
    const auto length = static_cast<int>(1 + rng.Below(28));
    const auto today = newest + static_cast<int32_t>(rng.Below(3));
    uint32_t expected = 0;
    for (int32_t d = today - length + 1; d <= today; ++d) expected += days.count(d);
    ASSERT_EQ(record.Count(What::kOver, today, length), expected) << "step " << i;
  }
}

TEST(DayRecord, SurvivesSaveAndLoad) {
  DayRecord record;
  record.Mark(7, What::kOver);
  record.Mark(9, What::kAtLimit);
  std::string bytes;
  ByteWriter out(&bytes);
  record.Save(out);
  ByteReader in(bytes);
  DayRecord again;
  again.Load(in);
  EXPECT_EQ(again.Count(What::kOver, 9, 7), 1U);
  EXPECT_EQ(again.Count(What::kOver, 9, 2), 0U);
  EXPECT_EQ(again.Count(What::kAtLimit, 9, 1), 1U);
}

// Observe mode applies no limit, but the days over the recommended limit are counted.
TEST(LiveFleetDays, CountsDaysOverTheRecommendedLimitInObserve) {
  constexpr size_t kJobs = 3;
  const Cell cell(kJobs);
  LiveSettings settings = Settings(Policy::kAnalogs, Mode::kObserve);
  settings.vertical.ensemble.young_margin = 0;  // with a margin, too few days exceed the limit
  LiveFleet fleet(settings);
  AddJobs(fleet, kJobs);
  std::set<std::pair<size_t, int32_t>> over;
  PassOutput out;
  for (const ClosedWindow& closed : cell.windows()) {
    for (size_t j = 0; j < kJobs; ++j) {
      const auto limit = fleet.job(JobId{static_cast<uint32_t>(j)}).of(Resource::kMemory).lane.recommended();
      const JobWindow& w = closed.jobs[j].window;
      for (uint32_t t = w.first_task; t < w.first_task + w.num_tasks; ++t) {
        const bool cut = limit.has_value() && double{closed.tasks[t].memory_peak_bytes} > *limit;
        if (cut) over.emplace(j, closed.window.day());
      }
    }
    out.Clear();
    Step(fleet, closed, out);
  }
  ASSERT_FALSE(over.empty());
  for (size_t j = 0; j < kJobs; ++j) {
    const LiveLane& lane = fleet.job(JobId{static_cast<uint32_t>(j)}).of(Resource::kMemory);
    const auto expected = static_cast<uint32_t>(
        std::count_if(over.begin(), over.end(), [&](const auto& at) { return at.first == j; }));
    EXPECT_EQ(lane.days.Count(What::kOver, kDays - 1, 28), expected);
    EXPECT_GT(lane.days.Count(What::kRecommended, kDays - 1, 28), 3U);
    ASSERT_TRUE(lane.limit_risk.has_value());
    EXPECT_GE(lane.limit_risk->chance, 0);
    EXPECT_LE(lane.limit_risk->chance, 1);
    EXPECT_EQ(lane.limit_risk->limit, lane.lane.recommended());
  }
}

// Checkpoints of a version without day records are readable; the counts then start at 0.
TEST(LiveFleetDays, ReadsACheckpointWithoutThem) {
  constexpr size_t kJobs = 2;
  const Cell cell(kJobs);
  const LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kObserve);
  LiveFleet fleet(settings);
  AddJobs(fleet, kJobs);
  PassOutput out;
  // On the first day, the owner's limit is in force.
  for (int w = 0; w < 3 * kWindowsPerDay; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const std::string whole = Chunk(fleet);
  std::string record;
  ByteWriter one(&record);
  DayRecord().Save(one);
  for (const bool old : {false, true}) {
    LiveFleet again(settings);
    AddJobs(again, kJobs);
    // In a chunk, the open risk days, and one byte for each unknown risk, follow the day records.
    const size_t behind = kJobs * kNumResources;
    ByteReader in(
        std::string_view(whole).substr(0, whole.size() - (old ? behind + 2 * kJobs * record.size() : 0)));
    ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{0}, in).ok());
    const LiveLane& lane = again.job(JobId{1}).of(Resource::kCpu);
    EXPECT_EQ(lane.days.Count(What::kRecommended, 2, 28), old ? 0U : 2U);
    EXPECT_EQ(lane.usage_mean, fleet.job(JobId{1}).of(Resource::kCpu).usage_mean);
  }
}

}  // namespace
}  // namespace taut::brain
