#include "server/store/store_copy.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "server/store/sqlite_store.h"

namespace taut::server {
namespace {

std::unique_ptr<SqliteStore> Open(const std::string& path) {
  SqliteStore::Options options;
  options.path = path;
  auto store = SqliteStore::Open(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

std::vector<std::string> TextsOf(const std::string& path) {
  std::vector<std::string> texts;
  EXPECT_TRUE(Open(path)
                  ->states()
                  .budgets()
                  .Read([&](const RequestLogEntry& e) { texts.push_back(e.text); }, [](const std::string&) {})
                  .ok());
  return texts;
}

TEST(StoreCopy, HasWhatWasThereThenAndGoesBack) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db";
  const StoreCopy copy(path);
  EXPECT_EQ(copy.Make(), absl::OkStatus()) << "there is no store";
  EXPECT_FALSE(std::filesystem::exists(StoreCopy::Name(path)));
  {
    const auto store = Open(path);
    const std::vector<RequestLogEntry> right = {{1, 10, "ann", "right"}}, wrong = {{2, 99, "tautd", "wrong"}};
    ASSERT_TRUE(store->states().budgets().Append(right).ok());
    ASSERT_EQ(copy.Make(), absl::OkStatus());
    ASSERT_TRUE(store->states().budgets().Append(wrong).ok());
  }
  struct stat info {};
  ASSERT_EQ(stat(StoreCopy::Name(path).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(TextsOf(path), (std::vector<std::string>{"right", "wrong"}));
  // Follows the steps in docs/operate/backup.md.
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path + suffix);
  std::filesystem::rename(StoreCopy::Name(path), path);
  EXPECT_EQ(TextsOf(path), std::vector<std::string>{"right"});
  ASSERT_EQ(copy.Make(), absl::OkStatus());
  ASSERT_EQ(copy.Make(), absl::OkStatus()) << "an older one is replaced";
  copy.Drop();
  EXPECT_FALSE(std::filesystem::exists(StoreCopy::Name(path)));
}

TEST(StoreCopy, WhatCannotBeCopiedIsNotThereByHalf) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db";
  std::ofstream(path) << "this is no database, but it is longer than a header of one is, and more than that";
  const absl::Status made = StoreCopy(path).Make();
  EXPECT_TRUE(absl::IsUnavailable(made)) << made;
  EXPECT_FALSE(std::filesystem::exists(StoreCopy::Name(path)));
  EXPECT_EQ(StoreCopy("memory").Make(), absl::OkStatus());
}

}  // namespace
}  // namespace taut::server
