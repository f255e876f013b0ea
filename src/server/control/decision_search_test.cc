#include "server/control/decision_search.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/store/in_memory_store.h"

namespace taut::server {
namespace {

class DecisionSearch : public ::testing::Test {
 protected:
  DecisionSearch() {
    std::vector<Decision> decisions(kDecisions);
    for (uint64_t i = 0; i < kDecisions; ++i) {
      decisions[i].id = i + 1;
      decisions[i].job = JobId{static_cast<uint32_t>(i % 1000)};
      decisions[i].outcome = i % 1000 == 7 ? Outcome::kFailed : Outcome::kApplied;
    }
    PassRecord pass;
    pass.decisions = decisions;
    EXPECT_TRUE(store_.Commit(pass).ok());
  }
  // Reads all pages of a filter, one after the other.
  std::vector<uint64_t> AllPages(DecisionFilter filter, size_t* pages = nullptr) {
    std::vector<uint64_t> ids;
    for (size_t n = 1;; ++n) {
      const absl::StatusOr<DecisionsFound> page = FindDecisions(store_, filter);
      EXPECT_TRUE(page.ok());
      EXPECT_LE(page->decisions.size(), filter.query.limit);
      for (const Decision& d : page->decisions) ids.push_back(d.id);
      if (pages != nullptr) *pages = n;
      if (!page->next_before.has_value()) return ids;
      filter.query.before_id = *page->next_before;
    }
  }
  static constexpr uint64_t kDecisions = 45'000;
  InMemoryStore store_;
};

TEST_F(DecisionSearch, FindsAllOfAJobOverPages) {
  DecisionFilter filter;
  filter.query.limit = 10;
  filter.job = [](JobId id) { return id.value == 3; };
  const std::vector<uint64_t> ids = AllPages(filter);
  EXPECT_EQ(ids.size(), kDecisions / 1000);
  EXPECT_EQ(ids.front(), 44'004U);
  EXPECT_EQ(ids.back(), 4U);
}

TEST_F(DecisionSearch, FindsByOutcomeAndEndsWhereNothingFits) {
  DecisionFilter filter;
  filter.query.outcome = Outcome::kFailed;
  EXPECT_EQ(AllPages(filter).size(), kDecisions / 1000);
  filter.query.outcome = Outcome::kSuperseded;
  EXPECT_THAT(AllPages(filter), testing::IsEmpty());
  filter.query.outcome.reset();
  filter.job = [](JobId) { return false; };
  size_t pages = 0;
  EXPECT_THAT(AllPages(filter, &pages), testing::IsEmpty());
  EXPECT_EQ(pages, 3U);  // a call reads at most 20,000 decisions
}

TEST_F(DecisionSearch, WithoutAFilterIsThePlainPage) {
  DecisionFilter filter;
  filter.query.limit = 1000;
  EXPECT_EQ(AllPages(filter).size(), kDecisions);
}

}  // namespace
}  // namespace taut::server
