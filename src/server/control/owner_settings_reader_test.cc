#include "server/control/owner_settings_reader.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

class Owners final : public JobSettingsSource {
 public:
  JobAnswer SettingsOf(const JobQuestion& question) override {
    ++asked;
    if (question.record.name.find(others) == std::string::npos) return {JobAnswer::State::kNotMine};
    return {state, labels};
  }
  std::string others = "shop-0";  // part of the names of the jobs with settings
  JobAnswer::State state = JobAnswer::State::kUnknown;
  std::vector<Label> labels;
  int asked = 0;
};

std::vector<Decision> DecisionsOf(ControlCell& cell, const std::string& job, bool those) {
  std::vector<Decision> out;
  for (const Decision& d : cell.told()) {
    std::string name;
    cell.control().Look(d.job, [&](const brain::LiveJob& live) { name = live.record->name; });
    if ((name.find(job) != std::string::npos) == those) out.push_back(d);
  }
  return out;
}

TEST(OwnerSettingsReader, NothingIsDecidedBeforeTheSourceAnswers) {
  Owners owners;
  ControlCell cell;
  cell.owners = &owners;
  cell.Restart();
  ASSERT_TRUE(cell.Live(0, 120).ok());
  EXPECT_TRUE(DecisionsOf(cell, "shop-0", true).empty());
  EXPECT_FALSE(DecisionsOf(cell, "shop-0", false).empty()) << "jobs that are not the source's do not wait";
  owners.state = JobAnswer::State::kKnown;
  ASSERT_TRUE(cell.Live(120, 130).ok());
  EXPECT_FALSE(DecisionsOf(cell, "shop-0", true).empty());
}

// An opt-out that exists since the first sample applies in the first window with decisions.
TEST(OwnerSettingsReader, AnOptOutHoldsFromTheStart) {
  Owners owners;
  owners.state = JobAnswer::State::kKnown;
  owners.labels = {{"tautline.dev/mode", "off"}};
  ControlCell cell;
  cell.owners = &owners;
  cell.Restart();
  ASSERT_TRUE(cell.Live(0, 180).ok());
  EXPECT_TRUE(DecisionsOf(cell, "shop-0", true).empty());
  const int asked = owners.asked;
  ASSERT_TRUE(cell.Live(180, 200).ok());
  EXPECT_EQ(owners.asked, asked) << "who has answered is not asked each tick";
  // Another tautd opens the same store: the settings may have changed.
  owners.state = JobAnswer::State::kUnknown;
  cell.told().clear();
  cell.Restart();
  ASSERT_TRUE(cell.Live(200, 260).ok());
  EXPECT_TRUE(DecisionsOf(cell, "shop-0", true).empty());
  owners.labels.clear();
  owners.state = JobAnswer::State::kKnown;
  ASSERT_TRUE(cell.Live(260, 270).ok());
  EXPECT_FALSE(DecisionsOf(cell, "shop-0", true).empty());
}

TEST(OwnerSettingsReader, ARoundThatSettlesNoneOfManyJobsIsFollowedByARest) {
  constexpr int kJobs = 300;
  Owners owners;
  ControlCell cell;
  cell.owners = &owners;
  cell.Restart();
  const auto at = [](int64_t second) { return Timestamp::FromSeconds(ControlCell::kStart + second); };
  for (int i = 0; i < kJobs; ++i) {
    const std::string pod = StrCat("web", i, "-5d4f8c7b9d-xbbbz");
    const LabelView labels[] = {{"__name__", "container_memory_working_set_bytes"},
                                {"container", "app"},
                                {"namespace", "shop-0"},
                                {"pod", pod}};
    const RemoteSample sample{1e6, at(0).us / 1000};
    cell.control().ingest().samples.Take(labels, {&sample, 1}, at(0));
  }
  for (int tick = 0; tick < 3; ++tick) ASSERT_TRUE(cell.control().Tick(at(0)).ok());
  const int asked = owners.asked;
  EXPECT_GE(asked, kJobs);
  for (int64_t second = 1; second < OwnerSettingsReader::kRestSeconds; ++second)
    ASSERT_TRUE(cell.control().Tick(at(second)).ok());
  EXPECT_EQ(owners.asked, asked) << "it rests";
  owners.state = JobAnswer::State::kKnown;
  ASSERT_TRUE(cell.control().Tick(at(OwnerSettingsReader::kRestSeconds)).ok());
  EXPECT_EQ(owners.asked, asked + kJobs);
  ASSERT_TRUE(cell.control().Tick(at(2 * OwnerSettingsReader::kRestSeconds)).ok());
  EXPECT_EQ(owners.asked, asked + kJobs) << "all have answered";
}

// The job is killed before its first window is closed.
TEST(OwnerSettingsReader, ANewJobThatIsKilledIsRaisedAtOnceFromTheLimitOfItsSeries) {
  Owners owners;
  owners.state = JobAnswer::State::kKnown;
  ControlCell cell;
  cell.owners = &owners;
  cell.Restart();
  ASSERT_TRUE(cell.Live(0, 3).ok());
  const auto take = [&](std::string_view metric, std::string_view key, std::string_view value, double number,
                        int second) {
    const Timestamp now = Timestamp::FromSeconds(ControlCell::kStart + 180 + second);
    const LabelView labels[] = {{"__name__", metric},
                                {"container", "app"},
                                {"namespace", "shop-0"},
                                {"pod", "new-5d4f8c7b9d-xbbbz"},
                                {key, value}};
    const RemoteSample sample{number, now.us / 1000};
    cell.control().ingest().samples.Take(labels, {&sample, 1}, now);
    return cell.control().Tick(now);
  };
  ASSERT_TRUE(take("kube_pod_container_resource_limits", "resource", "memory", 32.0 * kMiB, 0).ok());
  ASSERT_TRUE(take("kube_pod_container_status_restarts_total", "uid", "1", 0, 0).ok());
  ASSERT_TRUE(take("kube_pod_container_status_restarts_total", "uid", "1", 1, 5).ok());
  ASSERT_TRUE(take("kube_pod_container_status_last_terminated_reason", "reason", "OOMKilled", 1, 5).ok());
  const auto ooms = *cell.store().Ooms(std::nullopt, INT64_MIN, 9);
  ASSERT_EQ(ooms.size(), 1U);
  EXPECT_EQ(ooms[0].limit, 32.0 * kMiB);
  ASSERT_EQ(cell.told().size(), 1U);
  EXPECT_EQ(cell.told()[0].kind, DecisionKind::kOomRaise);
  EXPECT_EQ(cell.told()[0].before, 32.0 * kMiB);
  EXPECT_GT(cell.told()[0].after, 32.0 * kMiB);
}

}  // namespace
}  // namespace taut::server
