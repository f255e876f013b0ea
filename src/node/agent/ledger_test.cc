// Tests that a written ledger can be read again, with any names of tasks. Also tests that a damaged file is
// rejected with the line number of the damage, and that a save never leaves half a file.
#include "node/agent/ledger.h"

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

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kHead = "tautlet ledger 3\n", kSecondHead = "tautlet ledger 2\n",
                           kFirstHead = "tautlet ledger 1\n";

class LedgerFile : public ::testing::Test {
 protected:
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void Write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }

  const TempDir dir_;
  const std::string directory_ = dir_.path(), path_ = dir_.File("ledger");
};

FoundTask Task(std::string identity) { return {std::move(identity), "shop/web", "host/web-1", {}, 0}; }

bool Same(const LedgerContent& a, const LedgerContent& b) {
  return a.terms == b.terms && a.acts == b.acts &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.job == y.second.job &&
                             x.second.scores == y.second.scores && x.second.task == y.second.task &&
                             x.second.holds == y.second.holds &&
                             std::equal(
                                 x.second.values.begin(), x.second.values.end(), y.second.values.begin(),
                                 y.second.values.end(), [](const auto& v, const auto& w) {
                                   return v.first == w.first && v.second.owner == w.second.owner &&
                                          v.second.set == w.second.set && v.second.next == w.second.next;
                                 });
                    });
}

std::optional<double> AnyLimit() {
  if (*rc::gen::inRange(0, 4) == 0) return std::nullopt;
  const double mantissa = *rc::gen::inRange(0, 1 << 30);
  return std::ldexp(mantissa, *rc::gen::inRange(-40, 20));
}

std::optional<LimitValue> AnyState() {
  return *rc::gen::arbitrary<bool>() ? std::optional<LimitValue>(AnyLimit()) : std::nullopt;
}
std::optional<int64_t> AnySeconds() {
  return *rc::gen::arbitrary<bool>() ? std::optional<int64_t>(*rc::gen::inRange(0, 2'000'000'000))
                                     : std::nullopt;
}

RC_GTEST_PROP(Ledger, TextIsReadAsItWas, ()) {
  LedgerContent content;
  const int n = *rc::gen::inRange(0, 8);
  for (int i = 0; i < n; ++i) {
    // Any bytes: tabs, line ends, percent signs, invalid UTF-8.
    LedgerEntry& e = content.entries[*rc::gen::arbitrary<std::string>()];
    e.job = *rc::gen::arbitrary<std::string>();
    e.task = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("\t\n\r%0Aa ")));
    e.values[static_cast<LimitKind>(*rc::gen::inRange(0, kNumLimitKinds))] = {AnyLimit(), AnyState(),
                                                                              AnyState()};
    e.values[LimitKind::kCpuMax] = {AnyLimit(), AnyState(), AnyState()};
    e.holds[0] = {AnySeconds(), AnySeconds(), AnyLimit(), AnyLimit(), AnySeconds()};
    if (*rc::gen::arbitrary<bool>()) {
      e.scores = OomScoreRecord{*rc::gen::inRange(-1000, 1001), *rc::gen::inRange(-1000, 1001), {}};
      e.scores->others[{*rc::gen::inRange(1, 1 << 22), static_cast<uint64_t>(i)}] =
          *rc::gen::inRange(-1000, 1001);
    }
    content.terms[*rc::gen::arbitrary<std::string>()] = {*rc::gen::arbitrary<bool>(), AnyLimit(), AnyLimit(),
                                                         AnySeconds()};
    content.acts[*rc::gen::arbitrary<std::string>()] =
        *rc::gen::arbitrary<bool>() ? ActState::kBegun : ActState::kStands;
  }
  const auto read = Ledger::Parse(Ledger::Text(content), "x");
  RC_ASSERT(read.ok());
  RC_ASSERT(Same(*read, content));
}

TEST(Ledger, SaysWhichLineIsDamaged) {
  const struct {
    std::string text, says;
  } cases[] = {
      {"\n", "l:1: expected \"tautlet ledger 5\" first"},
      {"tautlet ledger 6\n", "l:1: expected"},
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.max\tnone\t1\t-\nrubbish\n"),
       "l:3: a line begins with \"rubbish\""},
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.max\tnone\t1\n"), "l:2: 6 fields: expected 7"},
      {StrCat(kHead, "limit\ta%0\tj\tt\tmemory.max\tnone\t1\t-\n"), "l:2: a % without two hex digits"},
      {StrCat(kHead, "limit\ta%zz\tj\tt\tmemory.max\tnone\t1\t-\n"), "l:2: a % without two hex digits"},
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.most\tnone\t1\t-\n"), "l:2: unknown limit \"memory.most\""},
      {StrCat(kHead, "\n\nlimit\ta\tj\tt\tmemory.max\tnone\t-1\t-\n"), "l:4: a limit that is not a number"},
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.max\tnan\t1\t-\n"), "l:2: a limit that is not a number"},
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.max\tnone\t-\tinf\n"), "l:2: a limit that is not a number"},
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.max\t\t1\t-\n"), "l:2: a limit that is not a number"},
      {StrCat(kHead, "hold\ta\tj\tt\tdisk\t-\t-\t-\t-\t-\n"), "l:2: unknown resource \"disk\""},
      {StrCat(kHead, "hold\ta\tj\tt\tcpu\t-1\t-\t-\t-\t-\n"), "l:2: a time or floor"},
      {StrCat(kHead, "terms\tj\tmaybe\t-\t-\t-\n"), "l:2: expected yes or no"},
      {StrCat(kHead, "terms\tj\tyes\tnone\t-\t-\n"), "l:2: an upper bound"},
      {StrCat(kHead, "terms\tj\tyes\t-\t-\t-1\n"), "l:2: a time that is not a number"},
      {StrCat(kHead, "terms\tj\tyes\t-\t-\n"), "l:2: 4 fields: expected 5"},
      {StrCat(kSecondHead, "terms\tj\tyes\t-\t-\t60\n"), "l:2: 5 fields: expected 4"},
      {StrCat(kFirstHead, "a\tj\tt\tmemory.max\tnone\t1\t2\n"), "l:2: 7 fields: expected 6"},
      {StrCat(kHead, "act\tbegun\n"), "l:2: 1 fields: expected 2"},
      {StrCat(kHead, "act\tover\tx\n"), "l:2: expected begun or stands"},
      {StrCat(kHead, "score\ta\tj\tt\t800\t0\n"), "l:2: 5 fields: expected 6"},
      {StrCat(kHead, "score\ta\tj\tt\t8000\t0\t-\n"), "l:2: an oom_score_adj that is not a number"},
      {StrCat(kHead, "score\ta\tj\tt\t800\t0.5\t-\n"), "l:2: an oom_score_adj that is not a number"},
      {StrCat(kHead, "score\ta\tj\tt\t800\t0\t7:100\n"), "or a process that is not PID:START:VALUE"},
      {StrCat(kHead, "act\tbegun\t%0\n"), "l:2: a % without two hex digits"},
      // The file is cut off, so the last number may be incomplete.
      {StrCat(kHead, "limit\ta\tj\tt\tmemory.max\tnone\t-\t10"), "l:2: the line has no end"},
  };
  for (const auto& c : cases) {
    const auto read = Ledger::Parse(c.text, "l");
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << c.text;
    EXPECT_THAT(std::string(Message(read.status())), HasSubstr(c.says)) << c.text;
  }
}

TEST(Ledger, WithoutActsAndScoresAnOlderAgentReadsIt) {
  LedgerContent content;
  content.terms["j"] = {};
  EXPECT_TRUE(Ledger::Text(content).starts_with("tautlet ledger 3\n"));
  content.acts["x"] = ActState::kStands;
  EXPECT_TRUE(Ledger::Text(content).starts_with("tautlet ledger 4\n"));
  content.entries["a"].scores = OomScoreRecord{800, 0, {{{7, 100}, -500}}};
  EXPECT_TRUE(Ledger::Text(content).starts_with("tautlet ledger 5\n"));
}

TEST(Ledger, TheFourthVersionIsRead) {
  const auto read =
      Ledger::Parse("tautlet ledger 4\nact\tstands\tx\nlimit\ta\tj\tt\tcpu.weight\t100\t20\t-\n", "l");
  ASSERT_TRUE(read.ok()) << Message(read.status());
  EXPECT_EQ(read->acts.at("x"), ActState::kStands);
  EXPECT_EQ(read->entries.at("a").values.at(LimitKind::kCpuWeight).owner, 100.0);
  EXPECT_FALSE(read->entries.at("a").scores.has_value());
}

TEST_F(LedgerFile, IsThereAgainAfterARestart) {
  {
    auto ledger = Ledger::Open(path_);
    ASSERT_TRUE(ledger.ok());
    EXPECT_TRUE(ledger->entries().empty());
    ASSERT_TRUE(ledger->Save().ok());
    EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing to be written";
    ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1e9);
    ledger->Note(Task("a"), LimitKind::kMemoryMax, 5.0, 2e9);  // the first call alone sets the owner's value
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
  ledger->SetOwner("b", LimitKind::kMemoryMax, 3.0);  // never changed, so nothing is stored
  ledger->SetOwner("c", LimitKind::kCpuMax, 3.0);
  ledger->Forget("a");
  ASSERT_TRUE(ledger->Save().ok());
  EXPECT_EQ(Bytes(), StrCat(kHead, "limit\tb\tshop/web\thost/web-1\tcpu.max\t3\t1.5\t-\n"));
}

TEST_F(LedgerFile, IsReplacedAsAWhole) {
  auto ledger = Ledger::Open(path_);
  ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1.0);
  ASSERT_TRUE(ledger->Save().ok());
  struct stat before {};
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  EXPECT_EQ(before.st_mode & 0777U, 0600U);
  // A reader that has the old file open still sees the whole old file.
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
  // A file in place of a directory: the state is unknown and must not be read as empty.
  EXPECT_FALSE(Ledger::Open(path_ + "/ledger").ok());
}

// A loss of power also removes the cgroups, so Save does not wait until the ledger is on disk.
TEST_F(LedgerFile, WhatTheLossOfPowerLeavesIsEmpty) {
  for (const std::string& text : {std::string(), std::string(100, '\0')}) {
    Write(text);
    const auto ledger = Ledger::Open(path_);
    ASSERT_TRUE(ledger.ok()) << Message(ledger.status());
    EXPECT_TRUE(ledger->entries().empty());
  }
}

TEST_F(LedgerFile, OfTheFirstVersionIsRead) {
  Write(StrCat(kFirstHead, "a\tshop/web\thost/a\tmemory.max\tnone\t1000\n"));
  auto ledger = Ledger::Open(path_);
  ASSERT_TRUE(ledger.ok()) << Message(ledger.status());
  const LedgerValue value = ledger->Find("a")->values.at(LimitKind::kMemoryMax);
  EXPECT_EQ(value.owner, std::nullopt);
  EXPECT_FALSE(value.set.has_value()) << "it may not have been written";
  EXPECT_EQ(value.next, 1000.0);
}

TEST_F(LedgerFile, OfTheSecondVersionIsReadAndWrittenInTheThird) {
  Write(StrCat(kSecondHead, "limit\ta\tj\tt\tmemory.max\tnone\t1000\t-\nterms\tj\tyes\t-\t2000\n"));
  auto ledger = Ledger::Open(path_);
  ASSERT_TRUE(ledger.ok()) << Message(ledger.status());
  JobTerms terms = ledger->terms().at("j");
  EXPECT_EQ(terms, (JobTerms{true, std::nullopt, 2000.0, std::nullopt}));
  terms.startup_grace_s = 60;
  ledger->SetTerms("j", terms);
  ASSERT_TRUE(ledger->Save().ok());
  EXPECT_EQ(Bytes(),
            StrCat(kHead, "limit\ta\tj\tt\tmemory.max\tnone\t1000\t-\nterms\tj\tyes\t-\t2000\t60\n"));
}

TEST(Ledger, WhatWasIntendedIsConfirmedOrWithdrawn) {
  auto ledger = Ledger::Open("");
  const auto value = [&] { return ledger->Find("a")->values.at(LimitKind::kCpuMax); };
  ledger->Intend(Task("a"), LimitKind::kCpuMax, 2.0, 1.0);
  ledger->Withdraw("a", LimitKind::kCpuMax);
  EXPECT_EQ(ledger->Find("a"), nullptr) << "nothing was changed";
  ledger->Intend(Task("a"), LimitKind::kCpuMax, 2.0, 1.0);
  ledger->Confirm("a", LimitKind::kCpuMax);
  ledger->Intend(Task("a"), LimitKind::kCpuMax, 1.0, 0.5);
  EXPECT_EQ(value().owner, 2.0);
  EXPECT_EQ(value().set, 1.0);
  EXPECT_EQ(value().next, 0.5);
  ledger->Withdraw("a", LimitKind::kCpuMax);
  EXPECT_EQ(value().set, 1.0);
  EXPECT_FALSE(value().next.has_value());
}

TEST(Ledger, InMemoryNeedsNoFile) {
  auto ledger = Ledger::Open("");
  ledger->Note(Task("a"), LimitKind::kMemoryMax, std::nullopt, 1.0);
  EXPECT_TRUE(ledger->Save().ok());
  EXPECT_NE(ledger->Find("a"), nullptr);
}

}  // namespace
}  // namespace taut::node
