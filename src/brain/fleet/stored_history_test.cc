// Tests of the signals and kills that a lane receives from stored days.
#include "brain/fleet/stored_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "brain/fleet/scribe_fixture.h"
#include "brain/recommend/comparators.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

Decision Of(int window, DecisionKind kind, std::optional<double> after, Outcome outcome = Outcome::kApplied,
            Resource r = Resource::kCpu) {
  Decision d;
  d.target = r;
  d.kind = kind;
  d.time_s = WindowId{window}.start_s();
  d.after = after;
  d.outcome = outcome;
  return d;
}

TEST(StoredHistory, UsageIsCutAtTheLimitThatWasAppliedThen) {
  JobDay day;
  for (int w = 0; w < 7; ++w) {
    JobWindow window;
    window.window = WindowId{w};
    window.first_task = static_cast<uint32_t>(w);
    window.num_tasks = 1;
    day.tasks.push_back({0, 0.5F, 0.5F, kAbsent, kAbsent});
    day.windows.push_back(window);
  }
  const std::vector<Decision> decisions = {
      Of(1, DecisionKind::kWouldSet, 0.2, Outcome::kDryRun),
      Of(1, DecisionKind::kSet, 2),
      Of(2, DecisionKind::kSet, 9, Outcome::kFailed),
      Of(2, DecisionKind::kSet, 1e9, Outcome::kApplied, Resource::kMemory),
      Of(2, DecisionKind::kTry, 0.6),
      Of(3, DecisionKind::kPromote, 0.6),
      Of(5, DecisionKind::kRelease, std::nullopt),
      Of(6, DecisionKind::kSet, 3, Outcome::kDryRun),
  };
  const std::vector<JobDay> days = {day};
  ManagedLane lane{Lane(NewStaticRecommender())};
  DaySignals signals;
  std::vector<std::optional<double>> cut;
  const auto nothing = [](const Signal&, std::span<const OomRecord>) {};
  const auto note = [&](const Signal& s, std::span<const OomRecord>) { cut.push_back(s.cut_at); };
  StepHistory({.resource = Resource::kCpu, .days = days, .ooms = {}, .decisions = decisions}, signals, lane,
              {.begins = nothing, .closes = note});
  EXPECT_THAT(cut, ElementsAre(Eq(std::nullopt), Optional(2.0), Optional(2.0), Optional(0.6), Optional(0.6),
                               Eq(std::nullopt), Eq(std::nullopt)));
}

// Returns a day of memory windows with one task; the peak of window w is 10 w.
JobDay MemoryDay(int32_t day, const std::vector<int32_t>& windows) {
  JobDay out;
  out.day = day;
  for (const int32_t w : windows) {
    JobWindow window;
    window.window = WindowId{w};
    window.first_task = static_cast<uint32_t>(out.tasks.size());
    window.num_tasks = 1;
    const auto peak = static_cast<float>(10 * w);
    out.tasks.push_back({.task = 0, .memory_mean_bytes = peak, .memory_peak_bytes = peak});
    out.windows.push_back(window);
  }
  return out;
}

OomRecord KilledAt(int64_t time_s, std::optional<double> limit = std::nullopt) {
  OomRecord o;
  o.time_s = time_s;
  o.limit = limit;
  return o;
}

// Logs the calls of a lane and the kills of each window.
class StoredHistoryTest : public ::testing::Test {
 protected:
  void Step(Resource r, int32_t open_day = INT32_MAX) {
    log_.clear();
    kills_.clear();
    DaySignals signals;
    ManagedLane lane{Lane(std::make_unique<Scribe>(&log_, Answers::kNothing, &kills_))};
    StepHistory(
        {.resource = r, .days = days_, .ooms = ooms_, .open_day = open_day}, signals, lane,
        {.begins = [&](const Signal& s, std::span<const OomRecord> killed) { Note("begins", s, killed); },
         .closes = [&](const Signal& s, std::span<const OomRecord> killed) { Note("closes", s, killed); }});
    std::erase_if(log_, [](const std::string& line) { return line.starts_with("recommend"); });
  }
  void Note(const char* what, const Signal& s, std::span<const OomRecord> killed) {
    log_.push_back(StrCat(what, " ", s.window.index, " with ", killed.size()));
  }

  std::vector<JobDay> days_;
  std::vector<OomRecord> ooms_;
  std::vector<std::string> log_;
  std::vector<OomEvent> kills_;
};

TEST_F(StoredHistoryTest, KillsAreTakenInBetweenTheBeginningAndTheEndOfTheirWindow) {
  days_ = {MemoryDay(1, {290, 291, 296})};
  const auto start_s = [](int32_t w) { return WindowId{w}.start_s(); };
  ooms_ = {KilledAt(start_s(280)),           // a kill before the day
           KilledAt(start_s(290) + 9, 500),  // a kill in the first window
           KilledAt(start_s(291)),   // a kill at the end of the first window, so it belongs to the second
           KilledAt(start_s(294)),   // a kill between measured windows
           KilledAt(start_s(300))};  // a kill after all windows
  Step(Resource::kMemory);
  EXPECT_THAT(log_, ElementsAre("start 1", "begins 290 with 2", "oom 288", "oom 290", "closes 290 with 2",
                                "begins 291 with 1", "oom 291", "closes 291 with 1", "begins 296 with 1",
                                "oom 292", "closes 296 with 1", "end 1", "oom 297"));
  std::vector<double> limits;
  for (const OomEvent& e : kills_) limits.push_back(e.limit);
  EXPECT_THAT(limits, ElementsAre(0, 500, 2900, 2910, 2960)) << "else the peak of the window before";

  ooms_.clear();
  Step(Resource::kMemory);
  EXPECT_TRUE(kills_.empty());
}

TEST_F(StoredHistoryTest, KillsSayNothingOfCpu) {
  days_ = {MemoryDay(0, {3})};
  days_[0].tasks[0].cpu_mean_cores = 1;
  ooms_ = {KilledAt(0)};
  Step(Resource::kCpu);
  EXPECT_THAT(log_, ElementsAre("start 0", "begins 3 with 0", "closes 3 with 0", "end 0"));
}

TEST_F(StoredHistoryTest, AnOpenDayBeginsAndDoesNotEnd) {
  days_ = {MemoryDay(0, {1}), MemoryDay(2, {577})};
  const std::string first = "begins 1 with 0", second = "begins 577 with 0";
  Step(Resource::kMemory);
  EXPECT_THAT(log_, ElementsAre("start 0", first, "closes 1 with 0", "end 0", "start 2", second,
                                "closes 577 with 0", "end 2"));
  Step(Resource::kMemory, 2);
  EXPECT_THAT(log_, ElementsAre("start 0", first, "closes 1 with 0", "end 0", "start 2", second,
                                "closes 577 with 0"));
  Step(Resource::kMemory, 3);
  EXPECT_THAT(log_, ElementsAre("start 0", first, "closes 1 with 0", "end 0", "start 2", second,
                                "closes 577 with 0", "end 2", "start 3"));
}

TEST_F(StoredHistoryTest, WithoutADayNothingHappens) {
  ooms_ = {KilledAt(100)};
  Step(Resource::kMemory);
  EXPECT_TRUE(log_.empty());
  Step(Resource::kMemory, 4);
  EXPECT_THAT(log_, ElementsAre("start 4", "oom 1152"));
}

}  // namespace
}  // namespace taut::brain
