#include "server/store/store_copies.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "server/store/request_log_file.h"

namespace taut::server {
namespace {

std::vector<std::string> TextsOf(const std::string& path) {
  std::vector<std::string> texts;
  auto log = *RequestLogFile::Open(path);
  EXPECT_TRUE(
      log->Read([&](const RequestLogEntry& e) { texts.push_back(e.text); }, [](const std::string&) {}).ok());
  return texts;
}

TEST(StoreCopies, HaveWhatWasThereThenAndGoBack) {
  const TempDir dir;
  const std::string store = dir.path() + "/tautd.db", ledger = store + ".budgets";
  const StoreCopies copies(store);
  {
    auto log = *RequestLogFile::Open(ledger);
    const std::vector<RequestLogEntry> right = {{1, 10, "ann", "right"}}, wrong = {{2, 99, "tautd", "wrong"}};
    ASSERT_TRUE(log->Append(right).ok());
    ASSERT_EQ(copies.Make(), absl::OkStatus());
    ASSERT_TRUE(log->Append(wrong).ok());
  }
  struct stat info {};
  ASSERT_EQ(stat(StoreCopies::Name(ledger).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_FALSE(std::filesystem::exists(StoreCopies::Name(store))) << "there is no store";
  EXPECT_EQ(TextsOf(ledger), (std::vector<std::string>{"right", "wrong"}));
  // The steps in docs/operate/backup.md.
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(ledger + suffix);
  std::filesystem::rename(StoreCopies::Name(ledger), ledger);
  EXPECT_EQ(TextsOf(ledger), std::vector<std::string>{"right"});
  ASSERT_EQ(copies.Make(), absl::OkStatus());
  ASSERT_EQ(copies.Make(), absl::OkStatus()) << "an older one is replaced";
  copies.Drop();
  EXPECT_FALSE(std::filesystem::exists(StoreCopies::Name(ledger)));
}

TEST(StoreCopies, WhatCannotBeCopiedIsNotThereByHalf) {
  const TempDir dir;
  const std::string store = dir.path() + "/tautd.db";
  { auto log = *RequestLogFile::Open(store + ".budgets"); }
  std::ofstream(store + ".requests")
      << "this is no database, but it is longer than a header of one is, and more than that";
  const absl::Status made = StoreCopies(store).Make();
  EXPECT_TRUE(absl::IsUnavailable(made)) << made;
  EXPECT_FALSE(std::filesystem::exists(StoreCopies::Name(store + ".budgets")));
  EXPECT_EQ(StoreCopies("memory").Make(), absl::OkStatus());
}

}  // namespace
}  // namespace taut::server
