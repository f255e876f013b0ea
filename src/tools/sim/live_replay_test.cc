// Tests that tautd and the replay run the same engine: a live cell has the same limits as a replay of its days.
#include <map>
#include <tuple>

#include "brain/fleet/live_fixture.h"
#include "common/base/strings.h"
#include "gtest/gtest.h"
#include "tools/sim/replay.h"

namespace taut::tools {
namespace {

// The days of a cell in the form that a replay reads.
class CellDays final : public DaySource {
 public:
  CellDays(const brain::Cell& cell, size_t jobs) : cell_(cell) {
    for (size_t j = 0; j < jobs; ++j) infos_.push_back({"job-" + std::to_string(j), "", {}, {}});
    for (int32_t d = 0; d < brain::kDays; ++d) days_.push_back(d);
  }
  const std::vector<JobInfo>& jobs() const override { return infos_; }
  const std::vector<int32_t>& days() const override { return days_; }
  int32_t last_day(JobId) const override { return brain::kDays - 1; }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override {
    return brain::DayOf(cell_, day, infos_.size());
  }

 private:
  const brain::Cell& cell_;
  std::vector<JobInfo> infos_;
  std::vector<int32_t> days_;
};

using LimitsOfLanes = std::map<std::pair<uint32_t, Resource>, std::map<int32_t, std::optional<double>>>;

// Replays the cell. Returns the windows in which a limit comes into force, by job and resource.
LimitsOfLanes Replayed(const brain::Cell& cell, size_t jobs, brain::PolicyPair policy,
                       const brain::LiveSettings& settings, std::optional<brain::JobPolicy> managed) {
  LimitsOfLanes replayed;
  CellDays days(cell, jobs);
  ReplayOptions options;
  options.policies = {policy};
  options.settings = settings.vertical;
  options.warmup_s = kDaySeconds;
  options.managed = std::move(managed);
  ReplayHooks hooks;
  hooks.on_change = [&](const LimitChange& c) {
    replayed[{c.job.value, c.resource}][c.from.index] = c.limit;
    return absl::OkStatus();
  };
  EXPECT_TRUE(Replay(days, options, hooks).ok());
  return replayed;
}

// Steps a fleet through the cell, and checks that `limit_of` returns the replay's limit in each window.
template <typename LimitOf>
void ExpectTheSame(const brain::Cell& cell, size_t jobs, const brain::LiveSettings& settings,
                   LimitsOfLanes& replayed, uint64_t& compared, LimitOf limit_of) {
  brain::LiveFleet fleet(settings);
  AddJobs(fleet, jobs);
  brain::PassOutput out;
  for (const ClosedWindow& closed : cell.windows()) {
    for (const JobWindowData& j : closed.jobs) {
      for (const Resource r : kResources) {
        const brain::LiveLane& lane = fleet.job(j.job).of(r);
        const float owner = r == Resource::kCpu ? j.window.cpu_limit_cores : j.window.memory_limit_bytes;
        const auto& steps = replayed[{j.job.value, r}];
        const auto it = steps.upper_bound(closed.window.index);
        ASSERT_NE(it, steps.begin());
        ASSERT_EQ(limit_of(lane, owner), std::prev(it)->second)
            << "job " << j.job.value << " " << Name(r) << " window " << closed.window.index;
        ++compared;
      }
    }
    Step(fleet, closed, out);
  }
}

class SameAsReplay : public testing::TestWithParam<brain::PolicyPair> {};

// Steps window by window, as tautd does, result in bitwise the same limits as a replay of whole days.
TEST_P(SameAsReplay, WindowByWindow) {
  constexpr size_t kJobs = 9;
  const brain::Cell cell(kJobs);
  const brain::LiveSettings settings = brain::Settings(GetParam(), Mode::kObserve);
  LimitsOfLanes replayed = Replayed(cell, kJobs, GetParam(), settings, std::nullopt);
  uint64_t compared = 0;
  ExpectTheSame(cell, kJobs, settings, replayed, compared,
                [](const brain::LiveLane& lane, float owner) { return lane.lane.LimitInForce(owner); });
  EXPECT_EQ(compared, 2 * kJobs * brain::kDays * kWindowsPerDay);
}
INSTANTIATE_TEST_SUITE_P(Live, SameAsReplay,
                         testing::Values(brain::Policy::kPeak, brain::Policy::kMovingWindow,
                                         brain::Policy::kEnsemble, brain::Policy::kAnalogs,
                                         brain::PolicyPair(brain::Policy::kPeak, brain::Policy::kAnalogs)),
                         [](const auto& tested) {
                           return StrCat(Name(tested.param.cpu), "_", Name(tested.param.memory));
                         });

// tautd and the replay use the results of probing in the same decisions.
TEST(SameAsReplayOfTheProbe, WindowByWindow) {
  constexpr size_t kJobs = 5;
  const brain::Cell cell(kJobs, true);
  std::map<brain::MemorySignal, double> last;
  for (const brain::MemorySignal signal : {brain::MemorySignal::kUsage, brain::MemorySignal::kProbe}) {
    brain::LiveSettings settings = brain::Settings(brain::Policy::kAnalogs, Mode::kObserve);
    brain::JobPolicy defaults = settings.rules.defaults();
    defaults.memory_signal = signal;
    settings.rules = *brain::PolicyRules::Compile({}, defaults);
    settings.vertical.memory_signal = signal;  // the same setting as in the replay
    LimitsOfLanes replayed = Replayed(cell, kJobs, brain::Policy::kAnalogs, settings, std::nullopt);
    uint64_t compared = 0;
    ExpectTheSame(cell, kJobs, settings, replayed, compared,
                  [](const brain::LiveLane& lane, float owner) { return lane.lane.LimitInForce(owner); });
    EXPECT_EQ(compared, 2 * kJobs * brain::kDays * kWindowsPerDay);
    last[signal] = replayed[{2, Resource::kMemory}].rbegin()->second.value_or(-1);
  }
  EXPECT_LT(last[brain::MemorySignal::kProbe], last[brain::MemorySignal::kUsage]);
}

class SameBehindTheGate : public testing::TestWithParam<std::tuple<brain::Policy, Mode>> {};

// With a gate, the limits of the replay are the limits that tautd orders, decision by decision.
TEST_P(SameBehindTheGate, WindowByWindow) {
  constexpr size_t kJobs = 9;
  const brain::Policy policy = std::get<0>(GetParam());
  const Mode mode = std::get<1>(GetParam());
  const brain::Cell cell(kJobs);
  brain::LiveSettings settings = brain::Settings(policy, mode);
  settings.enforcement = brain::Enforcement::kNever;  // usage of the cell is not cut at the limits
  brain::JobPolicy managed = settings.rules.defaults();
  managed.min_change = 0.1;
  managed.change_period_s = 3 * brain::kHour;
  managed.canary.hours = 6;
  settings.rules = *brain::PolicyRules::Compile({}, managed);
  LimitsOfLanes replayed = Replayed(cell, kJobs, policy, settings, managed);

  uint64_t compared = 0, changed = 0;
  ExpectTheSame(cell, kJobs, settings, replayed, compared, [&](const brain::LiveLane& lane, float owner) {
    return mode == Mode::kObserve && lane.gate.shown.has_value() ? lane.gate.shown : lane.LimitInForce(owner);
  });
  EXPECT_EQ(compared, 2 * kJobs * brain::kDays * kWindowsPerDay);
  for (const auto& [lane, steps] : replayed) changed += steps.size() - 1;
  EXPECT_GT(changed, kJobs) << "a test of nothing";
}
INSTANTIATE_TEST_SUITE_P(Live, SameBehindTheGate,
                         testing::Combine(testing::Values(brain::Policy::kMovingWindow,
                                                          brain::Policy::kAnalogs),
                                          testing::Values(Mode::kObserve, Mode::kCanary, Mode::kAuto)),
                         [](const auto& tested) {
                           return StrCat(Name(std::get<0>(tested.param)), "_",
                                         Name(std::get<1>(tested.param)));
                         });

class SamePromises : public testing::TestWithParam<Mode> {};

// Promised and observed sums of tautd and of a replay are equal.
TEST_P(SamePromises, OfTheSameDays) {
  constexpr size_t kJobs = 9;
  const brain::Cell cell(kJobs);
  brain::LiveSettings settings = brain::Settings(brain::Policy::kCombined, GetParam());
  settings.enforcement = brain::Enforcement::kNever;  // usage of the cell is not cut at the limits
  brain::LiveFleet fleet(settings);
  AddJobs(fleet, kJobs);
  brain::PassOutput out;
  for (const ClosedWindow& closed : cell.windows()) Step(fleet, closed, out);

  CellDays days(cell, kJobs);
  ReplayOptions options;
  options.policies = {brain::Policy::kCombined};
  options.settings = settings.vertical;
  options.warmup_s = 0;
  options.managed = settings.rules.defaults();
  const absl::StatusOr<ReplayResult> replayed = Replay(days, options, {});
  ASSERT_TRUE(replayed.ok());
  size_t rows = 0;
  for (const LaneResult& lane : replayed->lanes) {
    for (const auto& [key, row] : lane.risks.rows()) {
      // In a replay the recommended limits are in force; in the live cell the recommended limits are only decided.
      brain::RiskKey live_key = key;
      live_key.set = false;
      const auto it = fleet.risks.rows().find(live_key);
      ASSERT_NE(it, fleet.risks.rows().end());
      const brain::RiskRow& live = it->second;
      EXPECT_EQ(live.all.days, row.all.days);
      EXPECT_EQ(live.all.days_over, row.all.days_over);
      EXPECT_DOUBLE_EQ(live.recent.days, row.recent.days);
      EXPECT_NEAR(live.all.promised, row.all.promised, 1e-5 * row.all.promised);
      EXPECT_NEAR(live.all.used, row.all.used, 1e-5 * row.all.used);
      EXPECT_NEAR(live.all.cut, row.all.cut, 1e-4 * row.all.cut + 1e-6 * row.all.used);
      ++rows;
    }
  }
  EXPECT_EQ(rows, fleet.risks.rows().size());
  EXPECT_GE(rows, 4U) << "a test of nothing";
}
INSTANTIATE_TEST_SUITE_P(Live, SamePromises, testing::Values(Mode::kObserve, Mode::kAuto),
                         [](const auto& tested) { return std::string(Name(tested.param)); });

}  // namespace
}  // namespace taut::tools
