// Tests the store's file: one writer, files of other programs and newer versions, damage, full disks, and readers
// beside the writer.
#include "server/store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "common/histogram/checkpoint.h"
#include "common/testing/test_scale.h"
#include "server/store/records.h"
#include "server/store/schema.h"
#include "server/store/small_files.h"
#include "server/store/sqlite.h"
#include "server/store/store_fixture.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr WindowId kFirstWindow{20'000 * kWindowsPerDay + 200};

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteStoreTest() {
    options_.path = dir_.File("store.db");
    options_.regroup_after_hours = 0;
  }
  void Open() {
    store_.reset();
    auto opened = SqliteStore::Open(options_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }
  absl::Status OpenStatus() { return SqliteStore::Open(options_).status(); }
  // Commits `windows` windows of `jobs` jobs, over midnight.
  void Fill(uint32_t jobs, int32_t windows) {
    PassMaker maker(1, jobs, next_);
    for (; windows > 0; --windows) {
      const OwnedPass pass = [&] {
        OwnedPass made;
        made.window = maker.Window();
        return made;
      }();
      ASSERT_TRUE(store_->Commit(pass.View()).ok());
    }
    next_ = {maker.next_window()};
  }
  void MaintainAll() {
    for (int i = 0; i < 1000; ++i) {
      const auto more = store_->Maintain({next_.index - 1});
      ASSERT_TRUE(more.ok()) << more.status();
      if (!*more) return;
    }
  }
  // Closes the store and changes its file.
  void Edit(const std::string& sql) {
    store_.reset();
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE(db.ok()) << db.status();
    const absl::Status edited = (*db)->Execute(sql.c_str());
    ASSERT_TRUE(edited.ok()) << edited;
  }

  TempDir dir_;
  SqliteStore::Options options_;
  std::unique_ptr<SqliteStore> store_;
  WindowId next_ = kFirstWindow;
};

TEST_F(SqliteStoreTest, OneWriterAtATime) {
  Open();
  const absl::Status second = OpenStatus();
  EXPECT_TRUE(absl::IsFailedPrecondition(second));
  EXPECT_THAT(second.ToString(), HasSubstr(StrCat("process ", getpid(), " writes")));
  store_.reset();
  Open();
}

TEST_F(SqliteStoreTest, ALinkToTheFileIsNoOtherStore) {
  Open();
  const std::string real = options_.path;
  for (const char* name : {"symbolic.db", "hard.db"}) {
    options_.path = dir_.File(name);
    if (std::string_view(name).starts_with("sym")) {
      std::filesystem::create_symlink(real, options_.path);
    } else {
      store_.reset();
      std::filesystem::create_hard_link(real, options_.path);
      SqliteStore::Options of_real = options_;
      of_real.path = real;
      auto first = SqliteStore::Open(of_real);
      ASSERT_TRUE(first.ok()) << first.status();
      store_ = *std::move(first);
    }
    EXPECT_TRUE(absl::IsFailedPrecondition(OpenStatus())) << name;
  }
}

TEST_F(SqliteStoreTest, OtherPeoplesFilesAreLeftAlone) {
  Edit("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
  EXPECT_TRUE(absl::IsInvalidArgument(OpenStatus()));
  std::ofstream(dir_.File("text")) << "this is no database, but it is longer than a header of one is, too";
  options_.path = dir_.File("text");
  const absl::Status text = OpenStatus();
  EXPECT_TRUE(absl::IsDataLoss(text)) << text;
  EXPECT_THAT(text.ToString(), HasSubstr("move the file"));
}

TEST_F(SqliteStoreTest, NewerFilesAreRefusedAndOlderOnesMigrated) {
  const char* const steps[] = {"CREATE TABLE a(x INTEGER)", "INSERT INTO a VALUES(1)",
                               "UPDATE a SET x = x + 1; CREATE TABLE b(y)"};
  const auto migrate = [&](size_t count) {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    return db.ok() ? Migrate(**db, std::span(steps, count)) : db.status();
  };
  const auto number = [&](const char* sql) {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    return *(*db)->Number(sql);
  };
  ASSERT_TRUE(migrate(1).ok());
  ASSERT_TRUE(migrate(3).ok());
  ASSERT_TRUE(migrate(3).ok());
  EXPECT_EQ(number("SELECT x FROM a"), 2);
  EXPECT_EQ(number("PRAGMA user_version"), 3);
  const absl::Status newer = migrate(2);
  EXPECT_TRUE(absl::IsFailedPrecondition(newer));
  EXPECT_THAT(newer.ToString(), HasSubstr("newer version"));
  // A migration step that fails changes nothing.
  const char* const broken[] = {steps[0], steps[1], steps[2], "CREATE TABLE c(z); CREATE TABLE a(x)"};
  auto db = Database::Open(options_.path, Database::Access::kReadWrite);
  EXPECT_FALSE(Migrate(**db, broken).ok());
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema WHERE name = 'c'"), 0);
  EXPECT_EQ(number("PRAGMA user_version"), 3);
}

// The file of each older version has a job and, in `ends`, the last numbers.
TEST_F(SqliteStoreTest, AFileOfEachOlderVersionIsOpened) {
  for (size_t version = 0; version < kStoreVersion; ++version) {
    options_.path = dir_.File(StrCat("version", version));
    if (version > 0) {
      auto db = Database::Open(options_.path, Database::Access::kReadWrite);
      ASSERT_TRUE(Migrate(**db, StoreMigrations().first(version)).ok());
      const JobRecord job{JobId{7}, "shop/web", {}, 12};
      const std::string labels = EncodeLabels(job.labels);
      Statement insert(db->get(),
                       "INSERT INTO jobs(id, first_seen_s, name, labels, sum) VALUES(?1, ?2, ?3, ?4, ?5)");
      ASSERT_TRUE(insert.Run(job.id.value, job.first_seen_s, job.name, Blob{labels}, SumOf(job)).ok());
      Statement ends(db->get(), "INSERT INTO ends VALUES(1, NULL, 7, 0, 0, ?1)");
      const int64_t sum =
          RowSum::Of(std::optional<int64_t>(), std::optional<int64_t>(7), uint64_t{0}, uint64_t{0});
      ASSERT_TRUE(ends.Run(sum).ok());
    }
    {
      auto store = SqliteStore::Open(options_);
      ASSERT_TRUE(store.ok()) << version << ": " << store.status();
      EXPECT_THAT((*store)->damage(), IsEmpty()) << version;
      if (version > 0) {
        EXPECT_THAT(RestoreText(**store), HasSubstr("7 shop/web 12\n")) << version;
      }
    }
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    EXPECT_EQ(*(*db)->Number("PRAGMA user_version"), static_cast<int64_t>(kStoreVersion)) << version;
  }
}

// A file without the column `past`: its jobs are read, and count as jobs whose history was not requested.
TEST_F(SqliteStoreTest, AFileWithoutPastsIsMigrated) {
  {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE(Migrate(**db, StoreMigrations().first(3)).ok());
    const JobRecord job{JobId{7}, "shop/web", {}, 12};
    const std::string labels = EncodeLabels(job.labels);
    Statement insert(db->get(), "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4, ?5, NULL)");
    ASSERT_TRUE(insert.Run(job.id.value, job.first_seen_s, job.name, Blob{labels}, SumOf(job)).ok());
    Statement ends(db->get(), "INSERT INTO ends VALUES(1, NULL, 7, 0, 0, ?1)");
    ASSERT_TRUE(
        ends.Run(RowSum::Of(std::optional<int64_t>(), std::optional<int64_t>(7), uint64_t{0}, uint64_t{0}))
            .ok());
  }
  auto store = SqliteStore::Open(options_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(RestoreText(**store), HasSubstr("7 shop/web 12\n"));
  size_t asked = 0;
  ASSERT_TRUE((*store)->ReadPasts([&](JobId, PastState) { ++asked; }).ok());
  EXPECT_EQ(asked, 0U);
  const JobPast past{JobId{7}, PastState::kNothing, {}};
  PassRecord pass;
  pass.pasts = {&past, 1};
  ASSERT_TRUE((*store)->Commit(pass).ok());
  ASSERT_TRUE((*store)->ReadPasts([&](JobId id, PastState) { asked += id.value; }).ok());
  EXPECT_EQ(asked, 7U);
}

// A file without workloads: its jobs are read, their checksums match, and a later record adds their workload.
TEST_F(SqliteStoreTest, AFileWithoutWorkloadsIsMigrated) {
  JobRecord job{JobId{7}, "shop/deployment/web", {{"namespace", "shop"}}, 12};
  {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE(Migrate(**db, StoreMigrations().first(9)).ok());
    const std::string labels = EncodeLabels(job.labels);
    Statement insert(db->get(), "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4, ?5, NULL, NULL)");
    ASSERT_TRUE(insert.Run(job.id.value, job.first_seen_s, job.name, Blob{labels}, SumOf(job)).ok());
    Statement ends(db->get(), "INSERT INTO ends VALUES(1, NULL, 7, 0, 0, ?1)");
    ASSERT_TRUE(
        ends.Run(RowSum::Of(std::optional<int64_t>(), std::optional<int64_t>(7), uint64_t{0}, uint64_t{0}))
            .ok());
  }
  auto store = SqliteStore::Open(options_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_FALSE((*store)->Job(job.id)->workload().known());
  job.parts = WorkloadParts::Of(*WorkloadOfStoredName(job.name, ""));
  PassRecord pass;
  pass.relabelled_jobs = {&job, 1};
  ASSERT_TRUE((*store)->Commit(pass).ok());
  EXPECT_EQ((*store)->Job(job.id)->workload().kind, "deployment");
}

// A file of version 11 stores no groups: the group is the end of the workload's name.
TEST_F(SqliteStoreTest, AFileWithoutGroupsIsMigrated) {
  const Workload split{.source = Source::kKubernetes,
                       .namespace_name = "logging",
                       .kind = "daemonset",
                       .name = "fluentd",
                       .group = "large",
                       .container = "app"};
  Workload old = split;
  old.name = split.NameWithGroup();
  old.group = "";
  const JobRecord job{JobId{7}, split.JobName(), {}, 12, WorkloadParts::Of(old)};
  {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE(Migrate(**db, StoreMigrations().first(11)).ok());
    const std::string labels = EncodeLabels(job.labels), parts = EncodeParts(job.parts);
    EXPECT_EQ(parts, std::string("\x0akubernetes\x00\x07\x09\x03", 15)) << "the form of version 11";
    Statement insert(db->get(), "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4, ?5, NULL, NULL, ?6)");
    ASSERT_TRUE(
        insert.Run(job.id.value, job.first_seen_s, job.name, Blob{labels}, SumOf(job), Blob{parts}).ok());
    Statement ends(db->get(), "INSERT INTO ends VALUES(1, NULL, 7, 0, 0, ?1)");
    ASSERT_TRUE(
        ends.Run(RowSum::Of(std::optional<int64_t>(), std::optional<int64_t>(7), uint64_t{0}, uint64_t{0}))
            .ok());
  }
  auto store = SqliteStore::Open(options_);
  ASSERT_TRUE(store.ok()) << store.status();
  absl::StatusOr<JobRecord> read = (*store)->Job(job.id);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->workload(), split);
  PassRecord pass;
  pass.relabelled_jobs = {&*read, 1};
  ASSERT_TRUE((*store)->Commit(pass).ok());
  EXPECT_EQ((*store)->Job(job.id)->workload(), split);
  EXPECT_THAT((*store)->damage(), IsEmpty());
}

// A file whose kills lack the source's time (shown_s): the kills are read and numbered in the order of storing.
TEST_F(SqliteStoreTest, AFileWhoseKillsHaveOneDateIsMigrated) {
  const OomRecord old{JobId{7}, 2, 500, 3, 1e9};
  {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE(Migrate(**db, StoreMigrations().first(8)).ok());
    Statement insert(db->get(), "INSERT INTO ooms VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6)");
    const int64_t sum = RowSum::Of(old.job.value, old.task, old.time_s, old.kills, old.limit);
    ASSERT_TRUE(insert.Run(old.time_s, old.job.value, old.task, old.kills, old.limit, sum).ok());
    Statement ends(db->get(), "INSERT INTO ends VALUES(1, NULL, 7, 0, 0, ?1)");
    ASSERT_TRUE(
        ends.Run(RowSum::Of(std::optional<int64_t>(), std::optional<int64_t>(7), uint64_t{0}, uint64_t{0}))
            .ok());
  }
  auto store = SqliteStore::Open(options_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(RestoreText(**store), HasSubstr("kill 1\n"));
  PassRecord pass;
  const OomRecord kills[] = {{JobId{7}, 0, 600, 1, 1e9, 4200, {}, 2}, {JobId{7}, 0, 601, 1, 1e9, {}, 580, 3}};
  pass.ooms = kills;
  ASSERT_TRUE((*store)->Commit(pass).ok());
  const auto read = (*store)->Ooms(JobId{7}, 0, 9);
  EXPECT_EQ(Text(read), Text(kills[1]) + Text(kills[0]) + Text(old));
  for (size_t i = 0; i < read->size(); ++i) EXPECT_EQ(read->at(i).id, 3 - i);
  EXPECT_THAT((*store)->damage(), IsEmpty());
  EXPECT_THAT(RestoreText(**store), HasSubstr("kill 3\n"));
}

// The lock file beside the store remains after the store is closed or deleted.
TEST_F(SqliteStoreTest, ANewStoreWhereOneWasLostIsSaidOnce) {
  const auto damage = [this] { return SqliteStore::Open(options_).value()->damage(); };
  EXPECT_THAT(damage(), IsEmpty()) << "the first start";
  EXPECT_THAT(damage(), IsEmpty());
  std::filesystem::remove(options_.path);
  EXPECT_THAT(damage(), testing::ElementsAre(HasSubstr("restore a backup with `taut restore`")));
  EXPECT_THAT(damage(), IsEmpty()) << "it is said once";
}

TEST_F(SqliteStoreTest, ADamagedBlockCostsOnlyItself) {
  Open();
  Fill(100, 120);  // chunks 0..3; the first day has 88 windows
  MaintainAll();
  const JobId hit{3}, other{8};
  const auto days = [&](JobId job) { return store_->JobDays(job, kFirstWindow, next_); };
  const std::string other_before = Text(days(other));
  const size_t first_day = days(hit)->at(0).windows.size(), second_day = days(hit)->at(1).windows.size();
  ASSERT_GT(first_day, 60U);
  ASSERT_THAT(store_->damage(), IsEmpty());
  // Damages one job's day, and one window of the second day (job 3's chunk).
  Edit(StrCat("UPDATE day_blocks SET block = zeroblob(length(block)) WHERE key = ", DayKey(20'000, 3)));
  const WindowId window{20'001 * kWindowsPerDay + 5};
  Edit(StrCat("UPDATE window_blocks SET block = substr(block, 1, length(block) - 1) WHERE key = ",
              WindowKey(window.index, ChunkOf(hit))));
  Open();
  const auto read = days(hit);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 1U);
  EXPECT_LE(read->at(0).windows.size(), second_day);
  for (const JobWindow& w : read->at(0).windows) EXPECT_NE(w.window, window);
  EXPECT_THAT(store_->damage(), SizeIs(2));
  // The other job's window in the damaged block is also lost, but the other job's day is intact.
  const auto others = days(other);
  ASSERT_EQ(others->size(), 2U);
  EXPECT_EQ(Text(others->at(0)), other_before.substr(0, Text(others->at(0)).size()));
  // All windows are still read, and the damage is reported once.
  int windows = 0;
  ASSERT_TRUE(store_
                  ->ReadWindows({kFirstWindow.index - 1},
                                [&windows](const ClosedWindow& w) {
                                  ++windows;
                                  EXPECT_GT(w.jobs.size(), 30U);
                                  return absl::OkStatus();
                                })
                  .ok());
  EXPECT_EQ(windows, 120);
  EXPECT_THAT(store_->damage(), SizeIs(2));
}

TEST_F(SqliteStoreTest, ACheckpointUnderTheKeyOfAnotherIsPassedOver) {
  Open();
  OwnedPass pass;
  pass.checkpoints = {{0, kFirstWindow, "zero"}, {1, kFirstWindow, "one"}};
  ASSERT_TRUE(store_->Commit(pass.View()).ok());
  Edit("UPDATE checkpoints SET chunk = 2 WHERE chunk = 1");
  Open();
  const std::string restored = RestoreText(*store_);
  EXPECT_THAT(restored, testing::HasSubstr(Text(pass.checkpoints[0])));
  EXPECT_THAT(restored, testing::Not(testing::HasSubstr(Text(pass.checkpoints[1]))));
  EXPECT_THAT(store_->damage(), SizeIs(1));
}

TEST_F(SqliteStoreTest, DamagedRowsArePassedOver) {
  Open();
  OwnedPass pass;
  pass.new_jobs = {{JobId{1}, "one", {{"k", "v"}}, 5}, {JobId{2}, "two", {}, 6}};
  pass.decisions.resize(2);
  pass.decisions[0].id = 1;
  pass.decisions[1].id = 2;
  pass.ooms = {{JobId{1}, 0, 5, 1, -0.0}, {JobId{1}, 1, 6, 1, 1.0}};
  pass.tier_acts.resize(2);
  pass.tier_acts[0].time_s = 5;
  pass.tier_acts[1].time_s = 6;
  pass.settings = {{1, 5, "ann", "one", "mode", "auto", ""}, {2, 6, "ann", "two", "mode", "auto", ""}};
  pass.checkpoints = {{0, kFirstWindow, "zero"}, {1, kFirstWindow, "one"}, {kFleetChunk, kFirstWindow, ""}};
  ASSERT_TRUE(store_->Commit(pass.View()).ok());
  Edit(
      "UPDATE jobs SET name = 'onf' WHERE id = 1; UPDATE decisions SET after = 1e9 WHERE id = 2;"
      "UPDATE ooms SET task = 9 WHERE time_s = 6; UPDATE settings SET value = 'off' WHERE id = 1;"
      "UPDATE checkpoints SET block = x'00' WHERE chunk = 0;"
      "UPDATE tier_acts SET tier = 200 WHERE time_s = 6");
  Open();
  EXPECT_EQ(RestoreText(*store_),
            StrCat(Text(pass.new_jobs[1]), Text(pass.settings[1]), Text(pass.checkpoints[1]),
                   Text(pass.checkpoints[2]), "none to none, decision 2, setting 2, kill 2\n"));
  EXPECT_THAT(store_->damage(), SizeIs(3));
  EXPECT_EQ(Text(store_->Decisions({}, History::Reasons::kLeaveOut)), Text(pass.decisions[0]));
  EXPECT_THAT(*store_->Ooms(std::nullopt, 0, 9), SizeIs(1));
  EXPECT_THAT(*store_->Settings(std::nullopt, 9), SizeIs(1));
  EXPECT_THAT(*store_->TierActs({}), SizeIs(1));
  EXPECT_THAT(store_->damage(), SizeIs(6));
  // Without the last numbers, the store might accept a pass twice.
  Edit("UPDATE ends SET decision = 1");
  EXPECT_TRUE(absl::IsDataLoss(OpenStatus()));
  Edit("DELETE FROM ends");
  EXPECT_TRUE(absl::IsDataLoss(OpenStatus()));
}

TEST_F(SqliteStoreTest, ATruncatedFileIsFoundAtOnce) {
  Open();
  Fill(100, 20);
  store_.reset();
  std::filesystem::resize_file(options_.path, std::filesystem::file_size(options_.path) / 2);
  const absl::Status status = OpenStatus();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr(".clone"));
}

// Any byte of the file may be wrong: the store returns no wrong result and does not crash.
TEST_F(SqliteStoreTest, WrongBytesAnywhere) {
  Open();
  PassMaker maker(5, 30, kFirstWindow);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store_->Commit(maker.Pass().View()).ok());
  next_ = {maker.next_window()};
  MaintainAll();
  const std::string windows = WindowsText(*store_, {0});
  store_.reset();
  const std::string good = dir_.File("good.db");
  std::filesystem::copy_file(options_.path, good);
  const auto size = std::filesystem::file_size(good);
  std::mt19937 random(7);
  int read_whole = 0;
  const int times = Scaled(60);
  for (int i = 0; i < times; ++i) {
    std::filesystem::copy_file(good, options_.path, std::filesystem::copy_options::overwrite_existing);
    {
      std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(random() % size));
      for (int n = 0; n < 16; ++n) file.put(static_cast<char>(random()));
    }
    const auto opened = SqliteStore::Open(options_);
    if (!opened.ok()) {
      EXPECT_TRUE(absl::IsDataLoss(opened.status()) || absl::IsFailedPrecondition(opened.status()) ||
                  absl::IsInvalidArgument(opened.status()))
          << opened.status();
      continue;
    }
    const std::string read = WindowsText(**opened, {0});
    // Every damage is reported as an error or in damage(), or is in bytes that are not read (free pages,
    // other tables).
    if (read == windows) ++read_whole;
    if (read != windows && (*opened)->damage().empty()) {
      EXPECT_THAT(read, HasSubstr("error: "));
    }
    (void)RestoreText(**opened);
    (void)(*opened)->JobDays(JobId{3}, kFirstWindow, next_);
    (void)(*opened)->Maintain(next_);
  }
  EXPECT_LT(read_whole, times);
}

TEST_F(SqliteStoreTest, AFullDiskIsTriedAgain) {
  Open();
  Fill(10, 5);
  const std::string before = RestoreText(*store_) + WindowsText(*store_, {0});
  PassMaker maker(9, 3000, next_);
  OwnedPass pass;
  pass.window = maker.Window();
  pass.checkpoints = {{0, next_, std::string(1 << 20, 'c')}};
  {
    const SmallFiles full(300 << 10);
    for (int i = 0; i < 3; ++i) {
      const absl::Status status = store_->Commit(pass.View());
      EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    }
    EXPECT_EQ(RestoreText(*store_) + WindowsText(*store_, {0}), before);
    EXPECT_THAT(*store_->JobDays(JobId{3}, kFirstWindow, next_), SizeIs(1));
  }
  const absl::Status again = store_->Commit(pass.View());
  ASSERT_TRUE(again.ok()) << again;
  EXPECT_EQ(WindowsText(*store_, {next_.index - 1}), Text(*pass.window));
  Open();
  EXPECT_EQ(WindowsText(*store_, {next_.index - 1}), Text(*pass.window));
}

TEST_F(SqliteStoreTest, ADirectoryThatMayNotBeWritten) {
  options_.path = dir_.File("none/store.db");
  EXPECT_TRUE(absl::IsNotFound(OpenStatus())) << OpenStatus();
  options_.path = dir_.File("store.db");
  ASSERT_EQ(chmod(dir_.path().c_str(), 0555), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The user root may write everywhere, so the test does not apply.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    _exit(absl::IsPermissionDenied(OpenStatus()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(chmod(dir_.path().c_str(), 0755), 0);
}

// Readers see complete passes and complete days, even while the writer writes.
TEST_F(SqliteStoreTest, ReadersBesideTheWriter) {
  Open();
  std::atomic<int32_t> committed{kFirstWindow.index - 1};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const int32_t least = committed;
        const auto days = store_->JobDays(JobId{0}, kFirstWindow, {INT32_MAX});
        DecisionQuery newest;
        newest.limit = 1;
        const auto decisions = store_->Decisions(newest, History::Reasons::kLeaveOut);
        if (!days.ok() || !decisions.ok()) {
          ++wrong;
          continue;
        }
        int32_t next = kFirstWindow.index;
        for (const JobDay& day : *days) {
          for (const JobWindow& w : day.windows) wrong += w.window.index == next++ ? 0 : 1;
        }
        if (next <= least) ++wrong;
        if (least >= kFirstWindow.index &&
            static_cast<int32_t>(decisions->at(0).id) <= least - kFirstWindow.index)
          ++wrong;
        ++reads;
      }
    });
  }
  for (int32_t i = 0; i < 400 || reads < 30; ++i) {
    ClosedWindow w;
    w.window = {kFirstWindow.index + i};
    w.tasks.resize(1);
    w.jobs.push_back({JobId{0}, {}});
    w.jobs[0].window.window = w.window;
    w.jobs[0].window.num_tasks = 1;
    OwnedPass pass;
    pass.window = w;
    pass.decisions.resize(1);
    pass.decisions[0].id = static_cast<uint64_t>(i + 1);
    pass.decisions[0].time_s = w.window.start_s();
    ASSERT_TRUE(store_->Commit(pass.View()).ok());
    committed = w.window.index;
    if (i % 10 == 0) {
      ASSERT_TRUE(store_->Maintain(w.window).ok());
    }
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(store_->damage(), IsEmpty());
}

TEST_F(SqliteStoreTest, OddTextsComeBack) {
  Open();
  OwnedPass pass;
  const std::string odd("a\0b\xff\xc3'\"\n", 8);
  pass.new_jobs = {{JobId{0}, odd, {{odd, ""}, {"x", odd}}, -5}};
  pass.settings = {{1, -1, odd, odd, odd, odd, ""}};
  pass.ooms = {{JobId{UINT32_MAX}, UINT32_MAX, INT64_MAX, UINT64_MAX, -0.0}};
  ASSERT_TRUE(store_->Commit(pass.View()).ok());
  EXPECT_THAT(RestoreText(*store_), HasSubstr(Text(pass.new_jobs[0]) + Text(pass.settings[0])));
  EXPECT_THAT(*store_->Settings(odd, 9), SizeIs(1));
  EXPECT_THAT(*store_->Ooms(JobId{UINT32_MAX}, 0, 9), SizeIs(1));
  EXPECT_THAT(store_->damage(), IsEmpty());
}

// The file contains names, usage and settings: only its owner can read it, even if an older version made it
// readable.
TEST(SqliteStore, ItsFilesAreForTheirOwnerAlone) {
  const TempDir dir;
  SqliteStore::Options options;
  options.path = dir.File("store.db");
  const auto mode = [&](const char* suffix) {
    struct stat info {};
    return stat((options.path + suffix).c_str(), &info) == 0 ? info.st_mode & 0777 : 0U;
  };
  { ASSERT_TRUE(SqliteStore::Open(options).ok()); }
  EXPECT_EQ(mode(""), 0600U);
  ASSERT_EQ(chmod(options.path.c_str(), 0644), 0);
  const auto store = SqliteStore::Open(options);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(mode(""), 0600U);
  ASSERT_TRUE((*store)->Commit(PassMaker(1, 3, {5'760'000}).Pass(0).View()).ok());
  EXPECT_EQ(mode("-wal"), 0600U);
  EXPECT_EQ(mode("-shm"), 0600U);
}

TEST(SqliteStore, NoticesThatItsFileIsGone) {
  const TempDir dir;
  SqliteStore::Options options;
  options.path = dir.File("store.db");
  auto opened = SqliteStore::Open(options);
  ASSERT_TRUE(opened.ok());
  SqliteStore& store = **opened;
  PassMaker maker(1, 3, {5'760'000});
  ASSERT_TRUE(store.Commit(maker.Pass(0).View()).ok());
  EXPECT_TRUE(store.Check().ok());
  const std::string aside = dir.File("aside.db");
  std::filesystem::rename(options.path, aside);
  EXPECT_EQ(store.Check().code(), absl::StatusCode::kUnavailable);
  const OwnedPass next = maker.Pass(0);
  EXPECT_EQ(store.Commit(next.View()).code(), absl::StatusCode::kUnavailable);
  { std::ofstream(options.path) << "another"; }
  EXPECT_THAT(std::string(store.Check().message()), testing::HasSubstr("replaced"));
  std::filesystem::rename(aside, options.path);
  EXPECT_TRUE(store.Check().ok());
  EXPECT_TRUE(store.Commit(next.View()).ok()) << "it goes on when the file is back";
}

TEST(StoreRecords, FleetFiguresOfOlderVersionsCountTheJobsMeasured) {
  FleetPoint point;
  point.jobs = 5;
  point.amounts[0] = {.usage = 2, .owner_limit = 8, .jobs = 4, .jobs_limited = 3};
  const absl::StatusOr<FleetPoint> same = DecodeFleetPoint(EncodeFleetPoint(point));
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->amounts[0].jobs, 4U);
  EXPECT_EQ(same->amounts[0].jobs_limited, 3U);
  EXPECT_EQ(same->amounts[1].jobs, 0U);

  // The payload of an older version ends before the counts, which take four bytes here.
  std::string payload = *OpenCheckpoint(EncodeFleetPoint(point));
  payload.resize(payload.size() - 4);
  const absl::StatusOr<FleetPoint> older =
      DecodeFleetPoint(SealCheckpoint(payload, CheckpointCompression::kNever));
  ASSERT_TRUE(older.ok()) << older.status();
  EXPECT_EQ(older->amounts[0].jobs, 5U);
  EXPECT_EQ(older->amounts[0].jobs_limited, 5U);
  EXPECT_EQ(older->amounts[1].jobs, 5U);
  EXPECT_EQ(older->amounts[1].jobs_limited, 0U);
}

}  // namespace
}  // namespace taut::server
