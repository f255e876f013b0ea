// Tests of history that is read into a store that already contains windows: a gap is filled, and no order results
// from the gap.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

constexpr uint32_t kPastSeries = 80;

Timestamp AtMinute(int minute) { return ControlCell::Minute(minute); }

class Past : public testing::Test {
 protected:
  std::string path() const { return folder_ / "store.db"; }

  // Sends the samples of (from, to], one per minute and an hour at a time, with a tick of the past after each
  // hour. Returns the first error.
  static absl::Status Read(ControlCell& cell, int from, int to) {
    for (int end = std::min(from + 60, to); from < to; from = end, end = std::min(from + 60, to)) {
      for (uint32_t i = 0; i < kPastSeries; ++i) {
        const NamedSample named = CadvisorSample(i, 0);
        std::vector<RemoteSample> samples;
        for (int minute = from + 1; minute <= end; ++minute)
          samples.push_back(CadvisorValue(i, AtMinute(minute).us / 1000));
        cell.control().ingest().samples.Take(ViewOf(named).labels, samples, AtMinute(end), AtMinute(to - 8));
      }
      if (absl::Status s = cell.control().Tick(AtMinute(end), brain::When::kPast); !s.ok()) return s;
    }
    return absl::OkStatus();
  }
  static void TakeKills(ControlCell& cell, int minute, double kills, int now) {
    const NamedSample s{{{"__name__", "container_oom_events_total"},
                         {"container", "app"},
                         {"namespace", "shop-0"},
                         {"pod", "web-0-5d4f8c7b9d-xbbbz"}},
                        {kills, AtMinute(minute).us / 1000}};
    cell.control().ingest().samples.Take(ViewOf(s).labels, {&s.sample, 1}, AtMinute(now));
  }

  const TempDir dir_;
  const std::filesystem::path folder_ = dir_.path();
};

using PastFigures = std::tuple<int32_t, uint32_t, float, float>;

std::vector<PastFigures> Usage(ControlCell& cell) {
  std::vector<PastFigures> out;
  EXPECT_TRUE(cell.store()
                  .ReadWindows(WindowId{0},
                               [&](const ClosedWindow& w) {
                                 for (const TaskWindow& t : w.tasks)
                                   out.emplace_back(w.window.index, t.task, t.cpu_mean_cores,
                                                    t.memory_mean_bytes);
                                 return absl::OkStatus();
                               })
                  .ok());
  return out;
}

std::vector<Decision> Decisions(ControlCell& cell) {
  DecisionQuery query;
  query.limit = 1'000'000;
  std::vector<Decision> out = *cell.store().Decisions(query, History::Reasons::kLeaveOut);
  std::reverse(out.begin(), out.end());
  return out;
}

// Windows, and would-be limits in mode observe, equal the results of a daemon that never stopped.
TEST_F(Past, AGapThatIsReadLeavesNoTrace) {
  ControlCell straight(kPastSeries), cell(kPastSeries, path());
  for (ControlCell* c : {&straight, &cell}) {
    c->mode = Mode::kObserve;
    c->Restart();
  }
  ASSERT_TRUE(straight.Live(0, 2000).ok());
  ASSERT_TRUE(cell.Live(0, 103).ok());
  cell.Restart();
  ASSERT_TRUE(Read(cell, 90, 1799).ok());
  EXPECT_EQ(cell.control().agents().stored_through(), WindowId::Of(AtMinute(1790)));
  cell.Restart();  // windows that were open at the end are not lost
  ASSERT_TRUE(cell.Live(1800, 2000).ok());
  EXPECT_EQ(Usage(cell), Usage(straight));
  const std::vector<Decision> wanted = Decisions(straight), made = Decisions(cell);
  ASSERT_EQ(made.size(), wanted.size());
  EXPECT_GT(made.size(), 0U);
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(std::tie(made[i].id, made[i].time_s, made[i].after, made[i].sentence),
              std::tie(wanted[i].id, wanted[i].time_s, wanted[i].after, wanted[i].sentence));
  }
}

// Samples of senders arrive before the gap is read. These samples wait and close no window.
TEST_F(Past, SamplesOfNowWaitUntilItIsRead) {
  ControlCell straight(kPastSeries), cell(kPastSeries, path());
  for (ControlCell* c : {&straight, &cell}) {
    c->mode = Mode::kObserve;
    c->Restart();
  }
  ASSERT_TRUE(straight.Live(0, 700).ok());
  ASSERT_TRUE(cell.Live(0, 100).ok());
  cell.Restart();
  for (int minute = 599; minute <= 601; ++minute) ASSERT_TRUE(cell.Send(minute, AtMinute(600)).ok());
  ASSERT_TRUE(cell.control().Tick(AtMinute(90), brain::When::kPast).ok());
  EXPECT_EQ(cell.control().agents().stored_through(), WindowId::Of(AtMinute(90)));
  ASSERT_TRUE(Read(cell, 90, 600).ok());
  EXPECT_EQ(cell.control().agents().stored_through(), WindowId::Of(AtMinute(590)));
  ASSERT_TRUE(cell.Live(602, 700).ok());
  EXPECT_EQ(Usage(cell), Usage(straight));
}

TEST_F(Past, NothingIsSetInIt) {
  ControlCell cell(kPastSeries, path());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  cell.Restart();
  size_t of_past = 0;
  cell.control().OnTick([&](const TickEvents& e) { of_past += e.past && e.window != nullptr ? 1 : 0; });
  ASSERT_TRUE(Read(cell, 20, 600).ok());
  EXPECT_EQ(of_past, 119U - 5)
      << "those that ended two minutes before the end, less those of before the stop";
  EXPECT_TRUE(Decisions(cell).empty());
  ASSERT_TRUE(cell.Live(601, 610).ok());
  const std::vector<Decision> made = Decisions(cell);
  ASSERT_FALSE(made.empty()) << "two hours of history are enough to set limits by";
  EXPECT_GE(made.front().time_s, AtMinute(600).seconds());
  EXPECT_EQ(of_past, 119U - 5);
}

TEST_F(Past, OomKillsInItAreLearntFromAndThoseOfNowActedOn) {
  ControlCell cell(kPastSeries, path());
  ASSERT_TRUE(cell.Live(0, 100).ok());
  const size_t before = Decisions(cell).size();
  ASSERT_GT(before, 0U);
  cell.Restart();
  ASSERT_TRUE(Read(cell, 90, 120).ok());
  TakeKills(cell, 121, 0, 180);
  ASSERT_TRUE(Read(cell, 120, 180).ok());
  TakeKills(cell, 200, 2, 240);
  // An agent reports a kill of the present.
  const std::string job = "shop-1/deployment/web-1";
  ASSERT_TRUE(cell.control().Find(job).has_value());
  ASSERT_TRUE(cell.control().agents().TakeOom({job, "oomed", {}}, AtMinute(600), 1, 3e9, AtMinute(600)).ok());
  ASSERT_TRUE(Read(cell, 180, 300).ok());
  std::vector<OomRecord> ooms = *cell.store().Ooms(std::nullopt, INT64_MIN, 10);
  ASSERT_EQ(ooms.size(), 2U);
  EXPECT_EQ(ooms[0].time_s, AtMinute(600).seconds());
  EXPECT_EQ(ooms[1].time_s, AtMinute(200).seconds());
  EXPECT_EQ(ooms[1].kills, 2U);
  const std::vector<Decision> made = Decisions(cell);
  ASSERT_EQ(made.size(), before + 1);
  EXPECT_EQ(made.back().kind, DecisionKind::kOomRaise);
  EXPECT_EQ(made.back().job, cell.control().Find(job));
  uint32_t of_week = 0;
  cell.control().Look(*cell.control().Find("shop-0/deployment/web-0"), [&](const brain::LiveJob& j) {
    of_week = j.OomsOfWeek(WindowId::Of(AtMinute(300)).day());
  });
  EXPECT_EQ(of_week, 2U);
  // After an interruption the kill is read again, and recognised as the same kill.
  TakeKills(cell, 200, 2, 300);
  ASSERT_TRUE(cell.control().Tick(AtMinute(300), brain::When::kPast).ok());
  EXPECT_EQ(cell.store().Ooms(std::nullopt, INT64_MIN, 10)->size(), 2U);
}

// Agents resend their queues before other data.
TEST_F(Past, HeldWindowsDoNotClose) {
  ControlCell cell(kPastSeries, path());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  cell.Restart();
  cell.control().agents().HoldWindows(true);
  ASSERT_TRUE(Read(cell, 20, 80).ok());
  EXPECT_TRUE(cell.control().ingest().windows.holds());
  EXPECT_EQ(cell.control().agents().stored_through(), WindowId::Of(AtMinute(20)));
  cell.control().agents().HoldWindows(false);
  ASSERT_TRUE(cell.control().Tick(AtMinute(80), brain::When::kPast).ok());
  EXPECT_EQ(cell.control().agents().stored_through(), WindowId::Of(AtMinute(70)));
}

}  // namespace
}  // namespace taut::server
