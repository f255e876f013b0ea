#include "brain/economy/elastic_share.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "brain/economy/quota_vector.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> Runtimes(const std::vector<ElasticGroup>& groups, int64_t total) {
  std::vector<int64_t> out;
  const std::vector<ElasticShare> shares = *ShareElastically(groups, total);
  for (const ElasticShare& s : shares) out.push_back(s.runtime);
  return out;
}

TEST(ShareInProportion, GivesTheRemainingUnitsToTheLargestFractions) {
  EXPECT_THAT(ShareInProportion(std::vector<Proportion>{{"a", 60}, {"b", 50}, {"c", 80}}, 45),
              ElementsAre(14, 12, 19));
  EXPECT_THAT(ShareInProportion(std::vector<Proportion>{{"b", 50}, {"c", 80}}, 9), ElementsAre(3, 6));
  EXPECT_THAT(ShareInProportion(std::vector<Proportion>{{"b", 1}, {"a", 1}, {"c", 1}}, 4),
              ElementsAre(1, 2, 1));
  EXPECT_THAT(ShareInProportion(std::vector<Proportion>{{"b", 0}, {"a", 0}}, 4), ElementsAre(0, 0));
  EXPECT_THAT(ShareInProportion(std::vector<Proportion>{{"b", kMaxQuotaAmount}, {"a", kMaxQuotaAmount}},
                                kMaxQuotaAmount),
              ElementsAre(kMaxQuotaAmount / 2, kMaxQuotaAmount / 2));
  // The larger weight, with an exact part of 1.5, receives the remaining unit. The smaller weight has an exact
  // part of 0.5.
  EXPECT_THAT(ShareInProportion(std::vector<Proportion>{{"a", 1}, {"b", 3}}, 2), ElementsAre(0, 2));
  EXPECT_TRUE(ShareInProportion({}, 4).empty());
}

// Koordinator's example: the first group uses 5 of its 10. The minimums of the other groups are 15, 20 and 15. The
// second group needs only 5 of the 14 that it receives of the spare 45.
TEST(ShareElastically, SharesTheSpareAgainWhileSomeoneIsSatisfied) {
  const std::vector<ElasticGroup> groups = {
      {.name = "1", .min = 10, .weight = 40, .request = 5},
      {.name = "2", .min = 15, .weight = 60, .request = 20},
      {.name = "3", .min = 20, .weight = 50, .request = 40},
      {.name = "4", .min = 15, .weight = 80, .request = 70},
  };
  EXPECT_THAT(Runtimes(groups, 100), ElementsAre(5, 20, 35, 40));
}

TEST(ShareElastically, WithoutAnExcessOneRoundIsAll) {
  const std::vector<ElasticGroup> groups = {
      {.name = "1", .min = 10, .weight = 40, .request = 5},
      {.name = "2", .min = 15, .weight = 60, .request = 60},
      {.name = "3", .min = 20, .weight = 50, .request = 60},
      {.name = "4", .min = 15, .weight = 80, .request = 70},
  };
  EXPECT_THAT(Runtimes(groups, 100), ElementsAre(5, 29, 32, 34));
}

TEST(ShareElastically, TheWeightIsTheMaximumIfNotGiven) {
  const std::vector<ElasticGroup> groups = {{.name = "a", .max = 30, .request = 100},
                                            {.name = "b", .max = 60, .request = 100},
                                            {.name = "c", .weight = 0}};
  EXPECT_THAT(Runtimes(groups, 45), ElementsAre(15, 30, 0));
  EXPECT_THAT(Runtimes(groups, 200), ElementsAre(30, 60, 0));  // no group has more than its maximum
}

TEST(ShareElastically, AMinimumThatDoesNotLendIsKept) {
  std::vector<ElasticGroup> groups = {{.name = "a", .min = 40, .max = 100, .request = 10},
                                      {.name = "b", .min = 40, .max = 100, .request = 100}};
  EXPECT_THAT(Runtimes(groups, 100), ElementsAre(10, 90));
  groups[0].lends = false;
  EXPECT_THAT(Runtimes(groups, 100), ElementsAre(40, 60));
}

TEST(ShareElastically, MinimumsScaleDownWithTheCapacity) {
  const std::vector<ElasticGroup> groups = {{.name = "a", .min = 60, .max = 100, .request = 100},
                                            {.name = "b", .min = 40, .max = 100, .request = 100}};
  const std::vector<ElasticShare> shares = *ShareElastically(groups, 51);
  EXPECT_EQ(shares[0], (ElasticShare{100, 31, 31}));  // 51 is divided into 30.6 and 20.4
  EXPECT_EQ(shares[1], (ElasticShare{100, 20, 20}));
  EXPECT_THAT(Runtimes(groups, 0), ElementsAre(0, 0));
}

TEST(ShareElastically, RequestsGoUpAndRuntimesDown) {
  // The request of x is min(70, 50) + 10. x receives 60, and y receives its request.
  const std::vector<ElasticGroup> groups = {
      {.name = "x1", .parent = "x", .min = 10, .max = 50, .request = 70},
      {.name = "x2", .parent = "x", .min = 20, .max = 50, .request = 10},
      {.name = "x", .min = 40, .max = 80},
      {.name = "y", .min = 20, .max = 100, .request = 30},
  };
  const std::vector<ElasticShare> shares = *ShareElastically(groups, 100);
  EXPECT_EQ(shares[2], (ElasticShare{60, 40, 60}));
  EXPECT_EQ(shares[3], (ElasticShare{30, 20, 30}));
  EXPECT_EQ(shares[0], (ElasticShare{50, 10, 50}));
  EXPECT_EQ(shares[1], (ElasticShare{10, 20, 10}));
}

TEST(ShareElastically, NamesWhatIsWrong) {
  const auto error = [](const std::vector<ElasticGroup>& groups, int64_t total = 10) {
    return ShareElastically(groups, total).status().ToString();
  };
  EXPECT_THAT(error({}, -1), HasSubstr("invalid total -1"));
  EXPECT_THAT(error({{.name = "a"}, {.name = "a"}}), HasSubstr("two groups have the name \"a\""));
  EXPECT_THAT(error({{.name = ""}}), HasSubstr("a group has no name"));
  EXPECT_THAT(error({{.name = "a", .parent = "b"}}), HasSubstr("unknown parent \"b\" of group \"a\""));
  EXPECT_THAT(error({{.name = "a", .parent = "b"}, {.name = "b", .parent = "a"}}),
              HasSubstr("groups in a cycle or below one: \"a\", \"b\""));
  EXPECT_THAT(error({{.name = "a", .min = -1}}), HasSubstr("invalid min of group \"a\": -1"));
  EXPECT_THAT(error({{.name = "a", .min = 5, .max = 4}}),
              HasSubstr("min 5 of group \"a\" is above its max, 4"));
  EXPECT_THAT(error({{.name = "a", .min = 5}, {.name = "b", .parent = "a", .min = 6}}),
              HasSubstr("the minimums of the children of group \"a\" add up to 6"));
  EXPECT_THAT(error({{.name = "a", .request = 5}, {.name = "b", .parent = "a"}}),
              HasSubstr("has children and a request of its own, 5"));
  EXPECT_THAT(error({{.name = "a", .request = kMaxQuotaAmount}, {.name = "b", .request = kMaxQuotaAmount}}),
              HasSubstr("add up to more than"));
  EXPECT_TRUE(ShareElastically({}, 10)->empty());
}

std::vector<ElasticGroup> RandomGroups(Rng& rng) {
  std::vector<ElasticGroup> groups(1 + rng.Below(25));
  for (size_t i = 0; i < groups.size(); ++i) {
    ElasticGroup& g = groups[i];
    g.name = std::to_string(i);
    if (i > 0 && rng.Below(4) > 0) g.parent = std::to_string(rng.Below(i));
    if (rng.Below(2) > 0) g.weight = static_cast<int64_t>(rng.Below(100));
    g.lends = rng.Below(5) > 0;
  }
  std::vector<bool> leaf(groups.size(), true);
  for (const ElasticGroup& g : groups) {
    if (!g.parent.empty()) leaf[std::stoul(g.parent)] = false;
  }
  // Iterates from the last group to the first, because children follow their parents.
  for (size_t i = groups.size(); i-- > 0;) {
    ElasticGroup& g = groups[i];
    g.min += static_cast<int64_t>(rng.Below(30));
    if (rng.Below(2) > 0) g.max = g.min + static_cast<int64_t>(rng.Below(100));
    if (leaf[i]) g.request = static_cast<int64_t>(rng.Below(150));
    if (!g.parent.empty()) groups[std::stoul(g.parent)].min += g.min;
  }
  return groups;
}

TEST(ShareElasticallyProperty, SumsAreExactMinimumsAreKeptAndTheOrderDoesNotMatter) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed);
    std::vector<ElasticGroup> groups = RandomGroups(rng);
    const auto total = static_cast<int64_t>(rng.Below(1000));
    const std::vector<ElasticShare> shares = *ShareElastically(groups, total);
    // Checks the children of `parent`, which is "" for the root.
    const auto check = [&](const std::string& parent, int64_t has) {
      int64_t runtimes = 0, wanted = 0, mins = 0;
      bool all_weigh = true, any = false;
      for (size_t i = 0; i < groups.size(); ++i) {
        if (groups[i].parent != parent) continue;
        any = true;
        const ElasticShare& s = shares[i];
        runtimes += s.runtime;
        wanted += s.request;
        mins += groups[i].min;
        all_weigh = all_weigh && groups[i].weight.value_or(groups[i].max.value_or(total)) > 0;
        ASSERT_LE(s.runtime, std::max(s.request, groups[i].lends ? 0 : s.min)) << seed;
        ASSERT_GE(s.runtime, std::min(s.request, s.min)) << seed;
        ASSERT_LE(s.min, groups[i].min);
      }
      ASSERT_LE(runtimes, has) << seed;
      if (any && all_weigh && mins <= has) {
        ASSERT_EQ(runtimes, std::min(has, wanted)) << seed;
      }
    };
    ASSERT_NO_FATAL_FAILURE(check("", total));
    for (size_t i = 0; i < groups.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(check(groups[i].name, shares[i].runtime));

    std::vector<size_t> order(groups.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    std::vector<ElasticGroup> shuffled;
    for (const size_t i : order) shuffled.push_back(groups[i]);
    const std::vector<ElasticShare> again = *ShareElastically(shuffled, total);
    for (size_t k = 0; k < order.size(); ++k) ASSERT_EQ(again[k], shares[order[k]]) << seed;
  }
}

}  // namespace
}  // namespace taut::brain
