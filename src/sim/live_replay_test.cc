// The daemon and the replay run the same engine: the living cell against the replay of the same days.
#include <map>

#include "gtest/gtest.h"
#include "live/live_fixture.h"
#include "sim/replay.h"

namespace taut {
namespace {

// The days of a cell as a replay reads them.
class CellDays final : public DaySource {
 public:
  CellDays(const Cell& cell, size_t jobs) : cell_(cell) {
    for (size_t j = 0; j < jobs; ++j) infos_.push_back({"job-" + std::to_string(j), "", {}, {}});
    for (int32_t d = 0; d < kDays; ++d) days_.push_back(d);
  }
  const std::vector<JobInfo>& jobs() const override { return infos_; }
  const std::vector<int32_t>& days() const override { return days_; }
  int32_t last_day(JobId) const override { return kDays - 1; }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override {
    return DayOf(cell_, day, infos_.size());
  }

 private:
  const Cell& cell_;
  std::vector<JobInfo> infos_;
  std::vector<int32_t> days_;
};

class SameAsReplay : public testing::TestWithParam<Policy> {};

// Windows one by one, as the daemon closes them, give the limits of a replay of whole days, to the bit.
TEST_P(SameAsReplay, WindowByWindow) {
  constexpr size_t kJobs = 9;
  const Cell cell(kJobs);
  const LiveSettings settings = Settings(GetParam(), Mode::kObserve);
  std::map<std::pair<uint32_t, Resource>, std::map<int32_t, std::optional<double>>> replayed;
  CellDays days(cell, kJobs);
  ReplayOptions options;
  options.policies = {GetParam()};
  options.settings = settings.vertical;
  options.warmup_s = kDaySeconds;
  ReplayHooks hooks;
  hooks.on_change = [&](const LimitChange& c) {
    replayed[{c.job.value, c.resource}][c.from.index] = c.limit;
    return absl::OkStatus();
  };
  ASSERT_TRUE(Replay(days, options, hooks).ok());

  LiveFleet fleet(settings);
  AddJobs(fleet, kJobs);
  PassOutput out;
  uint64_t compared = 0;
  for (const ClosedWindow& closed : cell.windows()) {
    for (const JobWindowData& j : closed.jobs) {
      for (const Resource r : kResources) {
        const LiveLane& lane = fleet.job(j.job).of(r);
        const float owner = r == Resource::kCpu ? j.window.cpu_limit_cores : j.window.memory_limit_bytes;
        const auto& steps = replayed[{j.job.value, r}];
        const auto it = steps.upper_bound(closed.window.index);
        ASSERT_NE(it, steps.begin());
        ASSERT_EQ(lane.lane.LimitInForce(owner), std::prev(it)->second)
            << "job " << j.job.value << " " << Name(r) << " window " << closed.window.index;
        ++compared;
      }
    }
    Step(fleet, closed, out);
  }
  EXPECT_EQ(compared, 2 * kJobs * kDays * kWindowsPerDay);
}
INSTANTIATE_TEST_SUITE_P(Live, SameAsReplay,
                         testing::Values(Policy::kPeak, Policy::kMovingWindow, Policy::kEnsemble,
                                         Policy::kAnalogs),
                         [](const auto& tested) { return std::string(Name(tested.param)); });

}  // namespace
}  // namespace taut
