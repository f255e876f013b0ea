// Tests the account in both stores: a read returns the committed amounts, whether or not they have been added up
// to hours and days.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/random.h"
#include "server/store/account_block.h"
#include "server/store/store_subject.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;

constexpr WindowId kFirst{20'000 * kWindowsPerDay + 200};

AccountAmounts RandomAmounts(Rng& rng) {
  AccountAmounts a;
  if (rng.Below(8) == 0) return a;  // the resource was not measured
  a.windows = 1;
  a.usage = rng.Below(uint64_t{1} << 40);
  a.windows_without_allocation = rng.Below(4) == 0 ? 1 : 0;
  if (a.windows_without_allocation == 0) a.allocation = rng.Below(uint64_t{1} << 40);
  a.billed = std::max(a.usage, a.allocation);
  a.owner = a.allocation + rng.Below(1000);
  a.would_be = a.owner - std::min<uint64_t>(a.owner, rng.Below(1000));
  return a;
}

// Returns entries for jobs of several chunks; some jobs have no entries in some of the lists.
std::vector<AccountEntry> RandomEntries(Rng& rng) {
  std::vector<AccountEntry> entries;
  for (const uint32_t job : {0U, 1U, 5U, 1023U, 1024U, 4000U, 70'000'000U}) {
    if (rng.Below(3) == 0) continue;
    AccountEntry& e = entries.emplace_back(AccountEntry{.job = JobId{job}});
    for (AccountAmounts& a : e.of) a = RandomAmounts(rng);
  }
  return entries;
}

class AccountTest : public ::testing::TestWithParam<Which> {
 protected:
  void Commit(WindowId window, std::span<const AccountEntry> entries) {
    ClosedWindow closed;
    closed.window = window;
    PassRecord pass;
    pass.window = &closed;
    pass.account = entries;
    ASSERT_TRUE(subject_->store().Commit(pass).ok());
  }
  // Returns the sum of each job's entries. Key: job.
  std::map<uint32_t, AccountEntry> Sums(WindowId from, WindowId to) {
    std::map<uint32_t, AccountEntry> sums;
    const absl::Status read = subject_->history().ReadAccount(
        from, to, [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
          EXPECT_EQ(span.first.index % span.windows, 0);
          EXPECT_FALSE(subject_->history().Job(entries.front().job).ok()) << "it may be asked, and has none";
          for (const AccountEntry& e : entries) {
            sums[e.job.value].job = e.job;
            sums[e.job.value].Add(e);
          }
        });
    EXPECT_TRUE(read.ok()) << read;
    return sums;
  }
  std::unique_ptr<Subject> subject_ = Make(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Stores, AccountTest, ::testing::Values(Which::kMemory, Which::kSqlite),
                         [](const auto& chosen) {
                           return chosen.param == Which::kMemory ? "memory" : "sqlite";
                         });

TEST_P(AccountTest, NothingIsLostOrDoubledBySummingUp) {
  Rng rng(3);
  std::map<uint32_t, AccountEntry> all;
  std::map<int32_t, std::map<uint32_t, AccountEntry>> days;
  for (int32_t w = kFirst.index; w < kFirst.index + 2 * kWindowsPerDay + 30; ++w) {
    if (rng.Below(20) == 0) continue;  // a window in which tautd was down
    const std::vector<AccountEntry> entries = RandomEntries(rng);
    for (const AccountEntry& e : entries) {
      for (AccountEntry* sum : {&all[e.job.value], &days[WindowId{w}.day()][e.job.value]}) {
        sum->job = e.job;
        sum->Add(e);
      }
    }
    Commit(WindowId{w}, entries);
    if (rng.Below(3) == 0) {
      ASSERT_TRUE(subject_->store().Maintain(WindowId{w}).ok());
    }
    if (rng.Below(40) == 0) subject_->Reopen();
    if (w % 17 == 0) {
      ASSERT_EQ(Sums(WindowId{0}, WindowId{INT32_MAX / 2}), all) << w;
    }
  }
  MaintainAll(subject_->store(), WindowId{kFirst.index + 2 * kWindowsPerDay + 29});
  EXPECT_EQ(Sums(WindowId{0}, WindowId{INT32_MAX / 2}), all);
  for (const auto& [day, sums] : days) {
    EXPECT_EQ(Sums(WindowId{day * kWindowsPerDay}, WindowId{(day + 1) * kWindowsPerDay}), sums);
  }
  EXPECT_TRUE(Sums(WindowId{0}, WindowId{kFirst.day() * kWindowsPerDay}).empty());
}

// Usage that becomes known later is a separate entry, in addition to the sums of its day.
TEST_P(AccountTest, LateEntriesComeBesideTheOthers) {
  AccountEntry entry{.job = JobId{7}};
  entry.of[0] = {.usage = 5, .billed = 5, .windows = 1};
  Commit(kFirst, {&entry, 1});
  const WindowId day{kFirst.day() * kWindowsPerDay}, before{day.index - kWindowsPerDay};
  PassRecord pass;
  std::vector<LateAccount> late;
  for (const uint32_t job : {2000U, 7U}) {
    for (const WindowId first : {day, before}) {
      late.push_back({first, {.job = JobId{job}}});
      late.back().entry.of[0] = {.usage = 100, .billed = 100, .windows = 3};
    }
  }
  pass.late_account = late;
  ASSERT_TRUE(subject_->store().Commit(pass).ok());
  ASSERT_TRUE(subject_->store().Commit(pass).ok()) << "another day of the same job";
  MaintainAll(subject_->store(), WindowId{kFirst.index + 2 * kWindowsPerDay});
  subject_->Reopen();
  EXPECT_EQ(Sums(day, WindowId{INT32_MAX / 2})[7].of[0].usage, 205U);
  EXPECT_EQ(Sums(before, day)[2000].of[0].windows, 6U);
  uint64_t of_late = 0;
  ASSERT_TRUE(subject_->history()
                  .ReadAccount(before, WindowId{INT32_MAX / 2},
                               [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
                                 for (const AccountEntry& e : entries)
                                   of_late += span.late ? e.of[0].usage : 0;
                               })
                  .ok());
  EXPECT_EQ(of_late, 800U);
}

TEST_P(AccountTest, IsKeptAsLongAsDecisions) {
  Retention keep;
  keep.decision_days = 40;
  keep.windows_to_believe = 0;
  subject_ = Make(GetParam(), keep);
  AccountEntry entry{.job = JobId{7}};
  entry.of[0] = {.usage = 5, .billed = 5, .windows = 1, .windows_without_allocation = 1};
  Commit(kFirst, {&entry, 1});
  const WindowId later{kFirst.index + 39 * kWindowsPerDay};
  Commit(later, {&entry, 1});
  MaintainAll(subject_->store(), later);
  EXPECT_EQ(Sums(WindowId{0}, WindowId{INT32_MAX / 2})[7].of[0].usage, 10U);
  MaintainAll(subject_->store(), WindowId{later.index + 3 * kWindowsPerDay});
  EXPECT_EQ(Sums(WindowId{0}, WindowId{INT32_MAX / 2})[7].of[0].usage, 5U);
}

// Any flipped, missing or additional byte is detected.
TEST(AccountBlockTest, DamageIsFound) {
  Rng rng(5);
  std::vector<AccountEntry> entries;
  for (uint32_t job = 2048; job < 2060; job += 1 + static_cast<uint32_t>(rng.Below(2))) {
    AccountEntry& e = entries.emplace_back(AccountEntry{.job = JobId{job}});
    for (AccountAmounts& a : e.of) a = RandomAmounts(rng);
  }
  const std::string block = EncodeAccountBlock(entries, kFirst, 2);
  std::vector<AccountEntry> read;
  ASSERT_TRUE(AddAccountBlock(block, kFirst, 2, read).ok());
  EXPECT_EQ(read, entries);
  for (size_t i = 0; i < block.size(); ++i) {
    std::string damaged = block;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << rng.Below(8)));
    EXPECT_FALSE(AddAccountBlock(damaged, kFirst, 2, read).ok()) << i;
    EXPECT_FALSE(AddAccountBlock(std::string_view(block).substr(0, i), kFirst, 2, read).ok()) << i;
  }
  EXPECT_THAT(AddAccountBlock(block, kFirst.next(), 2, read).message(), HasSubstr("of another time"));
  EXPECT_THAT(AddAccountBlock(block, kFirst, 3, read).message(), HasSubstr("chunk"));
  EXPECT_EQ(read, entries);
}

}  // namespace
}  // namespace taut::server
