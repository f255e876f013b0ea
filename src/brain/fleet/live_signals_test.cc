// Tests of numbers of tasks that follow from named signals, also after restarts and retraining.
#include <cmath>

#include "brain/fleet/live_fixture.h"
#include "common/model/said_replicas.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::string_view kBySignals = "ceil(max(queue_length, 10m) / 50) + avg(cpu, 5m) / 2";

LiveSettings BySignals(std::string_view target, std::string_view capacity = "0") {
  LiveSettings s = Settings(Policy::kMovingWindow, Mode::kAuto);
  JobPolicy defaults = s.rules.defaults();
  defaults.replicas.signals = {"queue_length", "requests"};
  for (const auto& [key, value] :
       {std::pair<std::string_view, std::string_view>{"replicas.policy", "function"},
        {"replicas.function.target", target},
        {"replicas.task_capacity", capacity},
        {"replicas.autopilot.small_change", "0"},
        {"replicas.max", "100"}})
    EXPECT_TRUE(SetJobSetting(key, value, defaults).ok()) << key;
  s.rules = *PolicyRules::Compile({}, defaults);
  return s;
}

// A job with `tasks` tasks, which use half a core each and have no CPU limit.
class SignalledJob {
 public:
  explicit SignalledJob(const LiveSettings& settings) : fleet(settings) {
    fleet.AddJob({JobId{0}, "worker", {}, 0});
  }
  void Window(std::vector<NamedSignal> signals, uint32_t tasks = 4) {
    ClosedWindow closed;
    closed.window = WindowId{index++};
    JobWindow w;
    w.window = closed.window;
    w.num_tasks = tasks;
    w.cpu_limit_cores = cpu_limit;
    for (uint32_t t = 0; t < tasks; ++t) closed.tasks.push_back({t, 0.5, 0.5, 1e8F, 1e8F});
    if (tasks > 0) {
      closed.cpu_buckets.push_back({Grid::Cpu().BucketOf(0.5), 300.0F * static_cast<float>(tasks)});
      w.num_buckets = 1;
    }
    w.num_signals = static_cast<uint32_t>(signals.size());
    closed.signals = std::move(signals);
    closed.jobs.push_back({JobId{0}, w});
    closed.jobs.back().replicas = said;
    last = closed;
    PassOutput out;
    Step(fleet, closed, out);
    for (const Decision& d : out.decisions) {
      last_decision = d.id;
      if (d.target.is_replicas()) all.push_back(*d.after);
    }
    for (const auto& [id, hold] : out.holds) holds.push_back(hold);
  }
  LiveReplicas& replicas() const { return *fleet.job(JobId{0}).replicas; }
  std::string Why() const {
    Reason reason;
    replicas().Explain(reason);
    return reason.sentence;
  }

  LiveFleet fleet;
  ClosedWindow last;
  std::vector<double> all;
  std::vector<ReplicaHoldChange> holds;
  uint64_t last_decision = 0;
  SaidReplicas said;
  float cpu_limit = kAbsent;
  int32_t index = 0;
};

std::vector<NamedSignal> Queue(double length) { return {{"queue_length", static_cast<float>(length)}}; }

TEST(LiveSignals, ScaleAJobWithoutALimitAndALoadSeries) {
  SignalledJob job(BySignals(kBySignals));
  job.Window(Queue(120));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(4)) << "3 for the queue, 1 for 2 cores";
  job.Window(Queue(990));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(21));
  EXPECT_THAT(job.Why(), HasSubstr("is 21: 21 tasks after smoothing."));
  job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(21));
  EXPECT_EQ(job.Why(), "queue_length was not measured, so the count stays 21.");
  EXPECT_EQ(job.all, (std::vector<double>{21}));
}

TEST(LiveSignals, ASilentSignalIsHeldAndThenSafe) {
  SignalledJob job(BySignals("queue_length / 10"));
  job.Window(Queue(300));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30));
  for (int i = 0; i < 60; ++i) job.Window(Queue(20));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(2));
  for (int i = 0; i < 11; ++i) job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(2));
  job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30)) << "an hour later the highest of the day";
  EXPECT_THAT(job.Why(),
              HasSubstr("Not measured for 60 min: queue_length. The highest number of the last day"));
}

TEST(LiveSignals, OwnSignalsAreThoseOfTheWindow) {
  SignalledJob job(BySignals("cpu * 10 + memory / 1e8"));
  job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(24));
  SignalledJob limited(BySignals("cpu / cpu_limit"));
  limited.Window({});
  EXPECT_THAT(limited.Why(), HasSubstr("cpu_limit was not measured, so the count stays 4."));
}

TEST(LiveSignals, NoMeasuredTaskIsNeededWhereTheNumberIsSaid) {
  SignalledJob job(BySignals("queue_length / 10"));
  job.Window(Queue(50), 0);
  EXPECT_FALSE(job.replicas().figures().recommended.has_value()) << "how many run is not known";
  job.said = {.count = 3, .ready = 3};
  job.Window(Queue(50), 0);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(5));
}

TEST(LiveSignals, TheSaidNumberIsReadOfAStoredWindowToo) {
  SignalledJob heard(BySignals("queue_length / 10")), stored(BySignals("queue_length / 10"));
  for (const int count : {3, 3, 5}) {
    heard.said = {.count = count, .ready = 2};
    heard.Window(Queue(50), 0);
    std::vector<NamedSignal> kept = Queue(50);
    PutSaid(heard.said, 0, kept);
    stored.Window(kept, 0);
    EXPECT_EQ(stored.replicas().figures().running, count);
  }
  EXPECT_EQ(Chunk(stored.fleet), Chunk(heard.fleet)) << "byte for byte";
}

TEST(LiveSignals, ASignalAloneDoesNotHideASilentJob) {
  LiveSettings settings = BySignals("queue_length");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("replicas.policy", "hpa", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  SignalledJob job(settings);
  job.cpu_limit = 0.4F;
  job.Window(Queue(1));
  ASSERT_THAT(job.replicas().figures().recommended, Optional(7)) << "4 tasks at 125 % of 80 %";
  job.cpu_limit = 2;
  for (int i = 0; i < 4; ++i) job.Window(Queue(1), 7);
  ASSERT_THAT(job.replicas().figures().recommended, Optional(testing::Lt(7)));
  const WindowId measured = job.fleet.job(JobId{0}).last_window;
  job.Window(Queue(1), 0);
  EXPECT_EQ(job.fleet.job(JobId{0}).last_window, measured);
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("the load: not measured since"));
  for (int i = 0; i < 12; ++i) job.Window(Queue(1), 0);
  EXPECT_THAT(job.replicas().figures().recommended, Optional(7)) << "the highest of the day is safe";
}

LiveSettings ByMetrics(std::string_view policy, std::string_view metrics, std::string_view capacity = "0") {
  LiveSettings settings = BySignals("load", capacity);
  JobPolicy defaults = settings.rules.defaults();
  EXPECT_TRUE(SetJobSetting("replicas.policy", policy, defaults).ok());
  EXPECT_TRUE(SetJobSetting("replicas.hpa.metrics", metrics, defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  return settings;
}

TEST(LiveSignals, SilentMetricsOfAnHpaAreHeldAndThenSafe) {
  SignalledJob job(ByMetrics("hpa", "only queue_length 10 per task; requests 5 per task"));
  const auto both = [](double queue, double requests) {
    return std::vector<NamedSignal>{{"queue_length", static_cast<float>(queue)},
                                    {"requests", static_cast<float>(requests)}};
  };
  for (int i = 0; i < 3; ++i) job.Window(both(300, 20));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30));
  for (int i = 0; i < 60; ++i) job.Window(both(20, 10));
  ASSERT_THAT(job.replicas().figures().recommended, Optional(2));
  for (int i = 0; i < 11; ++i) job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(2)) << "held";
  job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30)) << "an hour later the highest of the day";
  EXPECT_THAT(job.Why(), HasSubstr("Not measured for 60 min: queue_length and requests."));
  for (int i = 0; i < 3; ++i) job.Window(both(20, 10));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(2)) << "both are back";
  for (int i = 0; i < 12; ++i) job.Window(Queue(20));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30)) << "one of them is enough";
  EXPECT_THAT(job.Why(), HasSubstr("Not measured for 60 min: requests."));
}

TEST(LiveSignals, ASilentMetricOfKedaIsHeldAndThenSafe) {
  SignalledJob job(ByMetrics("keda", "queue_length 10 per task"));
  job.cpu_limit = 1;
  for (int i = 0; i < 3; ++i) job.Window(Queue(300));
  ASSERT_THAT(job.replicas().figures().recommended, Optional(30));
  for (int i = 0; i < 12; ++i) job.Window(Queue(20));
  const int low = *job.replicas().figures().recommended;
  ASSERT_LT(low, 10);
  for (int i = 0; i < 11; ++i) job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(low));
  job.Window({});
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30))
      << "the load alone does not say that the queue is short";
}

TEST(LiveSignals, AHoldIsShownFromItsBeginToItsEnd) {
  SignalledJob job(BySignals("queue_length < 10 ? 20 / (queue_length - queue_length) : queue_length / 10"));
  job.Window(Queue(300));
  EXPECT_FALSE(job.replicas().figures().held.holds());
  EXPECT_THAT(job.replicas().figures().hold, testing::IsEmpty());
  job.Window(Queue(5));
  EXPECT_EQ(job.replicas().figures().held.cause, HoldCause::kNoNumber);
  EXPECT_THAT(job.replicas().figures().hold, HasSubstr("is inf, not a number of tasks; the number stays"));
  EXPECT_THAT(job.replicas().figures().recommended, Optional(30)) << "the last good count";
  job.Window(Queue(5));
  ASSERT_EQ(job.holds.size(), 1U) << "said once";
  EXPECT_EQ(job.holds[0].cause, HoldCause::kNoNumber);
  EXPECT_EQ(job.holds[0].time_s, 600);
  EXPECT_EQ(job.holds[0].tasks, 30);
  job.Window({});
  ASSERT_EQ(job.holds.size(), 2U) << "another cause is another hold";
  EXPECT_EQ(job.holds[1].cause, HoldCause::kNotMeasured);
  EXPECT_THAT(job.holds[1].sentence,
              HasSubstr("queue_length: not measured since day 0 00:15 UTC; the number stays"));
  // A restart must restore the hold.
  std::string bytes;
  ByteWriter out(&bytes);
  job.replicas().Save(out);
  ByteReader in(bytes);
  const auto restored = LiveReplicas::Load(in, *job.fleet.job(JobId{0}).policy);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->replicas->figures().held.since_s, 1200);
  EXPECT_EQ(restored->replicas->figures().hold, job.replicas().figures().hold);
  job.Window(Queue(300));
  ASSERT_EQ(job.holds.size(), 3U);
  EXPECT_EQ(job.holds[2].cause, HoldCause::kNone);
  EXPECT_EQ(job.holds[2].since_s, 1200);
  EXPECT_EQ(job.holds[2].time_s, 1500);
  EXPECT_FALSE(job.replicas().figures().held.holds());
  EXPECT_THAT(job.replicas().figures().hold, testing::IsEmpty());
}

// If the number is no longer managed, the hold ends, and its end is reported once.
TEST(LiveSignals, AHoldEndsWhereTheNumberIsTheOwnersAgain) {
  for (const KeyValue& setting : {KeyValue{"mode", "off"}, KeyValue{"replicas.policy", "none"}}) {
    SignalledJob job(BySignals("queue_length / 10"));
    job.Window(Queue(40));
    job.Window({});
    ASSERT_EQ(job.replicas().figures().held.cause, HoldCause::kNotMeasured);
    absl::StatusOr<PreparedSettings> prepared =
        job.fleet.overrides.Prepare(JobId{0}, {&setting, 1}, "anna", 700);
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    ASSERT_EQ(prepared->output.holds.size(), 1U) << setting.second;
    const ReplicaHoldChange& end = prepared->output.holds[0].second;
    EXPECT_EQ(end.cause, HoldCause::kNone);
    EXPECT_EQ(end.since_s, 600);
    EXPECT_EQ(end.time_s, 700);
    // A restart that reads the setting from the store reports no change and has no hold.
    LiveFleet restarted(job.fleet.settings);
    restarted.AddJob({JobId{0}, "worker", {}, 0});
    const std::string bytes = Chunk(job.fleet);
    ByteReader in(bytes);
    ASSERT_TRUE(restarted.checkpoint.LoadChunk(0, job.last.window, in).ok());
    restarted.restore.Redo(prepared->changes[0]);
    job.fleet.overrides.Take(*std::move(prepared));
    for (const LiveFleet* fleet : {&job.fleet, &restarted}) {
      const LiveReplicas* replicas = fleet->job(JobId{0}).replicas.get();
      if (replicas == nullptr) continue;
      EXPECT_FALSE(replicas->figures().held.holds()) << setting.second;
      EXPECT_EQ(replicas->figures().hold, "");
    }
    job.holds.clear();
    for (int i = 0; i < 20; ++i) job.Window({});
    EXPECT_TRUE(job.holds.empty()) << "it was said";
    if (setting.first != "mode") continue;
    EXPECT_EQ(job.replicas().figures().hold, "");
    PassOutput out;
    ASSERT_TRUE(Set(job.fleet, JobId{0}, "mode", "auto", 7000, out).ok());
    job.Window({});
    ASSERT_EQ(job.holds.size(), 1U) << "it is asked for again, and still not measured";
    EXPECT_EQ(job.holds[0].cause, HoldCause::kNotMeasured);
  }
}

// A change of another setting of the job does not end the hold.
TEST(LiveSignals, AHoldOutlivesAnotherSetting) {
  SignalledJob job(BySignals("queue_length / 10"));
  job.Window(Queue(40));
  job.Window({});
  const std::string hold(job.replicas().figures().hold);
  ASSERT_THAT(hold, HasSubstr("the number stays"));
  PassOutput out;
  ASSERT_TRUE(Set(job.fleet, JobId{0}, "replicas.max", "50", 700, out).ok());
  EXPECT_EQ(job.replicas().figures().held.cause, HoldCause::kNotMeasured);
  EXPECT_EQ(job.replicas().figures().hold, hold);
  EXPECT_TRUE(out.decisions.empty());
}

// A rule in the configuration file ends the management of the number. The hold ends in the next window, even if
// the job is not measured.
TEST(LiveSignals, AHoldEndsWithAReload) {
  LiveSettings settings = BySignals("queue_length / 10");
  for (const bool is_measured : {true, false}) {
    SignalledJob job(settings);
    job.Window(Queue(40));
    job.Window({});
    LiveSettings off = settings;
    JobPolicy defaults = settings.rules.defaults();
    defaults.mode = Mode::kOff;
    off.rules = *PolicyRules::Compile({}, defaults);
    job.fleet.Reload(off);
    job.holds.clear();
    if (is_measured) {
      job.Window({});
    } else {
      ClosedWindow closed;
      closed.window = WindowId{job.index++};
      job.fleet.AddJob({JobId{1}, "other", {}, 0});
      JobWindow w;
      w.window = closed.window;
      w.num_tasks = 1;
      closed.tasks.push_back({0, 0.5, 0.5, 1e8F, 1e8F});
      closed.jobs.push_back({JobId{1}, w});
      PassOutput out;
      Step(job.fleet, closed, out);
      for (const auto& [id, hold] : out.holds) job.holds.push_back(hold);
    }
    ASSERT_EQ(job.holds.size(), 1U) << is_measured;
    EXPECT_EQ(job.holds[0].cause, HoldCause::kNone);
    EXPECT_FALSE(job.replicas().figures().held.holds());
  }
}

TEST(LiveSignals, AnExternalRecommenderIsGivenThem) {
  LiveSettings settings = BySignals("queue_length / 10 + cpu");
  JobPolicy defaults = settings.rules.defaults();
  ASSERT_TRUE(SetJobSetting("external", "true", defaults).ok());
  settings.rules = *PolicyRules::Compile({}, defaults);
  SignalledJob job(settings);
  const auto asked = [&job] {
    std::vector<ExternalJob> jobs;
    job.fleet.external.Jobs(job.last, 0, 1, jobs);
    return jobs.at(0).named;
  };
  job.Window({{"queue_length", 30}, {"requests", 7}});
  std::vector<ExternalNamed> named = asked();
  ASSERT_EQ(named.size(), 2U) << "cpu is in the usage";
  EXPECT_EQ(named[0].name, "queue_length");
  EXPECT_THAT(named[0].value, Optional(30));
  EXPECT_THAT(named[1].value, Optional(7)) << "the policy does not read it, and a service may";
  job.Window({});
  named = asked();
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].name, "queue_length");
  EXPECT_FALSE(named[0].value.has_value()) << "missing";
}

std::vector<NamedSignal> Wave(int32_t i) {
  std::vector<NamedSignal> out = Queue(200 + 150 * std::sin(i * 0.1) + 13 * (i % 7));
  if (i % 9 != 0) out.push_back({"requests", static_cast<float>(30 + i % 50)});
  return out;
}

TEST(LiveSignals, ARestartChangesNoDecision) {
  const LiveSettings settings = BySignals("max(queue_length, 30m) / 20 + p95(requests, 2h) / 10 + cpu / 2");
  SignalledJob straight(settings), before(settings), after(settings);
  const int32_t stop = 133, end = 300;
  for (int32_t i = 0; i < end; ++i) straight.Window(Wave(i));
  for (int32_t i = 0; i < stop; ++i) before.Window(Wave(i));
  const std::string chunk = Chunk(before.fleet), models = Models(before.fleet);
  ByteReader models_in(models), chunk_in(chunk);
  ASSERT_TRUE(after.fleet.checkpoint.LoadFleet(models_in).ok());
  ASSERT_TRUE(after.fleet.checkpoint.LoadChunk(0, WindowId{stop - 1}, chunk_in).ok());
  after.fleet.restore.End(before.last_decision, 0);
  after.index = stop;
  for (int32_t i = stop; i < end; ++i) after.Window(Wave(i));
  std::vector<double> made = before.all;
  made.insert(made.end(), after.all.begin(), after.all.end());
  EXPECT_EQ(made, straight.all);
  EXPECT_GT(made.size(), 20U);
  EXPECT_EQ(Chunk(after.fleet), Chunk(straight.fleet)) << "byte for byte";
}

TEST(LiveSignals, StoredWindowsTeachTheSame) {
  SignalledJob job(BySignals(kBySignals));
  std::vector<JobDay> days(1);
  for (int32_t i = 0; i < 200; ++i) {
    job.Window(Wave(i));
    JobDay one;
    ToJobDay(job.last, 0, one);
    JobWindow w = one.windows[0];
    w.first_task = static_cast<uint32_t>(days[0].tasks.size());
    w.first_bucket = static_cast<uint32_t>(days[0].cpu_buckets.size());
    w.first_signal = static_cast<uint32_t>(days[0].signals.size());
    days[0].windows.push_back(w);
    days[0].tasks.insert(days[0].tasks.end(), one.tasks.begin(), one.tasks.end());
    days[0].cpu_buckets.insert(days[0].cpu_buckets.end(), one.cpu_buckets.begin(), one.cpu_buckets.end());
    days[0].signals.insert(days[0].signals.end(), one.signals.begin(), one.signals.end());
  }
  SignalledJob fresh(BySignals("queue_length"));
  fresh.Window({});
  PassOutput out;
  ASSERT_TRUE(Set(fresh.fleet, JobId{0}, "replicas.function.target", kBySignals, 1000, out).ok());
  ASSERT_THAT(WantedOf(fresh.fleet), testing::ElementsAre(JobId{0}));
  fresh.fleet.history.Retrain(JobId{0}, days, {});
  // The recommendation is high because the queue was long in the last ten minutes of the stored windows.
  fresh.index = job.index;
  const std::vector<NamedSignal> now = Queue(1);
  fresh.Window(now);
  job.Window(now);
  EXPECT_EQ(fresh.replicas().figures().recommended, job.replicas().figures().recommended);
  EXPECT_GT(*job.replicas().figures().recommended, 2);
}

TEST(LiveSignals, AnUnknownSignalIsRefusedAsASetting) {
  SignalledJob job(BySignals(kBySignals));
  const KeyValue wrong{"replicas.function.target", "queue_lenght / 50"};
  const auto prepared = job.fleet.overrides.Prepare(JobId{0}, {&wrong, 1}, "anna", 0);
  EXPECT_THAT(std::string(prepared.status().message()),
              HasSubstr("unknown name \"queue_lenght\"; did you mean \"queue_length\"?"));
}

}  // namespace
}  // namespace taut::brain
