// Tests that every acknowledged pass is stored exactly once if a writer is killed at any moment.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "common/testing/test_scale.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

constexpr uint32_t kJobs = 150;
constexpr int32_t kPastDays = 3;
// Windows are 7 apart, so that days end and are converted to day blocks.
constexpr WindowId WindowOf(uint64_t pass) { return {static_cast<int32_t>(5'760'000 + 7 * pass)}; }

JobDay PastDayOf(JobId job, int32_t day) {
  JobDay out;
  out.job = job;
  out.day = day;
  for (int32_t w = 0; w < 20; ++w) {
    JobWindow window;
    window.window = WindowId{day * kWindowsPerDay + w};
    window.num_tasks = 1;
    window.first_task = static_cast<uint32_t>(w);
    out.windows.push_back(window);
    out.tasks.push_back({0, 1, 1, static_cast<float>(job.value), static_cast<float>(w)});
  }
  return out;
}

OwnedPass MakePass(uint64_t number) {
  OwnedPass pass;
  pass.window = PassMaker(static_cast<uint32_t>(number), kJobs, WindowOf(number)).Window();
  pass.decisions.resize(1);
  pass.decisions[0].id = number;
  pass.ooms = {{JobId{1}, 0, static_cast<int64_t>(number), 1, std::nullopt}};
  pass.checkpoints = {
      {static_cast<uint32_t>(number % 5), WindowOf(number), std::string(10'000 + number, 'c')}};
  // Jobs of two chunks. After n passes, the sum over all passes is n(n + 1) / 2.
  for (const uint32_t job : {1U, 2000U}) {
    pass.account.push_back({.job = JobId{job}});
    pass.account.back().of[0] = {.usage = number, .billed = number, .windows = 1};
  }
  // Each pass has three days of a job's history; after a kill, all three days or none are stored.
  JobPast& past = pass.pasts.emplace_back();
  past.job = JobId{static_cast<uint32_t>(1'000'000 + number)};
  for (int32_t day = 1; day <= kPastDays; ++day) past.days.push_back(PastDayOf(past.job, day));
  return pass;
}

SqliteStore::Options OptionsFor(const TempDir& dir) {
  SqliteStore::Options options;
  options.path = dir.File("store.db");
  options.keep = {100'000, 100'000};  // retention longer than the test's windows, so that nothing is deleted
  options.regroup_after_hours = 0;
  return options;
}

// The child commits pass after pass, and reports each pass to the parent after the commit.
[[noreturn]] void WriteForEver(const SqliteStore::Options& options, uint64_t first, int report) {
  auto store = SqliteStore::Open(options);
  if (!store.ok()) _exit(1);
  for (uint64_t number = first;; ++number) {
    if (!(*store)->Commit(MakePass(number).View()).ok()) _exit(2);
    States& states = (*store)->states();
    const RequestLogEntry entry{number, static_cast<int64_t>(number), "ann", StrCat(number)};
    if (!states.budgets().Append({&entry, 1}).ok() || !states.Put("machines", entry.text).ok()) _exit(5);
    if (write(report, &number, sizeof(number)) != sizeof(number)) _exit(3);
    if (number % 3 == 0 && !(*store)->Maintain(WindowOf(number)).ok()) _exit(4);
  }
}

// Starts a child that writes, and kills it. Returns the last pass that the child acknowledged.
uint64_t KillAWriter(const SqliteStore::Options& options, uint64_t first, std::chrono::microseconds life) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) WriteForEver(options, first, ends[1]);
  close(ends[1]);
  uint64_t number = 0, last = first - 1;
  if (read(ends[0], &number, sizeof(number)) == sizeof(number)) last = number;
  std::this_thread::sleep_for(life);
  kill(child, SIGKILL);
  while (read(ends[0], &number, sizeof(number)) == sizeof(number)) last = number;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);
  return last;
}

// Checks that the ledger has each entry once and in order. Returns the number of entries, and the number that is
// stored as the state.
std::pair<uint64_t, uint64_t> ReadStates(States& states) {
  uint64_t entries = 0;
  EXPECT_TRUE(states.budgets()
                  .Read([&](const RequestLogEntry& e) { EXPECT_EQ(e.text, StrCat(++entries)); },
                        [](const std::string& damage) { ADD_FAILURE() << damage; })
                  .ok());
  const auto state = states.Get("machines");
  EXPECT_TRUE(state.ok()) << state.status();
  return {entries, state.ok() && state->has_value() ? std::stoull(**state) : 0};
}

void FillStates(uint64_t entries, uint64_t passes, States& states) {
  while (++entries <= passes) {
    const RequestLogEntry entry{entries, 0, "ann", StrCat(entries)};
    EXPECT_TRUE(states.budgets().Append({&entry, 1}).ok());
  }
}

TEST(CrashTest, AcknowledgedPassesAreThereOnce) {
  const TempDir dir;
  const SqliteStore::Options options = OptionsFor(dir);
  std::mt19937 random(20'260'101);
  uint64_t next = 1;
  for (int kill = 0; kill < Scaled(30); ++kill) {
    const uint64_t acknowledged = KillAWriter(options, next, std::chrono::microseconds(random() % 30'000));
    const auto store = SqliteStore::Open(options);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_GE(acknowledged, next);
    uint64_t pass = 0;
    const absl::Status read = (*store)->ReadWindows({0}, [&pass](const ClosedWindow& w) {
      ++pass;
      EXPECT_EQ(w.window, WindowOf(pass));
      EXPECT_EQ(Text(w), Text(*MakePass(pass).window));
      return absl::OkStatus();
    });
    ASSERT_TRUE(read.ok()) << read;
    // There may be one more entry whose acknowledgement the kill prevented.
    EXPECT_GE(pass, acknowledged);
    EXPECT_LE(pass, acknowledged + 1);
    DecisionQuery all;
    all.limit = SIZE_MAX;
    const auto decisions = (*store)->Decisions(all, History::Reasons::kLeaveOut);
    ASSERT_TRUE(decisions.ok());
    EXPECT_EQ(decisions->size(), pass);
    EXPECT_EQ((*store)->Ooms(std::nullopt, 0, SIZE_MAX)->size(), pass);
    uint64_t usage = 0, windows = 0;
    const absl::Status account = (*store)->ReadAccount(
        WindowId{0}, WindowId{INT32_MAX / 2}, [&](const AccountSpan&, std::span<const AccountEntry> entries) {
          for (const AccountEntry& e : entries) {
            usage += e.of[0].usage;
            windows += e.of[0].windows;
          }
        });
    ASSERT_TRUE(account.ok()) << account;
    EXPECT_EQ(windows, 2 * pass);
    EXPECT_EQ(usage, pass * (pass + 1));
    for (uint64_t n = pass + 2; n > 0 && n + 5 > pass; --n) {
      const JobId job{static_cast<uint32_t>(1'000'000 + n)};
      const auto days = (*store)->JobDays(job, WindowId{0}, WindowId{INT32_MAX});
      ASSERT_TRUE(days.ok()) << days.status();
      EXPECT_EQ(days->size(), n <= pass ? size_t{kPastDays} : 0) << "the past of pass " << n;
    }
    const auto [entries, state] = ReadStates((*store)->states());
    EXPECT_GE(state, acknowledged);
    EXPECT_GE(entries, state);
    EXPECT_GE(pass, entries);
    const std::string restored = RestoreText(**store);
    for (uint64_t n = pass; n > 0 && n + 5 > pass; --n) {
      EXPECT_NE(restored.find(Text(MakePass(n).checkpoints[0])), std::string::npos);
    }
    EXPECT_TRUE(absl::IsAlreadyExists((*store)->Commit(MakePass(pass).View())));
    EXPECT_TRUE((*store)->damage().empty());
    if (HasFailure()) return;
    // Adds the passes that the kill interrupted, so that the numbers continue.
    FillStates(entries, pass, (*store)->states());
    next = pass + 1;
  }
}

}  // namespace
}  // namespace taut::server
