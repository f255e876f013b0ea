#include "server/store/store_backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temp_dir.h"
#include "server/store/private_file.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;

absl::Status CommitWindow(int32_t index, SqliteStore& store) {
  OwnedPass pass;
  pass.window = ClosedWindow();
  pass.window->window = {index};
  pass.fleet = FleetPoint();
  pass.fleet->window = {index};
  return store.Commit(pass.View());
}

SqliteStore::Options At(const std::string& path) {
  SqliteStore::Options options;
  options.path = path;
  return options;
}

std::optional<WindowId> LastWindow(SqliteStore& store) {
  const auto nothing = [](const auto&) { return absl::OkStatus(); };
  const auto ends = store.Restore({nothing, nothing, nothing});
  return ends.ok() ? ends->last_window : std::nullopt;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(StoreBackup, IsOfOneMomentWhileTheStoreIsWritten) {
  const TempDir dir;
  const std::string path = dir.File("tautd.db"), folder = dir.File("backup");
  auto store = SqliteStore::Open(At(path));
  ASSERT_TRUE(store.ok()) << store.status();
  for (int32_t w = 1000; w < 1004; ++w) ASSERT_TRUE(CommitWindow(w, **store).ok());
  std::ofstream(path + ".prices") << "held";
  // The data are in the write-ahead log, as when a daemon runs.
  const auto ledger = Database::Open(path + ".requests", Database::Access::kReadWrite);
  ASSERT_TRUE(ledger.ok());
  ASSERT_TRUE((*ledger)
                  ->Execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                            "CREATE TABLE t (x); INSERT INTO t VALUES (42)")
                  .ok());
  std::ofstream(path + ".requests.new") << "half";
  std::ofstream(dir.File("other.db.requests")) << "another's";
  const auto files = BackUpStore(path, folder);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->size(), 3);
  EXPECT_EQ((*files)[1].name, "store.db.prices");
  EXPECT_EQ((*files)[2].name, "store.db.requests");
  for (const char* name : {"/store.db", "/store.db.prices", "/store.db.requests"}) {
    struct stat about = {};
    ASSERT_EQ(stat((folder + name).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << name;
  }
  // Later passes are not part of the backup.
  ASSERT_TRUE(CommitWindow(1004, **store).ok());
  EXPECT_THAT(BackUpStore(path, folder).status().ToString(), HasSubstr("is there already"));

  const std::string other = dir.File("new.db");
  ASSERT_TRUE(RestoreStore(folder, other).ok());
  EXPECT_EQ(ReadAll(other + ".prices"), "held");
  const auto again = Database::Open(other + ".requests", Database::Access::kRead);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->Number("SELECT x FROM t").value_or(0), 42);
  auto restored = SqliteStore::Open(At(other));
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(LastWindow(**restored), WindowId{1003});
  ASSERT_TRUE(CommitWindow(1004, **restored).ok()) << "it goes on";
}

TEST(SyncFile, IsOfFilesAndFoldersAndFailsWithoutOne) {
  const TempDir dir;
  std::ofstream(dir.File("copy")) << "bytes";
  EXPECT_TRUE(SyncFile(dir.File("copy")).ok());
  EXPECT_TRUE(SyncFile(dir.path()).ok());
  EXPECT_THAT(SyncFile(dir.File("none")).ToString(), HasSubstr("none: cannot be synced"));
}

TEST(StoreBackup, ReplacesNothing) {
  const TempDir dir;
  const std::string path = dir.File("tautd.db"), folder = dir.File("backup");
  EXPECT_TRUE(absl::IsNotFound(BackUpStore(path, folder).status()));
  EXPECT_FALSE(std::filesystem::exists(folder));
  {
    auto store = SqliteStore::Open(At(path));
    ASSERT_TRUE(store.ok() && CommitWindow(7, **store).ok());
    ASSERT_TRUE(BackUpStore(path, folder).ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(RestoreStore(folder, path).status())) << "it is in use";
  }
  EXPECT_TRUE(absl::IsAlreadyExists(RestoreStore(folder, path).status()));
  std::filesystem::remove(path);
  std::ofstream(path + ".budgets") << "of before";
  EXPECT_THAT(RestoreStore(folder, path).status().ToString(), HasSubstr(".budgets: a store is there"));
  EXPECT_TRUE(absl::IsNotFound(RestoreStore(dir.File("nothing"), dir.File("x.db")).status()));
}

}  // namespace
}  // namespace taut::server
