// Tests of replays with limits from outside of the replay.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kDayWindows = kWindowsPerDay;

// Adds three days of a job with 100 MiB of usage and an owner's limit of 400 MiB.
void FillDays(MadeDays& days) {
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 3 * kDayWindows; ++w) {
    days.SetOwner(job, w, kAbsent, 400 * kMiB);
    days.PutMemory(job, w, 0, 100 * kMiB, 100 * kMiB);
  }
}

ReplayOptions External() {
  ReplayOptions options = Options({brain::Policy::kStatic});
  options.settings.external = true;
  return options;
}

DayAnswer AnswerFor(uint32_t job, int32_t day, double mib, Resource resource = Resource::kMemory) {
  return {JobId{job}, resource, {WindowId{(day + 1) * kDayWindows - 1}, mib * kMiB, "by hand"}};
}

TEST(ReplayAnswers, AreInForceWhileValid) {
  MadeDays days;
  FillDays(days);
  std::vector<std::pair<int32_t, size_t>> asked;
  ReplayHooks hooks;
  hooks.answers = [&](int32_t day, const std::vector<JobDay>& jobs) {
    asked.emplace_back(day, jobs.size());
    std::vector<DayAnswer> out;
    if (day == 1) out.push_back(AnswerFor(0, day, 200));
    out.push_back(AnswerFor(7, day, 50));                 // no such job
    out.push_back(AnswerFor(0, day, 2, Resource::kCpu));  // not replayed
    return out;
  };
  const ReplayOutcome out = Lived(days, External(), hooks);
  EXPECT_THAT(asked, ElementsAre(std::pair(0, 1U), std::pair(1, 1U), std::pair(2, 1U)));
  EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 400}, ChangeTuple{0, kDayWindows, 200},
                                              ChangeTuple{0, 2 * kDayWindows, 400}));
}

TEST(ReplayAnswers, AreIgnoredWithoutTheSetting) {
  MadeDays days;
  FillDays(days);
  ReplayHooks hooks;
  hooks.answers = [&](int32_t day, const std::vector<JobDay>&) {
    return std::vector<DayAnswer>{AnswerFor(0, day, 200)};
  };
  EXPECT_EQ(Lived(days, Options({brain::Policy::kStatic}), hooks).changes.size(), 1U);
}

TEST(ReplayAnswers, AnErrorEndsTheReplay) {
  MadeDays days;
  FillDays(days);
  days.Finish();
  ReplayHooks hooks;
  hooks.answers = [](int32_t, const std::vector<JobDay>&) { return absl::CancelledError("no more"); };
  EXPECT_EQ(Replay(days, External(), hooks).status(), absl::CancelledError("no more"));
}

}  // namespace
}  // namespace taut::tools
