#include "server/kubernetes/act/status_text.h"

#include <vector>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

ContainerStatus App(double cores, double mebibytes) {
  ContainerStatus out{"app", Mode::kAuto, {}, {}};
  out.cpu = {{cores / 2, cores}, "set", "The 98th percentile of the usage"};
  out.memory = {{std::nullopt, mebibytes * kMebibyte}, "waits", "2 OOM kills in 7 days"};
  return out;
}

TEST(StatusText, SaysAmountsStateAndReasonOfEachContainer) {
  ContainerStatus log{"log", Mode::kObserve, {}, {}};
  log.memory.amounts.request = 10.5 * kMebibyte;
  EXPECT_EQ(StatusText(std::vector{App(0.25, 95.2), log}),
            "app auto: cpu request 125m limit 250m set (The 98th percentile of the usage), "
            "memory limit 96Mi waits (2 OOM kills in 7 days); "
            "log observe: cpu no recommendation yet, memory request 11Mi");
  EXPECT_EQ(StatusText({}), "");
  log.name.clear();
  EXPECT_THAT(StatusText(std::vector{log}), ::testing::StartsWith("pod observe: "));
}

TEST(StateOf, SaysHowFarARecommendationIsCarriedOut) {
  JobView job;
  JobAmounts& memory = job.amounts[static_cast<size_t>(Resource::kMemory)];
  memory.would_be = 100;
  memory.ordered = 95;
  const auto state = [&](bool on_trial = false) { return StateOf(job, Resource::kMemory, on_trial); };
  EXPECT_EQ(state(), "") << "observe only shows it";
  job.mode = Mode::kAuto;
  EXPECT_EQ(state(), "dry run");
  EXPECT_EQ(state(/*on_trial=*/true), "dry run");
  job.enforced = true;
  EXPECT_EQ(state(), "set");
  memory.ordered = 89;
  EXPECT_EQ(state(), "waits") << "more than a tenth away";
  memory.ordered = -1;
  EXPECT_EQ(state(), "waits") << "nothing is ordered";
  job.mode = Mode::kCanary;
  EXPECT_EQ(state(/*on_trial=*/true), "on trial");
  job.mode = Mode::kOff;
  EXPECT_EQ(state(), "");
}

TEST(StatusText, LeavesOutReasonsAndThenTheLastContainers) {
  std::vector<ContainerStatus> containers;
  for (int i = 0; i < 4; ++i) containers.push_back(App(0.25, 96));
  std::string text = StatusText(containers);
  EXPECT_THAT(text, Not(HasSubstr("percentile")));
  EXPECT_THAT(text, Not(HasSubstr("more")));
  for (int i = 0; i < 100; ++i) containers.push_back(App(0.25, 96));
  text = StatusText(containers);
  EXPECT_LE(text.size(), kMaxStatusBytes);
  EXPECT_THAT(text, EndsWith(" more containers"));
  containers.assign(2, App(0.25, 96));
  for (ContainerStatus& of : containers) of.name = std::string(2 * kMaxStatusBytes, 'x');
  EXPECT_EQ(StatusText(containers), "2 more containers");
}

TEST(StatusText, SaysTheSameUpToATenthAndTheReasons) {
  const auto text = [](double cores, double mebibytes) {
    return StatusText(std::vector{App(cores, mebibytes)});
  };
  EXPECT_TRUE(SaysTheSame(text(1, 100), text(1, 100)));
  EXPECT_TRUE(SaysTheSame(text(1, 100), text(0.92, 109)));
  EXPECT_FALSE(SaysTheSame(text(1, 100), text(1, 112)));
  EXPECT_FALSE(SaysTheSame(text(1, 100), text(0.5, 100)));
  ContainerStatus other = App(1, 100);
  other.cpu.reason = ShortReason("another (with parentheses");
  EXPECT_TRUE(SaysTheSame(text(1, 100), StatusText(std::vector{other})));
  other.cpu.reason.clear();
  EXPECT_TRUE(SaysTheSame(text(1, 100), StatusText(std::vector{other})));
  other.memory.state = "set";
  EXPECT_FALSE(SaysTheSame(text(1, 100), StatusText(std::vector{other})));
  other = App(1, 100);
  other.mode = Mode::kCanary;
  EXPECT_FALSE(SaysTheSame(text(1, 100), StatusText(std::vector{other})));
}

TEST(StatusText, ANameThatReadsLikeAnAmountIsNone) {
  const auto text = [](std::string name) {
    ContainerStatus of = App(1, 100);
    of.name = std::move(name);
    return StatusText(std::vector{of});
  };
  EXPECT_FALSE(SaysTheSame(text("100"), text("101")));
  EXPECT_FALSE(SaysTheSame(text("limit"), text("request")));
}

TEST(StatusText, AnyTextOfOthersIsCompared) {
  const std::string ours = StatusText(std::vector{App(1, 100)});
  for (const char* theirs :
       {"", " ", "(((", ")", "app auto: cpu request", "\xff\xfe", "request 1 limit limit"})
    EXPECT_FALSE(SaysTheSame(theirs, ours)) << theirs;
  EXPECT_FALSE(SaysTheSame("request x", "request y"));
}

TEST(ShortReason, IsTheFirstSentenceInWholeCharacters) {
  EXPECT_EQ(ShortReason("The highest usage of 7 days. More follows."), "The highest usage of 7 days");
  EXPECT_EQ(ShortReason("The p95 of the usage, each sample losing half of its weight in 24 hours. More."),
            "The p95 of the usage");
  EXPECT_EQ(ShortReason("98.5 % (of the usage)."), "98.5 % [of the usage]");
  EXPECT_EQ(ShortReason(""), "");
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  const std::string cut = ShortReason(umlauts);
  EXPECT_EQ(cut.size(), 2 * 28 + 3U) << "57 bytes would end within a character";
  EXPECT_EQ(cut, StrCat(umlauts.substr(0, 56), "..."));
}

}  // namespace
}  // namespace taut::server
