// Tests usage from before a job was known, read from a source of history, in both stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/store/store_subject.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;

constexpr WindowId kFirstPastWindow{20'000 * kWindowsPerDay + 250};

class PastDaysTest : public ::testing::TestWithParam<Which> {
 protected:
  std::unique_ptr<Subject> subject_ = Make(GetParam());
  Store& store_ = subject_->store();
  History& history_ = subject_->history();
};
INSTANTIATE_TEST_SUITE_P(Stores, PastDaysTest, ::testing::Values(Which::kMemory, Which::kSqlite),
                         [](const auto& chosen) {
                           return chosen.param == Which::kMemory ? "memory" : "sqlite";
                         });

// Returns the windows [first, last) of a job, all of one day, each with a different figure.
JobDay PastDay(JobId job, int32_t first, int32_t last, float cores) {
  JobDay day;
  day.job = job;
  day.day = WindowId{first}.day();
  for (int32_t w = first; w < last; ++w) {
    JobWindow window;
    window.window = WindowId{w};
    window.first_task = static_cast<uint32_t>(day.tasks.size());
    window.num_tasks = 1;
    window.first_bucket = static_cast<uint32_t>(day.cpu_buckets.size());
    window.num_buckets = 1;
    day.windows.push_back(window);
    TaskWindow task;
    task.cpu_mean_cores = task.cpu_peak_cores = cores + static_cast<float>(w - first);
    day.tasks.push_back(task);
    day.cpu_buckets.push_back({static_cast<Bucket>(w - first), 300});
  }
  return day;
}

std::string PastsText(Store& store) {
  std::string text;
  EXPECT_TRUE(store
                  .ReadPasts([&](JobId id, PastState state) {
                    StrAppend(&text, id.value, state == PastState::kRead ? " read\n" : " nothing\n");
                  })
                  .ok());
  return text;
}

// Usage read from a source of history precedes the measured usage in the job's history.
TEST_P(PastDaysTest, ThePastOfAJobComesBeforeItsOwnWindows) {
  constexpr JobId kJob{3}, kOther{8};
  PassMaker maker(4, 1, kFirstPastWindow);  // this pass has windows of job 3 only
  OwnedPass pass;
  pass.new_jobs = {{kJob, "late", {}, 0}, {kOther, "new", {}, 0}};
  pass.window = maker.Window();
  while (pass.window->jobs.empty()) pass.window = maker.Window();
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  const int32_t live = pass.window->window.index;
  const std::string measured = Text(history_.JobDays(kJob, WindowId{0}, WindowId{INT32_MAX}));
  std::string windows = WindowsText(store_, WindowId{0});
  EXPECT_EQ(PastsText(store_), "");

  OwnedPass past;
  const int32_t yesterday = kFirstPastWindow.index - kFirstPastWindow.index % kWindowsPerDay - 20;
  const std::vector<JobDay> days = {PastDay(kJob, yesterday, yesterday + 20, 1),
                                    PastDay(kJob, live - 3, live + 1, 100)};
  past.pasts = {{kJob, PastState::kRead, days}, {kOther, PastState::kNothing, {}}};
  ASSERT_TRUE(store_.Commit(past.View()).ok());
  const auto all = [&](WindowId from) { return *history_.JobDays(kJob, from, WindowId{INT32_MAX}); };
  const auto check = [&] {
    const std::vector<JobDay> found = all(WindowId{INT32_MIN / 2});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(Text(found[0]), Text(days[0]));
    ASSERT_EQ(found[1].windows.size(), 4U);
    // A window that was measured and is also in the source's history is read as measured.
    EXPECT_EQ(Text(found[1]), Text(WindowsOf(days[1], WindowId{0}, WindowId{live})) +
                                  measured.substr(measured.find('\n') + 1));
    EXPECT_EQ(all(WindowId{yesterday + 18})[0].windows.size(), 2U);
    EXPECT_EQ(history_.JobDays(kJob, WindowId{0}, WindowId{yesterday + 1})->at(0).windows.size(), 1U);
    EXPECT_TRUE(history_.JobDays(kOther, WindowId{0}, WindowId{INT32_MAX})->empty());
    EXPECT_EQ(WindowsText(store_, WindowId{0}), windows) << "no window of the cell comes of it";
    EXPECT_EQ(PastsText(store_), "3 read\n8 nothing\n");
  };
  check();
  // End the day, so that the day is converted to day blocks.
  ClosedWindow later;
  later.window = WindowId{live + kWindowsPerDay};
  PassRecord next;
  next.window = &later;
  ASSERT_TRUE(store_.Commit(next).ok());
  MaintainAll(store_, later.window);
  StrAppend(&windows, "window ", later.window.index, "\n");
  check();
}

TEST_P(PastDaysTest, APastGivenAgainIsTheSame) {
  constexpr JobId kJob{3};
  OwnedPass pass;
  pass.new_jobs = {{kJob, "late", {}, 0}};
  ASSERT_TRUE(store_.Commit(pass.View()).ok());
  OwnedPass past;
  past.pasts = {
      {kJob, PastState::kRead, {PastDay(kJob, kFirstPastWindow.index, kFirstPastWindow.index + 5, 1)}}};
  ASSERT_TRUE(store_.Commit(past.View()).ok());
  const std::string once = Text(history_.JobDays(kJob, WindowId{0}, WindowId{INT32_MAX}));
  past.pasts[0].days = {PastDay(kJob, kFirstPastWindow.index + 2, kFirstPastWindow.index + 7, 30)};
  ASSERT_TRUE(store_.Commit(past.View()).ok());
  const auto twice = history_.JobDays(kJob, WindowId{0}, WindowId{INT32_MAX});
  ASSERT_EQ(twice->size(), 1U);
  EXPECT_EQ(twice->at(0).windows.size(), 7U);
  EXPECT_EQ(Text(WindowsOf(twice->at(0), kFirstPastWindow, WindowId{kFirstPastWindow.index + 5})), once)
      << "its first windows are as they were";
}

TEST_P(PastDaysTest, ThePastOfAJobIsForgottenWithItsDaysAndItsMarkWithTheJob) {
  constexpr JobId kJob{3};
  subject_ = Make(GetParam(), {.history_days = 2, .decision_days = 4, .windows_to_believe = 0});
  OwnedPass pass;
  pass.new_jobs = {{kJob, "late", {}, 0}};
  ASSERT_TRUE(subject_->store().Commit(pass.View()).ok());
  OwnedPass past;
  for (int32_t day = -3; day < 0; ++day) {
    if (past.pasts.empty()) past.pasts = {{kJob, PastState::kRead, {}}};
    const int32_t first = (kFirstPastWindow.day() + day) * kWindowsPerDay;
    past.pasts[0].days.push_back(PastDay(kJob, first, first + 10, 1));
  }
  ASSERT_TRUE(subject_->store().Commit(past.View()).ok());
  MaintainAll(subject_->store(), kFirstPastWindow);
  const auto days = subject_->history().JobDays(kJob, WindowId{0}, WindowId{INT32_MAX});
  ASSERT_EQ(days->size(), 2U);
  EXPECT_EQ(days->at(0).day, kFirstPastWindow.day() - 2);
  // A job that was forgotten and returned is not requested again.
  PassRecord gone;
  gone.forgotten_jobs = {&kJob, 1};
  gone.forgotten_s = kFirstPastWindow.start_s();
  ASSERT_TRUE(subject_->store().Commit(gone).ok());
  PassRecord back;
  back.returned_jobs = pass.new_jobs;
  ASSERT_TRUE(subject_->store().Commit(back).ok());
  subject_->Reopen();
  EXPECT_EQ(PastsText(subject_->store()), "3 read\n");
  EXPECT_THAT(RestoreText(subject_->store()), HasSubstr("3 late 0\n"));
  ASSERT_TRUE(subject_->store().Commit(gone).ok());
  MaintainAll(subject_->store(), WindowId{kFirstPastWindow.index + 10 * kWindowsPerDay});
  EXPECT_EQ(PastsText(subject_->store()), "");
}

}  // namespace
}  // namespace taut::server
