// What is written can be read again, whatever tasks are called; what is damaged is refused with its line; the
// file is never half of anything.
#include "agent/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/strings.h"

namespace taut {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kHead = "tautlet ledger 1\n";

class LedgerFile : public ::testing::Test {
 protected:
  LedgerFile() {
    std::string name = (std::filesystem::temp_directory_path() / "tautXXXXXX").string();
    directory_ = mkdtemp(name.data());
    path_ = directory_ + "/ledger";
  }
  ~LedgerFile() override { std::filesystem::remove_all(directory_); }
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void Write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }

  std::string directory_, path_;
};

FoundTask Task(std::string identity) { return {std::move(identity), "shop/web", "host/web-1", {}, 0}; }

bool Same(const std::map<std::string, LedgerEntry>& a, const std::map<std::string, LedgerEntry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.job == y.second.job && x.second.task == y.second.task &&
           std::equal(x.second.values.begin(), x.second.values.end(), y.second.values.begin(),
                      y.second.values.end(), [](const auto& v, const auto& w) {
                        return v.first == w.first && v.second.owner == w.second.owner &&
                               v.second.set == w.second.set;
                      });
  });
}

std::optional<double> AnyLimit() {
  if (*rc::gen::inRange(0, 4) == 0) return std::nullopt;
  const double mantissa = *rc::gen::inRange(0, 1 << 30);
  return std::ldexp(mantissa, *rc::gen::inRange(-40, 20));
}

RC_GTEST_PROP(Ledger, TextIsReadAsItWas, ()) {
  std::map<std::string, LedgerEntry> entries;
  const int n = *rc::gen::inRange(0, 8);
  for (int i = 0; i < n; ++i) {
    // Any bytes at all: tabs, line ends, percent signs, what is no UTF-8.
    LedgerEntry& e = entries[*rc::gen::arbitrary<std::string>()];
    e.job = *rc::gen::arbitrary<std::string>();
    e.task = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("\t\n\r%0Aa ")));
    e.values[static_cast<LimitKind>(*rc::gen::inRange(0, kNumLimitKinds))] = {AnyLimit(), AnyLimit()};
    e.values[LimitKind::kCpuMax] = {AnyLimit(), AnyLimit()};
  }
  const auto read = Ledger::Parse(Ledger::Text(entries), "x");
  RC_ASSERT(read.ok());
  RC_ASSERT(Same(*read, entries));
}

TEST(Ledger, SaysWhichLineIsDamaged) {
  const struct {
    std::string text, says;
  } cases[] = {
      {"\n", "l:1: wants \"tautlet ledger 1\" first"},
      {"tautlet ledger 2\n", "l:1: wants"},
      {StrCat(kHead, "a\tj\tt\tmemory.max\tnone\t1\nrubbish\n"), "l:3: 1 fields where six are due"},
      {StrCat(kHead, "a\tj\tt\tmemory.max\tnone\t1\t2\n"), "l:2: 7 fields"},
      {StrCat(kHead, "a%0\tj\tt\tmemory.max\tnone\t1\n"), "l:2: a % without two hex digits"},
      {StrCat(kHead, "a%zz\tj\tt\tmemory.max\tnone\t1\n"), "l:2: a % without two hex digits"},
      {StrCat(kHead, "a\tj\tt\tmemory.most\tnone\t1\n"), "l:2: no limit is called \"memory.most\""},
      {StrCat(kHead, "\n\na\tj\tt\tmemory.max\tnone\t-1\n"), "l:4: a limit that is no number"},
      {StrCat(kHead, "a\tj\tt\tmemory.max\tnan\t1\n"), "l:2: a limit that is no number"},
      {StrCat(kHead, "a\tj\tt\tmemory.max\tinf\t1\n"), "l:2: a limit that is no number"},
      {StrCat(kHead, "a\tj\tt\tmemory.max\t\t1\n"), "l:2: a limit that is no number"},
      // Cut off: the last number may be a part of one.
      {StrCat(kHead, "a\tj\tt\tmemory.max\tnone\t10"), "l:2: the line has no end"},
  };
  for (const auto& c : cases) {
    const auto read = Ledger::Parse(c.text, "l");
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << c.text;
    EXPECT_THAT(std::string(Message(read.status())), HasSubstr(c.says)) << c.text;
  }
}

TEST_F(LedgerFile, IsThereAgainAfterARestart) {
  {
    auto ledger = Ledger::Open(path_);
    ASSERT_TRUE(ledger.ok());
    EXPECT_TRUE(ledger->entries().empty());
    ASSERT_TRUE(ledger->Save().ok());
    EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing to be written";
    ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1e9);
    ledger->Note(Task("a"), LimitKind::kMemoryMax, 5.0, 2e9);  // the owner's is kept from the first call on
    ledger->Note(Task("b"), LimitKind::kCpuMax, 2.0, 1.5);
    ASSERT_TRUE(ledger->Save().ok());
  }
  auto ledger = Ledger::Open(path_);
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  ASSERT_NE(ledger->Find("a"), nullptr);
  EXPECT_EQ(ledger->Find("a")->job, "shop/web");
  EXPECT_EQ(ledger->Find("a")->values.at(LimitKind::kMemoryMax).owner, std::nullopt);
  EXPECT_EQ(ledger->Find("a")->values.at(LimitKind::kMemoryMax).set, 2e9);
  ledger->SetOwner("b", LimitKind::kCpuMax, 3.0);
  ledger->SetOwner("b", LimitKind::kMemoryMax, 3.0);  // never changed: nothing to note
  ledger->SetOwner("c", LimitKind::kCpuMax, 3.0);
  ledger->Forget("a");
  ASSERT_TRUE(ledger->Save().ok());
  EXPECT_EQ(Bytes(), StrCat(kHead, "b\tshop/web\thost/web-1\tcpu.max\t3\t1.5\n"));
}

TEST_F(LedgerFile, IsReplacedAsAWhole) {
  auto ledger = Ledger::Open(path_);
  ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1.0);
  ASSERT_TRUE(ledger->Save().ok());
  struct stat before {};
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  EXPECT_EQ(before.st_mode & 0777U, 0600U);
  // Whoever has the old one open sees all of it still.
  std::ifstream old(path_);
  ledger->Note(Task("b"), LimitKind::kMemoryMax, std::nullopt, 1.0);
  ASSERT_TRUE(ledger->Save().ok());
  struct stat after {};
  ASSERT_EQ(stat(path_.c_str(), &after), 0);
  EXPECT_NE(before.st_ino, after.st_ino);
  std::stringstream text;
  text << old.rdbuf();
  EXPECT_TRUE(Ledger::Parse(text.str(), "old").ok());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(LedgerFile, SaysWhatCannotBeWrittenAndTriesAgain) {
  const std::string away = directory_ + "/later/ledger";
  auto ledger = Ledger::Open(away);
  ASSERT_TRUE(ledger.ok()) << "a directory that is not there yet holds no ledger: " << ledger.status();
  ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1.0);
  const absl::Status s = ledger->Save();
  EXPECT_EQ(s.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(Message(s)), HasSubstr(away));
  std::filesystem::create_directory(directory_ + "/later");
  EXPECT_TRUE(ledger->Save().ok()) << "the change is still to be saved";
  EXPECT_EQ(Ledger::Open(away)->entries().size(), 1U);
}

TEST_F(LedgerFile, WhatCannotBeReadIsNotTakenForEmpty) {
  Write("tautlet ledger 1\nrubbish\n");
  EXPECT_EQ(Ledger::Open(path_).status().code(), absl::StatusCode::kDataLoss);
  std::filesystem::create_directory(directory_ + "/d");
  EXPECT_FALSE(Ledger::Open(directory_ + "/d").ok());
  // A file where a directory should be: not known, so not empty.
  EXPECT_FALSE(Ledger::Open(path_ + "/ledger").ok());
}

// Cgroups do not outlive the power either, so nobody waits until a ledger of them is on the disk.
TEST_F(LedgerFile, WhatTheLossOfPowerLeavesIsEmpty) {
  for (const std::string& text : {std::string(), std::string(100, '\0')}) {
    Write(text);
    const auto ledger = Ledger::Open(path_);
    ASSERT_TRUE(ledger.ok()) << Message(ledger.status());
    EXPECT_TRUE(ledger->entries().empty());
  }
}

TEST(Ledger, InMemoryNeedsNoFile) {
  auto ledger = Ledger::Open("");
  ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1.0);
  EXPECT_TRUE(ledger->Save().ok());
  EXPECT_NE(ledger->Find("a"), nullptr);
}

}  // namespace
}  // namespace taut
