#include "server/store/request_log_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/store/in_memory_request_log.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct LogFound {
  std::vector<std::string> texts, damage;
};
LogFound ReadLog(RequestLog& log) {
  LogFound found;
  EXPECT_TRUE(log.Read([&](const RequestLogEntry& e) { found.texts.push_back(e.text); },
                       [&](const std::string& d) { found.damage.push_back(d); })
                  .ok());
  return found;
}
absl::Status Append(RequestLog& log, std::vector<RequestLogEntry> entries) { return log.Append(entries); }

void KeepsInOrderAndForgets(RequestLog& log) {
  ASSERT_TRUE(Append(log, {{1, 10, "ann", "one"}, {2, 10, "bob", "two"}}).ok());
  ASSERT_TRUE(Append(log, {{1, 20, "ann", "one again"}}).ok());
  EXPECT_THAT(ReadLog(log).texts, ElementsAre("one", "two", "one again"));
  const std::vector<uint64_t> gone = {1, 7};
  ASSERT_TRUE(log.Forget(gone).ok());
  EXPECT_THAT(ReadLog(log).texts, ElementsAre("two"));
}

TEST(RequestLog, InMemory) {
  InMemoryRequestLog log;
  KeepsInOrderAndForgets(log);
}

TEST(RequestLog, ADeletedFileIsNoticedWhileItIsOpenAndAtTheNextStart) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db.budgets";
  {
    auto log = *RequestLogFile::Open(path);
    EXPECT_EQ(log->Check(), absl::OkStatus());
    EXPECT_THAT(ReadLog(*log).damage, IsEmpty());
  }
  {
    auto log = *RequestLogFile::Open(path);
    EXPECT_THAT(ReadLog(*log).damage, IsEmpty()) << "nothing was lost";
    ASSERT_TRUE(Append(*log, {{1, 10, "ann", "one"}}).ok());
    std::filesystem::remove(path);
    EXPECT_TRUE(absl::IsUnavailable(log->Check()));
  }
  for (int start = 0; start < 2; ++start) {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path + suffix);
    auto log = *RequestLogFile::Open(path);
    EXPECT_THAT(ReadLog(*log).damage, ElementsAre(HasSubstr("had entries and was deleted"))) << start;
    EXPECT_TRUE(absl::IsUnavailable(log->Check()));
    EXPECT_TRUE(absl::IsUnavailable(Append(*log, {{1, 10, "ann", "one"}})));
  }
  std::filesystem::remove(path + ".made");
  auto log = *RequestLogFile::Open(path);
  EXPECT_TRUE(Append(*log, {{1, 10, "ann", "one"}}).ok()) << "as the message says";
}

// One of a version that made no mark.
TEST(RequestLog, AnOlderFileIsMarkedWhenItIsOpened) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db.budgets";
  {
    auto log = *RequestLogFile::Open(path);
    ASSERT_TRUE(Append(*log, {{1, 10, "ann", "one"}}).ok());
    const std::vector<uint64_t> all = {1};
    ASSERT_TRUE(log->Forget(all).ok());
  }
  std::filesystem::remove(path + ".made");
  { auto log = *RequestLogFile::Open(path); }
  EXPECT_TRUE(std::filesystem::exists(path + ".made"));
  auto log = *RequestLogFile::Open(path);
  EXPECT_THAT(ReadLog(*log).damage, IsEmpty()) << "its entries were forgotten, not lost";
}

TEST(RequestLog, InAFileThatOnlyItsOwnerReads) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db.requests";
  {
    auto log = *RequestLogFile::Open(path);
    KeepsInOrderAndForgets(*log);
  }
  auto log = *RequestLogFile::Open(path);
  EXPECT_THAT(ReadLog(*log).texts, ElementsAre("two"));
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(RequestLog, LeavesOutADamagedEntryAndNamesIt) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db.requests";
  {
    auto log = *RequestLogFile::Open(path);
    ASSERT_TRUE(Append(*log, {{1, 10, "ann", "one"}, {2, 10, "bob", "two"}}).ok());
  }
  {
    auto db = *Database::Open(path, Database::Access::kReadWrite);
    ASSERT_TRUE(db->Execute("UPDATE entries SET text = 'another' WHERE request = 1").ok());
  }
  auto log = *RequestLogFile::Open(path);
  const LogFound found = ReadLog(*log);
  EXPECT_THAT(found.texts, ElementsAre("two"));
  EXPECT_THAT(found.damage, ElementsAre(HasSubstr("entry 1 of request 1 is damaged")));
}

TEST(RequestLog, TakesNothingOnceItsFileIsGone) {
  const TempDir dir;
  const std::string path = dir.path() + "/tautd.db.requests";
  auto log = *RequestLogFile::Open(path);
  ASSERT_TRUE(Append(*log, {{1, 10, "ann", "one"}}).ok());
  std::filesystem::remove(path);
  EXPECT_THAT(std::string(Append(*log, {{2, 10, "ann", "two"}}).message()),
              HasSubstr("was deleted or replaced"));
}

TEST(RequestLog, RefusesAFileOfAnotherProgram) {
  const TempDir dir;
  const std::string path = dir.path() + "/other.db";
  {
    auto db = *Database::Open(path, Database::Access::kReadWrite);
    ASSERT_TRUE(db->Execute("CREATE TABLE mine(a)").ok());
  }
  EXPECT_THAT(std::string(RequestLogFile::Open(path).status().message()), HasSubstr("another program"));
}

}  // namespace
}  // namespace taut::server
