// The daemon's side of agents without a network, for tests. A hub reports to a control plane with a store in
// memory, and a server records the messages that would be sent.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/agents/agent_hub.h"
#include "server/control/control_fixture.h"

namespace taut::server {

class FakeAgentServer final : public AgentServer {
 public:
  bool Send(SessionId session, taut::agent::v1::ToAgent message) override {
    const std::lock_guard lock(mutex_);
    sent_[session].push_back(std::move(message));
    return true;
  }
  void Close(SessionId session) override {
    const std::lock_guard lock(mutex_);
    closed_.push_back(session);
  }
  int port() const override { return 0; }
  AgentServerCounts counts() const override { return {}; }
  void Stop() override {}

  std::vector<SessionId> closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  // Returns the highest acknowledged sequence of the session; 0: none.
  uint64_t Acked(SessionId session) const {
    uint64_t out = 0;
    for (const auto& m : Sent(session)) out = std::max<uint64_t>(out, m.ack().sequence());
    return out;
  }
  std::vector<taut::agent::v1::Order> Orders(SessionId session) const {
    std::vector<taut::agent::v1::Order> out;
    for (const auto& m : Sent(session)) {
      for (const auto& o : m.orders().orders()) out.push_back(o);
    }
    return out;
  }
  std::vector<taut::agent::v1::Terms> Terms(SessionId session) const {
    std::vector<taut::agent::v1::Terms> out;
    for (const auto& m : Sent(session)) {
      for (const auto& t : m.orders().terms()) out.push_back(t);
    }
    return out;
  }

 private:
  std::vector<taut::agent::v1::ToAgent> Sent(SessionId session) const {
    const std::lock_guard lock(mutex_);
    const auto it = sent_.find(session);
    return it == sent_.end() ? std::vector<taut::agent::v1::ToAgent>() : it->second;
  }
  mutable std::mutex mutex_;
  std::map<SessionId, std::vector<taut::agent::v1::ToAgent>> sent_;
  std::vector<SessionId> closed_;
};

inline taut::agent::v1::FromAgent HelloOf(const std::string& agent, uint64_t queue = 1, uint32_t queued = 0) {
  taut::agent::v1::FromAgent message;
  message.mutable_hello()->set_agent(agent);
  message.mutable_hello()->set_host(agent);
  message.mutable_hello()->set_queue(queue);
  message.mutable_hello()->set_queued(queued);
  return message;
}

class HubCell {
 public:
  static constexpr int64_t kStart = ControlCell::kStart;  // start of a window
  // The owner's memory limit, less than twice the recommendation: the limit is therefore lowered in one step.
  static constexpr float kOwnerBytes = 2.2e8F;

  explicit HubCell(Mode mode = Mode::kAuto, bool apply = true) : mode_(mode), apply_(apply) { Start(); }
  // Destroys hub and control plane as a kill of tautd would, and creates both again on the same store.
  void Restart() {
    control_.reset();
    hub_.reset();
    Start();
  }
  AgentHub& hub() { return *hub_; }
  ControlPlane& control() { return *control_; }

  SessionId Connect(const std::string& agent, uint64_t queue = 1, uint32_t queued = 0) {
    const SessionId session = ++last_session_;
    hub_->OnConnect(session, HelloOf(agent, queue, queued), "");
    return session;
  }
  void Tasks(SessionId session, const std::vector<std::string>& names, const std::string& job = "shop/web",
             bool all = true, bool managed = true) {
    taut::agent::v1::FromAgent message;
    message.mutable_tasks()->set_all(all);
    for (const std::string& name : names) {
      taut::agent::v1::Task& t = *message.mutable_tasks()->add_started();
      t.mutable_name()->set_job(job);
      t.mutable_name()->set_task(name);
      t.set_managed(managed);
    }
    hub_->OnMessage(session, message);
  }
  void Gone(SessionId session, const std::string& name, const std::string& job = "shop/web") {
    taut::agent::v1::FromAgent message;
    taut::agent::v1::TaskName& t = *message.mutable_tasks()->add_gone();
    t.set_job(job);
    t.set_task(name);
    hub_->OnMessage(session, message);
  }
  static taut::agent::v1::FromAgent WindowsOf(uint64_t sequence, WindowId window,
                                              const std::vector<std::string>& names, double memory = 1e8,
                                              const std::string& job = "shop/web") {
    taut::agent::v1::FromAgent message;
    message.set_sequence(sequence);
    message.mutable_windows()->set_window(window.index);
    for (const std::string& name : names) {
      taut::agent::v1::TaskWindow& t = *message.mutable_windows()->add_tasks();
      t.mutable_name()->set_job(job);
      t.mutable_name()->set_task(name);
      t.set_cpu_mean_cores(0.5);
      t.set_cpu_peak_cores(0.6F);
      t.set_memory_mean_bytes(static_cast<float>(memory));
      t.set_memory_peak_bytes(static_cast<float>(memory));
      t.add_cpu_buckets(Grid::Cpu().BucketOf(0.5));
      t.add_cpu_seconds(300);
      t.set_owner_cpu_cores(4);
      t.set_owner_memory_bytes(kOwnerBytes);
    }
    return message;
  }
  void Windows(SessionId session, uint64_t sequence, WindowId window, const std::vector<std::string>& names,
               double memory = 1e8) {
    hub_->OnMessage(session, WindowsOf(sequence, window, names, memory));
  }
  void Oom(SessionId session, uint64_t sequence, const std::string& name, int64_t time_s,
           const std::string& job = "shop/web") {
    taut::agent::v1::FromAgent message;
    message.set_sequence(sequence);
    message.mutable_oom()->mutable_name()->set_job(job);
    message.mutable_oom()->mutable_name()->set_task(name);
    message.mutable_oom()->set_time_us(time_s * kMicrosPerSecond);
    message.mutable_oom()->set_kills(1);
    message.mutable_oom()->set_limit_bytes(2e8);
    hub_->OnMessage(session, message);
  }
  static taut::agent::v1::FromAgent TierActOf(uint64_t sequence, const std::string& name, int64_t time_s,
                                              const std::string& job = "shop/web") {
    taut::agent::v1::FromAgent message;
    message.set_sequence(sequence);
    taut::agent::v1::TierAct& act = *message.mutable_tier_act();
    act.mutable_name()->set_job(job);
    act.mutable_name()->set_task(name);
    act.set_time_us(time_s * kMicrosPerSecond + 5);
    act.set_kind(taut::agent::v1::TierAct::KILL);
    act.set_tier("batch");
    act.set_usage_bytes(3e8);
    act.set_free_bytes(1e7);
    act.set_total_bytes(1e9);
    act.set_text("free 10 MB of 1 GB");
    return message;
  }
  std::vector<TierAct> StoredTierActs() { return *store.TierActs({}); }
  void Say(SessionId session, uint64_t decision, const std::string& task,
           taut::agent::v1::Outcome::Result result, const std::string& text = "") {
    taut::agent::v1::FromAgent message;
    taut::agent::v1::Outcome& o = *message.mutable_outcomes()->add_outcomes();
    o.set_decision(decision);
    o.mutable_name()->set_job("shop/web");
    o.mutable_name()->set_task(task);
    o.set_result(result);
    o.set_text(text);
    hub_->OnMessage(session, message);
  }
  // Runs one iteration of the daemon's loop, `seconds` after the last iteration.
  absl::Status Tick(double seconds = 1) {
    steady_s = steady_s + seconds;
    now_s += static_cast<int64_t>(seconds);
    hub_->BeginTick();
    const absl::Status s = control_->Tick(Timestamp::FromSeconds(now_s.load()));
    hub_->EndTick(s.ok());
    return s;
  }
  // Closes `window` and all windows before it.
  absl::Status TickPast(WindowId window) { return Tick(static_cast<double>(EndOf(window) + 121 - now_s)); }
  static int64_t EndOf(WindowId window) { return window.next().start_s(); }
  static WindowId Window(int i) { return WindowId{static_cast<int32_t>(kStart / kWindowSeconds) + i}; }
  // Reports and closes the windows from `from` (inclusive) to `to` (exclusive), one after the other.
  void Live(SessionId session, const std::vector<std::string>& names, int from, int to, double memory = 1e8) {
    for (int i = from; i < to; ++i) {
      Windows(session, static_cast<uint64_t>(i) + 1, Window(i), names, memory);
      ASSERT_TRUE(TickPast(Window(i)).ok());
    }
  }
  // Returns the memory usage of all tasks in the stored windows, by window index.
  std::map<int32_t, std::vector<TaskWindow>> StoredTasks() {
    std::map<int32_t, std::vector<TaskWindow>> out;
    EXPECT_TRUE(store
                    .ReadWindows(WindowId{INT32_MIN / 2},
                                 [&](const ClosedWindow& closed) {
                                   out[closed.window.index] = {closed.tasks.begin(), closed.tasks.end()};
                                   return absl::OkStatus();
                                 })
                    .ok());
    return out;
  }
  size_t StoredOoms() { return store.Ooms(std::nullopt, INT64_MIN, 1000)->size(); }

  InMemoryStore store;
  FailingStore failing{store};
  FakeAgentServer server;
  size_t published_tier_acts = 0;
  std::atomic<double> steady_s{1000};
  std::atomic<int64_t> now_s{kStart};
  // Value of AgentHub::Options::elsewhere at the next start.
  std::function<bool(const std::string& job)> elsewhere;

 private:
  void Start() {
    AgentHub::Options options;
    options.apply = apply_;
    options.steady_s = [this] { return steady_s.load(); };
    options.now = [this] { return Timestamp::FromSeconds(now_s.load()); };
    options.elsewhere = elsewhere;
    hub_ = std::make_unique<AgentHub>(options);
    ControlOptions control;
    brain::JobPolicy defaults;
    defaults.mode = mode_;
    defaults.recommender = brain::Policy::kMovingWindow;
    control.live.vertical.moving_window.min_history_s = 3600;
    control.live.rules = *brain::PolicyRules::Compile({}, defaults);
    control_ =
        std::make_unique<ControlPlane>(control, *MappingRules::Compile(BuiltinRules()),
                                       ControlPlane::Parts{&failing, &store, hub_.get(), [] { return 0.0; }});
    EXPECT_TRUE(control_->Restore().ok());
    control_->OnTick([this](const TickEvents& events) {
      published_tier_acts += events.tier_acts.size();
      for (const SettingChange& change : events.settings) hub_->OnSettings(change.job);
    });
    hub_->SetIntake(&control_->agents());
    hub_->SetServer(&server);
  }

  const Mode mode_;
  const bool apply_;
  SessionId last_session_ = 0;
  std::unique_ptr<AgentHub> hub_;
  std::unique_ptr<ControlPlane> control_;
};

}  // namespace taut::server
