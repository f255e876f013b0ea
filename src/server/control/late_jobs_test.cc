// Tests the history of jobs that appear later. The jobs are trained on this history as on live usage, and
// nothing else changes.
#include "server/control/late_jobs.h"

#include <algorithm>

#include "brain/fleet/past_account.h"
#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kSeries = 80;  // number of series of four jobs
constexpr int kLate = 3000;       // minute from which the late series are sent

Timestamp At(int minute) { return ControlCell::Minute(minute); }

std::vector<LateJob> LateOf(ControlCell& cell, int now = kLate + 60) {
  return cell.control().pasts().LateJobs(At(0), At(now - 5));
}

// Returns the history of the jobs in the minutes (from, to], from one sample per minute, folded an hour at a time.
std::vector<JobPast> PastOf(std::span<const LateJob> wanted, int from, int to) {
  PastFold fold(*MappingRules::Compile(BuiltinRules()), {}, WindowId::Of(At(from)), wanted);
  for (int end = std::min(from + 60, to); from < to; from = end, end = std::min(from + 60, to)) {
    for (uint32_t i = 0; i < kSeries; ++i) {
      const NamedSample named = CadvisorSample(i, 0);
      std::vector<RemoteSample> samples;
      for (int minute = from + 1; minute <= end; ++minute)
        samples.push_back(CadvisorValue(i, At(minute).us / 1000));
      fold.Take(ViewOf(named).labels, samples, At(end));
    }
    fold.CloseUntil(At(end));
  }
  fold.CloseUntil(At(to + 10));
  return fold.TakePasts();
}

struct Figures {
  int32_t window = 0;
  double cpu = 0, memory = 0;
  auto operator<=>(const Figures&) const = default;
};
std::vector<Figures> Usage(std::span<const JobDay> days, int before_minute) {
  std::vector<Figures> out;
  for (const JobDay& day : days) {
    for (const JobWindow& w : day.windows) {
      if (!(w.window < WindowId::Of(At(before_minute)))) continue;
      Figures& sum = out.emplace_back(Figures{w.window.index});
      for (uint32_t t = w.first_task; t < w.first_task + w.num_tasks; ++t) {
        sum.cpu = std::max<double>(sum.cpu, day.tasks[t].cpu_mean_cores);
        sum.memory = std::max<double>(sum.memory, day.tasks[t].memory_mean_bytes);
      }
    }
  }
  return out;
}
std::vector<JobDay> Days(ControlCell& cell, JobId id) {
  return *cell.store().JobDays(id, WindowId{0}, WindowId{INT32_MAX});
}
std::optional<double> Recommended(ControlCell& cell, std::string_view job, Resource r) {
  std::optional<double> out;
  cell.control().Look(*cell.control().Find(job),
                      [&](const brain::LiveJob& j) { out = j.of(r).lane.recommended(); });
  return out;
}

// Returns, from the account of a job, the numbers of windows of CPU and memory, and the usage of memory.
std::array<uint64_t, 3> Accounted(ControlCell& cell, std::string_view job) {
  const JobId id = *cell.control().Find(job);
  AccountEntry sums;
  EXPECT_TRUE(cell.store()
                  .ReadAccount(WindowId{0}, WindowId{INT32_MAX / 2},
                               [&](const AccountSpan&, std::span<const AccountEntry> entries) {
                                 for (const AccountEntry& e : entries) {
                                   if (e.job == id) sums.Add(e);
                                 }
                               })
                  .ok());
  return {sums.of[0].windows, sums.of[1].windows, sums.of[1].usage};
}

class LateJobsTest : public testing::Test {
 protected:
  LateJobsTest() {
    cell_.mode = Mode::kObserve;
    cell_.Restart();
  }
  // Sends the series for an hour.
  void Appear() { ASSERT_TRUE(cell_.Live(kLate, kLate + 61).ok()); }
  absl::Status AddPasts() {
    const std::vector<LateJob> late = LateOf(cell_);
    return cell_.control().pasts().AddPasts(PastOf(late, 0, kLate + 5));
  }

  ControlCell cell_{kSeries};
};

TEST_F(LateJobsTest, TheyLearnAsIfTheyHadBeenThereAllTheTime) {
  ControlCell straight(kSeries);
  straight.mode = Mode::kObserve;
  straight.Restart();
  ASSERT_TRUE(straight.Live(0, kLate + 62).ok());
  Appear();
  const std::vector<LateJob> late = LateOf(cell_);
  ASSERT_THAT(late, SizeIs(4));
  EXPECT_EQ(late[1].name, "shop-1/deployment/web-1");
  EXPECT_EQ(late[1].until, WindowId::Of(At(kLate)).next());
  EXPECT_EQ(cell_.control().pasts().counts(At(0)).waiting, 4U);
  const size_t decided = cell_.told().size();
  const std::vector<JobPast> pasts = PastOf(late, -1, kLate + 5);
  ASSERT_TRUE(cell_.control().pasts().AddPasts(pasts).ok());
  EXPECT_EQ(cell_.told().size(), decided) << "nothing is decided by it";
  EXPECT_EQ(cell_.control().pasts().counts(At(0)).read, 4U);
  EXPECT_THAT(LateOf(cell_), IsEmpty());
  ASSERT_TRUE(cell_.control().pasts().AddPasts(pasts).ok()) << "the same again changes nothing";
  ASSERT_TRUE(cell_.Live(kLate + 61, kLate + 62).ok());
  EXPECT_EQ(cell_.control().status().counts().retrained, 4U);
  for (const LateJob& job : late) {
    const JobId there = *straight.control().Find(job.name);
    const std::vector<Figures> wanted = Usage(Days(straight, there), kLate);
    EXPECT_GT(wanted.size(), 590U);
    EXPECT_EQ(Usage(Days(cell_, job.id), kLate), wanted) << job.name;
    // The account contains each window once. Small differences remain: tasks are rounded one by one or together.
    const auto counted = Accounted(cell_, job.name), expected = Accounted(straight, job.name);
    EXPECT_EQ(counted[0], expected[0]);
    EXPECT_EQ(counted[1], expected[1]);
    EXPECT_NEAR(static_cast<double>(counted[2]), static_cast<double>(expected[2]),
                1e-4 * static_cast<double>(expected[2]));
    for (const Resource r : kResources) {
      ASSERT_TRUE(Recommended(cell_, job.name, r).has_value());
      EXPECT_EQ(Recommended(cell_, job.name, r), Recommended(straight, job.name, r)) << job.name;
    }
  }
}

TEST_F(LateJobsTest, OnlyWhatIsWantedIsKept) {
  Appear();
  std::vector<LateJob> late = LateOf(cell_);
  ASSERT_THAT(late, SizeIs(4));
  late.erase(late.begin() + 1, late.end());
  late[0].until = WindowId::Of(At(500));
  const std::vector<JobPast> pasts = PastOf(late, 0, 600);
  ASSERT_THAT(pasts, SizeIs(1));
  ASSERT_THAT(pasts[0].days, SizeIs(1));
  EXPECT_EQ(pasts[0].days[0].windows.back().window.next(), late[0].until);
  late.push_back({JobId{99}, "shop-9/deployment/new", late[0].until});
  EXPECT_EQ(PastOf(late, 0, 600)[1].state, PastState::kNothing);
}

// Owners of pods are known from facts, even without samples of that time.
TEST_F(LateJobsTest, FactsSayWhoseTheSeriesWere) {
  const LateJob wanted{JobId{3}, "shop/rollout/web", WindowId::Of(At(100))};
  PastFold fold(*MappingRules::Compile(BuiltinRules()), {}, WindowId::Of(At(0)), {&wanted, 1});
  const std::vector<LabelView> usage = {{"__name__", "container_memory_working_set_bytes"},
                                        {"container", "app"},
                                        {"namespace", "shop"},
                                        {"pod", "web-abc-x2x4z"}};
  EXPECT_EQ(fold.WantedBy(usage), nullptr);
  PastFacts facts(At(100));
  const std::vector<LabelView> pod = {{"__name__", "kube_pod_owner"},  {"namespace", "shop"},
                                      {"owner_is_controller", "true"}, {"owner_kind", "ReplicaSet"},
                                      {"owner_name", "web-abc"},       {"pod", "web-abc-x2x4z"}};
  const std::vector<LabelView> set = {{"__name__", "kube_replicaset_owner"},
                                      {"namespace", "shop"},
                                      {"owner_is_controller", "true"},
                                      {"owner_kind", "Rollout"},
                                      {"owner_name", "web"},
                                      {"replicaset", "web-abc"}};
  facts.Add(pod);
  facts.Add(set);
  facts.Finish();
  ASSERT_TRUE(fold.TakeFacts(facts).ok());
  const LateJob* found = fold.WantedBy(usage);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, JobId{3});
  EXPECT_EQ(fold.WantedBy(pod), nullptr);
}

// The past of a job is priced by requests if the cluster bills requests.
TEST_F(LateJobsTest, TheirPastIsPricedByTheirRequests) {
  LateJob wanted{JobId{3}, "shop/deployment/web", WindowId::Of(At(100))};
  for (const bool of_request : {false, true}) {
    if (of_request) wanted.allocation[IndexOf(Resource::kMemory)].applies_to = AppliesTo::kRequest;
    PastFold fold(*MappingRules::Compile(BuiltinRules()), {}, WindowId::Of(At(0)), {&wanted, 1});
    const auto take = [&](std::string_view metric, std::string_view resource, double value) {
      std::vector<LabelView> labels = {
          {"__name__", metric}, {"container", "app"}, {"namespace", "shop"}, {"pod", "web-5d4f8c7b9d-x2x4z"}};
      if (!resource.empty()) labels.push_back({"resource", resource});
      std::vector<RemoteSample> samples;
      for (int minute = 1; minute < 60; ++minute) samples.push_back({value, At(minute).us / 1000});
      fold.Take(labels, samples, At(60));
    };
    take("container_memory_working_set_bytes", "", 100 * kMiB);
    take("kube_pod_container_resource_limits", "memory", 800 * kMiB);
    take("kube_pod_container_resource_requests", "memory", 200 * kMiB);
    fold.CloseUntil(At(70));
    const std::vector<JobPast> pasts = fold.TakePasts();
    ASSERT_THAT(pasts[0].days, SizeIs(1));
    const JobDay& day = pasts[0].days[0];
    EXPECT_EQ(day.windows[1].memory_limit_bytes, (of_request ? 200 : 800) * kMiB)
        << "what is recommended against";
    const AccountAmounts memory =
        brain::PastAccount(day, WindowId::Of(At(90)), {}).entry.amounts(Resource::kMemory);
    ASSERT_GE(memory.windows, 12U);
    for (const uint64_t amount : {memory.allocation, memory.billed, memory.owner, memory.would_be})
      EXPECT_EQ(amount, 200U * 300 * memory.windows) << "MiB-seconds";
    // The day as a store returns it.
    JobDay stored;
    stored.job = day.job;
    stored.day = day.day;
    ASSERT_TRUE(
        DecodeDayBlock(EncodeDayBlock(day), day.job, day.day, WindowId{0}, WindowId{INT32_MAX}, stored).ok());
    EXPECT_EQ(brain::PastAccount(stored, WindowId::Of(At(90)), {}).entry.amounts(Resource::kMemory), memory);
  }
}

// The daemon is killed after the history is stored and before any job is trained on it.
TEST_F(LateJobsTest, AKillBeforeTheyHaveLearntLosesNothing) {
  Appear();
  ASSERT_TRUE(AddPasts().ok());
  cell_.Restart();
  ASSERT_TRUE(cell_.restored().ok());
  EXPECT_THAT(LateOf(cell_), IsEmpty()) << "they are not asked for twice";
  EXPECT_EQ(cell_.control().pasts().counts(At(0)).read, 4U);
  ASSERT_TRUE(cell_.Live(kLate + 61, kLate + 62).ok());
  EXPECT_EQ(cell_.control().status().counts().retrained, 4U);
  const std::optional<double> learnt = Recommended(cell_, "shop-1/deployment/web-1", Resource::kMemory);
  ASSERT_TRUE(learnt.has_value());
  ASSERT_TRUE(cell_.control().CheckpointAll().ok());
  cell_.Restart();
  ASSERT_TRUE(cell_.Live(kLate + 62, kLate + 63).ok());
  EXPECT_EQ(cell_.control().status().counts().retrained, 0U) << "and learn once";
  EXPECT_EQ(Recommended(cell_, "shop-1/deployment/web-1", Resource::kMemory), learnt);
}

TEST_F(LateJobsTest, AStoreThatIsFullTakesAllOfItOrNothing) {
  Appear();
  const JobId id = *cell_.control().Find("shop-1/deployment/web-1");
  const std::string before = std::to_string(Usage(Days(cell_, id), kLate).size());
  cell_.failing().fail = true;
  EXPECT_FALSE(AddPasts().ok());
  EXPECT_THAT(LateOf(cell_), SizeIs(4)) << "they wait";
  EXPECT_EQ(std::to_string(Usage(Days(cell_, id), kLate).size()), before);
  cell_.failing().fail = false;
  ASSERT_TRUE(AddPasts().ok());
  EXPECT_THAT(LateOf(cell_), IsEmpty());
  EXPECT_GT(Usage(Days(cell_, id), kLate).size(), 590U);
}

TEST_F(LateJobsTest, OfAJobThatIsForgottenMeanwhileNothingIsKept) {
  Appear();
  JobPast gone = PastOf(LateOf(cell_), 0, 600)[0];
  gone.job = JobId{77};
  for (JobDay& day : gone.days) day.job = gone.job;
  ASSERT_TRUE(cell_.control().pasts().AddPasts({gone}).ok());
  EXPECT_THAT(Days(cell_, gone.job), IsEmpty());
  EXPECT_THAT(LateOf(cell_), SizeIs(4));
}

TEST_F(LateJobsTest, WithoutAPastTheyAreAskedForOnce) {
  Appear();
  std::vector<JobPast> nothing;
  for (const LateJob& job : LateOf(cell_)) nothing.push_back({job.id, PastState::kNothing, {}});
  ASSERT_TRUE(cell_.control().pasts().AddPasts(std::move(nothing)).ok());
  for (int life = 0; life < 2; ++life, cell_.Restart()) {
    EXPECT_THAT(LateOf(cell_), IsEmpty());
    EXPECT_EQ(cell_.control().pasts().counts(At(0)).nothing, 4U);
  }
  ASSERT_TRUE(cell_.Live(kLate + 61, kLate + 62).ok());
  EXPECT_EQ(cell_.control().status().counts().retrained, 0U);
}

std::vector<std::pair<int32_t, int32_t>> Gaps(ControlCell& cell) {
  std::vector<std::pair<int32_t, int32_t>> out;
  for (const SilentSpan& gap : cell.control().ingest().time.TakeGaps())
    out.emplace_back(gap.from.index, gap.to.index);
  return out;
}

// If all senders are silent for longer than windows stay open, the silence is a gap, regardless of the clock.
TEST(Gaps, ATimeWithoutSamplesIsNoted) {
  ControlCell cell(kSeries);
  ASSERT_TRUE(cell.Live(0, 60).ok());
  EXPECT_THAT(Gaps(cell), IsEmpty());
  for (int minute = 60; minute < 150; ++minute) ASSERT_TRUE(cell.control().Tick(At(minute)).ok());
  EXPECT_THAT(Gaps(cell), IsEmpty()) << "nobody knows yet when it ends";
  ASSERT_TRUE(cell.Live(150, 200).ok());
  const auto window = [](int minute) { return WindowId::Of(At(minute)).index; };
  EXPECT_THAT(Gaps(cell), ElementsAre(std::pair(window(59), window(150))));
  EXPECT_THAT(Gaps(cell), IsEmpty()) << "each once";
  ASSERT_TRUE(cell.Live(206, 210).ok());
  EXPECT_THAT(Gaps(cell), IsEmpty()) << "windows were open all the time";
  // A period for which history was read contains no gap.
  ASSERT_TRUE(cell.Send(300, At(300)).ok());
  ASSERT_TRUE(cell.control().Tick(At(290), brain::When::kPast).ok());
  EXPECT_THAT(Gaps(cell), IsEmpty());
}

// Usage of a gap is inserted between the windows before and after the gap, and the jobs are trained on this usage.
TEST(Gaps, WhatIsReadOfOneLeavesNoTrace) {
  ControlCell straight(kSeries), cell(kSeries);
  for (ControlCell* c : {&straight, &cell}) {
    c->mode = Mode::kObserve;
    c->Restart();
    ASSERT_TRUE(c->Live(0, 200).ok());
  }
  ASSERT_TRUE(straight.Live(200, 500).ok());
  ASSERT_TRUE(cell.Live(400, 499).ok());
  const std::vector<SilentSpan> gaps = cell.control().ingest().time.TakeGaps();
  ASSERT_THAT(gaps, SizeIs(1));
  const std::vector<LateJob> all = cell.control().pasts().AllJobs(gaps[0].to.next());
  ASSERT_THAT(all, SizeIs(4));
  std::vector<JobPast> pasts = PastOf(all, 194, 410);
  for (JobPast& past : pasts) past.state.reset();
  ASSERT_TRUE(cell.control().pasts().AddPasts(std::move(pasts)).ok());
  EXPECT_EQ(cell.control().pasts().counts(At(-10)).waiting, 4U)
      << "whether their past was asked for is as before";
  ASSERT_TRUE(cell.Live(499, 500).ok());
  EXPECT_EQ(cell.control().status().counts().retrained, 4U);
  // Windows at the ends of the gap contain the samples that arrived live.
  const auto usage = [](ControlCell& c, std::string_view job) {
    std::vector<Figures> out = Usage(Days(c, *c.control().Find(job)), 490);
    std::erase_if(out, [](const Figures& f) {
      return f.window == WindowId::Of(At(199)).index || f.window == WindowId::Of(At(400)).index;
    });
    return out;
  };
  for (const LateJob& job : all) {
    EXPECT_THAT(usage(cell, job.name), SizeIs(96));
    EXPECT_EQ(usage(cell, job.name), usage(straight, job.name)) << job.name;
    EXPECT_EQ(Recommended(cell, job.name, Resource::kMemory),
              Recommended(straight, job.name, Resource::kMemory));
  }
}

// No job is trained on a short gap, because every job would have to be retrained.
TEST(Gaps, OfAShortOneNobodyLearns) {
  ControlCell cell(kSeries);
  ASSERT_TRUE(cell.Live(0, 60).ok());
  ASSERT_TRUE(cell.Live(90, 120).ok());
  const std::vector<LateJob> all = cell.control().pasts().AllJobs(WindowId::Of(At(91)));
  std::vector<JobPast> pasts = PastOf(all, 55, 95);
  for (JobPast& past : pasts) past.state.reset();
  ASSERT_TRUE(cell.control().pasts().AddPasts(std::move(pasts)).ok());
  ASSERT_TRUE(cell.Live(120, 121).ok());
  EXPECT_EQ(cell.control().status().counts().retrained, 0U);
  EXPECT_THAT(Usage(Days(cell, all[0].id), 110), SizeIs(22));
}

TEST_F(LateJobsTest, JobsOfTheFirstHistoryAreNotAskedFor) {
  Appear();
  ASSERT_TRUE(cell_.control().pasts().SettlePasts().ok());
  EXPECT_THAT(LateOf(cell_), IsEmpty());
}

TEST_F(LateJobsTest, TheYoungAndTheOldAreNotAskedFor) {
  ASSERT_TRUE(cell_.Send(kLate, At(kLate)).ok());
  ASSERT_TRUE(cell_.control().Tick(At(kLate)).ok());
  EXPECT_THAT(cell_.control().pasts().LateJobs(At(0), At(10'000)), IsEmpty()) << "none is measured yet";
  Appear();
  EXPECT_THAT(cell_.control().pasts().LateJobs(At(0), At(kLate)), IsEmpty());
  EXPECT_THAT(cell_.control().pasts().LateJobs(At(kLate + 10), At(kLate + 60)), IsEmpty());
  EXPECT_EQ(cell_.control().pasts().counts(At(kLate + 10)).waiting, 0U);
}

// Limits in force and people's settings do not change; the past only changes later recommendations.
TEST_F(LateJobsTest, SettingsAndLimitsInForceStay) {
  cell_.mode = Mode::kAuto;
  cell_.Restart();
  Appear();
  ASSERT_TRUE(cell_.Live(kLate + 61, kLate + 100).ok());
  const JobId id = *cell_.control().Find("shop-1/deployment/web-1");
  ASSERT_TRUE(SetOne(cell_.control(), id, "memory.upper", "4GiB", "ann").ok());
  const auto state = [&] {
    std::optional<double> in_force;
    std::string upper;
    cell_.control().Look(id, [&](const brain::LiveJob& j) {
      in_force = j.of(Resource::kMemory).gate.in_force;
      upper = brain::GetJobSetting("memory.upper", *j.policy);
    });
    return std::pair(in_force, upper);
  };
  const auto before = state();
  ASSERT_TRUE(before.first.has_value());
  const size_t decided = cell_.told().size(), settings = cell_.store().Settings(std::nullopt, 99)->size();
  ASSERT_TRUE(AddPasts().ok());
  ASSERT_TRUE(cell_.control().Tick(At(kLate + 99)).ok());
  EXPECT_EQ(cell_.control().status().counts().retrained, 4U);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(cell_.told().size(), decided);
  EXPECT_EQ(cell_.store().Settings(std::nullopt, 99)->size(), settings);
}

}  // namespace
}  // namespace taut::server
