#include "server/control/control_plane.h"

#include <set>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"
#include "server/control/tier_act_queue.h"

namespace taut::server {
namespace {

std::vector<Decision> Stored(InMemoryStore& store) {
  DecisionQuery query;
  query.limit = 1'000'000;
  auto decisions = *store.Decisions(query, History::Reasons::kInclude);
  std::reverse(decisions.begin(), decisions.end());
  return decisions;
}

// Returns the decisions of a daemon that never stops.
std::vector<Decision> Straight(int minutes) {
  ControlCell cell;
  EXPECT_TRUE(cell.Live(0, minutes).ok());
  return Stored(cell.store());
}

void ExpectSame(const std::vector<Decision>& a, const std::vector<Decision>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].id, b[i].id);
    EXPECT_EQ(a[i].job.value, b[i].job.value);
    EXPECT_EQ(a[i].time_s, b[i].time_s);
    EXPECT_EQ(a[i].after, b[i].after) << a[i].sentence << " / " << b[i].sentence;
    EXPECT_EQ(a[i].kind, b[i].kind);
  }
}

TEST(ControlPlane, TurnsSamplesIntoStoredDecisions) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  const std::vector<Decision> decisions = Stored(cell.store());
  ASSERT_FALSE(decisions.empty());
  EXPECT_EQ(decisions.front().id, 1U);
  EXPECT_EQ(decisions.back().id, decisions.size());
  EXPECT_EQ(cell.told().size(), decisions.size()) << "each is told once, after it was stored";
  EXPECT_FALSE(decisions.front().sentence.empty());
  EXPECT_TRUE(LoadReason(decisions.front().reason).ok());
  EXPECT_EQ(decisions.front().outcome, Outcome::kDryRun);
  const std::shared_ptr<const FleetView> view = cell.control().view();
  EXPECT_EQ(view->jobs.size(), 4U) << "80 series are 40 pods of 4 jobs";
  EXPECT_EQ(view->point.jobs, 4U);
  EXPECT_EQ(view->jobs[0].record->labels.at(0), brain::KeyValue("namespace", "shop-0"));
}

// OOM kills are handled between windows, and count in the figures of the next window.
TEST(ControlPlane, OomKillsAreCountedInTheFleetsHistory) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 90).ok());
  for (const int minute : {90, 91}) {
    const Timestamp now = Timestamp::FromSeconds(ControlCell::kStart + 60 * minute);
    const LabelView labels[] = {{"__name__", "container_oom_events_total"},
                                {"container", "app"},
                                {"namespace", "shop-0"},
                                {"pod", "web-0-5d4f8c7b9d-xbbbz"}};
    const RemoteSample sample{minute == 90 ? 0.0 : 2.0, now.us / 1000};
    cell.control().ingest().samples.Take(labels, {&sample, 1}, now);
    ASSERT_TRUE(cell.control().Tick(now).ok());
  }
  EXPECT_EQ(cell.control().status().counts().ooms, 2U) << "at once";
  ASSERT_TRUE(cell.Live(92, 110).ok());
  const auto points = cell.store().FleetPoints(WindowId{0}, WindowId{INT32_MAX / 2}, 1);
  ASSERT_TRUE(points.ok());
  uint32_t kills = 0;
  for (const FleetPoint& p : *points) kills += p.oom_kills;
  EXPECT_EQ(kills, 2U);
  EXPECT_EQ(cell.control().view()->ooms_day, 2U);
  cell.Restart();
  EXPECT_EQ(cell.control().view()->ooms_day, 2U) << "also after a restart";
  // No task is measured for two days.
  ASSERT_TRUE(cell.Live(110 + 2 * 1440, 130 + 2 * 1440).ok());
  EXPECT_EQ(cell.control().view()->ooms_day, 0U) << "a day is 24 h, not 288 windows";
}

// A daemon that waits for its first sample accepts it.
TEST(ControlPlane, TicksBeforeTheFirstSampleDoNoHarm) {
  ControlCell cell;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(cell.control().Tick(Timestamp::FromSeconds(ControlCell::kStart - 60 + i)).ok());
  EXPECT_TRUE(cell.Live(0, 10).ok());
  EXPECT_GT(cell.control().ingest().counts.samples().accepted, 0U);
}

TEST(ControlPlane, AKillLosesNothingThatWasStoredAndCountsNothingTwice) {
  const std::vector<Decision> straight = Straight(400);
  ASSERT_GT(straight.size(), 4U);
  for (const int kill : {61, 62, 67, 121, 233, 300}) {
    ControlCell cell;
    ASSERT_TRUE(cell.Live(0, kill).ok());
    const std::vector<Decision> told = cell.told();
    cell.Restart();
    ASSERT_TRUE(cell.restored().ok()) << cell.restored();
    // Senders resend all requests since the start of the open window. Some of these requests were already
    // answered.
    const int again = kill / 5 * 5 - 5;
    ASSERT_TRUE(cell.Live(again, 400).ok());
    const std::vector<Decision> stored = Stored(cell.store());
    ASSERT_GE(stored.size(), told.size());
    ExpectSame(told, {stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(told.size())});
    ExpectSame(straight, stored);
    std::set<int32_t> windows;
    const auto points = cell.store().FleetPoints(WindowId{0}, WindowId{INT32_MAX / 2}, 1);
    ASSERT_TRUE(points.ok());
    for (const FleetPoint& p : *points) {
      EXPECT_TRUE(windows.insert(p.window.index).second);
    }
  }
}

// Decisions are published with the pass. The checkpoints after the pass may fail, or may never be written.
TEST(ControlPlane, APassWithoutItsCheckpointsLosesNothing) {
  const std::vector<Decision> straight = Straight(300);
  for (const bool killed : {false, true}) {
    ControlCell cell;
    ASSERT_TRUE(cell.Live(0, 59).ok());
    cell.failing().fail_checkpoints = true;
    const size_t told = cell.told().size();
    EXPECT_EQ(cell.Live(59, 69).code(), absl::StatusCode::kUnavailable);
    EXPECT_GT(cell.told().size(), told);
    EXPECT_FALSE(cell.control().status().ready().ok());
    cell.failing().fail_checkpoints = false;
    if (killed) cell.Restart();
    ASSERT_TRUE(cell.restored().ok()) << cell.restored();
    ASSERT_TRUE(cell.Live(60, 300).ok());
    EXPECT_TRUE(cell.control().status().ready().ok());
    ExpectSame(straight, Stored(cell.store()));
  }
}

// A day is counted after its end, in the pass of its last window. No kill of the daemon loses a day or counts a
// day twice.
TEST(ControlPlane, PromisesOutliveKills) {
  constexpr int kDayMinutes = 1440, kEnd = kDayMinutes + 300;
  const auto risk = [](ControlCell& cell) {
    std::string bytes;
    ByteWriter out(&bytes);
    cell.control().view()->risks.Save(out);
    return bytes;
  };
  ControlCell straight(16);
  ASSERT_TRUE(straight.Live(0, kEnd).ok());
  double days = 0;
  for (const auto& [key, row] : straight.control().view()->risks.rows()) days += row.all.days;
  EXPECT_EQ(days, 2 * static_cast<double>(straight.control().view()->jobs.size()));
  for (const int kill : {700, kDayMinutes, kDayMinutes + 2, kDayMinutes + 3, kDayMinutes + 200}) {
    ControlCell cell(16);
    ASSERT_TRUE(cell.Live(0, kill).ok());
    const std::string before = risk(cell);
    cell.Restart();
    ASSERT_TRUE(cell.restored().ok()) << cell.restored();
    EXPECT_EQ(risk(cell), before) << "killed in minute " << kill;
    ASSERT_TRUE(cell.Live(kill / 5 * 5 - 5, kEnd).ok());
    EXPECT_EQ(risk(cell), risk(straight)) << "killed in minute " << kill;
  }
}

TEST(ControlPlane, WaitsForAStoreThatIsFull) {
  const std::vector<Decision> straight = Straight(300);
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 150).ok());
  cell.failing().fail = true;
  const size_t told = cell.told().size();
  EXPECT_EQ(cell.Live(150, 158).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cell.told().size(), told) << "nobody hears of what is not stored";
  EXPECT_FALSE(cell.control().status().ready().ok());
  cell.failing().fail = false;
  ASSERT_TRUE(cell.Live(158, 300).ok());
  EXPECT_TRUE(cell.control().status().ready().ok());
  ExpectSame(straight, Stored(cell.store()));
}

TEST(ControlPlane, ActsOfAgentsWaitInABoundedListWhileTheStoreIsFull) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 10).ok());
  cell.failing().fail = true;
  uint32_t taken = 0;
  absl::Status refused;
  for (int minute = 10; refused.ok() && minute < 40; ++minute) {
    for (size_t i = 0; i < TierActQueue::kMostWaiting / 2; ++i) {
      TierAct act;
      act.at_us = (ControlCell::kStart + 60 * minute) * 1'000'000;
      act.machine = "m1";
      act.task = StrCat("t", taken);
      act.kind = TierActKind::kKill;
      refused = cell.control().agents().TakeTierAct(std::move(act));
      if (!refused.ok()) break;
      ++taken;
    }
    (void)cell.Live(minute, minute + 1);
  }
  EXPECT_FALSE(refused.ok()) << taken << " acts";
  EXPECT_LE(taken, 3 * TierActQueue::kMostWaiting);
  cell.failing().fail = false;
  ASSERT_TRUE(cell.Live(40, 60).ok());
  TierActQuery all;
  all.limit = 1'000'000;
  EXPECT_EQ(cell.store().TierActs(all)->size(), taken) << "each of those that were taken";
}

TEST(ControlPlane, SettingsActAndOutliveAStop) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  const std::string name = cell.control().view()->jobs[1].record->name;
  const JobId id = *cell.control().Find(name);
  ASSERT_TRUE(SetOne(cell.control(), id, "mode", "observe", "anna").ok());
  EXPECT_EQ(cell.told().back().kind, DecisionKind::kRelease);
  EXPECT_EQ(SetOne(cell.control(), id, "mode", "sideways", "anna").status().code(),
            absl::StatusCode::kInvalidArgument);
  cell.Restart();
  cell.control().Look(id, [](const brain::LiveJob& job) {
    EXPECT_EQ(job.policy->mode, Mode::kObserve);
    EXPECT_FALSE(job.of(Resource::kMemory).gate.in_force.has_value());
  });
  const auto changes = *cell.store().Settings(name, 10);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].who, "anna");
  EXPECT_EQ(changes[0].before, "auto");
}

TEST(ControlPlane, AnotherRecommenderIsTrainedFromTheStore) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 400).ok());
  const JobId id = JobId{0};
  ASSERT_TRUE(SetOne(cell.control(), id, "recommender", "peak", "anna").ok());
  cell.control().Look(id, [](const brain::LiveJob& job) { EXPECT_TRUE(job.needs_history()); });
  ASSERT_TRUE(cell.control().Tick(cell.control().ingest().time.now()).ok());
  cell.control().Look(id, [](const brain::LiveJob& job) { EXPECT_FALSE(job.needs_history()); });
  EXPECT_EQ(cell.control().status().counts().retrained, 1U);
}

TEST(ListJobs, SortsSearchesAndPages) {
  ControlCell cell(400);
  ASSERT_TRUE(cell.Live(0, 130).ok());
  const std::shared_ptr<const FleetView> view = cell.control().view();
  ASSERT_EQ(view->jobs.size(), 20U);
  JobsQuery query;
  query.sort = {SortBy::kUsage, Resource::kMemory};
  query.limit = 7;
  std::vector<double> seen;
  for (query.offset = 0; query.offset < 20; query.offset += 7) {
    for (const JobId id : ListJobs(*view, query).jobs) {
      seen.push_back(double{view->jobs[id.value].of(Resource::kMemory).usage} * view->jobs[id.value].tasks);
    }
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_TRUE(std::is_sorted(seen.rbegin(), seen.rend()));
  query = JobsQuery();
  query.search = "SHOP-3 web";
  EXPECT_EQ(ListJobs(*view, query).total, 1U);
  query.search = "namespace=shop-3";
  EXPECT_EQ(ListJobs(*view, query).total, 1U);
  query.search = "";
  query.mode = Mode::kOff;
  EXPECT_EQ(ListJobs(*view, query).total, 0U);
}

}  // namespace
}  // namespace taut::server
