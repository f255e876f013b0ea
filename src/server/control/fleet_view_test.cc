// Tests lists and sums of jobs, on views that are assembled by hand.
#include "server/control/fleet_view.h"

#include <algorithm>
#include <memory>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/job_totals.h"

namespace taut::server {
namespace {

using testing::ElementsAre;

class FleetViewTest : public ::testing::Test {
 protected:
  FleetViewTest() { view_.window = WindowId{kWindow}; }

  // In mode observe, the limit in force is the owner's limit. The figures of memory are 100 times the figures of
  // CPU.
  JobView& Add(std::string name, float usage, float owner, float would_be, uint32_t tasks = 1) {
    const JobId id{static_cast<uint32_t>(view_.jobs.size())};
    JobView& job = view_.jobs.emplace_back();
    job.record = std::make_shared<const JobRecord>(JobRecord{id, std::move(name), {}, 0});
    job.tasks = tasks;
    job.last_seen_s = WindowId{kWindow}.next().start_s();
    for (const Resource r : kResources) {
      const float scale = r == Resource::kCpu ? 1 : 100;
      const auto at = static_cast<size_t>(r);
      JobAmounts& a = job.amounts[at];
      a.usage = a.peak = usage * scale;
      if (owner >= 0) a.owner_limit = a.limit = owner * scale;
      if (would_be >= 0) a.would_be = would_be * scale;
      FleetAmounts& all = view_.point.amounts[at];
      all.usage += double{a.usage} * tasks;
      if (owner >= 0) all.owner_limit += double{a.owner_limit} * tasks;
    }
    return view_.jobs.back();
  }
  std::vector<std::string> Names(JobSort sort) const {
    JobsQuery query;
    query.sort = sort;
    std::vector<std::string> names;
    for (const JobId id : ListJobs(view_, query).jobs) names.push_back(view_.jobs[id.value].record->name);
    return names;
  }

  static constexpr int32_t kWindow = 1000;
  FleetView view_;
};

// Nothing is applied in mode observe. Possible savings are first, unknown savings last.
TEST_F(FleetViewTest, WhatCouldBeSavedSortsTheJobsInObserve) {
  Add("little", 1, 4, 3);
  Add("unknown", 1, -1, 3);
  Add("much", 1, 4, 1, 10);
  Add("tight", 4, 4, 6);
  Add("young", 1, 4, -1);
  EXPECT_EQ(JobsQuery().sort.by, SortBy::kSaving);
  EXPECT_THAT(Names({SortBy::kSaving}), ElementsAre("much", "little", "tight", "unknown", "young"));
  EXPECT_THAT(Names({SortBy::kSavingOfOne, Resource::kMemory}),
              ElementsAre("much", "little", "tight", "unknown", "young"));
  EXPECT_EQ(view_.jobs[3].of(Resource::kCpu).saving(), -2.0);
  EXPECT_FALSE(view_.jobs[1].of(Resource::kCpu).saving().has_value());
  EXPECT_FALSE(view_.jobs[4].of(Resource::kCpu).saving().has_value());
}

TEST_F(FleetViewTest, SavingsInMoneySortByThePrices) {
  Add("cpu", 1, 4, 3, 10).amounts[1].would_be = kAbsent;
  Add("memory", 1, 4, 2, 4).amounts[0].would_be = kAbsent;
  Add("unknown", 1, -1, 3);
  Add("more", 1, 4, 6);
  JobsQuery query;
  query.sort.by = SortBy::kSavingPerMonth;
  const auto names = [&](double core, double byte) {
    query.price = {core, byte};
    std::vector<std::string> out;
    for (const JobId id : ListJobs(view_, query).jobs) out.push_back(view_.jobs[id.value].record->name);
    return out;
  };
  EXPECT_THAT(names(10, 0.01), ElementsAre("cpu", "memory", "more", "unknown"));
  EXPECT_THAT(names(0.1, 1), ElementsAre("memory", "cpu", "more", "unknown"));
  EXPECT_EQ(ParseJobSort("saving_per_month"), JobSort{SortBy::kSavingPerMonth});
}

TEST_F(FleetViewTest, EveryResourceHasItsSorts) {
  Add("none", 1, 4, 2);
  for (const Resource r : kResources) {
    JobAmounts& a = Add(std::string(Name(r)), 1, 4, 2).amounts[IndexOf(r)];
    a = {.usage = 1e6, .owner_limit = 8e6, .limit = 4e6, .would_be = 2e6, .chance = 0.5F};
  }
  for (const Resource r : kResources) {
    const auto sort = [&](std::string_view by) { return ParseJobSort(StrCat(Name(r), "_", by)); };
    for (const char* by :
         {"usage", "owner_limit", "limit", "would_be", "slack", "saved", "saving", "chance"}) {
      ASSERT_TRUE(sort(by).has_value()) << by;
      EXPECT_EQ(Names(*sort(by)).front(), Name(r)) << by;
    }
    EXPECT_EQ(sort("saving"), (JobSort{SortBy::kSavingOfOne, r}));
    EXPECT_EQ(sort("tasks"), std::nullopt);
  }
  EXPECT_EQ(ParseJobSort("saving"), JobSort{SortBy::kSaving});
  EXPECT_EQ(ParseJobSort("usage"), std::nullopt);
}

TEST_F(FleetViewTest, KillsComeBeforeUsageAtTheLimitBeforeALimitThatIsTooLow) {
  Add("roomy", 1, 4, 2);
  Add("low", 3, 4, 6);
  Add("stands at it", 4, 4, 5).amounts[1].at_limit = true;
  Add("killed", 1, 4, 2).ooms = 1;
  Add("killed often", 1, 4, 2).ooms = 9;
  EXPECT_THAT(Names({SortBy::kTight}), ElementsAre("killed often", "killed", "stands at it", "low", "roomy"));
}

TEST_F(FleetViewTest, SortsByTheForecastChance) {
  Add("a", 1, 4, 2).amounts[1].chance = 0.01F;
  Add("b", 1, 4, 2);
  Add("c", 1, 4, 2).amounts[1].chance = 0.3F;
  EXPECT_THAT(Names({SortBy::kChance, Resource::kMemory}), ElementsAre("c", "a", "b"));
}

// The default recommender has no forecast for CPU, so the days of the past are used.
TEST_F(FleetViewTest, WithoutAForecastTheDaysSoFarSort) {
  const auto days = [&](const char* name, int measured, int over) {
    JobAmounts& a = Add(name, 1, 4, 2).amounts[0];
    a.days = static_cast<uint8_t>(measured);
    a.days_over = static_cast<uint8_t>(over);
  };
  days("a", 10, 1);
  days("b", 0, 0);
  days("c", 4, 2);
  EXPECT_THAT(Names({SortBy::kChance, Resource::kCpu}), ElementsAre("c", "a", "b"));
}

// Savings and raises are summed separately. Usage is compared with owners' limits only where there are such
// limits.
TEST_F(FleetViewTest, SumsCannotBeAbsurd) {
  Add("lower", 1, 4, 2, 3);
  Add("higher", 4, 4, 9);
  Add("no limit", 1000, -1, 2);
  JobView& gone = Add("gone", 50, 100, 1);
  gone.last_seen_s -= 300;
  gone.week[1] = {7, 2};
  view_.jobs[0].week[1] = {5, 1};
  view_.jobs[0].amounts[1].at_limit = true;
  SumUp({brain::FleetRisk{.days_ordered = {}, .work_ordered = 0.001, .work_over = {}},
         brain::FleetRisk{.days_ordered = 0.03, .work_ordered = {}, .work_over = {}}},
        view_);
  const FleetSums& cpu = view_.sums[0];
  EXPECT_DOUBLE_EQ(cpu.usage_limited, 3 * 1 + 4);
  EXPECT_DOUBLE_EQ(cpu.would_save, 3 * 2);
  EXPECT_DOUBLE_EQ(cpu.would_raise, 5);
  EXPECT_DOUBLE_EQ(cpu.saved, 0);
  EXPECT_DOUBLE_EQ(cpu.raised, 0);
  EXPECT_FALSE(cpu.risk.days_ordered.has_value());
  EXPECT_EQ(cpu.risk.work_ordered, 0.001);
  const FleetSums& memory = view_.sums[1];
  EXPECT_EQ(memory.job_days, 12U);
  EXPECT_EQ(memory.job_days_over, 3U);
  EXPECT_EQ(memory.jobs_at_limit, 1U);
  EXPECT_EQ(memory.risk.days_ordered, 0.03);
}

// Sums the numbers of tasks of jobs with a replica policy, their overloaded windows and the causes of holds.
TEST_F(FleetViewTest, ScaledJobsAreSummedUpWithWhatOverloadsAndHoldsThem) {
  Add("owner's", 1, 4, 3, 50);
  const auto scaled = [&](uint32_t running, int32_t would_be) -> JobView& {
    JobView& job = Add("scaled", 1, 4, 3, 2);
    job.tasks_running = running;
    job.tasks_would_be = would_be;
    job.load_windows = 288;
    return job;
  };
  scaled(6, 4).overloaded_windows = 10;
  JobView& hot = scaled(7, 9);
  hot.overloaded_windows = 20;
  hot.overloaded = true;
  JobView& gone = scaled(100, 100);
  gone.last_seen_s = 0;
  gone.held = brain::HoldCause::kNotMeasured;
  SumUp({}, view_);
  const ReplicaSums& sums = view_.replicas;
  EXPECT_EQ(sums.jobs, 2U);
  EXPECT_EQ(sums.tasks, 13U) << "as the policy counts them";
  EXPECT_EQ(sums.would_be, 13U);
  EXPECT_EQ(sums.jobs_overloaded, 1U);
  EXPECT_EQ(sums.windows, 576U);
  EXPECT_EQ(sums.overloaded_windows, 30U);
  EXPECT_EQ(sums.held[static_cast<size_t>(brain::HoldCause::kNotMeasured)], 1U)
      << "though it is not measured";
}

TEST_F(FleetViewTest, TheRiskIsInTheMeasureThatIsOrdered) {
  brain::LiveSettings settings;
  settings.vertical.analogs.memory_oom_days = 0.02;
  settings.vertical.work_function.cpu_throttled = 0.003;
  const brain::LiveFleet fleet(settings);
  Add("peak", 1, 4, 2).recommenders = brain::Policy::kPeak;
  for (const Resource r : kResources) {
    const brain::FleetRisk none = RiskOf(fleet, view_, r);
    EXPECT_FALSE(none.days_ordered.has_value() || none.work_ordered.has_value() ||
                 none.work_over.has_value());
  }
  Add("combined", 1, 4, 2).recommenders = brain::Policy::kCombined;
  const brain::FleetRisk cpu = RiskOf(fleet, view_, Resource::kCpu);
  EXPECT_EQ(cpu.work_ordered, 0.003);
  EXPECT_FALSE(cpu.work_over.has_value()) << "no job is old enough";
  EXPECT_FALSE(cpu.days_ordered.has_value());
  const brain::FleetRisk memory = RiskOf(fleet, view_, Resource::kMemory);
  EXPECT_EQ(memory.days_ordered, 0.02);
  EXPECT_FALSE(memory.work_ordered.has_value());
  settings.vertical.work_function.price = 50;
  EXPECT_FALSE(RiskOf(brain::LiveFleet(settings), view_, Resource::kCpu).work_ordered.has_value());
}

TEST_F(FleetViewTest, PartsOfNamesFindJobs) {
  Add("shop/web", 1, 4, 2);
  Add("shop/api", 1, 4, 2);
  EXPECT_THAT(JobsThatFit(view_, "WEB shop"), ElementsAre(true));
  EXPECT_THAT(JobsThatFit(view_, ""), ElementsAre(true, true));
}

// ---- lists by an index ----

class ListsTest : public ::testing::Test {
 protected:
  // The list has many equal and many absent figures, and names whose order differs from the order of the numbers.
  void AddSome(size_t count) {
    const char* const kTeams[] = {"Search", "ads", "maps"};
    for (size_t n = 0; n < count; ++n) {
      const uint32_t number = next_++;
      if (rng_.Below(4) == 0) continue;  // numbers have gaps
      JobView& job = view_.jobs.emplace_back();
      JobRecord record{JobId{number}, StrCat("Cell-", rng_.Below(9), "/web-", (number * 7919) % 5000), {}, 0};
      if (rng_.Below(2) == 0) record.labels = {{"Team", kTeams[rng_.Below(3)]}};
      job.record = std::make_shared<const JobRecord>(std::move(record));
      job.mode = static_cast<Mode>(rng_.Below(3));
      job.tasks = static_cast<uint32_t>(rng_.Below(4));
      for (JobAmounts& a : job.amounts) {
        if (rng_.Below(3) > 0) a.usage = static_cast<float>(rng_.Below(5));
        if (rng_.Below(3) > 0) a.owner_limit = static_cast<float>(rng_.Below(5));
      }
    }
  }
  std::shared_ptr<const JobIndex> Index(const JobIndex* before, bool same_labels) const {
    std::vector<const JobRecord*> jobs;
    for (const JobView& job : view_.jobs) jobs.push_back(job.record.get());
    return std::make_shared<const JobIndex>(jobs, before, same_labels);
  }
  JobsQuery AnyQuery() {
    const char* const kWords[] = {"",     "",   "web-1", "CELL-3", "team=ads", "9 cell", "web team=search",
                                  "none", "a b"};
    JobsQuery query;
    query.search = kWords[rng_.Below(std::size(kWords))];
    if (rng_.Below(3) == 0) query.mode = static_cast<Mode>(rng_.Below(3));
    query.sort = {static_cast<SortBy>(rng_.Below(static_cast<uint64_t>(SortBy::kChance) + 1)),
                  kResources[rng_.Below(kNumResources)]};
    query.price = {20, 0.3};
    query.ascending = rng_.Below(2) == 0;
    query.offset = rng_.Below(3) == 0 ? rng_.Below(2000) : 0;
    query.limit = rng_.Below(4) == 0 ? 5000 : 1 + rng_.Below(50);
    return query;
  }
  // Compares the list with and without an index, and its pages with the whole list.
  void ExpectSame(const JobsQuery& query) {
    FleetView plain = view_;
    plain.index = nullptr;
    const JobsPage with = ListJobs(view_, query), without = ListJobs(plain, query);
    EXPECT_EQ(with.total, without.total);
    EXPECT_EQ(with.jobs, without.jobs);
    JobsQuery everything = query;
    everything.offset = 0;
    everything.limit = view_.jobs.size();
    const std::vector<JobId> all = ListJobs(plain, everything).jobs;
    ASSERT_EQ(all.size(), with.total);
    const size_t first = std::min(query.offset, all.size());
    const size_t last = std::min(first + query.limit, all.size());
    EXPECT_EQ(with.jobs, std::vector<JobId>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                            all.begin() + static_cast<std::ptrdiff_t>(last)));
    EXPECT_EQ(JobsThatFit(view_, query.search), JobsThatFit(plain, query.search));
  }

  Rng rng_{7};
  FleetView view_;
  uint32_t next_ = 0;
};

TEST_F(ListsTest, AreTheSameByTheIndexAsWithoutIt) {
  AddSome(3000);
  view_.index = Index(nullptr, false);
  for (int n = 0; n < 200; ++n) ExpectSame(AnyQuery());
}

TEST_F(ListsTest, EqualFiguresAreInTheOrderOfNames) {
  AddSome(3000);
  view_.index = Index(nullptr, false);
  JobsQuery query;
  query.sort.by = SortBy::kTasks;
  query.limit = view_.jobs.size();
  std::vector<const JobView*> sorted;
  for (const JobView& job : view_.jobs) sorted.push_back(&job);
  std::sort(sorted.begin(), sorted.end(),
            [](const JobView* a, const JobView* b) { return a->record->name < b->record->name; });
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const JobView* a, const JobView* b) { return a->tasks > b->tasks; });
  std::vector<JobId> expected;
  for (const JobView* job : sorted) expected.push_back(job->record->id);
  EXPECT_EQ(ListJobs(view_, query).jobs, expected);
}

TEST_F(ListsTest, AnIndexIsTakenOverWhereJobsComeAndGoAndGetLabels) {
  AddSome(1000);
  for (int round = 0; round < 20; ++round) {
    view_.index = Index(view_.index.get(), round % 2 == 0);
    for (int n = 0; n < 10; ++n) ExpectSame(AnyQuery());
    std::erase_if(view_.jobs, [&](const JobView&) { return rng_.Below(10) == 0; });
    AddSome(100);
    if (round % 2 != 0) continue;
    // The next index is built after labels have changed.
    JobRecord record = *view_.jobs[static_cast<size_t>(round)].record;
    record.labels = {{"team", "ads"}};
    view_.jobs[static_cast<size_t>(round)].record = std::make_shared<const JobRecord>(std::move(record));
  }
}

// Requests determine the bill, so savings are differences of requests: in lists, sums and sorts.
TEST_F(FleetViewTest, SavingsAreOfRequestsWhereThereAreSome) {
  Add("limit", 1, 10, 7);
  JobAmounts& a = Add("both", 1, 100, 50, 2).amounts[0];
  a.owner_request = a.request = 4;
  a.would_be_request = 2;
  JobAmounts& own = Add("request", 1, 6, 5).amounts[0];
  own.of_request = true;
  SumUp({}, view_);
  const FleetSums& cpu = view_.sums[0];
  EXPECT_DOUBLE_EQ(cpu.would_save, 3 + 2 * 2 + 1) << "not the 100 that the limit would come down by";
  EXPECT_EQ(cpu.requests.jobs, 2U);
  EXPECT_DOUBLE_EQ(cpu.requests.owner, 2 * 4 + 6);
  EXPECT_DOUBLE_EQ(cpu.requests.would_be, 2 * 2 + 5);
  EXPECT_DOUBLE_EQ(cpu.requests.in_force, 2 * 4 + 6);
  EXPECT_DOUBLE_EQ(cpu.requests.limit_would_save, 100) << "a detail";
  EXPECT_EQ(view_.sums[1].requests.jobs, 0U) << "of memory no request is known";
  EXPECT_EQ(Names({SortBy::kSavingOfOne, Resource::kCpu}),
            (std::vector<std::string>{"both", "limit", "request"}));
  JobTotals totals;
  for (const JobView& job : view_.jobs) totals.Add(job, WindowId{kWindow}.next().start_s());
  EXPECT_DOUBLE_EQ(totals.amounts[0].would_save, 8);
  EXPECT_EQ(totals.amounts[0].requests.jobs, 2U);
}

}  // namespace
}  // namespace taut::server
