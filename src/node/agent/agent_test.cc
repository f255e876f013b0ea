// Tests the agent's reports about tasks and windows, and its response to orders. agent_trouble_test.cc tests the
// agent's reactions without orders.
#include "node/agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "node/agent/agent_fixture.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

using ::testing::HasSubstr;
using ::testing::IsEmpty;

double SecondsIn(const pb::TaskWindow& window) {
  double sum = 0;
  for (const float s : window.cpu_seconds()) sum += double{s};
  return sum;
}

// ---- windows ----

TEST(AgentWindows, AreSentOnceInOrderAndKept) {
  AgentCell cell;
  cell.Start();
  cell.Add("shop/web", "a", 10 * kMiB, 0.5);
  cell.Add("shop/db", "b", 20 * kMiB, 1.5);
  cell.Run(1000);
  const std::vector<pb::Windows> windows = cell.uplink.Windows();
  ASSERT_EQ(windows.size(), 3U);
  for (size_t i = 0; i < windows.size(); ++i) {
    EXPECT_EQ(windows[i].window(), AgentCell::kFirst.index + static_cast<int32_t>(i));
    ASSERT_EQ(windows[i].tasks_size(), 2);
    for (const pb::TaskWindow& t : windows[i].tasks()) {
      const bool db = t.name().job() == "shop/db";
      EXPECT_NEAR(t.cpu_mean_cores(), db ? 1.5 : 0.5, 0.01);
      EXPECT_NEAR(t.memory_mean_bytes(), (db ? 20 : 10) * kMiB, 1);
      EXPECT_NEAR(SecondsIn(t), i == 0 ? 299 : 300, 0.01);
    }
  }
  for (const auto& [message, keep] : cell.uplink.sent) {
    EXPECT_EQ(message.sequence(), 0U) << "the uplink gives it";
    EXPECT_EQ(keep == Keep::kUntilAcknowledged, message.has_windows());
    EXPECT_TRUE(message.now_us() > 0 || message.has_tasks()) << "nothing is measured before tasks are told";
  }
}

// A daemon whose clock follows samples would close an unsent window without its data if a message carried a later
// time.
TEST(AgentWindows, NoTimeIsToldBeyondAWindowThatIsHeld) {
  AgentCell cell;
  cell.Start();
  cell.Add("shop/web", "a", 10 * kMiB, 0.5);
  cell.Run(299);
  const auto sample_after = [&cell](int64_t us) {
    cell.now.steady_us += us;
    cell.now.at.us += us;
    cell.agent->Sample(cell.now);
    cell.agent->Beat(0, 0);
    return cell.uplink.sent.back().message.now_us();
  };
  const int64_t end_us = AgentCell::kFirst.next().start_s() * kMicrosPerSecond;
  sample_after(970'000);
  // The window is over, but this reading is too early to end it.
  EXPECT_LT(sample_after(50'000), end_us);
  ASSERT_TRUE(cell.uplink.Windows().empty());
  EXPECT_GE(sample_after(kMicrosPerSecond), end_us);
  EXPECT_EQ(cell.uplink.Windows().size(), 1U);
}

TEST(AgentWindows, OfAVanishedTaskAreStillSent) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Add("shop/web", "b", 10 * kMiB);
  cell.Run(100);
  cell.Remove(a);
  cell.Run(250);
  const std::vector<pb::Windows> windows = cell.uplink.Windows();
  ASSERT_EQ(windows.size(), 1U);
  std::map<std::string, double> seconds;
  for (const pb::TaskWindow& t : windows[0].tasks()) seconds[t.name().task()] += SecondsIn(t);
  EXPECT_NEAR(seconds["a"], 99, 0.01);
  EXPECT_NEAR(seconds["b"], 299, 0.01);
  cell.Run(600);
  EXPECT_EQ(cell.uplink.Windows().size(), 3U);
}

TEST(AgentWindows, OfTheLastTaskThatVanishedAreSentToo) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(100);
  cell.Remove(a);
  cell.Run(250);
  ASSERT_EQ(cell.uplink.Windows().size(), 1U);
  EXPECT_EQ(cell.uplink.Windows()[0].window(), AgentCell::kFirst.index);
  cell.Run(600);
  EXPECT_EQ(cell.uplink.Windows().size(), 1U);
}

TEST(AgentWindows, OpenOnesAreSentWhenTheAgentStops) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Add("shop/web", "b", 10 * kMiB);
  cell.Run(50);
  cell.Remove(a);
  cell.Run(50);
  EXPECT_THAT(cell.uplink.Windows(), IsEmpty());
  cell.agent->Stop(cell.now);
  const std::vector<pb::Windows> windows = cell.uplink.Windows();
  ASSERT_EQ(windows.size(), 1U);
  std::map<std::string, double> seconds;
  for (const pb::TaskWindow& t : windows[0].tasks()) seconds[t.name().task()] += SecondsIn(t);
  EXPECT_NEAR(seconds["a"], 49, 0.01);
  EXPECT_NEAR(seconds["b"], 99, 0.01);
}

// Each second of usage is counted once, regardless of clock jumps.
TEST(AgentWindows, ClockJumpsLoseAndDoubleNothing) {
  AgentCell cell;
  cell.Start();
  cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(100);
  cell.now.at.us += 3600 * kMicrosPerSecond;
  cell.Run(700);
  EXPECT_EQ(cell.agent->counts().jumps, 1U);
  const std::vector<pb::Windows> forward = cell.uplink.Windows();
  ASSERT_GE(forward.size(), 3U);
  EXPECT_EQ(forward[0].window(), AgentCell::kFirst.index);
  EXPECT_EQ(forward[1].window(), AgentCell::kFirst.index + 12);
  double seconds = 0;
  for (const pb::Windows& w : forward) seconds += SecondsIn(w.tasks(0));
  EXPECT_GE(seconds, 98 + 500);

  // The clock is set back to windows that were already sent; no window is sent twice.
  cell.now.at.us -= 3000 * kMicrosPerSecond;
  cell.Run(4000);
  EXPECT_EQ(cell.agent->counts().jumps, 2U);
  std::set<int32_t> seen;
  int32_t last = 0;
  for (const pb::Windows& w : cell.uplink.Windows()) {
    EXPECT_TRUE(seen.insert(w.window()).second) << w.window();
    EXPECT_GT(w.window(), last);
    last = w.window();
  }
}

// ---- tasks ----

TEST(AgentTasks, AreToldOnConnectAndOnChange) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  a.limits.memory_max_bytes = 64 * kMiB;
  a.found.labels = {{"team", "shop"}};
  cell.Run(6);
  ASSERT_EQ(cell.uplink.Tasks().size(), 1U);
  pb::Tasks told = cell.uplink.Tasks()[0];
  EXPECT_FALSE(told.all());
  ASSERT_EQ(told.started_size(), 1);
  EXPECT_EQ(told.started(0).name().task(), "a");
  EXPECT_EQ(told.started(0).labels().at("team"), "shop");
  EXPECT_TRUE(told.started(0).managed());
  EXPECT_EQ(told.started(0).owner_memory_bytes(), 64 * kMiB);
  EXPECT_EQ(told.started(0).memory_bytes(), 64 * kMiB);
  EXPECT_FALSE(told.started(0).has_owner_cpu_cores());

  cell.uplink.connected = true;
  cell.Run(1);
  ASSERT_EQ(cell.uplink.Tasks().size(), 2U);
  EXPECT_TRUE(cell.uplink.Tasks()[1].all());
  EXPECT_EQ(cell.uplink.Tasks()[1].started_size(), 1);

  cell.Remove(a);
  cell.Add("shop/web", "b", 10 * kMiB);
  cell.Run(10);
  ASSERT_EQ(cell.uplink.Tasks().size(), 3U);
  told = cell.uplink.Tasks()[2];
  EXPECT_FALSE(told.all());
  EXPECT_EQ(told.started(0).name().task(), "b");
  EXPECT_EQ(told.gone(0).task(), "a");
  cell.Run(60);
  EXPECT_EQ(cell.uplink.Tasks().size(), 3U) << "nothing changed since";
}

TEST(AgentTasks, EachNameOfAContainerOfAPodHasItsId) {
  AgentCell cell;
  cell.Start();
  const std::string id(64, 'a');
  InMemoryTask& pod = cell.Add("kubepods/x", "x", 10 * kMiB);
  pod.found.pod_container = id;
  cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(6);
  const pb::Tasks told = cell.uplink.Tasks()[0];
  ASSERT_EQ(told.started_size(), 2);
  for (const pb::Task& task : told.started())
    EXPECT_EQ(task.name().pod_container(), task.name().job() == "kubepods/x" ? id : "");
  cell.Remove(pod);
  cell.Run(10);
  EXPECT_EQ(cell.uplink.Tasks().back().gone(0).pod_container(), id);
}

TEST(AgentTasks, TwoOfOneNameAreAnErrorAndTheFirstLives) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  InMemoryTask& twin = cell.tasks.Add("shop/web", "a", "memory:twin");
  cell.Run(10);
  EXPECT_EQ(cell.agent->tasks(), 1U);
  EXPECT_EQ(cell.agent->FindTask("shop/web", "a")->found.identity, a.found.identity);
  ASSERT_TRUE(cell.agent->errors().contains("memory:twin"));
  EXPECT_THAT(cell.agent->errors().at("memory:twin"), HasSubstr("shop/web / a"));
  cell.Order(a, Resource::kMemory, 64 * kMiB);
  cell.Run(1);
  EXPECT_THAT(twin.writes, IsEmpty());
  EXPECT_EQ(a.limits.memory_max_bytes.has_value(), true);
  // The second task of the same name replaces the first task once the first task has ended.
  cell.Remove(a);
  cell.Run(10);
  EXPECT_EQ(cell.agent->FindTask("shop/web", "a")->found.identity, "memory:twin");
  EXPECT_THAT(cell.agent->errors(), IsEmpty());
}

TEST(AgentTasks, AnErrorOfATaskThatIsGoneIsForgotten) {
  AgentCell cell;
  cell.Start();
  cell.Add("shop/web", "a", 10 * kMiB);
  cell.tasks.Add("shop/web", "a", "memory:twin");
  cell.Run(10);
  EXPECT_EQ(cell.agent->errors().size(), 1U);
  cell.tasks.Remove("memory:twin");
  cell.Run(10);
  EXPECT_THAT(cell.agent->errors(), IsEmpty());
}

TEST(AgentTasks, StayAsTheyAreWhileTheFinderCannotLook) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(10);
  cell.tasks.find_error = absl::UnavailableError("the engine is away");
  cell.Run(10);
  EXPECT_EQ(cell.agent->tasks(), 1U);
  EXPECT_EQ(cell.agent->errors().at("memory"), "the engine is away");
  cell.Order(a, Resource::kMemory, 64 * kMiB);
  cell.Run(1);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  cell.tasks.find_error = absl::OkStatus();
  cell.Run(10);
  EXPECT_THAT(cell.agent->errors(), IsEmpty());
  EXPECT_EQ(cell.uplink.Tasks().size(), 1U);
}

TEST(AgentTasks, AHeartbeatSaysHowItGoes) {
  AgentCell cell;
  cell.Start();
  cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(1);
  cell.uplink.said.queued_bytes = 7;
  cell.uplink.said.dropped = 3;
  cell.agent->Beat(0.001, 9'000'000);
  const pb::Heartbeat& beat = cell.uplink.sent.back().message.heartbeat();
  EXPECT_EQ(beat.tasks(), 1U);
  EXPECT_EQ(beat.queued_bytes(), 7U);
  EXPECT_EQ(beat.dropped(), 3U);
  EXPECT_EQ(beat.resident_bytes(), 9'000'000U);
  EXPECT_EQ(cell.uplink.sent.back().keep, Keep::kNo);
}

// ---- orders ----

TEST(AgentOrders, AreCarriedOutAtOnceAndReadBack) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  a.limits.memory_max_bytes = 32 * kMiB;
  cell.Run(3);
  cell.Order(a, Resource::kMemory, 64 * kMiB, 7);
  cell.Order(a, Resource::kCpu, 1.5, 8);
  cell.agent->TakeOrders(cell.now);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.5);
  ASSERT_EQ(cell.uplink.Outcomes().size(), 2U);
  for (const pb::Outcome& o : cell.uplink.Outcomes()) {
    EXPECT_EQ(o.result(), pb::Outcome::APPLIED);
    EXPECT_EQ(o.text(), "");
    EXPECT_EQ(o.name().task(), "a");
  }
  EXPECT_EQ(cell.LastOutcome(7)->limit(), 64 * kMiB);
  EXPECT_EQ(cell.LastOutcome(8)->limit(), 1.5);
  EXPECT_EQ(cell.LastOutcome(8)->resource(), pb::CPU);
  // The owner's value is stored.
  const LedgerEntry* entry = cell.ledger.Find(a.found.identity);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->values.at(LimitKind::kMemoryMax).owner, 32 * kMiB);
  EXPECT_EQ(entry->values.at(LimitKind::kCpuMax).owner, std::nullopt);
  cell.Run(100);
  EXPECT_EQ(a.writes.size(), 2U);
  EXPECT_EQ(cell.uplink.Outcomes().size(), 2U) << "told once";
  EXPECT_EQ(cell.agent->counts().foreign_changes, 0U);
}

TEST(AgentOrders, GoDownInStepsThatKeepClearOfUsage) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 100 * kMiB);
  a.limits.memory_max_bytes = 1000 * kMiB;
  cell.Run(3);
  cell.Order(a, Resource::kMemory, 50 * kMiB, 1);
  cell.Run(60);
  double before = 1000 * kMiB;
  ASSERT_GT(a.writes.size(), 3U);
  for (const auto& [kind, value] : a.writes) {
    EXPECT_LT(*value, before);
    EXPECT_GE(*value, before * 0.8 - 1);
    EXPECT_GE(*value, 100 * kMiB * 1.1 + 4 * kMiB - 1);
    before = *value;
  }
  EXPECT_EQ(cell.uplink.Outcomes()[0].result(), pb::Outcome::STEPPING);
  EXPECT_EQ(cell.LastOutcome(1)->result(), pb::Outcome::HELD);
  EXPECT_THAT(cell.LastOutcome(1)->text(), HasSubstr("above the ordered limit"));
  const size_t writes = a.writes.size();
  cell.Run(60);
  EXPECT_EQ(a.writes.size(), writes) << "it waits quietly";
  // When usage falls, the limit falls too.
  AgentCell::SetUsage(a, 20 * kMiB);
  cell.Run(120);
  EXPECT_EQ(a.limits.memory_max_bytes, 50 * kMiB);
  EXPECT_EQ(cell.LastOutcome(1)->result(), pb::Outcome::APPLIED);
}

TEST(AgentOrders, RefusalsAreToldWithTheirTextAndTriedAgain) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(3);
  a.set_error = absl::PermissionDeniedError("memory.max: not for you");
  cell.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell.Run(100);
  EXPECT_THAT(a.writes, IsEmpty());
  ASSERT_EQ(cell.uplink.Outcomes().size(), 1U);
  EXPECT_EQ(cell.LastOutcome(1)->result(), pb::Outcome::FAILED);
  EXPECT_EQ(cell.LastOutcome(1)->text(), "memory.max: not for you");
  EXPECT_GT(cell.agent->counts().refused_writes, 1U);
  EXPECT_LT(cell.agent->counts().refused_writes, 10U) << "with patience";
  EXPECT_EQ(cell.agent->counts().foreign_changes, 0U) << "nobody else did anything";
  a.set_error = absl::OkStatus();
  cell.Run(300);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(cell.LastOutcome(1)->result(), pb::Outcome::APPLIED);
}

TEST(AgentOrders, TheOwnersAgain) {
  for (const CpuStyle style : {CpuStyle::kSoft, CpuStyle::kHard}) {
    AgentCell cell;
    cell.options.rules[0].cpu = style;
    cell.options.rules[0].memory = style == CpuStyle::kSoft ? MemoryStyle::kSoft : MemoryStyle::kHard;
    cell.Start();
    InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
    a.limits.cpu_weight = 100;
    a.limits.cpu_max_cores = 3;
    a.limits.memory_max_bytes = 256 * kMiB;
    const TaskLimits owner = a.limits;
    cell.Run(3);
    cell.Order(a, Resource::kMemory, 64 * kMiB, 1);
    cell.Order(a, Resource::kCpu, 0.5, 2);
    cell.Run(60);
    ASSERT_EQ(cell.LastOutcome(1)->result(), pb::Outcome::APPLIED);
    ASSERT_EQ(cell.LastOutcome(2)->result(), pb::Outcome::APPLIED);
    cell.Order(a, Resource::kMemory, std::nullopt, 3);
    cell.Order(a, Resource::kCpu, std::nullopt, 4);
    cell.Run(60);
    for (int i = 0; i < kNumLimitKinds; ++i) {
      const auto kind = static_cast<LimitKind>(i);
      EXPECT_EQ(a.limits.of(kind), owner.of(kind)) << Name(kind);
    }
    EXPECT_EQ(cell.LastOutcome(3)->result(), pb::Outcome::APPLIED);
    EXPECT_EQ(cell.LastOutcome(4)->result(), pb::Outcome::APPLIED);
    EXPECT_EQ(cell.agent->counts().foreign_changes, 0U);
  }
}

TEST(AgentOrders, StayWithinTheRulesBounds) {
  AgentCell cell;
  TaskRule& rule = cell.options.rules[0];
  rule.cpu_lower = 0.5;
  rule.cpu_upper = 2;
  rule.memory_lower = 64 * kMiB;
  rule.memory_upper = 128 * kMiB;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(3);
  cell.Order(a, Resource::kMemory, 1024 * kMiB);
  cell.Order(a, Resource::kCpu, 16);
  cell.Run(1);
  EXPECT_EQ(a.limits.memory_max_bytes, 128 * kMiB);
  EXPECT_EQ(a.limits.cpu_max_cores, 2.0);
  cell.Order(a, Resource::kMemory, 1 * kMiB);
  cell.Order(a, Resource::kCpu, 0.01);
  cell.Run(30);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(a.limits.cpu_max_cores, 0.5);
}

TEST(AgentOrders, OfATaskThatIsNotHereFail) {
  AgentCell cell;
  cell.Start();
  InMemoryTasks elsewhere;
  cell.Order(elsewhere.Add("shop/web", "x"), Resource::kMemory, 64 * kMiB, 9);
  cell.Run(1);
  EXPECT_EQ(cell.LastOutcome(9)->result(), pb::Outcome::FAILED);
  EXPECT_EQ(cell.LastOutcome(9)->text(), "no such task here");
}

TEST(AgentOrders, AResourceOfANewerDaemonIsRefusedAndSetsNothing) {
  AgentCell cell;
  cell.Start();
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(3);
  cell.Order(a, static_cast<Resource>(kNumResources), 64 * kMiB, 9);
  cell.Run(1);
  EXPECT_EQ(cell.LastOutcome(9)->result(), pb::Outcome::FAILED);
  EXPECT_THAT(cell.LastOutcome(9)->text(), HasSubstr("does not limit this resource"));
  EXPECT_TRUE(a.writes.empty());
}

TEST(AgentOrders, AKernelWithoutSoftLimitsTakesTheHardOne) {
  // Refuses memory.high as cgroup v1 does.
  class HardGroup final : public TaskGroup {
   public:
    explicit HardGroup(std::unique_ptr<TaskGroup> group) : group_(std::move(group)) {}
    absl::Status Read(ReadDepth depth, TaskReading& out) override { return group_->Read(depth, out); }
    absl::StatusOr<TaskLimits> ReadLimits() override { return group_->ReadLimits(); }
    absl::Status SetLimit(LimitKind kind, std::optional<double> value) override {
      if (kind == LimitKind::kMemoryHigh) return absl::UnimplementedError("no memory.high here");
      return group_->SetLimit(kind, value);
    }

   private:
    std::unique_ptr<TaskGroup> group_;
  };
  class HardFinder final : public TaskFinder {
   public:
    explicit HardFinder(InMemoryTasks& tasks) : tasks_(tasks) {}
    std::string_view name() const override { return "hard"; }
    absl::StatusOr<std::vector<FoundTask>> Find() override { return tasks_.Find(); }
    absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override {
      auto group = tasks_.Open(task);
      if (!group.ok()) return group.status();
      return std::make_unique<HardGroup>(*std::move(group));
    }

   private:
    InMemoryTasks& tasks_;
  };
  AgentCell cell;
  cell.options.rules[0].memory = MemoryStyle::kSoft;
  HardFinder finder(cell.tasks);
  cell.agent =
      std::make_unique<Agent>(cell.options, Agent::Parts{{&finder}, &cell.uplink, &cell.ledger, nullptr});
  InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
  cell.Run(3);
  cell.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell.Run(120);
  EXPECT_NEAR(*a.limits.memory_max_bytes, 64 * 1.1 * kMiB, 1);
  EXPECT_EQ(cell.LastOutcome(1)->result(), pb::Outcome::APPLIED);
  EXPECT_EQ(cell.agent->counts().foreign_changes, 0U);
  EXPECT_EQ(cell.agent->counts().writes, 1U);
}

// An agent that only measures writes neither limits nor a ledger, after any orders and events.
RC_GTEST_PROP(AgentOrders, WhoOnlyMeasuresNeverWrites, ()) {
  AgentCell cell;
  const int why = *rc::gen::inRange(0, 3);
  TaskRule& rule = cell.options.rules[0];
  if (why == 0) cell.options.observe = true;
  if (why == 1) rule.manage = false;
  if (why == 2) {
    rule.cpu = CpuStyle::kNone;
    rule.memory = MemoryStyle::kNone;
  }
  cell.Start();
  std::vector<InMemoryTask*> all;
  for (const char* name : {"a", "b", "c"}) {
    all.push_back(&cell.Add("shop/web", name, 10 * kMiB));
    if (*rc::gen::arbitrary<bool>()) all.back()->limits.memory_max_bytes = 32 * kMiB;
  }
  cell.Run(3);
  const int steps = *rc::gen::inRange(1, 40);
  for (int i = 0; i < steps; ++i) {
    InMemoryTask& task = **rc::gen::elementOf(all);
    switch (*rc::gen::inRange(0, 6)) {
      case 0: {
        std::optional<double> limit;
        if (*rc::gen::arbitrary<bool>()) limit = *rc::gen::inRange(0, 1 << 30);
        const Resource r = *rc::gen::arbitrary<bool>() ? Resource::kCpu : Resource::kMemory;
        cell.Order(task, r, limit, static_cast<uint64_t>(i) + 1);
        break;
      }
      case 1:
        cell.Terms("shop/web", true);
        break;
      case 2:
        ++*task.reading.oom_kills;
        break;
      case 3:
        *task.reading.cpu_throttled_periods += 100;
        break;
      case 4:
        cell.tasks.events.push_back({TaskEvent::Kind::kOomKill, task.found.identity});
        break;
      default:
        task.limits.memory_max_bytes = *rc::gen::inRange(1, 1 << 30);  // set by the task's owner
    }
    cell.Run(*rc::gen::inRange(1, 35));
  }
  for (const InMemoryTask* task : all) RC_ASSERT(task->writes.empty());
  RC_ASSERT(cell.ledger.entries().empty());
  RC_ASSERT(cell.agent->counts().writes == 0U);
  for (const pb::Outcome& o : cell.uplink.Outcomes()) {
    RC_ASSERT(o.result() == (why == 0 ? pb::Outcome::OBSERVED : pb::Outcome::FAILED));
  }
}

}  // namespace
}  // namespace taut::node
