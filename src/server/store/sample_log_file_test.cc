#include "server/store/sample_log_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

struct Found {
  std::vector<std::string> bodies, damage;
};

Found ReadAll(const SampleLogOptions& options) {
  Found found;
  auto log = *SampleLogFile::Open(options);
  EXPECT_TRUE(log->Read([&](const LoggedWrite& w) { found.bodies.emplace_back(w.body); },
                        [&](std::string_view d) { found.damage.emplace_back(d); })
                  .ok());
  return found;
}

// Writes entries for these numbers, a second apart.
void WriteSome(SampleLogFile& log, int from, int to, size_t padding = 0) {
  for (int i = from; i < to; ++i) {
    const std::string body = std::to_string(i) + std::string(padding, '.');
    log.Append({Timestamp::FromSeconds(i + 2), Timestamp::FromSeconds(i), body});
  }
}

std::vector<std::filesystem::path> Files(const TempDir& dir) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir.File("."))) {
    if (entry.path().string().find(".samples.") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(SampleLogFile, GivesBackWhatWasFlushedInItsOrder) {
  const TempDir dir;
  const SampleLogOptions options{.path = dir.File("store.db")};
  for (int life = 0; life < 3; ++life) {
    auto log = *SampleLogFile::Open(options);
    WriteSome(*log, life * 10, life * 10 + 10);
    ASSERT_TRUE(log->Flush(life == 1).ok());
  }
  const Found found = ReadAll(options);
  ASSERT_EQ(found.bodies.size(), 30U);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(found.bodies[static_cast<size_t>(i)], std::to_string(i));
  EXPECT_TRUE(found.damage.empty());
}

TEST(SampleLogFile, NobodyElseMayReadIt) {
  const TempDir dir;
  auto log = *SampleLogFile::Open({.path = dir.File("store.db")});
  WriteSome(*log, 0, 1);
  ASSERT_TRUE(log->Flush(false).ok());
  struct stat info {};
  ASSERT_EQ(stat(Files(dir).at(0).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(SampleLogFile, ATornTailIsLeftOutAndDamageIsReported) {
  const TempDir dir;
  const SampleLogOptions options{.path = dir.File("store.db")};
  for (int life = 0; life < 2; ++life) {
    auto log = *SampleLogFile::Open(options);
    WriteSome(*log, life * 10, life * 10 + 10);
  }
  const std::filesystem::path first = Files(dir).at(0);
  std::filesystem::resize_file(first, std::filesystem::file_size(first) - 1);
  Found found = ReadAll(options);
  EXPECT_EQ(found.bodies.size(), 19U) << "the tenth is cut off, the second file is whole";
  EXPECT_TRUE(found.damage.empty()) << "that is what a kill leaves";
  {
    std::fstream file(first, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8 + 28);  // position of the first body
    file.put('x');
  }
  found = ReadAll(options);
  EXPECT_EQ(found.bodies.size(), 10U);
  EXPECT_EQ(found.damage.size(), 1U);
}

TEST(SampleLogFile, AnyBytesAreReadWithoutHarm) {
  const TempDir dir;
  const SampleLogOptions options{.path = dir.File("store.db")};
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = "TAUTSMP1";
    for (int n = static_cast<int>(random() % 200); n > 0; --n) bytes.push_back(static_cast<char>(random()));
    std::ofstream(dir.File("store.db.samples.000001"), std::ios::binary) << bytes;
    EXPECT_TRUE(ReadAll(options).bodies.empty());
  }
}

TEST(SampleLogFile, ForgetsWhatIsStored) {
  const TempDir dir;
  SampleLogOptions options{.path = dir.File("store.db")};
  options.min_segment_bytes = 0;
  options.segment_seconds = 10;
  auto log = *SampleLogFile::Open(options);
  for (int i = 0; i < 100; ++i) {
    WriteSome(*log, i, i + 1);
    ASSERT_TRUE(log->Flush(false).ok());
  }
  EXPECT_EQ(Files(dir).size(), 10U);
  log->Forget(Timestamp::FromSeconds(75));
  log.reset();
  const Found found = ReadAll(options);
  ASSERT_FALSE(found.bodies.empty());
  EXPECT_LE(std::stoi(found.bodies.front()), 75);
  EXPECT_GE(std::stoi(found.bodies.front()), 65);
  EXPECT_EQ(found.bodies.back(), "99");
  // A file of an earlier run is deleted as soon as all its entries are stored.
  log = *SampleLogFile::Open(options);
  ASSERT_TRUE(log->Read([](const LoggedWrite&) {}, [](std::string_view) {}).ok());
  log->Forget(Timestamp::FromSeconds(1000));
  EXPECT_TRUE(Files(dir).empty());
  EXPECT_EQ(log->bytes(), 0U);
}

TEST(SampleLogFile, StaysWithinItsBound) {
  const TempDir dir;
  SampleLogOptions options{.path = dir.File("store.db")};
  options.segment_bytes = 10'000;
  options.max_bytes = 50'000;
  auto log = *SampleLogFile::Open(options);
  for (int i = 0; i < 200; ++i) {
    WriteSome(*log, i, i + 1, 1000);
    ASSERT_TRUE(log->Flush(false).ok());
    EXPECT_LE(log->bytes(), 50'000U);
  }
  EXPECT_GT(log->lost_bytes(), 100'000U);
  log.reset();
  EXPECT_EQ(std::stoi(ReadAll(options).bodies.back()), 199) << "the oldest go";
}

TEST(SampleLogFile, SaysThatItCannotBeWritten) {
  const TempDir dir;
  const std::string folder = dir.File("gone");
  std::filesystem::create_directory(folder);
  auto log = *SampleLogFile::Open({.path = folder + "/store.db"});
  std::filesystem::remove(folder);
  WriteSome(*log, 0, 1);
  EXPECT_EQ(log->Flush(false).code(), absl::StatusCode::kUnavailable);
  EXPECT_GT(log->lost_bytes(), 0U);
  std::filesystem::create_directory(folder);
  WriteSome(*log, 1, 2);
  EXPECT_TRUE(log->Flush(false).ok()) << "tried again";
}

}  // namespace
}  // namespace taut::server
