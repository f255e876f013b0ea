#include "brain/economy/admission.h"

#include <string>
#include <vector>

#include "brain/economy/quota_ledger.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGibibyte = int64_t{1} << 30;

// Returns a cohort of two teams with 21 cores and 40 GiB, and with 100 cores in tier batch.
QuotaSpec Teams() {
  return {{{"all"},
           {"a",
            "all",
            {{"prod", "cpu", 9000},
             {"prod", "memory", 20 * kGibibyte},
             {"batch", "cpu", 50'000},
             {"batch", "memory", 100 * kGibibyte}}},
           {"b",
            "all",
            {{"prod", "cpu", 12'000, {}, 10'000},
             {"prod", "memory", 20 * kGibibyte},
             {"batch", "cpu", 50'000}}}}};
}
AdmissionRequest Ask(const std::string& group, int64_t millicores, int64_t gib, int64_t tasks = 1) {
  return {.group = group,
          .tier = "prod",
          .per_task = QuotaVector::Of(millicores, gib * kGibibyte),
          .tasks = tasks};
}
QuotaTree TreeWith(const std::vector<QuotaUse>& use) { return *QuotaTree::Make(Teams(), use); }
QuotaUse Use(const std::string& group, int64_t millicores, int64_t gib) {
  return {group, "prod", QuotaVector::Of(millicores, gib * kGibibyte)};
}

TEST(Admission, WithinTheOwnQuota) {
  const AdmissionVerdict v = *DecideAdmission(TreeWith({}), Ask("a", 1000, 2, 9));
  EXPECT_EQ(v.outcome, AdmissionOutcome::kAdmitted);
  EXPECT_EQ(v.use, Use("a", 9000, 18));
  EXPECT_THAT(v.borrowed, IsEmpty());
  EXPECT_EQ(Explain(v),
            "9 cores, 18GiB of memory for \"a\" in tier \"prod\": admitted within the group's own quota.");
}

TEST(Admission, BorrowedFromTheCohort) {
  const AdmissionVerdict v = *DecideAdmission(TreeWith({Use("a", 4000, 1)}), Ask("a", 7000, 2));
  EXPECT_EQ(v.outcome, AdmissionOutcome::kAdmitted);
  ASSERT_EQ(v.borrowed.size(), 1U);
  EXPECT_EQ(Explain(v),
            "7 cores, 2GiB of memory for \"a\" in tier \"prod\": admitted, 2 cores borrowed from \"all\".");
}

TEST(Admission, OfABorrowerAllIsBorrowed) {
  const AdmissionVerdict v = *DecideAdmission(TreeWith({Use("a", 11'000, 1)}), Ask("a", 3000, 2));
  ASSERT_EQ(v.borrowed.size(), 1U);
  EXPECT_EQ(v.borrowed[0].resource, "cpu");
  EXPECT_EQ(v.borrowed[0].amount, 3000);
  EXPECT_EQ(v.borrowed[0].cohort, "all");
}

TEST(Admission, AReleaseCountsAsAtMostWhatIsInUse) {
  const QuotaTree tree = TreeWith({Use("a", 10'000, 1), Use("b", 10'000, 1)});
  const std::vector<ExpectedRelease> releases = {{Timestamp{1}, Use("a", 100'000, 1)},
                                                 {Timestamp{2}, Use("b", 9000, 1)}};
  EXPECT_EQ(DecideAdmission(tree, Ask("a", 15'000, 1), releases)->probably_at, Timestamp{2});
}

TEST(Admission, QueuedWithEveryReasonAndTheNearestThatFits) {
  const QuotaTree tree = TreeWith({Use("a", 16'000, 5), Use("b", 1000, 33)});
  const AdmissionVerdict v = *DecideAdmission(tree, Ask("a", 1000, 1, 10));
  EXPECT_EQ(v.outcome, AdmissionOutcome::kQueued);
  EXPECT_EQ(v.fitting_tasks, 2);
  EXPECT_EQ(v.fitting, QuotaVector::Of(3000, 2 * kGibibyte));
  EXPECT_THAT(v.other_tiers, ElementsAre("batch"));
  EXPECT_FALSE(v.reclaimable);
  EXPECT_EQ(Explain(v),
            "10 cores, 10GiB of memory for \"a\" in tier \"prod\": queued. \"all\" has 3 cores left of the "
            "10 cores asked for: its quota to share is 19 cores; in use: 16 cores; unused and not lent: 1 "
            "core. \"all\" has 2GiB of memory left of the 10GiB of memory asked for: its quota to share is "
            "40GiB of memory; in use: 38GiB of memory. No expected release makes it fit. What fits now: 2 "
            "tasks; at most 3 cores, 2GiB of memory. It would fit in tier \"batch\".");
}

TEST(Admission, QueuedUntilTheReleaseThatMakesItFit) {
  const QuotaTree tree = TreeWith({Use("a", 10'000, 5), Use("b", 11'000, 10)});
  const auto at = [](int64_t s) { return Timestamp::FromSeconds(s); };
  std::vector<ExpectedRelease> releases = {{at(100), Use("b", 2000, 1)},
                                           {at(200), {"a", "batch", {{"cpu", 9000}}}},
                                           {at(300), Use("a", 1000, 1)},
                                           {at(400), Use("b", 9000, 1)}};
  AdmissionRequest request = Ask("a", 3000, 1);
  AdmissionVerdict v = *DecideAdmission(tree, request, releases);
  EXPECT_EQ(v.probably_at, at(300));
  EXPECT_EQ(v.after_release, releases[2].use);
  EXPECT_THAT(Explain(v),
              HasSubstr("probably fits at day 0 00:05, when \"a\" releases 1 core, 1GiB of memory."));
  request.now = at(350);  // releases in the past count as releases now
  EXPECT_EQ(DecideAdmission(tree, request, releases)->probably_at, at(350));
  v = *DecideAdmission(tree, request, releases, {.max_releases = 2});
  EXPECT_FALSE(v.probably_at.has_value());
  std::swap(releases[0], releases[1]);
  EXPECT_THAT(DecideAdmission(tree, request, releases).status().ToString(),
              HasSubstr("number 2 is before number 1"));
}

TEST(Admission, WhatOthersBorrowCanBeReclaimed) {
  const AdmissionVerdict v = *DecideAdmission(TreeWith({Use("b", 19'000, 1)}), Ask("a", 9000, 1));
  EXPECT_EQ(v.outcome, AdmissionOutcome::kQueued);
  EXPECT_TRUE(v.reclaimable);
  EXPECT_THAT(Explain(v), HasSubstr("within the group's nominal quota, which others borrow"));
}

TEST(Admission, RefusedIfItCanNeverFit) {
  const QuotaTree tree = TreeWith({Use("b", 12'000, 10)});
  AdmissionVerdict v = *DecideAdmission(tree, Ask("a", 20'000, 41));
  EXPECT_EQ(v.outcome, AdmissionOutcome::kRefused);
  ASSERT_EQ(v.reasons.size(), 2U);
  EXPECT_TRUE(v.reasons[0].never);
  EXPECT_EQ(v.reasons[0].available, 19'000);  // 2 cores of b's quota are exclusive to b
  EXPECT_EQ(v.reasons[0].level, "all");
  EXPECT_TRUE(v.reasons[1].never);
  v = *DecideAdmission(tree, Ask("a", 20'000, 1));
  EXPECT_THAT(Explain(v),
              HasSubstr("refused, it can never fit. \"all\" could have 19 cores of the 20 cores asked for: "
                        "its quota to share is 19 cores. What fits now: 0 tasks; at most 9 cores, 30GiB"));
  AdmissionRequest gpu = Ask("a", 1, 1);
  gpu.per_task.Set("gpu", 1);
  v = *DecideAdmission(tree, gpu);
  EXPECT_EQ(v.outcome, AdmissionOutcome::kRefused);
  ASSERT_EQ(v.reasons.size(), 1U);
  EXPECT_EQ(v.reasons[0].text, "Group \"a\" has no quota of gpu in tier \"prod\".");
  AdmissionRequest batch = Ask("b", 1000, 1);
  batch.tier = "batch";
  EXPECT_THAT(Explain(*DecideAdmission(tree, batch)),
              HasSubstr("\"b\" has no quota of memory in tier \"batch\"."));
}

TEST(Admission, EveryLevelThatBindsIsNamed) {
  const QuotaTree tree = *QuotaTree::Make({{{"root", "", {{"prod", "cpu", 5}}},
                                            {"x", "root", {{"prod", "cpu", 1, 6}}},
                                            {"a", "x", {{"prod", "cpu", 2, 7}}}}});
  const auto levels = [&](int64_t cpu) {
    std::string out;
    const AdmissionVerdict v =
        *DecideAdmission(tree, {.group = "a", .tier = "prod", .per_task = {{"cpu", cpu}}});
    for (const AdmissionReason& r : v.reasons)
      out += r.level + " " + std::to_string(r.available) + " of " + std::to_string(r.asked) + "; ";
    return out;
  };
  EXPECT_EQ(levels(8), "");
  EXPECT_EQ(levels(9), "root 8 of 9; ");
  EXPECT_EQ(levels(10), "a 9 of 10; x 9 of 10; root 8 of 10; ");
}

TEST(Admission, BadInputIsAnError) {
  const QuotaTree tree = TreeWith({});
  const auto error = [&](AdmissionRequest r) { return DecideAdmission(tree, r).status().ToString(); };
  EXPECT_THAT(error(Ask("c", 1, 1)), HasSubstr("NOT_FOUND: unknown group \"c\""));
  EXPECT_THAT(error(Ask("all", 1, 1)), HasSubstr("is a cohort"));
  EXPECT_THAT(error(Ask("a", 0, 0)), HasSubstr("asks for nothing"));
  EXPECT_THAT(error(Ask("a", -1, 1)), HasSubstr("invalid amount in 1 times -0.001 cores"));
  EXPECT_THAT(error(Ask("a", 1, 1, 0)), HasSubstr("invalid number of tasks 0: expected at least 1"));
  EXPECT_THAT(error(Ask("a", INT64_MAX, 1, INT64_MAX)), HasSubstr("expected 0 to"));
  AdmissionRequest r = Ask("a", 1, 1);
  r.tier = "prood";
  EXPECT_THAT(error(r), HasSubstr("unknown tier \"prood\"; did you mean \"prod\"?"));
  r = Ask("a", 1, 1);
  r.duration_s = -5;
  EXPECT_THAT(error(r), HasSubstr("invalid duration -5 s"));
  EXPECT_FALSE(QuotaTree().GroupNamed("a").ok());
}

TEST(QuotaLedger, CountsEachJobOnceAndNothingOfTheRefused) {
  QuotaLedger ledger = *QuotaLedger::Make(Teams());
  AdmissionRequest request = Ask("a", 9000, 1);
  request.now = Timestamp::FromSeconds(50);
  request.duration_s = 100;
  EXPECT_EQ(ledger.Admit("j1", request)->outcome, AdmissionOutcome::kAdmitted);
  EXPECT_TRUE(absl::IsAlreadyExists(ledger.Admit("j1", request).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ledger.Admit("", request).status()));
  EXPECT_EQ(ledger.Admit("j2", Ask("a", 18'000, 1))->outcome, AdmissionOutcome::kQueued);
  EXPECT_EQ(ledger.tree().InUse(), std::vector<QuotaUse>{Use("a", 9000, 1)});
  ASSERT_EQ(ledger.Releases().size(), 1U);
  EXPECT_EQ(ledger.Releases()[0].at, Timestamp::FromSeconds(150));
  EXPECT_EQ(ledger.Admit("j2", Ask("a", 18'000, 1), ledger.Releases())->probably_at,
            Timestamp::FromSeconds(150));
  // A quota below the use does not change the counted use.
  QuotaSpec less = Teams();
  less.groups[1].quotas[0].nominal = 1000;
  less.groups[2].quotas[0].nominal = 0;
  less.groups[2].quotas[0].lending_limit.reset();
  ASSERT_TRUE(ledger.ChangeQuota(less).ok());
  EXPECT_EQ(ledger.Admit("j3", Ask("a", 1, 1))->outcome, AdmissionOutcome::kQueued);
  EXPECT_FALSE(ledger.ChangeQuota({}).ok());
  EXPECT_TRUE(ledger.Release("j1"));
  EXPECT_FALSE(ledger.Release("j1"));
  EXPECT_THAT(ledger.tree().InUse(), IsEmpty());
  EXPECT_EQ(ledger.Admit("j3", Ask("a", 1000, 1))->outcome, AdmissionOutcome::kAdmitted);
}

// Returns a random tree with random limits, for two tiers and two resources.
QuotaSpec RandomSpec(Rng& rng) {
  QuotaSpec spec;
  const uint64_t n = 2 + rng.Below(15);
  for (uint64_t i = 0; i < n; ++i) {
    QuotaGroup g{std::to_string(i)};
    if (i > 0) g.parent = std::to_string(rng.Below(i));
    for (const std::string tier : {"prod", "batch"}) {
      for (const std::string resource : {"cpu", "memory"}) {
        QuotaRow row{tier, resource, static_cast<int64_t>(rng.Below(20))};
        if (rng.Below(3) == 0) row.borrowing_limit = static_cast<int64_t>(rng.Below(15));
        if (rng.Below(3) == 0)
          row.lending_limit = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(row.nominal) + 1));
        g.quotas.push_back(row);
      }
    }
    spec.groups.push_back(g);
  }
  return spec;
}

TEST(AdmissionProperty, SmallerIsAdmittedTheNearestFitsAndReleaseUndoes) {
  int admitted = 0, queued = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Rng rng(seed);
    QuotaLedger ledger = *QuotaLedger::Make(RandomSpec(rng));
    std::vector<std::string> held;
    for (int step = 0; step < 60; ++step) {
      const auto g = static_cast<int32_t>(rng.Below(static_cast<uint64_t>(ledger.tree().groups())));
      if (ledger.tree().IsCohort(g)) continue;
      AdmissionRequest r{.group = ledger.tree().NameOf(g), .tier = rng.Below(2) == 0 ? "prod" : "batch"};
      r.per_task =
          QuotaVector::Of(static_cast<int64_t>(rng.Below(6)), 1 + static_cast<int64_t>(rng.Below(5)));
      r.tasks = 1 + static_cast<int64_t>(rng.Below(6));
      const std::string id = std::to_string(step);
      const std::vector<QuotaUse> before = ledger.tree().InUse();
      const AdmissionVerdict v = *ledger.Admit(id, r);
      switch (v.outcome) {
        case AdmissionOutcome::kAdmitted: {
          ++admitted;
          const std::vector<QuotaUse> after = ledger.tree().InUse();
          ASSERT_TRUE(ledger.Release(id));
          ASSERT_FALSE(ledger.Release(id));
          ASSERT_EQ(ledger.tree().InUse(), before);
          AdmissionRequest less = r;
          less.tasks = 1 + static_cast<int64_t>(rng.Below(static_cast<uint64_t>(r.tasks)));
          ASSERT_EQ(DecideAdmission(ledger.tree(), less)->outcome, AdmissionOutcome::kAdmitted) << seed;
          ASSERT_TRUE(ledger.Admit(id, r).ok());
          ASSERT_EQ(ledger.tree().InUse(), after);
          held.push_back(id);
          break;
        }
        case AdmissionOutcome::kQueued: {
          ++queued;
          ASSERT_EQ(ledger.tree().InUse(), before);
          ASSERT_FALSE(v.reasons.empty());
          ASSERT_LT(v.fitting_tasks, r.tasks);
          AdmissionRequest nearest = r;
          if (v.fitting_tasks > 0) {
            nearest.tasks = v.fitting_tasks;
            ASSERT_EQ(DecideAdmission(ledger.tree(), nearest)->outcome, AdmissionOutcome::kAdmitted) << seed;
          }
          nearest.tasks = v.fitting_tasks + 1;
          ASSERT_NE(DecideAdmission(ledger.tree(), nearest)->outcome, AdmissionOutcome::kAdmitted) << seed;
          nearest.tasks = 1;
          nearest.per_task = v.fitting;
          if (!v.fitting.empty()) {
            ASSERT_EQ(DecideAdmission(ledger.tree(), nearest)->outcome, AdmissionOutcome::kAdmitted);
          }
          nearest = r;
          for (const std::string& tier : v.other_tiers) {
            nearest.tier = tier;
            ASSERT_EQ(DecideAdmission(ledger.tree(), nearest)->outcome, AdmissionOutcome::kAdmitted);
          }
          // A queued request fits once all use is released.
          std::vector<ExpectedRelease> all;
          for (const HeldJob& j : ledger.Jobs()) all.push_back({Timestamp{}, j.use});
          ASSERT_TRUE(DecideAdmission(ledger.tree(), r, all)->probably_at.has_value()) << seed;
          break;
        }
        case AdmissionOutcome::kRefused:
          ++refused;
          ASSERT_TRUE(std::any_of(v.reasons.begin(), v.reasons.end(),
                                  [](const AdmissionReason& x) { return x.never; }));
          break;
      }
      if (!held.empty() && rng.Below(4) == 0) {
        ASSERT_TRUE(ledger.Release(held.back()));
        held.pop_back();
      }
    }
  }
  EXPECT_GT(admitted, 1000);
  EXPECT_GT(queued, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace taut::brain
