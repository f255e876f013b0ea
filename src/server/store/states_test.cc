// Tests the contract of states and logs in both stores. The store's file is also tested with damage, deletion, a
// full disk, concurrent passes and a restart.
#include "server/store/states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "server/store/small_files.h"
#include "server/store/sqlite.h"
#include "server/store/store_subject.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

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

class StatesTest : public ::testing::TestWithParam<Which> {
 protected:
  std::unique_ptr<Subject> subject_ = Make(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Stores, StatesTest, ::testing::Values(Which::kMemory, Which::kSqlite),
                         [](const auto& chosen) {
                           return chosen.param == Which::kMemory ? "memory" : "sqlite";
                         });

TEST_P(StatesTest, TheNewestOfEachNameIsThere) {
  EXPECT_EQ(*subject_->states().Get("machines"), std::nullopt);
  ASSERT_TRUE(subject_->states().Put("machines", "first").ok());
  ASSERT_TRUE(subject_->states().Put("capacity", std::string_view("a\0b", 3)).ok());
  const std::string large(9 << 20, 'm');
  ASSERT_TRUE(subject_->states().Put("machines", large).ok());
  subject_->Reopen();
  EXPECT_THAT(*subject_->states().Get("machines"), Optional(large));
  EXPECT_THAT(*subject_->states().Get("capacity"), Optional(std::string("a\0b", 3)));
  ASSERT_TRUE(subject_->states().Put("machines", "").ok());
  subject_->Reopen();
  EXPECT_EQ(*subject_->states().Get("machines"), std::nullopt);
}

TEST_P(StatesTest, LogsKeepTheirOrderAndForget) {
  {
    RequestLog& log = subject_->states().requests();
    EXPECT_TRUE(log.Check().ok());
    ASSERT_TRUE(Append(log, {{1, 10, "ann", "one"}, {2, 10, "bob", "two"}}).ok());
    ASSERT_TRUE(Append(log, {{1, 20, "ann", "one again"}}).ok());
    ASSERT_TRUE(Append(subject_->states().budgets(), {{1, 20, "ann", "a grant"}}).ok());
    EXPECT_THAT(ReadLog(log).texts, ElementsAre("one", "two", "one again"));
    const std::vector<uint64_t> gone = {1, 7};
    ASSERT_TRUE(log.Forget(gone).ok());
  }
  subject_->Reopen();
  EXPECT_THAT(ReadLog(subject_->states().requests()).texts, ElementsAre("two"));
  EXPECT_THAT(ReadLog(subject_->states().budgets()).texts, ElementsAre("a grant"));
  ASSERT_TRUE(Append(subject_->states().requests(), {{3, 30, "ann", "three"}}).ok());
  EXPECT_THAT(ReadLog(subject_->states().requests()).texts, ElementsAre("two", "three"));
}

// Tests of the store with a file.
class StateRowsTest : public ::testing::Test {
 protected:
  StateRowsTest() {
    options_.path = dir_.File("store.db");
    options_.keep = {100'000, 100'000};
    options_.sync = SqliteStore::Sync::kProcess;
  }
  std::unique_ptr<SqliteStore> Open() {
    auto store = SqliteStore::Open(options_);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void Edit(const char* sql) const {
    auto db = Database::Open(options_.path, Database::Access::kReadWrite);
    ASSERT_TRUE((*db)->Execute(sql).ok()) << sql;
  }

  TempDir dir_;
  SqliteStore::Options options_;
};

TEST_F(StateRowsTest, DamageIsFoundAndNamed) {
  {
    auto store = Open();
    ASSERT_TRUE(store->states().Put("machines", "known").ok());
    ASSERT_TRUE(store->states().Put("capacity", "known").ok());
    ASSERT_TRUE(Append(store->states().budgets(), {{1, 10, "ann", "one"}, {2, 10, "bob", "two"}}).ok());
  }
  Edit("UPDATE states SET bytes = x'6b6e6f77' WHERE name = 'machines'");
  Edit("UPDATE budget_ledger SET text = 'another' WHERE request = 1");
  auto store = Open();
  const auto machines = store->states().Get("machines");
  EXPECT_TRUE(absl::IsDataLoss(machines.status()));
  EXPECT_THAT(std::string(machines.status().message()), HasSubstr("the row machines of its table states"));
  EXPECT_THAT(*store->states().Get("capacity"), Optional(std::string("known")));
  const LogFound found = ReadLog(store->states().budgets());
  EXPECT_THAT(found.texts, ElementsAre("two"));
  EXPECT_THAT(found.damage,
              ElementsAre(HasSubstr("row 1 of its table budget_ledger, of request 1, is damaged")));
}

TEST_F(StateRowsTest, NothingIsTakenOnceTheFileIsGone) {
  auto store = Open();
  ASSERT_TRUE(store->states().Put("machines", "known").ok());
  std::filesystem::rename(options_.path, options_.path + ".away");
  EXPECT_TRUE(absl::IsUnavailable(store->states().Put("machines", "later")));
  EXPECT_TRUE(absl::IsUnavailable(store->states().requests().Check()));
  EXPECT_TRUE(absl::IsUnavailable(Append(store->states().requests(), {{1, 10, "ann", "one"}})));
  std::filesystem::rename(options_.path + ".away", options_.path);
  EXPECT_TRUE(store->states().Put("machines", "later").ok());
  EXPECT_TRUE(store->states().requests().Check().ok());
}

TEST_F(StateRowsTest, AFullDiskLeavesWhatWasThere) {
  auto store = Open();
  ASSERT_TRUE(store->states().Put("machines", "known").ok());
  ASSERT_TRUE(Append(store->states().budgets(), {{1, 10, "ann", "one"}}).ok());
  const std::string large(4 << 20, 'm');
  {
    const SmallFiles full(1 << 20);
    EXPECT_TRUE(absl::IsUnavailable(store->states().Put("machines", large)));
    EXPECT_TRUE(absl::IsUnavailable(Append(store->states().budgets(), {{2, 20, "bob", large}})));
    EXPECT_THAT(*store->states().Get("machines"), Optional(std::string("known")));
    EXPECT_THAT(ReadLog(store->states().budgets()).texts, ElementsAre("one"));
  }
  EXPECT_TRUE(store->states().Put("machines", large).ok());
  EXPECT_TRUE(Append(store->states().budgets(), {{2, 20, "bob", "two"}}).ok());
  store.reset();
  store = Open();
  EXPECT_THAT(*store->states().Get("machines"), Optional(large));
  EXPECT_THAT(ReadLog(store->states().budgets()).texts, ElementsAre("one", "two"));
}

// Passes with housekeeping, states and logs are written concurrently: no write is refused, and all data are
// stored.
TEST_F(StateRowsTest, WritersTakeTurns) {
  constexpr int kEntries = 200, kPasses = 30;
  auto store = Open();
  std::atomic<int> refused = 0;
  const auto append = [&](RequestLog& log) {
    for (uint64_t i = 1; i <= kEntries; ++i)
      if (!Append(log, {{i, 10, "ann", StrCat("entry ", i)}}).ok()) ++refused;
  };
  {
    const std::jthread requests([&] { append(store->states().requests()); });
    const std::jthread budgets([&] { append(store->states().budgets()); });
    const std::jthread states([&] {
      for (int i = 0; i < kEntries; ++i)
        if (!store->states().Put("machines", StrCat("state ", i)).ok()) ++refused;
    });
    PassMaker maker(1, 200, {20'000 * kWindowsPerDay});
    for (int i = 0; i < kPasses; ++i) {
      if (!store->Commit(maker.Pass(12).View()).ok()) ++refused;
      if (!store->Maintain({maker.next_window() - 1}).ok()) ++refused;
    }
  }
  EXPECT_EQ(refused, 0);
  store.reset();
  store = Open();
  EXPECT_EQ(ReadLog(store->states().requests()).texts.size(), size_t{kEntries});
  EXPECT_EQ(ReadLog(store->states().budgets()).texts.back(), StrCat("entry ", kEntries));
  EXPECT_THAT(*store->states().Get("machines"), Optional(StrCat("state ", kEntries - 1)));
}

}  // namespace
}  // namespace taut::server
