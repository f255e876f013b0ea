// Tests of the number of tasks of live jobs, also after restarts and changes of settings.
#include "brain/fleet/live_replicas.h"

#include <algorithm>
#include <cmath>

#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

LiveSettings Scaling(Mode mode, std::string_view policy) {
  LiveSettings s = Settings(Policy::kMovingWindow, mode);
  JobPolicy defaults = s.rules.defaults();
  EXPECT_TRUE(SetJobSetting("replicas.policy", policy, defaults).ok());
  EXPECT_TRUE(SetJobSetting("replicas.max", "50", defaults).ok());
  EXPECT_TRUE(SetJobSetting("replicas.hpa.target", "0.5", defaults).ok());
  EXPECT_TRUE(SetJobSetting("replicas.size", "owner", defaults).ok());
  s.rules = *PolicyRules::Compile({}, defaults);
  return s;
}

// One job whose tasks share a load in cores. An ordered number of tasks runs one window later.
class ScaledJob {
 public:
  explicit ScaledJob(const LiveSettings& settings) : fleet(settings) {
    fleet.AddJob({JobId{0}, "web", {}, 0});
  }
  void Window(double load, bool with_limit = true) {
    ClosedWindow closed;
    closed.window = WindowId{index++};
    JobWindow w;
    w.window = closed.window;
    w.num_tasks = static_cast<uint32_t>(running);
    w.cpu_limit_cores = with_limit ? 2 : kAbsent;
    w.memory_limit_bytes = 1e9F;
    if (series_load.has_value()) w.load = static_cast<float>(*series_load);
    for (int t = 0; t < running; ++t) {
      const auto each = static_cast<float>(load / running);
      closed.tasks.push_back({first_task + static_cast<uint32_t>(t), each, each, 1e8F, 1e8F});
    }
    if (running > 0) {
      closed.cpu_buckets.push_back(
          {Grid::Cpu().BucketOf(load / running), 300.0F * static_cast<float>(running)});
      w.num_buckets = 1;
    }
    if (by_agents) {
      for (int t = 0; t < running; ++t)
        closed.reports.push_back({.task = first_task + static_cast<uint32_t>(t)});
    }
    JobWindowData data{JobId{0}, w};
    data.num_reports = static_cast<uint32_t>(closed.reports.size());
    data.replicas = said;
    if (!silent) closed.jobs.push_back(data);
    if (with_other) AddOther(closed);
    last = closed;
    out.Clear();
    fleet.pass.Observe(closed, 0, closed.jobs.size(), out);
    fleet.pass.EndWindow(closed, out);
    fleet.pass.Decide(closed, 0, closed.jobs.size(), out);
    std::erase_if(out.decisions, [](const Decision& d) { return d.target.is_limit() || d.job != JobId{0}; });
    for (const Decision& d : out.decisions) {
      all.push_back(d);
      if (d.kind == DecisionKind::kSet && follows) running = static_cast<int>(*d.after);
    }
  }
  LiveReplicas& replicas() const { return *fleet.job(JobId{0}).replicas; }
  // Adds a second job, which has one task and is always measured.
  void AddOther(ClosedWindow& closed) {
    if (!fleet.Has(JobId{1})) fleet.AddJob({JobId{1}, "db", {}, 0});
    JobWindow w;
    w.window = closed.window;
    w.first_task = static_cast<uint32_t>(closed.tasks.size());
    w.num_tasks = 1;
    w.first_bucket = static_cast<uint32_t>(closed.cpu_buckets.size());
    w.num_buckets = 1;
    closed.tasks.push_back({100, 1, 1, 1e8F, 1e8F});
    closed.cpu_buckets.push_back({Grid::Cpu().BucketOf(1), 300.0F});
    closed.jobs.push_back({JobId{1}, w});
  }

  LiveFleet fleet;
  PassOutput out;
  ClosedWindow last;
  std::vector<Decision> all;
  int running = 6;
  std::optional<double> series_load;
  SaidReplicas said;       // task counts reported by a series
  bool by_agents = false;  // true if agents measure the job's tasks
  bool follows = true;
  uint32_t first_task = 0;
  bool silent = false;      // true if the job is not measured
  bool with_other = false;  // true if another job is measured
  int32_t index = 0;
};

// If a series has impossible values, the count stays, and the values are not learnt.
TEST(LiveReplicas, AnAbsurdLoadIsNotMeasured) {
  for (const char* policy : {"hpa", "autopilot", "forecast", "static"}) {
    LiveSettings settings = Scaling(Mode::kAuto, policy);
    JobPolicy defaults = settings.rules.defaults();
    defaults.replicas.task_capacity = 1;
    settings.rules = *PolicyRules::Compile({}, defaults);
    ScaledJob job(settings);
    for (int w = 0; w < 60; ++w) {
      job.series_load = 3 + w % 3;
      if (w % 10 == 9) job.series_load = w % 20 == 9 ? 1e39 : 1e12;
      const int before = job.running;
      job.Window(1);
      if (w % 10 != 9) continue;
      EXPECT_FALSE(job.replicas().figures().load.has_value()) << policy;
      EXPECT_EQ(job.running, before) << policy;
    }
    EXPECT_LT(job.running, 20) << policy;
  }
}

// kube-state-metrics reports 10 tasks, but samples exist for only 6 tasks.
TEST(LiveReplicas, TasksThatAreNotMeasuredAreNoReasonForFewer) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.follows = false;
  job.running = 10;
  job.said = {.count = 10, .ready = 10};
  for (int w = 0; w < 3; ++w) job.Window(10);  // a load of half of the capacity, 10 x 2 cores
  job.running = 4;
  for (int w = 0; w < 4; ++w) job.Window(4);
  EXPECT_THAT(job.all, IsEmpty());
  EXPECT_THAT(job.replicas().CountNotice(), HasSubstr("10 tasks, and 4 are measured"));
  job.said = {.count = 4, .ready = 4};
  for (int w = 0; w < 4; ++w) job.Window(2);
  ASSERT_FALSE(job.all.empty()) << "all are measured, and fewer do";
  EXPECT_LT(*job.all[0].after, 4);
}

// A number that is only shown starts no tasks. The shown tasks count as ready after the start-up time, and the
// number falls when the load ends.
TEST(LiveReplicas, ANumberThatIsOnlyShownComesDownAgain) {
  ScaledJob job(Scaling(Mode::kObserve, "hpa"));
  job.running = 4;
  job.Window(4);  // a load of half of the capacity, 4 x 2 cores
  for (int w = 0; w < 3; ++w) job.Window(7.2);
  ASSERT_FALSE(job.all.empty());
  EXPECT_THAT(job.all.back().after, Optional(8.0));
  for (int w = 0; w < 40; ++w) job.Window(4);
  EXPECT_THAT(job.all.back().after, Optional(4.0));
}

// The number rises in every window. Growth is limited by the share of starting tasks, so it can continue only
// because the tasks of earlier windows count as ready, also in a dry run.
TEST(LiveReplicas, WhatIsOnlyShownBecomesReadyWhileItGrows) {
  for (const Mode mode : {Mode::kObserve, Mode::kAuto}) {
    LiveSettings settings = Scaling(mode, "autopilot");
    JobPolicy defaults = settings.rules.defaults();
    for (const auto& [key, value] : {std::pair<std::string_view, std::string_view>{"replicas.startup", "14m"},
                                     {"replicas.autopilot.max_starting", "0.5"},
                                     {"replicas.autopilot.small_change", "0"},
                                     {"replicas.max", "1000"}})
      ASSERT_TRUE(SetJobSetting(key, value, defaults).ok());
    settings.rules = *PolicyRules::Compile({}, defaults);
    ScaledJob job(settings), restarted(settings);
    job.running = 4;
    job.follows = false;
    std::vector<double> after_restart;
    for (int w = 0; w < 30; ++w) {
      job.Window(4 + 4 * w);
      for (const Decision& d : job.out.decisions) {
        if (d.kind == DecisionKind::kSet)
          job.fleet.orders.TakeOutcome({.id = d.id, .outcome = Outcome::kDryRun, .text = ""});
      }
      if (w == 19) {
        const std::string chunk = Chunk(job.fleet), models = Models(job.fleet);
        ByteReader models_in(models), chunk_in(chunk);
        ASSERT_TRUE(restarted.fleet.checkpoint.LoadFleet(models_in).ok());
        ASSERT_TRUE(restarted.fleet.checkpoint.LoadChunk(0, WindowId{w}, chunk_in).ok());
        restarted.running = 4;
        restarted.follows = false;
        restarted.index = job.index;
        job.all.clear();
      } else if (w > 19) {
        restarted.Window(4 + 4 * w);
      }
    }
    // 120 cores require 86 tasks with 2 cores each at a utilization of 70 %.
    EXPECT_THAT(job.replicas().figures().recommended, Optional(testing::Ge(80))) << Name(mode);
    ASSERT_EQ(restarted.all.size(), job.all.size()) << Name(mode);
    for (size_t i = 0; i < job.all.size(); ++i) EXPECT_EQ(restarted.all[i].after, job.all[i].after);
  }
}

// If a webhook does not respond for an hour, the job must not keep too few tasks until its load changes.
TEST(LiveReplicas, AnOrderThatFailedIsGivenAgainAfterAnHour) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.follows = false;
  job.Window(6);
  job.Window(9);
  ASSERT_EQ(job.all.size(), 1U);
  job.fleet.orders.TakeOutcome({.id = job.all[0].id, .outcome = Outcome::kFailed, .text = "given up"});
  for (int w = 0; w < 11; ++w) job.Window(9);
  EXPECT_EQ(job.all.size(), 1U);
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("the order of 9 tasks failed"));
  // A restart must not lose the failed order.
  ScaledJob again(job.fleet.settings);
  const std::string chunk = Chunk(job.fleet), models = Models(job.fleet);
  ByteReader models_in(models), chunk_in(chunk);
  ASSERT_TRUE(again.fleet.checkpoint.LoadFleet(models_in).ok());
  ASSERT_TRUE(again.fleet.checkpoint.LoadChunk(0, WindowId{job.index - 1}, chunk_in).ok());
  again.fleet.restore.End(job.all[0].id, 0);
  again.follows = false;
  again.index = job.index;
  for (ScaledJob* j : {&job, &again}) {
    j->all.clear();
    for (int w = 0; w < 5; ++w) j->Window(9);
    ASSERT_EQ(j->all.size(), 1U);
    EXPECT_THAT(j->all[0].after, Optional(9.0));
    EXPECT_THAT(j->all[0].before, Optional(6.0));
    EXPECT_THAT(j->replicas().figures().hold, IsEmpty()) << "it is on its way";
  }
  // A failed order is not repeated if its number of tasks runs nevertheless.
  job.fleet.orders.TakeOutcome({.id = job.all[0].id, .outcome = Outcome::kFailed, .text = "no answer"});
  job.running = 9;
  job.all.clear();
  for (int w = 0; w < 30; ++w) job.Window(9);
  EXPECT_THAT(job.all, IsEmpty());
}

// A full store rejects prepared settings. The order in force must still be known by its id afterwards.
TEST(LiveReplicas, SettingsThatAreNotStoredLeaveTheOrderAlone) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.follows = false;
  job.Window(6);
  job.Window(9);
  ASSERT_EQ(job.all.size(), 1U);
  const KeyValue setting{"mode", "observe"};
  const auto prepared = job.fleet.overrides.Prepare(JobId{0}, {&setting, 1}, "anna", 3600);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  ASSERT_EQ(prepared->output.decisions.size(), 1U) << "the release";
  job.fleet.orders.TakeOutcome(
      {.id = prepared->output.decisions[0].id, .outcome = Outcome::kFailed, .text = "?"});
  EXPECT_THAT(job.replicas().figures().hold, IsEmpty()) << "no such order was given";
  job.fleet.orders.TakeOutcome({.id = job.all[0].id, .outcome = Outcome::kFailed, .text = "given up"});
  job.Window(9);
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("the order of 9 tasks failed"));
}

// After the release of the number, no order is in force that could be repeated.
TEST(LiveReplicas, AReleaseThatFailedIsNoOrderThatFailed) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.follows = false;
  job.Window(6);
  job.Window(9);
  PassOutput out;
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "mode", "observe", 3600, out).ok());
  ASSERT_EQ(out.decisions.size(), 1U);
  job.fleet.orders.TakeOutcome({.id = out.decisions[0].id, .outcome = Outcome::kFailed, .text = "no answer"});
  job.all.clear();
  for (int w = 0; w < 30; ++w) job.Window(9);
  for (const Decision& d : job.all) EXPECT_EQ(d.kind, DecisionKind::kWouldSet);
  EXPECT_LE(job.all.size(), 1U);
}

// Tasks that an actuator starts count as starting until they are measured.
TEST(LiveReplicas, OrdersThatAreCarriedOutAreStartingUntilTheyRun) {
  LiveSettings settings = Scaling(Mode::kAuto, "autopilot");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.autopilot.max_starting", "0.5", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  job.running = 4;
  job.follows = false;
  for (int w = 0; w < 10; ++w) {
    job.Window(4 + 4 * w);
    for (const Decision& d : job.out.decisions)
      job.fleet.orders.TakeOutcome({.id = d.id, .outcome = Outcome::kApplied, .text = ""});
  }
  EXPECT_THAT(job.replicas().figures().recommended, Optional(8)) << "half of them starting";
}

TEST(LiveReplicas, AutoFollowsTheLoadAndSaysWhy) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.Window(6);  // a load of half of the capacity, 6 x 2 cores
  EXPECT_THAT(job.out.decisions, IsEmpty());
  job.Window(9);
  ASSERT_EQ(job.out.decisions.size(), 1U);
  const Decision& d = job.out.decisions[0];
  EXPECT_EQ(d.target, Target::Replicas());
  EXPECT_EQ(d.kind, DecisionKind::kSet);
  EXPECT_THAT(d.before, Optional(6.0));
  EXPECT_THAT(d.after, Optional(9.0));
  EXPECT_THAT(d.sentence, HasSubstr("times the target of 50 %"));
  EXPECT_FALSE(d.reason.empty());
  job.Window(9);
  EXPECT_THAT(job.out.decisions, IsEmpty());
  EXPECT_EQ(job.replicas().figures().running, 9);
  EXPECT_THAT(job.replicas().figures().load, Optional(testing::DoubleNear(9, 1e-5)));
  Reason reason;
  job.replicas().Explain(reason);
  EXPECT_THAT(reason.limit, Optional(9.0));
}

TEST(LiveReplicas, WithoutACpuLimitNothingIsRecommendedAndItIsSaid) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  for (int i = 0; i < 5; ++i) job.Window(11, false);
  EXPECT_THAT(job.all, IsEmpty());
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("no CPU limit"));
  job.Window(11);
  EXPECT_EQ(job.all.size(), 1U);
}

// If the capacity followed a lowered limit, more tasks would be needed, which would lower the usage of each task
// further.
TEST(LiveReplicas, TheCoresOfATaskAreThoseOfTheLastChangeOfItsNumber) {
  LiveReplicas replicas(**FindReplicaPolicy("hpa"), LiveReplicaSettings());
  std::vector<TaskUsage> tasks(4, TaskUsage{0, 1, 1});
  Signal signal;
  signal.tasks = tasks;
  replicas.Observe(signal, 2.0, SizeUse::kOwners);
  signal.window = WindowId{1};
  replicas.Observe(signal, 1.0, SizeUse::kOwners);
  EXPECT_THAT(replicas.figures().capacity, Optional(2.0));
  tasks.resize(5);
  signal.tasks = tasks;
  signal.window = WindowId{2};
  replicas.Observe(signal, 1.0, SizeUse::kOwners);
  EXPECT_THAT(replicas.figures().capacity, Optional(1.0));
}

// As in Kubernetes, ordered tasks count before they run, so the order is not repeated.
TEST(LiveReplicas, OrderedTasksThatDoNotRunYetAreStarting) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.follows = false;
  job.Window(6);
  job.Window(9);
  job.Window(8);  // a small decrease, which the stabilisation window delays
  ASSERT_EQ(job.all.size(), 1U);
  EXPECT_THAT(job.all[0].after, Optional(9.0));
}

// In a dry run and in mode observe, no order is executed. Ordered or shown tasks count as if they ran.
TEST(LiveReplicas, WhatNobodyCarriesOutIsNotOrderedAgainAndAgain) {
  for (const Mode mode : {Mode::kAuto, Mode::kObserve}) {
    ScaledJob job(Scaling(mode, "forecast"));
    job.follows = false;
    for (int32_t i = 0; i < 3 * kWindowsPerDay; ++i) job.Window(1.5 + 0.01 * (i % 7));
    EXPECT_LE(job.all.size(), 3U) << "a load that hardly changes";
    EXPECT_LT(*job.replicas().figures().recommended, 6);
  }
}

TEST(LiveReplicas, AStepBackOutlivesAKillBetweenTwoCheckpoints) {
  const LiveSettings settings = Scaling(Mode::kAuto, "hpa");
  ScaledJob job(settings), again(settings);
  job.Window(6);
  const std::string chunk = Chunk(job.fleet), models = Models(job.fleet);
  std::vector<ClosedWindow> since;
  const auto window = [&](double load) {
    job.Window(load);
    since.push_back(job.last);
  };
  window(9);
  window(9);  // the nine ordered tasks run
  job.running = 4;
  window(4);
  window(4);
  ASSERT_THAT(job.replicas().figures().hold, HasSubstr("without an order"));
  ByteReader models_in(models), chunk_in(chunk);
  ASSERT_TRUE(again.fleet.checkpoint.LoadFleet(models_in).ok());
  ASSERT_TRUE(again.fleet.checkpoint.LoadChunk(0, WindowId{0}, chunk_in).ok());
  const WindowId through{0};
  for (const ClosedWindow& closed : since) {
    again.fleet.restore.Redo(closed, {&through, 1});
    for (const Decision& d : job.all) {
      if (d.time_s == closed.window.next().start_s()) again.fleet.restore.Redo(d);
    }
  }
  again.running = 4;
  again.index = job.index;
  again.Window(4);
  EXPECT_THAT(again.out.decisions, IsEmpty());
  EXPECT_THAT(again.replicas().figures().hold, HasSubstr("without an order"));
  EXPECT_FALSE(again.replicas().figures().in_force.has_value());
}

// During a rollout, old and new tasks are measured in the same window. Tasks started by another program remain.
TEST(LiveReplicas, ARolloutIsNoOtherProgramAndAStepBackIsSaidOnce) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  for (const double load : {6.0, 9.0, 9.0}) job.Window(load);
  ASSERT_EQ(job.running, 9);
  job.follows = false;
  for (int rollout = 0; rollout < 3; ++rollout) {
    for (const int more : {4, 6}) {
      job.running = 9 + more;
      job.Window(9);
      EXPECT_TRUE(job.out.step_backs.empty());
      job.first_task += static_cast<uint32_t>(more);
    }
    job.running = 9;
    job.Window(9);
  }
  EXPECT_THAT(job.replicas().figures().in_force, Optional(9));
  job.running = 12;
  int said = 0;
  for (int i = 0; i < 6; ++i) {
    job.Window(9);
    said += static_cast<int>(job.out.step_backs.size());
    for (const auto& [id, step_back] : job.out.step_backs) EXPECT_EQ(step_back.running, 12);
  }
  EXPECT_EQ(said, 1);
  EXPECT_TRUE(job.replicas().order().steps_back_until(job.last.window.next().start_s()).has_value());
}

double Load(int32_t window) { return 8 + 5 * std::sin(window / 288.0 * 6.283); }

TEST(LiveReplicas, ARestartChangesNoDecision) {
  for (const std::string_view policy : {"static", "autopilot", "hpa", "keda", "function", "forecast"}) {
    const LiveSettings settings = Scaling(Mode::kAuto, policy);
    ScaledJob straight(settings), before(settings), after(settings);
    const int32_t stop = 700, end = 1000;
    for (int32_t i = 0; i < end; ++i) straight.Window(Load(i));
    for (int32_t i = 0; i < stop; ++i) before.Window(Load(i));
    const std::string chunk = Chunk(before.fleet), models = Models(before.fleet);
    ByteReader models_in(models), chunk_in(chunk);
    ASSERT_TRUE(after.fleet.checkpoint.LoadFleet(models_in).ok());
    ASSERT_TRUE(after.fleet.checkpoint.LoadChunk(0, WindowId{stop - 1}, chunk_in).ok());
    after.running = before.running;
    after.index = stop;
    for (int32_t i = stop; i < end; ++i) after.Window(Load(i));
    std::vector<double> wanted, made;
    for (const Decision& d : straight.all) wanted.push_back(*d.after);
    for (const Decision& d : before.all) made.push_back(*d.after);
    for (const Decision& d : after.all) made.push_back(*d.after);
    EXPECT_EQ(made, wanted) << policy;
  }
}

TEST(LiveReplicas, ASettingChangesThePolicyAndKeepsTheOrderUntilItIsTakenBack) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.Window(6);
  job.Window(9);
  ASSERT_THAT(job.replicas().figures().in_force, Optional(9));
  PassOutput out;
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.policy", "autopilot", 1000, out).ok());
  EXPECT_EQ(job.replicas().figures().policy, "autopilot");
  EXPECT_THAT(job.replicas().figures().in_force, Optional(9));
  out.Clear();
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.policy", "none", 2000, out).ok());
  std::erase_if(out.decisions, [](const Decision& d) { return d.target.is_limit(); });
  ASSERT_EQ(out.decisions.size(), 1U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kRelease);
  job.Window(9);
  EXPECT_EQ(job.fleet.job(JobId{0}).replicas, nullptr);
  EXPECT_FALSE(
      job.fleet.overrides.Prepare(JobId{0}, std::vector<KeyValue>{{"replicas.min", "60"}}, "anna", 0).ok());
}

TEST(LiveReplicas, ANewPolicyLearnsFromTheStoredLoad) {
  ScaledJob job(Scaling(Mode::kObserve, "none"));
  std::vector<JobDay> days(2);
  for (int32_t i = 0; i < 2 * kWindowsPerDay; ++i) {
    job.Window(Load(i));
    AppendWindow(job.last, 0, days[static_cast<size_t>(i / kWindowsPerDay)]);
  }
  EXPECT_EQ(job.fleet.job(JobId{0}).replicas, nullptr);
  PassOutput out;
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.policy", "forecast", 1000, out).ok());
  ASSERT_THAT(WantedOf(job.fleet), testing::ElementsAre(JobId{0}));
  job.fleet.history.Retrain(JobId{0}, days, {});
  job.Window(Load(job.index));
  Reason reason;
  job.replicas().Explain(reason);
  EXPECT_THAT(reason.sentence, testing::Not(HasSubstr("history"))) << reason.sentence;
  EXPECT_TRUE(job.replicas().figures().recommended.has_value());
}

// With a start-up time of twenty minutes, a task is ready four windows later, so the forecast must be for this
// window.
TEST(LiveReplicas, TheForecastLooksAsFarAheadAsATaskNeeds) {
  LiveSettings settings = Scaling(Mode::kAuto, "forecast");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.startup", "20m", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings), at_once(Scaling(Mode::kAuto, "forecast"));
  for (ScaledJob* j : {&job, &at_once}) {
    for (int32_t i = 0; i < 2 * kWindowsPerDay; ++i) j->Window(Load(i));
    ASSERT_TRUE(j->replicas().policy().Forecast().has_value());
  }
  const auto ahead_s = [](const ScaledJob& j) {
    return j.replicas().policy().Forecast()->at.seconds() - j.last.window.next().start_s();
  };
  EXPECT_EQ(ahead_s(at_once), kWindowSeconds);
  EXPECT_EQ(ahead_s(job), 4 * kWindowSeconds);
  // A change of the start-up time invalidates the learnt state, so the job needs history.
  EXPECT_THAT(WantedOf(job.fleet), IsEmpty());
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.startup", "18m", 0, job.out).ok());
  EXPECT_THAT(WantedOf(job.fleet), IsEmpty()) << "as many windows";
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.startup", "10m", 0, job.out).ok());
  EXPECT_THAT(WantedOf(job.fleet), testing::ElementsAre(JobId{0}));
  EXPECT_FALSE(Set(job.fleet, JobId{0}, "replicas.startup", "2d", 0, job.out).ok());
}

TEST(LiveReplicas, WhatIsOverloadedIsASetting) {
  LiveSettings settings = Scaling(Mode::kAuto, "static");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.max_utilization", "40%", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  job.Window(7.9);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(10)) << "7.9 cores at 40 % of 2 each";
}

TEST(LiveReplicas, AnExternalAnswerGoesBeforeThePolicyAndOutlivesARestart) {
  LiveSettings settings = Scaling(Mode::kAuto, "hpa");
  JobPolicy defaults = settings.rules.defaults();
  defaults.external = true;
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  for (int i = 0; i < 6; ++i) job.Window(6);
  EXPECT_EQ(job.running, 6);
  ExternalAnswer answer{.job = JobId{0},
                        .target = Target::Replicas(),
                        .value = 11,
                        .why = "a sale begins",
                        .until = WindowId{job.index + 2}};
  job.out.Clear();
  ASSERT_TRUE(job.fleet.external.Take(answer, 0, job.out));
  ASSERT_EQ(job.out.decisions.size(), 1U) << "at once";
  EXPECT_EQ(job.out.decisions[0].after, 11);
  EXPECT_THAT(job.out.decisions[0].sentence, HasSubstr("a sale begins"));
  job.running = 11;
  std::string state;
  ByteWriter out(&state);
  job.replicas().Save(out);
  ByteReader in(state);
  const JobPolicy& policy = *job.fleet.job(JobId{0}).policy;
  const auto restored = LiveReplicas::Load(in, policy);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_THAT(restored->replicas->figures().recommended, Optional(11));
  job.Window(6);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(11));
  for (int i = 0; i < 12; ++i) job.Window(6);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(6)) << "it has expired";
  answer.until = WindowId{job.index + 20};
  answer.value = 1000;
  ASSERT_TRUE(job.fleet.external.Take(answer, 0, job.out));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(50)) << "replicas.max";
}

TEST(LiveReplicas, TheLoadMayBeThatOfSeries) {
  LiveSettings settings = Scaling(Mode::kAuto, "hpa");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.task_capacity", "100", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  job.Window(1, /*with_limit=*/false);
  EXPECT_FALSE(job.replicas().figures().recommended.has_value());
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("replicas.task_capacity asks for series"));
  job.series_load = 450;
  job.Window(1, /*with_limit=*/false);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(9))
      << "450 at half of 100 each, whatever CPU they use";
  EXPECT_FALSE(job.replicas().figures().is_of_cpu);
  job.series_load.reset();
  for (int i = 0; i < 5; ++i) job.Window(8);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(9)) << "a silent series changes nothing";
  std::string state;
  ByteWriter out(&state);
  job.replicas().Save(out);
  const JobPolicy& policy = *job.fleet.job(JobId{0}).policy;
  ByteReader in(state);
  EXPECT_THAT(LiveReplicas::Load(in, policy)->replicas->figures().recommended, Optional(9));
  // Counts learnt from another load must not be used.
  JobPolicy by_cpu = policy;
  by_cpu.replicas.task_capacity = 0;
  ByteReader again(state);
  const auto other = LiveReplicas::Load(again, by_cpu);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->replicas->figures().recommended.has_value());
  EXPECT_FALSE(other->replicas->figures().capacity.has_value());
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.task_capacity", "0", 0, job.out).ok());
  EXPECT_EQ(WantedOf(job.fleet).size(), 1U);
}

LiveSettings ByRequests(std::string_view policy) {
  LiveSettings settings = Scaling(Mode::kAuto, policy);
  JobPolicy defaults = settings.rules.defaults();
  EXPECT_TRUE(SetJobSetting("replicas.task_capacity", "100", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  return settings;
}

TEST(LiveReplicas, ASeriesSaysHowManyTasksRun) {
  ScaledJob job(ByRequests("hpa"));
  job.follows = false;
  job.running = 3;
  job.series_load = 450;
  job.said = {.count = 9, .ready = 6};
  job.Window(1);
  EXPECT_EQ(job.replicas().figures().running, 9) << "of three of them usage is known";
  EXPECT_THAT(job.replicas().figures().recommended, Optional(9));
  EXPECT_THAT(job.all, IsEmpty()) << "this number runs already";
  EXPECT_THAT(job.replicas().figures().utilization, Optional(0.5));
  Reason reason;
  job.replicas().Explain(reason);
  const auto ready = std::ranges::find(reason.facts, "of them ready", &Fact::name);
  ASSERT_NE(ready, reason.facts.end());
  EXPECT_EQ(std::get<double>(ready->value), 6);
  EXPECT_EQ(job.replicas().CountNotice(), "") << "tasks may just have started";
  for (int i = 0; i < 2; ++i) job.Window(1);
  EXPECT_THAT(job.replicas().CountNotice(), HasSubstr("9 tasks, and 3 are measured: the reported number"));
  // The number measured by agents has precedence over the reported number.
  job.by_agents = true;
  job.Window(1);
  EXPECT_EQ(job.replicas().figures().running, 3);
  EXPECT_THAT(job.replicas().CountNotice(), HasSubstr("3 are measured by agents: the measured"));
  job.by_agents = false;
  job.said = {};
  job.Window(1);
  EXPECT_EQ(job.replicas().figures().running, 3) << "a silent series says nothing, and not 0";
  EXPECT_EQ(job.replicas().CountNotice(), "");
}

TEST(LiveReplicas, ATaskThatIsNotReadyIsStarting) {
  const auto needs = [](int ready) {
    ScaledJob job(ByRequests("hpa"));
    job.running = 4;
    job.series_load = 90;
    job.said = {.count = 4, .ready = ready};
    job.Window(1);
    return job.replicas().figures().recommended;
  };
  EXPECT_THAT(needs(4), Optional(2)) << "90 at half of 100 each";
  EXPECT_THAT(needs(-1), Optional(2)) << "not said: they serve";
  EXPECT_THAT(needs(2), Optional(4)) << "two carry it all, at their target";
}

TEST(LiveReplicas, ASeriesThatFallsSilentIsNoOtherProgram) {
  ScaledJob job(ByRequests("hpa"));
  job.follows = false;
  job.running = 5;  // number of tasks in samples
  job.said = {.count = 5, .ready = 5};
  job.series_load = 450;
  job.Window(1);
  ASSERT_EQ(job.replicas().figures().in_force, 9);
  job.said = {.count = 9, .ready = 9};
  job.Window(1);
  job.said = {};
  for (int i = 0; i < 6; ++i) job.Window(1);
  EXPECT_EQ(job.replicas().figures().in_force, 9);
  EXPECT_FALSE(job.replicas().order().steps_back_until(int64_t{job.index} * kWindowSeconds).has_value())
      << job.replicas().figures().hold;
  // A lower number in the series, unlike a missing series, indicates another program.
  job.said = {.count = 9, .ready = 9};
  job.Window(1);
  job.said = {.count = 5, .ready = 5};
  for (int i = 0; i < 2; ++i) job.Window(1);
  EXPECT_TRUE(job.replicas().order().steps_back_until(int64_t{job.index} * kWindowSeconds).has_value());
}

TEST(LiveReplicas, ALoadSeriesNeedsNoMeasuredTaskWhereTheNumberIsSaid) {
  ScaledJob job(ByRequests("hpa"));
  job.follows = false;
  job.running = 0;
  job.series_load = 350;
  job.Window(0);
  EXPECT_FALSE(job.replicas().figures().recommended.has_value()) << "how many run is not known";
  job.said = {.count = 4, .ready = 4};
  job.Window(0);
  EXPECT_EQ(job.replicas().figures().running, 4);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(7));
  ASSERT_EQ(job.all.size(), 1U);
  EXPECT_THAT(job.all[0].before, Optional(4));
}

class LiveReplicasToZero : public testing::TestWithParam<std::string> {};

TEST_P(LiveReplicasToZero, TheLoadAloneStartsAJob) {
  LiveSettings settings = Scaling(Mode::kAuto, GetParam());
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.task_capacity", "100", defaults).ok());
  ASSERT_TRUE(SetJobSetting("replicas.min", "0", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  job.series_load = 0;
  for (int i = 0; i < 30 && job.running > 0; ++i) job.Window(0.01);
  ASSERT_EQ(job.running, 0);
  for (int i = 0; i < 24; ++i) job.Window(0);
  EXPECT_EQ(job.running, 0);
  EXPECT_EQ(job.fleet.job(JobId{0}).last_window, WindowId{job.index - 1}) << "it is not forgotten";
  job.series_load = 90;
  job.Window(0);
  EXPECT_GE(job.running, 1);
  for (int i = 0; i < 5; ++i) job.Window(0.5);
  EXPECT_GE(job.running, 2) << "90 at less than 90 each";
}
INSTANTIATE_TEST_SUITE_P(Policies, LiveReplicasToZero,
                         testing::Values("keda", "hpa", "forecast", "autopilot", "function"),
                         [](const auto& of) { return of.param; });

// The free capacity of a new job follows from the steady loads of other jobs in the cell. Without other jobs,
// half of the capacity is kept free.
TEST(LiveReplicas, ANewJobIsScaledByWhatOthersDid) {
  const auto with_others = [](int others) {
    LiveFleet fleet(Scaling(Mode::kObserve, "forecast"));
    const auto window = [&](int32_t index, int jobs) {
      ClosedWindow closed;
      closed.window = WindowId{index};
      for (int j = 0; j < jobs; ++j) {
        JobWindow w;
        w.window = closed.window;
        w.first_task = static_cast<uint32_t>(closed.tasks.size());
        w.num_tasks = 6;
        w.first_bucket = static_cast<uint32_t>(closed.cpu_buckets.size());
        w.num_buckets = 1;
        w.cpu_limit_cores = 2;
        const float each = 1.0F + 0.01F * static_cast<float>((index + j) % 5);
        for (uint32_t t = 0; t < 6; ++t) closed.tasks.push_back({t, each, each, 1e8F, 1e8F});
        closed.cpu_buckets.push_back({Grid::Cpu().BucketOf(each), 1800.0F});
        closed.jobs.push_back({JobId{static_cast<uint32_t>(j)}, w});
      }
      PassOutput out;
      Step(fleet, closed, out);
    };
    AddJobs(fleet, static_cast<size_t>(others));
    int32_t index = 0;
    for (; index < 2 * kWindowsPerDay; ++index) window(index, others);
    const JobId id{static_cast<uint32_t>(others)};
    fleet.AddJob({id, "new", {}, 0});
    for (const int32_t end = index + 12; index < end; ++index) window(index, others + 1);
    // A restart must restore the load analogs.
    LiveFleet restored(Scaling(Mode::kObserve, "forecast"));
    const std::string models = Models(fleet);
    ByteReader in(models);
    EXPECT_TRUE(restored.checkpoint.LoadFleet(in).ok());
    EXPECT_EQ(Models(restored), models);
    Reason reason;
    fleet.job(id).replicas->Explain(reason);
    return std::pair(*fleet.job(id).replicas->figures().recommended, reason.sentence);
  };
  const auto [alone, alone_why] = with_others(1);
  EXPECT_EQ(alone, 7) << "6.2 cores at half of 2 each";
  EXPECT_THAT(alone_why, HasSubstr("keep the highest load of 5 min at 50 %"));
  const auto [among, among_why] = with_others(12);
  EXPECT_LE(among, 5);
  EXPECT_GE(among, 4) << "6.2 cores at 80 % of 2 each";
  EXPECT_THAT(among_why, HasSubstr("moves as those of the other jobs do"));
}

// Tasks without measurements may still run.
TEST(LiveReplicas, TasksThatVanishAreNotTakenForZero) {
  LiveSettings settings = Scaling(Mode::kAuto, "hpa");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.task_capacity", "100", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  job.series_load = 450;
  for (int i = 0; i < 5; ++i) job.Window(1);
  ASSERT_EQ(job.running, 9);
  const size_t orders = job.all.size();
  job.running = 0;
  job.follows = false;
  for (int i = 0; i < 10; ++i) job.Window(0);
  EXPECT_EQ(job.all.size(), orders);
  EXPECT_THAT(job.replicas().figures().in_force, Optional(9));
}

TEST(LiveReplicas, ALoadThatIsSilentForLongIsTakenForHigh) {
  LiveSettings settings = Scaling(Mode::kAuto, "hpa");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.task_capacity", "100", defaults).ok());
  ASSERT_TRUE(SetJobSetting("replicas.function.silent_after", "30m", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  ScaledJob job(settings);
  job.series_load = 1000;
  job.Window(1);
  job.series_load = 200;
  for (int i = 0; i < 12; ++i) job.Window(1);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(4));
  job.series_load.reset();
  for (int i = 0; i < 5; ++i) job.Window(1);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(4)) << "it is held";
  job.Window(1);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(12)) << "half an hour: the highest of the day";
  Reason reason;
  job.replicas().Explain(reason);
  EXPECT_THAT(reason.sentence, HasSubstr("Not measured for 30 min: the load."));
  // The restored state must have the raised number.
  std::string state;
  ByteWriter out(&state);
  job.replicas().Save(out);
  ByteReader in(state);
  const auto restored = LiveReplicas::Load(in, *job.fleet.job(JobId{0}).policy);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_THAT(restored->replicas->figures().recommended, Optional(12));
  job.series_load = 200;
  for (int i = 0; i < 13; ++i) job.Window(1);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(4)) << "it is back";
}

TEST(LiveReplicas, AJobThatIsNotMeasuredForLongGetsTheSafeCount) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.with_other = true;
  job.Window(12);
  for (int i = 0; i < 12; ++i) job.Window(4);
  ASSERT_EQ(job.running, 4);
  job.silent = true;
  for (int i = 0; i < 11; ++i) job.Window(0);
  EXPECT_THAT(job.replicas().figures().in_force, Optional(4)) << "it is held";
  EXPECT_THAT(job.replicas().figures().hold,
              HasSubstr("the load: not measured since day 0 01:05 UTC; the number stays"));
  EXPECT_FALSE(job.replicas().figures().load.has_value());
  job.Window(0);
  ASSERT_EQ(job.out.decisions.size(), 1U) << "an hour: the highest of the day";
  EXPECT_THAT(job.out.decisions[0].after, Optional(12.0));
  EXPECT_THAT(job.out.decisions[0].sentence, HasSubstr("Not measured for 60 min: the load."));
  for (int i = 0; i < 20; ++i) job.Window(0);
  EXPECT_THAT(job.replicas().figures().in_force, Optional(12)) << "once";
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("highest of the last day until then, 12 tasks"));
  job.silent = false;
  for (int i = 0; i < 14; ++i) job.Window(4);
  EXPECT_THAT(job.replicas().figures().in_force, Optional(4)) << "it is back";
  EXPECT_THAT(job.replicas().figures().hold, IsEmpty());
}

// If no job is measured, tautd itself receives nothing, and the jobs may run normally.
TEST(LiveReplicas, WhereNothingIsMeasuredOfAnybodyNoCountIsRaised) {
  ScaledJob job(Scaling(Mode::kAuto, "hpa"));
  job.with_other = true;
  job.Window(12);
  for (int i = 0; i < 12; ++i) job.Window(4);
  const size_t orders = job.all.size();
  job.silent = true;
  job.with_other = false;
  for (int i = 0; i < 40; ++i) job.Window(0);
  EXPECT_EQ(job.all.size(), orders);
  // Silence is counted from the window in which the other job is measured again.
  job.with_other = true;
  for (int i = 0; i < 11; ++i) job.Window(0);
  EXPECT_EQ(job.all.size(), orders);
  job.Window(0);
  EXPECT_EQ(job.all.size(), orders + 1);
}

// Overload is counted with the limits in force of the tasks, even if another size is shown.
TEST(LiveReplicas, OverloadedWindowsAreThoseOfTheTasksThatRan) {
  ScaledJob job(Scaling(Mode::kObserve, "hpa"));
  job.running = 4;  // at 6.4 cores, 80 % of 4 tasks with 2 cores each are used
  for (int w = 0; w < 40; ++w) job.Window(w < 30 ? 6.3 : 6.5);
  EXPECT_EQ(job.replicas().figures().overload->windows(), 40U);
  EXPECT_EQ(job.replicas().figures().overload->overloaded(), 10U);
  EXPECT_TRUE(job.replicas().figures().overload->now());
  std::string bytes;
  ByteWriter out(&bytes);
  job.replicas().Save(out);
  ByteReader in(bytes);
  const auto again = LiveReplicas::Load(in, *job.fleet.job(JobId{0}).policy);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->replicas->figures().overload->overloaded(), 10U);
}

TEST(LiveReplicas, DamagedBytesAreAnError) {
  ScaledJob job(Scaling(Mode::kAuto, "forecast"));
  for (int32_t i = 0; i < 20; ++i) job.Window(Load(i));
  std::string bytes;
  ByteWriter out(&bytes);
  job.replicas().Save(out);
  const JobPolicy& policy = *job.fleet.job(JobId{0}).policy;
  // States of earlier versions end before one of these fields.
  constexpr size_t kDamping = 2 * sizeof(int64_t) + 1,
                   kOverload = kDamping + sizeof(int32_t) + 1 + 10 * sizeof(uint64_t),
                   kAssumed = kOverload + 1 + sizeof(uint64_t) + 1, kHold = kAssumed + 1 + sizeof(int64_t),
                   kMoves = kHold + 2 + LoadMoves::kBins * sizeof(float) + sizeof(double), kSize = kMoves + 1,
                   kSilence = kSize + 2 * sizeof(int) + sizeof(int64_t);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const size_t missing = bytes.size() - length;
    if (missing == kDamping || missing == kOverload || missing == kAssumed || missing == kHold ||
        missing == kMoves || missing == kSize || missing == kSilence)
      continue;
    ByteReader in(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(LiveReplicas::Load(in, policy).ok()) << length;
  }
}

}  // namespace
}  // namespace taut::brain
