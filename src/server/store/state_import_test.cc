// Tests the import of the files that table versions before 11 had beside the store. Wherever a kill occurs, either
// all files become rows exactly once, or no file does.
#include "server/store/state_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "common/testing/temp_dir.h"
#include "common/testing/test_scale.h"
#include "server/store/records.h"
#include "server/store/schema.h"
#include "server/store/sqlite_store.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

// Writes the log in the format of its version 1.
constexpr const char* kOldLog =
    "PRAGMA application_id = 1413567828; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;"
    "CREATE TABLE entries(id INTEGER PRIMARY KEY AUTOINCREMENT, request INTEGER NOT NULL, time_s INTEGER NOT "
    "NULL,"
    "  who TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;"
    "CREATE INDEX entries_by_request ON entries(request)";

void WriteOldLog(const std::string& path, const std::vector<std::string>& texts) {
  auto db = Database::Open(path, Database::Access::kReadWrite);
  ASSERT_TRUE(db.ok() && (*db)->Execute(kOldLog).ok());
  Statement add(db->get(),
                "INSERT INTO entries(request, time_s, who, text, sum) VALUES(?1, ?2, 'ann', ?3, ?4)");
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto number = static_cast<int64_t>(i + 1);
    ASSERT_TRUE(
        add.Run(number, number, texts[i], RowSum::Of(number, number, std::string("ann"), texts[i])).ok());
  }
  std::ofstream(path + ".made") << "";
}

std::vector<std::string> TextsOf(RequestLog& log, std::vector<std::string>& damage) {
  std::vector<std::string> texts;
  EXPECT_TRUE(log.Read([&](const RequestLogEntry& e) { texts.push_back(e.text); },
                       [&](const std::string& d) { damage.push_back(d); })
                  .ok());
  return texts;
}

class StateImportTest : public ::testing::Test {
 protected:
  StateImportTest() { options_.path = dir_.File("tautd.db"); }

  void WriteOldStore() {
    const auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE(Migrate(**db, StoreMigrations().first(10)).ok());
    std::ofstream(options_.path + ".machines") << "machines of before";
    std::ofstream(options_.path + ".prices") << "prices of before";
    WriteOldLog(options_.path + ".requests", {"one", "two"});
    WriteOldLog(options_.path + ".budgets", {"a grant"});
  }
  void ExpectAllOnce(SqliteStore& store) {
    EXPECT_THAT(*store.states().Get("machines"), Optional(std::string("machines of before")));
    EXPECT_THAT(*store.states().Get("prices"), Optional(std::string("prices of before")));
    EXPECT_EQ(*store.states().Get("capacity"), std::nullopt);
    std::vector<std::string> damage;
    EXPECT_THAT(TextsOf(store.states().requests(), damage), ElementsAre("one", "two"));
    EXPECT_THAT(TextsOf(store.states().budgets(), damage), ElementsAre("a grant"));
    EXPECT_THAT(damage, IsEmpty());
    for (const char* file : {".machines", ".prices", ".requests", ".budgets"}) {
      EXPECT_FALSE(std::filesystem::exists(options_.path + file)) << file;
      EXPECT_TRUE(std::filesystem::exists(StrCat(options_.path, file, ".imported"))) << file;
    }
    EXPECT_FALSE(std::filesystem::exists(options_.path + ".budgets.made"));
  }
  std::unique_ptr<SqliteStore> Open() {
    auto store = SqliteStore::Open(options_);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  TempDir dir_;
  SqliteStore::Options options_;
};

TEST_F(StateImportTest, FilesBesideAnOlderStoreBecomeRowsOnce) {
  WriteOldStore();
  ExpectAllOnce(*Open());
  // A file that is created later with the name of an imported file does not belong to the store.
  std::ofstream(options_.path + ".capacity") << "another's";
  std::ofstream(options_.path + ".machines") << "another's";
  auto store = Open();
  EXPECT_THAT(*store->states().Get("machines"), Optional(std::string("machines of before")));
  EXPECT_EQ(*store->states().Get("capacity"), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(options_.path + ".capacity"));
}

TEST_F(StateImportTest, AKillBeforeTheFilesAreRenamedDoublesNothing) {
  WriteOldStore();
  { auto store = Open(); }
  for (const char* file : {".machines", ".requests"})
    std::filesystem::rename(StrCat(options_.path, file, ".imported"), options_.path + file);
  {
    const auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    const int64_t sum = RowSum::Of(std::string("files_beside"), std::string("taken"));
    Statement put(db->get(), "INSERT OR REPLACE INTO states VALUES('files_beside', ?1, ?2)");
    ASSERT_TRUE(put.Run(Blob{"taken"}, sum).ok());
  }
  ExpectAllOnce(*Open());
}

TEST_F(StateImportTest, AKillAtAnyTimeLosesAndDoublesNothing) {
  std::mt19937 random(7);
  for (int i = 0; i < Scaled(20); ++i) {
    options_.path = dir_.File(StrCat("tautd", i, ".db"));
    WriteOldStore();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = SqliteStore::Open(options_);
      _exit(store.ok() ? 0 : 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    ExpectAllOnce(*Open());
    if (HasFailure()) return;
  }
}

TEST_F(StateImportTest, DamageOfALogGoesWithIt) {
  WriteOldStore();
  {
    const auto log = Database::Open(options_.path + ".requests", Database::Access::kReadWrite);
    ASSERT_TRUE((*log)->Execute("UPDATE entries SET text = 'another' WHERE id = 1").ok());
  }
  auto store = Open();
  std::vector<std::string> damage;
  EXPECT_THAT(TextsOf(store->states().requests(), damage), ElementsAre("two"));
  EXPECT_THAT(damage, ElementsAre(HasSubstr("row 1 of its table request_log")));
}

TEST_F(StateImportTest, ALogThatWasDeletedOrIsAnothersStopsTheStart) {
  WriteOldStore();
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(StrCat(options_.path, ".budgets", suffix));
  EXPECT_THAT(std::string(SqliteStore::Open(options_).status().message()),
              HasSubstr("tautd.db.budgets had entries and was deleted"));
  std::filesystem::remove(options_.path + ".budgets.made");
  std::filesystem::remove(options_.path + ".budgets");
  {
    auto other = Database::Open(options_.path + ".budgets", Database::Access::kReadWrite);
    ASSERT_TRUE((*other)->Execute("CREATE TABLE mine(a)").ok());
  }
  EXPECT_THAT(std::string(SqliteStore::Open(options_).status().message()), HasSubstr("another program"));
  EXPECT_TRUE(std::filesystem::exists(options_.path + ".machines")) << "nothing was taken";
  std::filesystem::remove(options_.path + ".budgets");
  std::vector<std::string> damage;
  EXPECT_THAT(TextsOf(Open()->states().requests(), damage), ElementsAre("one", "two"))
      << "as the message says";
}

}  // namespace
}  // namespace taut::server
