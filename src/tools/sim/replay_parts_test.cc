// Tests that the replays of the parts of a fleet merge to the replay of the whole fleet, with equal bytes.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tools/sim/lane_scores.h"
#include "tools/sim/made_days.h"
#include "tools/sim/replay.h"

namespace taut::tools {
namespace {

constexpr uint32_t kPartsJobs = 21;
constexpr int32_t kPartsDays = 12;

// Returns the days of the jobs with number % parts == part. The jobs start and end on different days.
MadeDays FleetPartOf(uint32_t part, uint32_t parts) {
  MadeDays days;
  for (uint32_t j = part; j < kPartsJobs; j += parts) {
    JobInfo info;
    info.name = StrCat("job-", j);
    const JobId job = days.AddJob(info);
    Rng rng = Rng(11).Fork(j);
    const double level = std::exp(rng.Uniform(std::log(16.0), std::log(4096.0)));
    for (int32_t w = static_cast<int32_t>(j % 5) * kWindowsPerDay;
         w < (kPartsDays - static_cast<int32_t>(j % 3)) * kWindowsPerDay; w += 6) {
      TaskWindow t;
      const double now = level * (1 + 0.3 * rng.Uniform()) * (rng.Uniform() < 0.01 ? 2 : 1);
      t.memory_mean_bytes = static_cast<float>(0.8 * now * (1 << 20));
      t.memory_peak_bytes = static_cast<float>(now * (1 << 20));
      t.cpu_mean_cores = static_cast<float>(now / 1000);
      t.cpu_peak_cores = t.cpu_mean_cores;
      days.Put(job, w, t);
      days.SetOwner(job, w, 8, 16e9);
    }
  }
  days.Finish();
  return days;
}

ReplayOptions PartsOptions() {
  ReplayOptions options;
  using enum brain::Policy;
  options.policies = {brain::PolicyPair(kPeak, kPeak), brain::PolicyPair(kCombined, kCombined)};
  options.settings.analogs.min_rows = 40;
  options.settings.analogs.min_days = 3;
  options.settings.analogs.max_rows = 60;  // fewer than the available rows
  options.settings.analogs.solver_jobs = 10;
  options.settings.ensemble.min_history_s = kDaySeconds;
  options.warmup_s = 3 * kDaySeconds;
  options.threads = 1;
  return options;
}

std::string PartsText(const ReplayResult& result) {
  std::string out =
      fmt::format("{} jobs, {} windows, {} to {}, scored from {} {}, {} of {} days, {:.17g} bytes\n",
                  result.jobs, result.job_windows, result.first_day, result.last_day, result.first_scored_day,
                  result.first_scored_s, result.days_done, result.days_total, result.state_bytes_per_job);
  for (const LaneResult& lane : result.lanes) {
    for (const LaneScore& score : LaneScores(lane, result.first_scored_day)) {
      if (const auto* count = std::get_if<uint64_t>(&score.value))
        StrAppend(&out, score.name, " ", *count, "\n");
      if (const auto* number = std::get_if<double>(&score.value))
        out += fmt::format("{} {:.17g}\n", score.name, *number);
    }
    for (const FleetDay& day : lane.fleet)
      out +=
          fmt::format("{} {:.17g} {:.17g} {}\n", day.day, day.limit_seconds, day.usage_seconds, day.changes);
    ByteWriter risks(&out);
    lane.risks.Save(risks);
  }
  return out;
}

// Replays each part in its own thread. The threads wait for each other at the end of each day.
std::string InParts(uint32_t parts) {
  const ReplayOptions options = PartsOptions();
  std::barrier<> barrier(parts);
  std::vector<std::string> shares(parts), sums(parts);
  std::vector<std::thread> threads;
  for (uint32_t p = 0; p < parts; ++p) {
    threads.emplace_back([&, p] {
      FleetPart part;
      for (int32_t day = 0; day < kPartsDays; ++day) part.days.push_back(day);
      part.exchange = [&](int32_t day, const FleetShares& own) {
        shares[p] = SaveShares(own);
        barrier.arrive_and_wait();
        absl::StatusOr<FleetShares> merged = MergeShares(options, day, shares);
        barrier.arrive_and_wait();
        return merged;
      };
      MadeDays days = FleetPartOf(p, parts);
      absl::StatusOr<PartResult> result = ReplayPart(days, options, {}, part);
      ASSERT_TRUE(result.ok()) << result.status();
      sums[p] = result->sums;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::StatusOr<ReplayResult> merged = MergeParts(options, sums);
  if (!merged.ok()) return std::string(merged.status().message());
  return PartsText(*merged);
}

TEST(ReplayParts, MergeToTheReplayOfTheFleet) {
  MadeDays days = FleetPartOf(0, 1);
  const absl::StatusOr<ReplayResult> whole = Replay(days, PartsOptions(), {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_GT(whole->lanes[2].summary.totals.oom_days + whole->lanes[3].summary.totals.oom_days, 0);
  const std::string expected = PartsText(*whole);
  for (const uint32_t parts : {1, 2, 7}) EXPECT_EQ(InParts(parts), expected) << parts;
}

// A run of a program inherits the recommenders of the previous run. A checkpoint stores the job for which these
// recommenders were made.
TEST(ReplayParts, ACheckpointContinuesTheReplay) {
  for (const Feedback feedback : {Feedback::kNone, Feedback::kOomRestart}) {
    ReplayOptions options = PartsOptions();
    options.feedback = feedback;
    if (feedback == Feedback::kNone) {
      options.managed.emplace();
      options.managed->mode = Mode::kCanary;
      options.managed->canary.hours = 6;
    }
    MadeDays days = FleetPartOf(0, 1);
    for (int run = 0; run < 3; ++run) {
      JobInfo info;
      info.name = StrCat("run-", run);
      info.logical_name = "program";
      const JobId job = days.AddJob(info);
      for (int32_t w = run * 4 * kWindowsPerDay; w < (run * 4 + 3) * kWindowsPerDay; w += 3)
        days.PutMemory(job, w, 0, 1e8, 1e8 + 1e6 * (w % 7));
    }
    days.Finish();
    std::vector<LimitChange> changes;
    ReplayHooks hooks;
    hooks.on_change = [&](const LimitChange& change) {
      changes.push_back(change);
      return absl::OkStatus();
    };
    std::vector<std::pair<int32_t, std::string>> states;
    FleetPart part{.days = days.days(), .first_s = 0, .exchange = nullptr, .checkpoint_days = 3};
    part.on_checkpoint = [&](int32_t day, std::string state) {
      states.emplace_back(day, std::move(state));
      return absl::OkStatus();
    };
    const absl::StatusOr<PartResult> whole = ReplayPart(days, options, hooks, part);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const std::vector<LimitChange> all = std::exchange(changes, {});
    ASSERT_EQ(states.size(), 3U);
    for (const auto& saved : states) {
      const int32_t day = saved.first;
      const std::string& state = saved.second;
      FleetPart rest = part;
      rest.on_checkpoint = nullptr;
      rest.resume = state;
      changes.clear();
      absl::StatusOr<PartResult> again = ReplayPart(days, options, hooks, rest);
      ASSERT_TRUE(again.ok()) << again.status();
      // A loaded state may have buffers of another capacity.
      again->result.state_bytes_per_job = whole->result.state_bytes_per_job;
      EXPECT_EQ(PartsText(again->result), PartsText(whole->result)) << day;
      const auto later = [&](const LimitChange& c) { return c.from.index > (day + 1) * kWindowsPerDay; };
      EXPECT_EQ(std::ranges::count_if(changes, later), std::ranges::count_if(all, later)) << day;
      for (const size_t cut : {size_t{0}, size_t{1}, state.size() / 3, state.size() - 1}) {
        rest.resume = state.substr(0, cut);
        EXPECT_EQ(ReplayPart(days, options, {}, rest).ok(), cut == 0) << cut;
      }
    }
  }
}

TEST(ReplayParts, OtherPartsAreRefused) {
  const ReplayOptions options = PartsOptions();
  const auto replayed = [&](const ReplayOptions& o, std::vector<int32_t> on) {
    MadeDays days = FleetPartOf(0, 2);
    return ReplayPart(days, o, {}, {.days = std::move(on), .first_s = 0, .exchange = nullptr})->sums;
  };
  const std::string sums = replayed(options, {0, 1, 2, 3, 4});
  EXPECT_TRUE(MergeParts(options, {sums, sums}).ok());
  const auto refused = [&](const std::vector<std::string>& parts, std::string_view why) {
    const absl::StatusOr<ReplayResult> merged = MergeParts(options, parts);
    ASSERT_FALSE(merged.ok());
    EXPECT_NE(std::string(merged.status().message()).find(why), std::string::npos) << merged.status();
  };
  refused({}, "no parts");
  refused({sums, replayed(options, {0, 1, 2, 3})}, "other days");
  ReplayOptions other = options;
  other.policies.pop_back();
  refused({sums, replayed(other, {0, 1, 2, 3, 4})}, "other recommenders");
  other = options;
  other.warmup_s = 0;
  refused({sums, replayed(other, {0, 1, 2, 3, 4})}, "warm-ups");
  for (size_t cut = 0; cut < sums.size(); cut += 101)
    EXPECT_FALSE(MergeParts(options, {sums.substr(0, cut)}).ok()) << cut;
  EXPECT_FALSE(MergeShares(options, 0, {"x"}).ok());
}

TEST(ReplayParts, APartMayHaveNoUsage) {
  const ReplayOptions options = PartsOptions();
  MadeDays none, all = FleetPartOf(0, 1);
  none.Finish();
  const auto whole = Replay(all, options, {});
  ASSERT_TRUE(whole.ok());
  std::vector<std::string> sums;
  for (MadeDays* days : {&none, &all}) {
    const absl::StatusOr<PartResult> part =
        ReplayPart(*days, options, {}, {.days = all.days(), .first_s = 0, .exchange = nullptr});
    ASSERT_TRUE(part.ok()) << part.status();
    sums.push_back(part->sums);
  }
  const auto merged = MergeParts(options, sums);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(PartsText(*merged), PartsText(*whole));
}

}  // namespace
}  // namespace taut::tools
