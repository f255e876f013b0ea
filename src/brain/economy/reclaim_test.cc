#include "brain/economy/reclaim.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HeldJob Job(const std::string& id, const std::string& group, int64_t cpu, int32_t priority, int64_t since_s) {
  return {id, {group, "prod", {{"cpu", cpu}}}, priority, Timestamp::FromSeconds(since_s)};
}
AdmissionRequest Ask(const std::string& group, int64_t cpu, int32_t priority = 100) {
  return {.group = group,
          .tier = "prod",
          .per_task = {{"cpu", cpu}},
          .priority = priority,
          .now = Timestamp::FromSeconds(1000)};
}

struct Cell {
  Cell(const QuotaSpec& spec, const std::vector<HeldJob>& of)
      : jobs(of), tree(*QuotaTree::Make(spec, Uses(of))) {}
  static std::vector<QuotaUse> Uses(const std::vector<HeldJob>& jobs) {
    std::vector<QuotaUse> out;
    for (const HeldJob& j : jobs) out.push_back(j.use);
    return out;
  }
  ReclaimPlan Plan(const AdmissionRequest& request, ReclaimPolicy policy = ReclaimPolicy::kAny) const {
    return *PlanReclaim(tree, jobs, request, {.policy = policy, .grace_s = 60});
  }
  std::vector<std::string> Victims(const AdmissionRequest& request,
                                   ReclaimPolicy policy = ReclaimPolicy::kAny) const {
    std::vector<std::string> out;
    for (const ReclaimVictim& v : Plan(request, policy).victims) out.push_back(jobs[v.job].id);
    return out;
  }
  std::vector<HeldJob> jobs;
  QuotaTree tree;
};

QuotaSpec Three() {
  return {{{"all"},
           {"a", "all", {{"prod", "cpu", 9}}},
           {"b", "all", {{"prod", "cpu", 12}}},
           {"c", "all", {{"prod", "cpu", 10}}}}};
}

TEST(Reclaim, TheLowestPriorityThenTheNewestOfTheBorrowers) {
  // b borrows 8. c is within its quota, although its job has the lowest priority.
  const Cell cell(Three(), {Job("b1", "b", 8, 5, 10), Job("b2", "b", 4, 1, 20), Job("b3", "b", 4, 1, 30),
                            Job("b4", "b", 4, 2, 40), Job("c1", "c", 10, 0, 50)});
  EXPECT_THAT(cell.Victims(Ask("a", 1)), IsEmpty());
  EXPECT_TRUE(cell.Plan(Ask("a", 1)).enough);
  EXPECT_THAT(cell.Victims(Ask("a", 2)), ElementsAre("b3"));
  EXPECT_THAT(cell.Victims(Ask("a", 5)), ElementsAre("b3"));
  EXPECT_THAT(cell.Victims(Ask("a", 9)), ElementsAre("b3", "b2"));
  const ReclaimPlan plan = cell.Plan(Ask("a", 5));
  EXPECT_EQ(plan.victims[0].grace_end, Timestamp::FromSeconds(1060));
  EXPECT_EQ(plan.victims[0].reason,
            "\"a\" takes back its quota of tier \"prod\"; \"b\" uses 0.02 cores of a quota of 0.012 cores.");
}

TEST(Reclaim, ThoseNotNeededAreSparedFromTheLast) {
  // The job of 2 cores is chosen first but does not suffice. The job of 8 cores is chosen next and suffices
  // alone.
  const Cell cell(Three(),
                  {Job("small", "b", 2, 1, 10), Job("large", "b", 8, 2, 10), Job("rest", "b", 21, 3, 10)});
  EXPECT_THAT(cell.Victims(Ask("a", 8)), ElementsAre("large"));
}

TEST(Reclaim, OnlyTheNominalIsTakenBack) {
  const Cell cell(Three(), {Job("a1", "a", 5, 1, 10), Job("b1", "b", 13, 1, 10), Job("b2", "b", 13, 1, 10)});
  const ReclaimPlan plan = cell.Plan(Ask("a", 6));
  EXPECT_FALSE(plan.enough);
  EXPECT_THAT(plan.why_not,
              ElementsAre(HasSubstr("to 0.011 cores, beyond its nominal quota of 0.009 cores")));
  EXPECT_THAT(cell.Victims(Ask("a", 4)), ElementsAre("b1"));
}

TEST(Reclaim, Policies) {
  const Cell cell(Three(), {Job("b1", "b", 10, 1, 10), Job("b2", "b", 11, 7, 10), Job("c1", "c", 10, 1, 10)});
  EXPECT_THAT(cell.Plan(Ask("a", 2), ReclaimPolicy::kNever).why_not,
              ElementsAre(HasSubstr("never to reclaim")));
  EXPECT_THAT(cell.Victims(Ask("a", 2, 2), ReclaimPolicy::kLowerPriority), ElementsAre("b1"));
  const ReclaimPlan plan = cell.Plan(Ask("a", 2, 1), ReclaimPolicy::kLowerPriority);
  EXPECT_FALSE(plan.enough);
  EXPECT_THAT(plan.victims, IsEmpty());
  EXPECT_THAT(plan.why_not,
              ElementsAre(HasSubstr("0 cores of the 0.002 cores asked for would be free; other jobs")));
  EXPECT_THAT(cell.Victims(Ask("a", 2, 1), ReclaimPolicy::kAny), ElementsAre("b1"));
  for (const ReclaimPolicy p : {ReclaimPolicy::kNever, ReclaimPolicy::kLowerPriority, ReclaimPolicy::kAny})
    EXPECT_EQ(ReclaimPolicyNamed(Name(p)), p);
  EXPECT_FALSE(ReclaimPolicyNamed("some").has_value());
}

TEST(Reclaim, AGroupThatBorrowsWithinItsOwnCohortOnlyIsNotAsked) {
  // y1 borrows from y2, but y as a whole is within its quota. x2 borrows from x1.
  const Cell cell({{{"root"},
                    {"x", "root"},
                    {"y", "root"},
                    {"x1", "x", {{"prod", "cpu", 10}}},
                    {"x2", "x", {{"prod", "cpu", 10}}},
                    {"y1", "y", {{"prod", "cpu", 10}}},
                    {"y2", "y", {{"prod", "cpu", 10}}}}},
                  {Job("y", "y1", 20, 0, 50), Job("x", "x2", 20, 9, 10)});
  EXPECT_THAT(cell.Victims(Ask("x1", 5)), ElementsAre("x"));
}

TEST(Reclaim, WithinAPool) {
  const Cell cell({{{"a", "", {{"prod", "cpu", 9}}}, {"b", "", {{"prod", "cpu", 12}}}}, {{"ab", {"a", "b"}}}},
                  {Job("b1", "b", 12, 1, 10), Job("b2", "b", 9, 1, 20)});
  EXPECT_THAT(cell.Victims(Ask("a", 9)), ElementsAre("b2"));
}

TEST(Reclaim, BadInputIsAnError) {
  const Cell cell(Three(), {Job("b1", "b", 31, 1, 10)});
  const auto error = [&](std::vector<HeldJob> jobs, const AdmissionRequest& r, int64_t grace_s = 0) {
    return PlanReclaim(cell.tree, jobs, r, {ReclaimPolicy::kAny, grace_s}).status().ToString();
  };
  EXPECT_THAT(error(cell.jobs, Ask("a", 1), -1), HasSubstr("invalid grace -1 s"));
  EXPECT_THAT(error(cell.jobs, Ask("x", 1)), HasSubstr("unknown group \"x\""));
  EXPECT_THAT(error({Job("b1", "b", 32, 1, 10)}, Ask("a", 1)),
              HasSubstr("use more cpu than its account has, at job \"b1\""));
  EXPECT_THAT(error({Job("b1", "d", 3, 1, 10)}, Ask("a", 1)), HasSubstr("unknown group \"d\""));
  EXPECT_THAT(cell.Plan(Ask("a", 50)).why_not,
              ElementsAre(HasSubstr("could have 0.031 cores of the 0.05 cores")));
}

// A random tree with random jobs that were admitted one by one.
struct RandomCell {
  explicit RandomCell(uint64_t seed) : rng(seed) {
    QuotaSpec spec;
    const uint64_t n = 3 + rng.Below(12);
    for (uint64_t i = 0; i < n; ++i) {
      QuotaGroup g{std::to_string(i)};
      if (i > 0) g.parent = std::to_string(rng.Below(std::min(i, uint64_t{4})));
      for (const std::string resource : {"cpu", "memory"}) {
        QuotaRow row{"prod", resource, static_cast<int64_t>(rng.Below(30))};
        if (rng.Below(4) == 0) row.borrowing_limit = static_cast<int64_t>(rng.Below(30));
        if (rng.Below(4) == 0)
          row.lending_limit = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(row.nominal) + 1));
        g.quotas.push_back(row);
      }
      spec.groups.push_back(g);
    }
    ledger = *QuotaLedger::Make(spec);
    for (int32_t g = 0; g < ledger.tree().groups(); ++g) {
      if (!ledger.tree().IsCohort(g)) leaves.push_back(g);
    }
    for (int i = 0; i < 150; ++i) {
      AdmissionRequest r = Any();
      r.now = Timestamp::FromSeconds(static_cast<int64_t>(rng.Below(100)));
      EXPECT_TRUE(ledger.Admit(std::to_string(i), r).ok());
    }
  }
  AdmissionRequest Any() {
    AdmissionRequest r{.group = ledger.tree().NameOf(leaves[rng.Below(leaves.size())]), .tier = "prod"};
    r.per_task = QuotaVector::Of(1 + static_cast<int64_t>(rng.Below(6)), static_cast<int64_t>(rng.Below(6)));
    r.priority = static_cast<int32_t>(rng.Below(4));
    return r;
  }
  int64_t Over(const QuotaTree& tree, const std::string& group, std::string_view resource) const {
    const QuotaCell& c = tree.lane(0, *tree.ResourceNamed(resource)).cell(*tree.GroupNamed(group));
    return c.use - c.nominal;
  }
  Rng rng;
  QuotaLedger ledger;
  std::vector<int32_t> leaves;
};

TEST(ReclaimProperty, FitsAfterwardsSparesNoneLessAndTakesOnlyFromBorrowers) {
  int plans = 0, within_nominal = 0, with_several = 0;
  for (int seed = 1; seed <= Scaled(300); ++seed) {
    RandomCell cell(seed);
    const std::vector<HeldJob> jobs = cell.ledger.Jobs();
    for (int i = 0; i < 20; ++i) {
      const AdmissionRequest r = cell.Any();
      const ReclaimPolicy policy = i % 2 == 0 ? ReclaimPolicy::kAny : ReclaimPolicy::kLowerPriority;
      const AdmissionVerdict now = *DecideAdmission(cell.ledger.tree(), r);
      const ReclaimPlan plan = *PlanReclaim(cell.ledger.tree(), jobs, r, {.policy = policy});
      ASSERT_EQ(plan.enough, plan.why_not.empty()) << seed;
      if (now.reclaimable) {
        ++within_nominal;
        // Nominal quota can always be reclaimed with the policy kAny.
        ASSERT_TRUE(plan.enough || policy != ReclaimPolicy::kAny) << seed;
      } else {
        ASSERT_EQ(plan.enough, now.outcome == AdmissionOutcome::kAdmitted) << seed;
      }
      if (!plan.enough || plan.victims.empty()) {
        ASSERT_THAT(plan.victims, IsEmpty());
        continue;
      }
      ++plans;
      with_several += plan.victims.size() > 1 ? 1 : 0;
      QuotaTree after = cell.ledger.tree();
      for (const ReclaimVictim& v : plan.victims) {
        const HeldJob& job = jobs[v.job];
        ASSERT_NE(job.use.group, r.group) << seed;
        ASSERT_TRUE(job.priority < r.priority || policy == ReclaimPolicy::kAny) << seed;
        // A job is chosen only while its group exceeds the group's nominal quota, so that no group loses
        // guaranteed quota.
        const bool borrows =
            cell.Over(after, job.use.group, "cpu") > 0 || cell.Over(after, job.use.group, "memory") > 0;
        ASSERT_TRUE(borrows) << seed;
        ASSERT_TRUE(after.Remove(job.use).ok());
      }
      ASSERT_EQ(DecideAdmission(after, r)->outcome, AdmissionOutcome::kAdmitted) << seed;
      for (const ReclaimVictim& v : plan.victims) {
        QuotaTree spared = after;
        ASSERT_TRUE(spared.Add(jobs[v.job].use).ok());
        ASSERT_NE(DecideAdmission(spared, r)->outcome, AdmissionOutcome::kAdmitted) << seed;
      }
    }
  }
  EXPECT_GT(plans, Scaled(100));
  EXPECT_GT(within_nominal, Scaled(100));
  EXPECT_GT(with_several, Scaled(20));
}

// If all jobs have one unit of one resource, no group falls below its nominal quota.
TEST(ReclaimProperty, OfUnitsNoGroupEndsBelowItsNominal) {
  for (int seed = 1; seed <= Scaled(100); ++seed) {
    Rng rng(seed);
    QuotaSpec spec{{{"all"}}};
    for (int g = 0; g < 6; ++g)
      spec.groups.push_back(
          {std::to_string(g), "all", {{"prod", "cpu", static_cast<int64_t>(rng.Below(10))}}});
    QuotaLedger ledger = *QuotaLedger::Make(spec);
    for (int i = 0; i < 100; ++i) {
      AdmissionRequest r = Ask(std::to_string(1 + rng.Below(5)), 1, static_cast<int32_t>(rng.Below(3)));
      ASSERT_TRUE(ledger.Admit(std::to_string(i), r).ok());
    }
    const int64_t nominal = spec.groups[1].quotas[0].nominal;
    if (nominal == 0) continue;
    const std::vector<HeldJob> jobs = ledger.Jobs();
    const ReclaimPlan plan =
        *PlanReclaim(ledger.tree(), jobs, Ask("0", nominal), {.policy = ReclaimPolicy::kAny});
    ASSERT_TRUE(plan.enough);
    std::map<std::string, int64_t> use;
    for (const QuotaUse& u : ledger.tree().InUse()) use[u.group] = u.amounts.Get("cpu");
    for (const ReclaimVictim& v : plan.victims) {
      const std::string& g = jobs[v.job].use.group;
      ASSERT_GE(--use[g], spec.groups[std::stoul(g) + 1].quotas[0].nominal) << seed;
    }
  }
}

}  // namespace
}  // namespace taut::brain
