#include "brain/economy/quota_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include "brain/economy/quota_rows.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

QuotaRow CpuQuota(int64_t nominal, std::optional<int64_t> borrow = {}, std::optional<int64_t> lend = {}) {
  return {"prod", "cpu", nominal, borrow, lend};
}
// Returns the CPU that is available to a group in tier prod.
int64_t Available(const QuotaTree& tree, std::string_view group) {
  return tree.lane(*tree.TierNamed("prod"), *tree.ResourceNamed("cpu")).Available(*tree.GroupNamed(group));
}
QuotaUse Use(const std::string& group, int64_t cpu) { return {group, "prod", {{"cpu", cpu}}}; }

// Kueue's documented example is a cohort of two queues with quotas of 9 and 12.
TEST(QuotaTree, ACohortOfNineAndTwelveLendsAll) {
  QuotaSpec spec{{{"all"}, {"a", "all", {CpuQuota(9)}}, {"b", "all", {CpuQuota(12)}}}};
  QuotaTree tree = *QuotaTree::Make(spec);
  EXPECT_EQ(Available(tree, "a"), 21);
  ASSERT_TRUE(tree.Add(Use("b", 5)).ok());
  EXPECT_EQ(Available(tree, "a"), 16);
  ASSERT_TRUE(tree.Add(Use("a", 16)).ok());
  EXPECT_EQ(Available(tree, "a"), 0);
  EXPECT_EQ(Available(tree, "b"), 0);  // b's own quota is lent, but can be reclaimed
}

TEST(QuotaTree, ABorrowingLimitOfOneMakesTen) {
  const QuotaTree tree =
      *QuotaTree::Make({{{"all"}, {"a", "all", {CpuQuota(9, 1)}}, {"b", "all", {CpuQuota(12)}}}});
  EXPECT_EQ(Available(tree, "a"), 10);
  EXPECT_EQ(Available(tree, "b"), 21);
}

// In Kueue, with a lending limit of 1 on b, a may use 9 + 1, and 11 are exclusive to b.
TEST(QuotaTree, ALendingLimitKeepsTheRestExclusive) {
  QuotaTree tree =
      *QuotaTree::Make({{{"all"}, {"a", "all", {CpuQuota(9)}}, {"b", "all", {CpuQuota(12, {}, 1)}}}});
  EXPECT_EQ(Available(tree, "a"), 10);
  EXPECT_EQ(Available(tree, "b"), 21);
  ASSERT_TRUE(tree.Add(Use("a", 10)).ok());
  EXPECT_EQ(Available(tree, "b"), 11);
  // The exclusive part is used first, and its use does not reduce the amount that is available to the cohort.
  ASSERT_TRUE(tree.Remove(Use("a", 10)).ok());
  ASSERT_TRUE(tree.Add(Use("b", 11)).ok());
  EXPECT_EQ(Available(tree, "a"), 10);
  ASSERT_TRUE(tree.Add(Use("b", 3)).ok());
  EXPECT_EQ(Available(tree, "a"), 7);
}

TEST(QuotaRows, WhatIsBorrowedIsOfACohortAndBeyondIsOverTheQuota) {
  // Returns the rows in use as text: group, borrowed use, and use over the quota.
  const auto rows = [](const QuotaTree& tree) {
    std::vector<std::string> out;
    for (const QuotaRowView& row : RowsOf(tree)) {
      if (row.cell.held > 0) out.push_back(StrCat(row.group, " ", row.borrowed(), " ", row.over_quota()));
    }
    return out;
  };
  QuotaTree alone = *QuotaTree::Make({{{"solo", "", {CpuQuota(2)}}}});
  ASSERT_TRUE(alone.Add(Use("solo", 3)).ok());
  EXPECT_THAT(rows(alone), ElementsAre("solo 0 1")) << "there is no one to borrow of";
  QuotaTree lends =
      *QuotaTree::Make({{{"all"}, {"a", "all", {CpuQuota(9)}}, {"b", "all", {CpuQuota(12, {}, 1)}}}});
  ASSERT_TRUE(lends.Add(Use("b", 12)).ok());
  EXPECT_THAT(rows(lends), ElementsAre("all 0 0", "b 0 0")) << "all of it is the group's own";
  ASSERT_TRUE(lends.Add(Use("a", 11)).ok());
  EXPECT_THAT(rows(lends), ElementsAre("all 0 2", "a 2 0", "b 0 0"))
      << "9 and the 1 that b lends are 10 of 12";
  QuotaTree limited =
      *QuotaTree::Make({{{"all"}, {"a", "all", {CpuQuota(9, 1)}}, {"b", "all", {CpuQuota(12)}}}});
  ASSERT_TRUE(limited.Add(Use("a", 12)).ok());
  EXPECT_THAT(rows(limited), ElementsAre("all 0 0", "a 1 2"));
}

TEST(QuotaCapacity, ProductionIsNotSoldBeyondIt) {
  QuotaSpec spec{{{"all", "", {{"production", "cpu", 30'000}}},
                  {"a", "all", {{"production", "cpu", 100'000}, {"batch", "cpu", 900'000}}}}};
  EXPECT_THAT(CheckQuotaSpec(spec), IsEmpty()) << "the capacity is unknown";
  spec.capacity = {{"cpu", 100'000, 0.98}};
  ASSERT_EQ(CheckQuotaSpec(spec).size(), 1U);
  EXPECT_TRUE(CheckQuotaSpec(spec)[0].error);
  EXPECT_EQ(
      CheckQuotaSpec(spec)[0].text,
      "tier \"production\", cpu: the nominal quotas, 130 cores, are 32 cores above the capacity of 98 cores "
      "(98 % of 100 cores); expected less quota, or oversold: accept");
  spec.capacity[0].accepts_oversold = true;
  ASSERT_EQ(CheckQuotaSpec(spec).size(), 1U);
  EXPECT_FALSE(CheckQuotaSpec(spec)[0].error);
  const std::vector<QuotaRowView> rows = RowsOf(*QuotaTree::Make(spec), spec);
  ASSERT_EQ(rows.size(), 4U);
  for (const QuotaRowView& row : rows) {
    const bool is_shown = row.group == "all" && row.tier == "production";
    EXPECT_EQ(row.oversold, is_shown ? std::optional<int64_t>(32'000) : std::nullopt)
        << row.group << row.tier;
  }
  spec.capacity[0].amount = 132'654;  // 98 % of it are 130 cores
  EXPECT_THAT(CheckQuotaSpec(spec), IsEmpty()) << "all of it may be sold";
  EXPECT_EQ(Oversold(spec, "cpu"), 0);
  spec.capacity.push_back(spec.capacity[0]);
  ASSERT_EQ(CheckQuotaSpec(spec).size(), 1U);
  EXPECT_EQ(CheckQuotaSpec(spec)[0].text, "two capacities of cpu");
}

TEST(QuotaTree, ALendingLimitOfZeroLendsNothing) {
  const QuotaTree tree =
      *QuotaTree::Make({{{"all"}, {"a", "all", {CpuQuota(9, {}, 0)}}, {"b", "all", {CpuQuota(12, {}, 0)}}}});
  EXPECT_EQ(Available(tree, "a"), 9);
  EXPECT_EQ(Available(tree, "b"), 12);
}

TEST(QuotaTree, NestedCohortsLendWithinTheirLimits) {
  // x lends at most 4 of its 20 to y, and borrows at most 3.
  QuotaTree tree = *QuotaTree::Make({{{"root"},
                                      {"x", "root", {CpuQuota(0, 3, 4)}},
                                      {"y", "root"},
                                      {"x1", "x", {CpuQuota(10)}},
                                      {"x2", "x", {CpuQuota(10)}},
                                      {"y1", "y", {CpuQuota(5)}}}});
  EXPECT_EQ(Available(tree, "x1"), 23);
  EXPECT_EQ(Available(tree, "y1"), 9);
  ASSERT_TRUE(tree.Add(Use("x1", 18)).ok());
  EXPECT_EQ(Available(tree, "y1"), 7);
  EXPECT_EQ(Available(tree, "x2"), 5);
}

TEST(QuotaTree, ACohortMayHaveQuotaOfItsOwn) {
  const QuotaTree tree = *QuotaTree::Make({{{"all", "", {CpuQuota(7)}}, {"a", "all", {CpuQuota(2)}}}});
  EXPECT_EQ(Available(tree, "a"), 9);
}

TEST(QuotaTree, WithoutARowThereIsNoQuotaAndNoBorrowing) {
  const QuotaTree tree = *QuotaTree::Make({{{"all"}, {"a", "all"}, {"b", "all", {CpuQuota(12)}}}});
  EXPECT_EQ(Available(tree, "a"), 0);
  EXPECT_FALSE(tree.HasTier(*tree.GroupNamed("a"), 0));
}

// Without the pool, the members do not lend. With the pool, they lend only to each other.
TEST(QuotaTree, APoolLendsAmongItsMembers) {
  QuotaSpec spec{{{"all"},
                  {"a", "all", {CpuQuota(9, 0, 0)}},
                  {"b", "all", {CpuQuota(12, 2, 0)}},
                  {"c", "all", {CpuQuota(5)}}},
                 {{"a and b", {"a", "b"}}}};
  QuotaTree tree = *QuotaTree::Make(spec);
  EXPECT_EQ(Available(tree, "a"), 23);  // the amount includes 2 that b may borrow
  EXPECT_EQ(Available(tree, "b"), 23);
  EXPECT_EQ(Available(tree, "c"), 5);
  ASSERT_TRUE(tree.Add(Use("b", 20)).ok());
  EXPECT_EQ(Available(tree, "a"), 3);
  spec.pools[0].tiers = {"batch"};
  spec.groups[1].quotas.push_back({"batch", "cpu", 1});
  EXPECT_EQ(Available(*QuotaTree::Make(spec), "a"), 9);  // the pool does not cover tier batch
}

TEST(QuotaTree, APoolGivesNoQuotaToAMemberWithoutARow) {
  const QuotaTree tree = *QuotaTree::Make({{{"a"}, {"b", "", {CpuQuota(12)}}}, {{"ab", {"a", "b"}}}});
  EXPECT_EQ(Available(tree, "a"), 0);
  EXPECT_EQ(Available(tree, "b"), 12);
}

TEST(QuotaLane, TheLenderIsTheLowestCohortThatSuffices) {
  QuotaTree tree = *QuotaTree::Make({{{"root"},
                                      {"x", "root"},
                                      {"y", "root", {CpuQuota(10)}},
                                      {"x1", "x", {CpuQuota(4, {}, 1)}},
                                      {"x2", "x", {CpuQuota(5)}}}});
  const auto lender = [&](int64_t n) {
    return tree.NameOf(tree.lane(0, 0).LenderOf(*tree.GroupNamed("x1"), n));
  };
  EXPECT_EQ(lender(4), "x1");
  EXPECT_EQ(lender(5), "x");
  EXPECT_EQ(lender(9), "x");
  EXPECT_EQ(lender(10), "root");
  // x1 may use its own exclusive part, but other groups may not.
  EXPECT_EQ(tree.lane(0, 0).UnlentTo(*tree.GroupNamed("x1")), 0);
  EXPECT_EQ(tree.lane(0, 0).UnlentTo(*tree.GroupNamed("x2")), 3);
  ASSERT_TRUE(tree.Add(Use("x1", 2)).ok());
  EXPECT_EQ(tree.lane(0, 0).UnlentTo(*tree.GroupNamed("y")), 1);
}

TEST(QuotaTree, APoolOfGroupsWithoutParentIsACohort) {
  const QuotaTree tree =
      *QuotaTree::Make({{{"a", "", {CpuQuota(9)}}, {"b", "", {CpuQuota(12)}}, {"c", "", {CpuQuota(1)}}},
                        {{"ab", {"a", "b"}}}});
  EXPECT_EQ(Available(tree, "a"), 21);
  EXPECT_EQ(Available(tree, "c"), 1);
}

TEST(QuotaTree, CountsAllOrNothing) {
  QuotaTree tree = *QuotaTree::Make({{{"a", "", {CpuQuota(9), {"prod", "memory", 100}}}}});
  EXPECT_THAT(tree.Add({"a", "prod", {{"cpu", 1}, {"gpu", 1}}}).ToString(),
              HasSubstr("unknown resource \"gpu\""));
  EXPECT_THAT(tree.Add({"a", "prod", {{"cpu", 1}, {"memory", -1}}}).ToString(), HasSubstr("expected 0 to"));
  EXPECT_THAT(tree.Add({"x", "prod", {{"cpu", 1}}}).ToString(), HasSubstr("unknown group \"x\""));
  EXPECT_THAT(tree.Add({"a", "prd", {{"cpu", 1}}}).ToString(), HasSubstr("did you mean \"prod\""));
  EXPECT_THAT(tree.InUse(), IsEmpty());
  ASSERT_TRUE(tree.Add({"a", "prod", {{"cpu", 3}, {"memory", 50}}}).ok());
  EXPECT_THAT(tree.Remove({"a", "prod", {{"cpu", 1}, {"memory", 51}}}).ToString(), HasSubstr("uses 50B"));
  ASSERT_EQ(tree.InUse().size(), 1U);
  EXPECT_EQ(tree.InUse()[0], (QuotaUse{"a", "prod", {{"cpu", 3}, {"memory", 50}}}));
}

std::string Findings(const QuotaSpec& spec, std::vector<QuotaUse> use = {}) {
  std::string out;
  for (const QuotaFinding& f : CheckQuota(spec, use))
    out += (f.error ? "error: " : "warning: ") + f.text + "\n";
  return out;
}

TEST(CheckQuota, NamesWhatIsWrong) {
  EXPECT_EQ(Findings({{{"all"}, {"a", "all", {CpuQuota(9, 1, 2)}}}}), "");
  EXPECT_EQ(Findings({{{"a", "c"}, {"b", "a"}, {"c", "b"}, {"d", "a"}}}),
            "error: the groups make a cycle: a -> c -> b -> a\n");
  EXPECT_EQ(Findings({{{"d", "a"}, {"b", "a"}, {"a", "b"}, {"e", "d"}}}),
            "error: the groups make a cycle: a -> b -> a\n");
  EXPECT_EQ(Findings({{{"a", "a"}}}), "error: the groups make a cycle: a -> a\n");
  EXPECT_EQ(Findings({{{"all"}, {"a", "al"}}}),
            "error: unknown parent \"al\" of group \"a\"; did you mean \"all\"?\n");
  EXPECT_EQ(Findings({{{"a"}, {"a"}}}), "error: two groups have the name \"a\"\n");
  EXPECT_EQ(Findings({{{"a"}, {"A"}}}), "warning: group \"A\" differs from \"a\" in case only\n");
  EXPECT_THAT(Findings({{{"a "}, {""}}}), HasSubstr("error: invalid name \"a \" of a group"));
  EXPECT_THAT(Findings({{{"a", "", {CpuQuota(-1)}}}}), HasSubstr("error: invalid nominal of group \"a\""));
  EXPECT_THAT(Findings({{{"a"}, {"b", "a", {CpuQuota(5, -2)}}}}), HasSubstr("invalid borrowing limit"));
  EXPECT_THAT(Findings({{{"a"}, {"b", "a", {CpuQuota(5, {}, 6)}}}}),
              HasSubstr("lending limit 6 of group \"b\", tier \"prod\", cpu is above its nominal, 5"));
  EXPECT_THAT(Findings({{{"a", "", {CpuQuota(5), CpuQuota(6)}}}}),
              HasSubstr("error: two quotas of group \"a\""));
  EXPECT_THAT(Findings({{{"a", "", {CpuQuota(5, 1)}}}}),
              HasSubstr("warning: a limit of borrowing or lending"));
  EXPECT_THAT(Findings({{{"a", "", {CpuQuota(kMaxQuotaAmount)}}, {"b", "", {CpuQuota(kMaxQuotaAmount)}}}}),
              HasSubstr("add up to more than"));
}

TEST(CheckQuota, NamesWhatIsWrongWithPools) {
  const std::vector<QuotaGroup> groups = {
      {"x"}, {"a", "x", {CpuQuota(1)}}, {"b", "x", {CpuQuota(1)}}, {"c", "", {CpuQuota(1)}}};
  EXPECT_EQ(Findings({groups, {{"p", {"a", "b"}}}}), "");
  EXPECT_THAT(Findings({groups, {{"p", {"a"}}}}), HasSubstr("has 1 members; expected at least 2"));
  EXPECT_THAT(Findings({groups, {{"p", {"a", "c"}}}}), HasSubstr("expected groups of one parent"));
  EXPECT_THAT(Findings({groups, {{"p", {"a", "b"}}, {"q", {"b", "a"}}}}),
              HasSubstr("expected one: join them"));
  EXPECT_THAT(Findings({groups, {{"a", {"a", "b"}}}}), HasSubstr("the name of another group or pool"));
  EXPECT_THAT(Findings({groups, {{"p", {"a", "bb"}}}}), HasSubstr("unknown group \"bb\""));
  EXPECT_THAT(Findings({groups, {{"p", {"a", "b"}, {"prd"}}}}),
              HasSubstr("no group has a quota of tier \"prd\""));
}

TEST(CheckQuota, QuotaBelowWhatIsInUseIsAWarning) {
  const QuotaSpec spec{{{"all"}, {"a", "all", {CpuQuota(9, 1)}}, {"b", "all", {CpuQuota(12)}}}};
  const std::vector<QuotaUse> use = {Use("a", 15), Use("b", 8)};
  EXPECT_EQ(Findings(spec, use),
            "warning: \"all\" uses 0.023 cores of tier \"prod\" and may use 0.021 cores; nothing more is "
            "admitted until it is less\n"
            "warning: \"a\" uses 0.015 cores of tier \"prod\" and may use 0.01 cores; nothing more is "
            "admitted until it is less\n");
  QuotaTree tree = *QuotaTree::Make(spec, use);
  EXPECT_EQ(tree.InUse(), use);
  EXPECT_EQ(Available(tree, "a"), 0);
  EXPECT_EQ(Available(tree, "b"), 0);
  ASSERT_TRUE(tree.Remove(Use("a", 15)).ok());
  EXPECT_EQ(Available(tree, "b"), 13);
  // Use stays counted even if the whole quota is removed.
  EXPECT_EQ(QuotaTree::Make({{{"a"}, {"b"}}}, use)->InUse(), use);
  EXPECT_THAT(Findings({{{"b", "", {CpuQuota(30)}}}}, use),
              HasSubstr("error: group \"a\" uses 0.015 cores and is not"));
  EXPECT_THAT(Findings(spec, {Use("all", 1)}), HasSubstr("is a cohort"));
  EXPECT_THAT(Findings(spec, {Use("a", -1)}), HasSubstr("invalid use of cpu"));
}

// Returns a random tree of up to 30 groups, some of which have no limits.
QuotaSpec RandomTree(Rng& rng) {
  QuotaSpec spec;
  const uint64_t n = 2 + rng.Below(29);
  for (uint64_t i = 0; i < n; ++i) {
    QuotaGroup g{std::to_string(i)};
    if (i > 0 && rng.Below(10) > 0) g.parent = std::to_string(rng.Below(i));
    QuotaRow row = CpuQuota(static_cast<int64_t>(rng.Below(20)));
    if (rng.Below(2) == 0) row.borrowing_limit = static_cast<int64_t>(rng.Below(15));
    if (rng.Below(2) == 0)
      row.lending_limit = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(row.nominal) + 1));
    if (rng.Below(10) > 0) g.quotas = {row};
    spec.groups.push_back(g);
  }
  // Some children of a group form a pool.
  for (uint64_t p = 0; p < n && rng.Below(2) == 0; ++p) {
    QuotaPool pool{"pool " + std::to_string(p), {}};
    for (const QuotaGroup& g : spec.groups) {
      if (g.parent == std::to_string(p) && rng.Below(3) > 0) pool.members.push_back(g.name);
    }
    if (pool.members.size() > 1) spec.pools.push_back(pool);
  }
  if (spec.groups[0].quotas.empty()) spec.groups[0].quotas = {CpuQuota(3)};
  return spec;
}

struct Walk {
  explicit Walk(uint64_t seed) : rng(seed), spec(RandomTree(rng)), tree(*QuotaTree::Make(spec)) {
    for (int32_t g = 0; g < tree.groups(); ++g) {
      if (!tree.IsCohort(g)) leaves.push_back(g);
    }
  }
  const QuotaLane& lane() const { return tree.lane(0, 0); }
  // Adds a fitting use to a random group, or removes a part of the group's use.
  void Step() {
    const int32_t g = leaves[rng.Below(leaves.size())];
    const bool add = rng.Below(3) > 0;
    const int64_t most = add ? lane().Available(g) : lane().cell(g).use;
    const auto n = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(most) + 1));
    const QuotaUse use = Use(tree.NameOf(g), n);
    ASSERT_TRUE((add ? tree.Add(use) : tree.Remove(use)).ok());
  }
  Rng rng;
  QuotaSpec spec;
  QuotaTree tree;
  std::vector<int32_t> leaves;
};

TEST(QuotaTreeProperty, IncrementalUseIsTheSumFromScratchAndWithinCapacity) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Walk w(seed);
    for (int step = 0; step < 60; ++step) ASSERT_NO_FATAL_FAILURE(w.Step());
    const QuotaTree fresh = *QuotaTree::Make(w.spec, w.tree.InUse());
    for (int32_t g = 0; g < w.tree.groups(); ++g) {
      ASSERT_EQ(w.lane().cell(g).use, fresh.lane(0, 0).cell(g).use) << seed;
      ASSERT_EQ(w.lane().cell(g).held, fresh.lane(0, 0).cell(g).held) << seed;
    }
    // The use below a root is at most the sum of the nominal quotas below the root.
    for (int32_t root = 0; root < w.tree.groups(); ++root) {
      if (w.lane().cell(root).parent >= 0) continue;
      int64_t capacity = 0;
      for (int32_t g = 0; g < w.tree.groups(); ++g) {
        if (w.lane().RootOf(g) == root) capacity += w.lane().cell(g).nominal;
      }
      ASSERT_LE(w.lane().cell(root).held, capacity) << seed;
    }
    EXPECT_THAT(w.tree.Overused(), IsEmpty()) << seed;
  }
}

// Computes the available amount directly by the formula in quota_lane.h.
int64_t ByRecursion(const QuotaLane& lane, int32_t node) {
  const QuotaCell& c = lane.cell(node);
  if (c.parent < 0) return c.quota - c.use;
  const int64_t all = std::max(int64_t{0}, c.exclusive - c.use) + ByRecursion(lane, c.parent);
  return c.borrow == kNoQuotaLimit ? all : std::min(all, c.quota + c.borrow - c.use);
}

TEST(QuotaTreeProperty, WhatIsAvailableFitsAndOneMoreDoesNot) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Walk w(seed);
    for (int step = 0; step < 40; ++step) {
      ASSERT_NO_FATAL_FAILURE(w.Step());
      for (const int32_t g : w.leaves) {
        const int64_t now = w.lane().Available(g), most = w.lane().Maximum(g);
        ASSERT_GE(now, 0);
        ASSERT_EQ(now, ByRecursion(w.lane(), g)) << seed;
        ASSERT_LE(now + w.lane().cell(g).use, most) << seed;
        ASSERT_THAT(w.lane().Binds(g, now, true), IsEmpty()) << seed;
        ASSERT_FALSE(w.lane().Binds(g, now + 1, true).empty()) << seed;
        ASSERT_THAT(w.lane().Binds(g, most, false), IsEmpty()) << seed;
        ASSERT_FALSE(w.lane().Binds(g, most + 1, false).empty()) << seed;
        ASSERT_GE(now, w.lane().cell(g).unused_exclusive()) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace taut::brain
