// Tests the contract of both stores: all committed data are read back, no data are counted twice, and housekeeping
// changes results only by deleting old data.
#include "server/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "server/store/store_subject.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;

constexpr WindowId kFirstPass{20'000 * kWindowsPerDay + 250};

// Returns the results of all queries as text.
std::string AllText(Subject& subject, uint32_t jobs) {
  std::string text = RestoreText(subject.store());
  text += WindowsText(subject.store(), WindowId{INT32_MIN});
  History& history = subject.history();
  for (uint32_t job = 3; job < jobs * 5 + 5; job += 5) {
    text += Text(history.JobDays(JobId{job}, WindowId{INT32_MIN}, WindowId{INT32_MAX}));
  }
  DecisionQuery query;
  query.limit = SIZE_MAX;
  text += Text(history.Decisions(query, History::Reasons::kInclude));
  text += Text(history.Ooms(std::nullopt, INT64_MIN, SIZE_MAX));
  text += Text(history.TierActs({.job = "", .machine = "", .from_s = INT64_MIN, .limit = SIZE_MAX}));
  text += Text(history.Settings(std::nullopt, SIZE_MAX));
  text += Text(history.FleetPoints(WindowId{INT32_MIN}, WindowId{INT32_MAX}, 1));
  return text;
}

class StoreTest : public ::testing::TestWithParam<Which> {
 protected:
  std::unique_ptr<Subject> subject_ = Make(GetParam());
  Store& store_ = subject_->store();
  History& history_ = subject_->history();
};
INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, ::testing::Values(Which::kMemory, Which::kSqlite),
                         [](const auto& chosen) {
                           return chosen.param == Which::kMemory ? "memory" : "sqlite";
                         });

TEST_P(StoreTest, AnEmptyStoreHasNothing) {
  EXPECT_EQ(RestoreText(store_), "none to none, decision 0, setting 0, kill 0\n");
  EXPECT_EQ(WindowsText(store_, WindowId{INT32_MIN}), "");
  EXPECT_TRUE(history_.JobDays(JobId{1}, kFirstPass, kFirstPass.next())->empty());
  EXPECT_FALSE(*store_.Maintain(kFirstPass));
}

TEST_P(StoreTest, RefusesAWindowThatIsNotLater) {
  PassMaker maker(1, 3, kFirstPass);
  const ClosedWindow first = maker.Window(), second = maker.Window();
  PassRecord pass;
  pass.window = &second;
  ASSERT_TRUE(store_.Commit(pass).ok());
  const std::string before = AllText(*subject_, 3);
  const Checkpoint checkpoint{1, kFirstPass, "state"};
  pass.checkpoints = {&checkpoint, 1};
  EXPECT_TRUE(absl::IsAlreadyExists(store_.Commit(pass)));
  pass.window = &first;
  EXPECT_TRUE(absl::IsAlreadyExists(store_.Commit(pass)));
  EXPECT_EQ(AllText(*subject_, 3), before);
}

TEST_P(StoreTest, RefusesNumbersThatDoNotAscend) {
  OwnedPass pass;
  pass.new_jobs = {{JobId{4}, "four", {}, 0}, {JobId{4}, "again", {}, 0}};
  EXPECT_TRUE(absl::IsInvalidArgument(store_.Commit(pass.View())));
  pass.new_jobs.pop_back();
  pass.decisions.resize(1);
  EXPECT_TRUE(absl::IsInvalidArgument(store_.Commit(pass.View())));  // the decision has number 0
  pass.decisions[0].id = 7;
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  pass.new_jobs.clear();
  EXPECT_TRUE(absl::IsInvalidArgument(store_.Commit(pass.View())));  // decision 7 is already stored
  EXPECT_EQ(RestoreText(store_), "4 four 0\nnone to none, decision 7, setting 0, kill 0\n");
}

TEST_P(StoreTest, KeepsAnEmptyWindow) {
  ClosedWindow empty;
  empty.window = kFirstPass;
  PassRecord pass;
  pass.window = &empty;
  ASSERT_TRUE(store_.Commit(pass).ok());
  EXPECT_EQ(WindowsText(store_, WindowId{kFirstPass.index - 1}), StrCat("window ", kFirstPass.index, "\n"));
  EXPECT_EQ(WindowsText(store_, kFirstPass), "");
}

TEST_P(StoreTest, OutcomesComeLater) {
  OwnedPass pass;
  pass.decisions.resize(2);
  pass.decisions[0].id = 1;
  pass.decisions[1].id = 2;
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  OwnedPass later;
  later.outcomes = {{2, Outcome::kApplied, "done", 17}, {9, Outcome::kFailed, "of no decision", 18}};
  ASSERT_TRUE(store_.Commit(later.View()).ok());
  const auto found = history_.Decisions({}, History::Reasons::kInclude);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(0).outcome, Outcome::kApplied);
  EXPECT_EQ(found->at(0).outcome_text, "done");
  EXPECT_EQ(found->at(0).outcome_time_s, 17);
  EXPECT_EQ(found->at(1).outcome, Outcome::kPending);
}

TEST_P(StoreTest, DecisionsAreFilteredAndPaged) {
  OwnedPass pass;
  for (uint64_t id = 1; id <= 60; ++id) {
    Decision d;
    d.id = id;
    d.job = JobId{static_cast<uint32_t>(id % 3)};
    d.target = kResources[id % 2];
    d.kind = static_cast<DecisionKind>(id % 5);
    d.time_s = static_cast<int64_t>(id * 10);
    d.reason = "why";
    pass.decisions.push_back(d);
  }
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  const auto ids = [this](const DecisionQuery& query) {
    std::vector<uint64_t> found;
    const auto decisions = history_.Decisions(query, History::Reasons::kLeaveOut);
    EXPECT_TRUE(decisions.ok());
    for (const Decision& d : *decisions) {
      found.push_back(d.id);
      EXPECT_EQ(d.reason, "");
    }
    return found;
  };
  using ::testing::ElementsAre;
  DecisionQuery query;
  query.limit = 3;
  EXPECT_THAT(ids(query), ElementsAre(60, 59, 58));
  query.before_id = 58;
  EXPECT_THAT(ids(query), ElementsAre(57, 56, 55));
  query.after_id = 56;
  EXPECT_THAT(ids(query), ElementsAre(57));
  query = {};
  query.job = JobId{1};
  query.target = Resource::kMemory;
  query.kind = static_cast<DecisionKind>(2);
  EXPECT_THAT(ids(query), ElementsAre(37, 7));
  query.from_s = 370;
  EXPECT_THAT(ids(query), ElementsAre(37));
  query.from_s = 371;
  EXPECT_THAT(ids(query), ElementsAre());
}

TEST_P(StoreTest, TierActsNewestFirstOfAJobOrAMachine) {
  OwnedPass pass;
  const auto act = [](int64_t time_s, std::string machine, std::string job) {
    TierAct a;
    a.time_s = time_s;
    a.at_us = time_s * 1'000'000 + 7;
    a.machine = std::move(machine);
    a.job = std::move(job);
    a.task = "t";
    a.kind = TierActKind::kKill;
    a.usage = 5e8;
    a.text = "free 1 MiB";
    return a;
  };
  pass.tier_acts = {act(50, "h1", "a"), act(40, "h2", "b"), act(50, "h2", "a")};
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  const auto text = [&](const TierActQuery& query) { return Text(history_.TierActs(query)); };
  EXPECT_EQ(text({}), Text(pass.tier_acts[2]) + Text(pass.tier_acts[0]) + Text(pass.tier_acts[1]));
  EXPECT_EQ(text({.job = "a", .machine = "", .limit = 1}), Text(pass.tier_acts[2]));
  EXPECT_EQ(text({.job = "", .machine = "h2"}), Text(pass.tier_acts[2]) + Text(pass.tier_acts[1]));
  EXPECT_EQ(text({.job = "a", .machine = "h1"}), Text(pass.tier_acts[0]));
  EXPECT_EQ(text({.job = "", .machine = "", .from_s = 41}),
            Text(pass.tier_acts[2]) + Text(pass.tier_acts[0]));
}

TEST_P(StoreTest, OomsAndSettingsNewestFirst) {
  OwnedPass pass;
  pass.ooms = {{JobId{1}, 0, 50, 1, 1e9}, {JobId{2}, 1, 40, 2, std::nullopt}, {JobId{1}, 2, 50, 3, 2e9}};
  pass.settings = {{1, 5, "ann", "a", "mode", "auto", ""},
                   {2, 6, "bob", "b", "mode", "off", "auto"},
                   {3, 7, "ann", "a", "mode", "", "auto"}};
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  EXPECT_EQ(Text(history_.Ooms(std::nullopt, 0, 9)),
            Text(pass.ooms[2]) + Text(pass.ooms[0]) + Text(pass.ooms[1]));
  EXPECT_EQ(Text(history_.Ooms(JobId{1}, 0, 1)), Text(pass.ooms[2]));
  EXPECT_EQ(Text(history_.Ooms(std::nullopt, 41, 9)), Text(pass.ooms[2]) + Text(pass.ooms[0]));
  EXPECT_EQ(Text(history_.Settings("a", 9)), Text(pass.settings[2]) + Text(pass.settings[0]));
  EXPECT_EQ(Text(history_.Settings(std::nullopt, 1)), Text(pass.settings[2]));
  EXPECT_THAT(RestoreText(store_), HasSubstr(Text(pass.settings[1]) + Text(pass.settings[2])));
}

// A forgotten job is not restored any more. It keeps its number and name, and may return.
TEST_P(StoreTest, ForgottenJobsStayUntilTheirDecisionsGo) {
  const std::unique_ptr<Subject> subject =
      Make(GetParam(), {.history_days = 1, .decision_days = 2, .windows_to_believe = 0});
  const JobRecord jobs[] = {
      {JobId{0}, "a", {{"team", "x"}}, 5}, {JobId{1}, "b", {}, 6}, {JobId{2}, "c", {}, 7}};
  const Checkpoint saved{.chunk = 0, .through = kFirstPass, .bytes = "state"};
  PassRecord pass;
  pass.new_jobs = jobs;
  pass.checkpoints = {&saved, 1};
  ASSERT_TRUE(subject->store().Commit(pass).ok());
  const JobId gone[] = {JobId{1}, JobId{2}};
  const Checkpoint none{.chunk = 0, .through = kFirstPass, .bytes = ""};
  pass = {};
  pass.forgotten_jobs = gone;
  pass.forgotten_s = kFirstPass.start_s();
  pass.checkpoints = {&none, 1};
  ASSERT_TRUE(subject->store().Commit(pass).ok());
  const auto forgotten = [&](int64_t from_s) {
    std::string text;
    EXPECT_TRUE(subject->store()
                    .ReadForgotten(from_s,
                                   [&](const JobRecord& job, int64_t when_s) {
                                     StrAppend(&text, job.id.value, " ", job.name, " ",
                                               when_s == kFirstPass.start_s() ? 1 : 0, ";");
                                   })
                    .ok());
    return text;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(forgotten(0), "1 b 1;2 c 1;");
    EXPECT_EQ(forgotten(kFirstPass.start_s() + 1), "");
    EXPECT_EQ(subject->history().Job(JobId{2})->name, "c");
    EXPECT_EQ(subject->history().Job(JobId{0})->labels.size(), 1U);
    EXPECT_FALSE(subject->history().Job(JobId{9}).ok());
    const std::string restored = RestoreText(subject->store());
    EXPECT_THAT(restored, testing::Not(HasSubstr("chunk 0")));
    subject->Reopen();
  }
  pass = {};
  pass.returned_jobs = {&jobs[1], 1};
  ASSERT_TRUE(subject->store().Commit(pass).ok());
  EXPECT_EQ(forgotten(0), "2 c 1;");
  // Numbers are never assigned again.
  pass = {};
  pass.new_jobs = {&jobs[2], 1};
  EXPECT_EQ(subject->store().Commit(pass).code(), absl::StatusCode::kInvalidArgument);
  while (*subject->store().Maintain(WindowId{kFirstPass.index + 4 * kWindowsPerDay})) continue;
  EXPECT_EQ(forgotten(0), "");
  EXPECT_FALSE(subject->history().Job(JobId{2}).ok());
  EXPECT_EQ(subject->history().Job(JobId{1})->name, "b");
}

TEST_P(StoreTest, FleetPointsByStride) {
  OwnedPass pass;
  for (int32_t w = -5; w < 20; ++w) {
    pass.fleet.emplace();
    pass.fleet->window = {w};
    ASSERT_TRUE(store_.Commit(pass.View()).ok());
  }
  const auto points = history_.FleetPoints({-4}, {17}, 4);
  ASSERT_TRUE(points.ok());
  std::vector<int32_t> windows;
  for (const FleetPoint& p : *points) windows.push_back(p.window.index);
  EXPECT_THAT(windows, ::testing::ElementsAre(-4, 0, 4, 8, 12, 16));
  EXPECT_TRUE(absl::IsInvalidArgument(history_.FleetPoints({0}, {1}, 0).status()));
}

TEST_P(StoreTest, RestoreStopsAtTheFirstErrorOfItsReader) {
  OwnedPass pass;
  pass.new_jobs = {{JobId{1}, "one", {}, 0}, {JobId{2}, "two", {}, 0}};
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  int seen = 0;
  const auto ends = store_.Restore({[&seen](const JobRecord&) {
                                      ++seen;
                                      return absl::CancelledError("enough");
                                    },
                                    [](const SettingChange&) { return absl::OkStatus(); },
                                    [](const Checkpoint&) { return absl::OkStatus(); }});
  EXPECT_TRUE(absl::IsCancelled(ends.status()));
  EXPECT_EQ(seen, 1);
}

TEST_P(StoreTest, ForgetsWhatIsPastRetention) {
  subject_ = Make(GetParam(), {.history_days = 2, .decision_days = 4, .windows_to_believe = 1});
  Store& store = subject_->store();
  OwnedPass pass;
  const int32_t start = 20'000 * kWindowsPerDay;
  for (int32_t day = 0; day < 7; ++day) {
    PassMaker maker(static_cast<uint32_t>(day), 4, {start + day * kWindowsPerDay + 100});
    pass.window = maker.Window();
    const int64_t now = pass.window->window.start_s();
    pass.decisions.resize(1);
    pass.decisions[0].id = static_cast<uint64_t>(day + 1);
    pass.decisions[0].time_s = now;
    pass.ooms = {{JobId{3}, 0, now, 1, std::nullopt}};
    pass.tier_acts.resize(1);
    pass.tier_acts[0].time_s = now;
    pass.settings = {
        {static_cast<uint64_t>(day + 1), now, "ann", day == 0 ? "kept" : "job", "mode", "auto", ""}};
    ASSERT_TRUE(store.Commit(pass.View()).ok());
  }
  const WindowId now = pass.window->window;
  MaintainAll(store, now);
  EXPECT_THAT(RestoreText(store), HasSubstr(StrCat(start + 4 * kWindowsPerDay + 100, " to ", now.index,
                                                   ", decision 7, setting 7")));
  EXPECT_THAT(RestoreText(store), HasSubstr("kept"));
  EXPECT_EQ(subject_->history().Decisions({}, History::Reasons::kLeaveOut)->size(), 5U);
  EXPECT_EQ(subject_->history().Ooms(std::nullopt, 0, 99)->size(), 5U);
  EXPECT_EQ(subject_->history().TierActs({})->size(), 5U);
  EXPECT_EQ(subject_->history().Settings(std::nullopt, 99)->size(), 6U);
  // Maintain uses the stored windows, not only its argument, to decide what to delete. A pass is not accepted
  // twice.
  const std::string kept = WindowsText(store, {0});
  MaintainAll(store, {now.index + 100 * kWindowsPerDay});
  EXPECT_EQ(WindowsText(store, {0}), kept);
  EXPECT_TRUE(absl::IsAlreadyExists(store.Commit(pass.View())));
}

// A clock is a year ahead for twelve minutes, and senders follow it.
TEST_P(StoreTest, AFewWindowsOfTheFutureForgetNothing) {
  subject_ = Make(GetParam(), {.history_days = 2, .decision_days = 4, .windows_to_believe = 20});
  Store& store = subject_->store();
  const int32_t start = 20'000 * kWindowsPerDay;
  const auto live = [&](int32_t from, int windows) {
    PassMaker maker(1, 2, {from});
    for (int i = 0; i < windows; ++i) {
      const ClosedWindow w = maker.Window();
      PassRecord pass;
      pass.window = &w;
      ASSERT_TRUE(store.Commit(pass).ok());
    }
  };
  live(start, 30);
  const std::string before = WindowsText(store, {0});
  live(start + 365 * kWindowsPerDay, 3);
  MaintainAll(store, {start + 365 * kWindowsPerDay + 2});
  EXPECT_EQ(WindowsText(store, {0}).substr(0, before.size()), before);
  live(start + 365 * kWindowsPerDay + 3, 17);
  MaintainAll(store, {start + 365 * kWindowsPerDay + 19});
  EXPECT_NE(WindowsText(store, {0}).substr(0, before.size()), before) << "as many are believed";
}

TEST_P(StoreTest, JobDaysAreCutAtTheirEnds) {
  PassMaker maker(3, 200, kFirstPass);
  for (int i = 0; i < 80; ++i) {  // windows before and after midnight: window 288 is the 39th
    const ClosedWindow w = maker.Window();
    PassRecord pass;
    pass.window = &w;
    ASSERT_TRUE(store_.Commit(pass).ok());
  }
  const auto all = history_.JobDays(JobId{203}, kFirstPass, {kFirstPass.index + 80});
  const auto part = history_.JobDays(JobId{203}, {kFirstPass.index + 30}, {kFirstPass.index + 50});
  ASSERT_TRUE(all.ok() && part.ok());
  ASSERT_EQ(all->size(), 2U);
  ASSERT_EQ(part->size(), 2U);
  EXPECT_GE(part->at(0).windows.front().window.index, kFirstPass.index + 30);
  EXPECT_LT(part->at(1).windows.back().window.index, kFirstPass.index + 50);
  const std::string before = Text(part);
  MaintainAll(store_, {kFirstPass.index + 79});
  EXPECT_EQ(Text(history_.JobDays(JobId{203}, {kFirstPass.index + 30}, {kFirstPass.index + 50})), before);
}

// After random passes, housekeeping and restarts, the file must return the same results as InMemoryStore, whose
// housekeeping only deletes old data.
RC_GTEST_PROP(StoreProperty, TheFileAnswersAsMemoryDoes, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const uint32_t jobs = *rc::gen::inRange(1U, 90U);
  const Retention keep{.history_days = *rc::gen::inRange(1, 5),
                       .decision_days = *rc::gen::inRange(1, 5),
                       .windows_to_believe = *rc::gen::inRange(0, 20)};
  MemorySubject memory(keep);
  SqliteSubject file(keep, *rc::gen::inRange(0, 30));
  PassMaker maker(seed, jobs, kFirstPass);
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 14));
  for (const int step : steps) {
    if (step < 10) {
      const OwnedPass pass = maker.Pass(step * step);  // a pass that leaves out up to 81 windows
      RC_ASSERT(memory.store().Commit(pass.View()).ok());
      RC_ASSERT(file.store().Commit(pass.View()).ok());
    } else if (step < 13) {
      // One call of housekeeping deletes all old data, because the amount is small.
      RC_ASSERT(memory.store().Maintain({maker.next_window() - 1}).ok());
      RC_ASSERT(file.store().Maintain({maker.next_window() - 1}).ok());
    } else {
      file.Reopen();
    }
  }
  RC_ASSERT(AllText(file, jobs) == AllText(memory, jobs));
  for (int i = 0; i < 50 && *file.store().Maintain({maker.next_window() - 1}); ++i) {
  }
  RC_ASSERT(memory.store().Maintain({maker.next_window() - 1}).ok());
  RC_ASSERT(AllText(file, jobs) == AllText(memory, jobs));
}

}  // namespace
}  // namespace taut::server
