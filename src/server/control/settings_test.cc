// Tests that the settings of one request are stored all or none, and take effect only after they were stored.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Mode ModeOf(ControlCell& cell) {
  Mode mode = Mode::kOff;
  EXPECT_TRUE(cell.control().Look(JobId{0}, [&](const brain::LiveJob& job) { mode = job.policy->mode; }));
  return mode;
}

std::vector<SettingChange> Changes(ControlCell& cell) { return *cell.store().Settings(std::nullopt, 100); }

TEST(ControlSettings, OneThatIsWrongKeepsAllFromBeingSet) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 60).ok());
  const brain::KeyValue settings[] = {
      {"mode", "observe"}, {"bogus", ""}, {"min_change", "5"}, {"change_period", "often"}};
  const auto changes = cell.control().SetMany(JobId{0}, settings, "anna");
  EXPECT_EQ(changes.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(changes.status().message()),
              AllOf(HasSubstr("bogus"), HasSubstr("min_change: 5 is outside 0 .. 1"), HasSubstr("5%"),
                    HasSubstr("change_period")))
      << "all that is wrong is said at once";
  EXPECT_EQ(ModeOf(cell), Mode::kAuto);
  EXPECT_TRUE(Changes(cell).empty());
  const brain::KeyValue crossed[] = {{"memory.lower", "2GiB"}, {"memory.upper", "1GiB"}};
  EXPECT_THAT(std::string(cell.control().SetMany(JobId{0}, crossed, "anna").status().message()),
              HasSubstr("is above"));
  const brain::KeyValue twice[] = {{"mode", "off"}, {"mode", "auto"}};
  EXPECT_FALSE(cell.control().SetMany(JobId{0}, twice, "anna").ok());
  EXPECT_EQ(cell.control().SetMany(JobId{99}, {}, "anna").status().code(), absl::StatusCode::kNotFound);
}

TEST(ControlSettings, SeveralAreOneCommit) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  const uint64_t commits = cell.control().status().counts().commits;
  const brain::KeyValue settings[] = {{"mode", "observe"}, {"min_change", "10%"}, {"change_period", "30min"}};
  const auto changes = cell.control().SetMany(JobId{0}, settings, "anna");
  ASSERT_TRUE(changes.ok()) << changes.status();
  ASSERT_EQ(changes->size(), 3U);
  EXPECT_EQ(changes->front().before, "auto");
  EXPECT_EQ(ModeOf(cell), Mode::kObserve);
  EXPECT_EQ(cell.told().back().kind, DecisionKind::kRelease);
  EXPECT_LE(cell.control().status().counts().commits, commits + 2)
      << "the settings, and what became of the orders";
  cell.Restart();
  EXPECT_EQ(ModeOf(cell), Mode::kObserve);
  cell.control().Look(JobId{0}, [](const brain::LiveJob& job) {
    EXPECT_EQ(job.policy->min_change, 0.1);
    EXPECT_EQ(job.policy->change_period_s, 1800);
  });
}

TEST(ControlSettings, WhatTheStoreDoesNotTakeIsNotInForce) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  std::optional<double> in_force;
  cell.control().Look(JobId{0},
                      [&](const brain::LiveJob& job) { in_force = job.of(Resource::kMemory).gate.in_force; });
  ASSERT_TRUE(in_force.has_value());
  const size_t told = cell.told().size();
  cell.failing().fail = true;
  const brain::KeyValue settings[] = {{"mode", "off"}, {"recommender", "peak"}};
  EXPECT_EQ(cell.control().SetMany(JobId{0}, settings, "anna").status().code(),
            absl::StatusCode::kUnavailable);
  const auto as_before = [&](const brain::LiveJob& job) {
    EXPECT_EQ(job.policy->mode, Mode::kAuto);
    EXPECT_EQ(job.policy->recommender, brain::Policy::kMovingWindow);
    EXPECT_FALSE(job.needs_history());
    EXPECT_EQ(job.of(Resource::kMemory).gate.in_force, in_force);
  };
  cell.control().Look(JobId{0}, as_before);
  cell.failing().fail = false;
  ASSERT_TRUE(cell.control().Tick(cell.control().ingest().time.now()).ok());
  cell.control().Look(JobId{0}, as_before);
  EXPECT_TRUE(Changes(cell).empty()) << "nor is it stored later";
  EXPECT_EQ(cell.told().size(), told);
  ASSERT_TRUE(cell.control().SetMany(JobId{0}, settings, "anna").ok());
  EXPECT_EQ(Changes(cell).front().id, 2U) << "numbers have no gaps";
  EXPECT_EQ(cell.told().back().id, cell.told().size());
}

// A job has the same number and name after a change of its settings.
TEST(ControlSettings, AJobIsFoundByItsNameAfterwards) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 60).ok());
  const std::string name = cell.control().view()->jobs[0].record->name;
  ASSERT_TRUE(SetOne(cell.control(), JobId{0}, "mode", "off", "anna").ok());
  EXPECT_EQ(cell.control().Find(name), JobId{0});
  EXPECT_EQ(cell.control().view()->jobs[0].record->name, name);
}

}  // namespace
}  // namespace taut::server
