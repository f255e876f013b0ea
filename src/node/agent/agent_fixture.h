// An agent over tasks in memory, with a clock that the test advances.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/byte_units.h"
#include "common/rpc/resource_proto.h"
#include "node/agent/agent.h"
#include "node/agent/in_memory_tasks.h"
#include "node/agent/scripted_uplink.h"

namespace taut::node {

class AgentCell {
 public:
  static constexpr int64_t kStartS = int64_t{5'000'000} * 300;  // the start of a window
  static constexpr WindowId kFirst{5'000'000};

  AgentCell() {
    options.rules.resize(1);
    options.rules[0].manage = true;
    options.rules[0].add_limits = true;
    options.rules[0].cpu = CpuStyle::kHard;
    options.rules[0].memory = MemoryStyle::kHard;
    options.rules[0].startup_grace_s = 0;
  }

  void Start() {
    agent = std::make_unique<Agent>(options,
                                    Agent::Parts{{&tasks}, &uplink, &ledger, nullptr, nullptr, &processes});
  }
  // Adds a task with constant usage (bytes, cores); the next Find finds it.
  InMemoryTask& Add(const std::string& job, const std::string& task, double memory, double cores = 0.5,
                    const std::string& identity = "") {
    InMemoryTask& added = tasks.Add(job, task, identity);
    SetUsage(added, memory);
    added.reading.cpu_usage_us = 0;
    added.reading.cpu_periods = 0;
    added.reading.cpu_throttled_periods = 0;
    added.reading.oom_kills = 0;
    cores_[added.found.identity] = {&added, cores};
    return added;
  }
  void Remove(const InMemoryTask& task) {
    const std::string identity = task.found.identity;
    cores_.erase(identity);
    tasks.Remove(identity);
  }
  static void SetUsage(InMemoryTask& task, double memory) {
    task.reading.memory_bytes = static_cast<uint64_t>(memory);
    task.reading.memory_working_set_bytes = static_cast<uint64_t>(memory);
  }

  // Runs the agent for `seconds`: calls Sample and TakeOrders each second, and Find every five seconds.
  void Run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now.steady_us += kMicrosPerSecond;
      now.at.us += kMicrosPerSecond;
      for (auto& [identity, running] : cores_) {
        *running.task->reading.cpu_usage_us += static_cast<uint64_t>(running.cores * 1e6);
        *running.task->reading.cpu_periods += 10;
      }
      if (++seconds_ % 5 == 1) agent->Find(now);
      agent->Sample(now);
      agent->TakeOrders(now);
    }
  }
  taut::agent::v1::Order& Order(const InMemoryTask& task, Resource r, std::optional<double> limit,
                                uint64_t decision = 1) {
    taut::agent::v1::Order& o = *uplink.to_agent.emplace_back().mutable_orders()->add_orders();
    o.set_decision(decision);
    o.mutable_name()->set_job(task.found.job);
    o.mutable_name()->set_task(task.found.task);
    o.set_resource(ProtoOf(r));
    if (limit.has_value()) o.set_limit(*limit);
    o.set_decided_s(now.at.seconds());
    return o;
  }
  taut::agent::v1::Terms& Terms(const std::string& job, bool apply) {
    taut::agent::v1::Terms& t = *uplink.to_agent.emplace_back().mutable_orders()->add_terms();
    t.set_job(job);
    t.set_apply(apply);
    return t;
  }
  // Returns the last outcome that was sent for this decision.
  std::optional<taut::agent::v1::Outcome> LastOutcome(uint64_t decision) const {
    std::optional<taut::agent::v1::Outcome> out;
    for (const auto& o : uplink.Outcomes()) {
      if (o.decision() == decision) out = o;
    }
    return out;
  }

  AgentOptions options;
  InMemoryTasks tasks;
  InMemoryProcesses processes;
  ScriptedUplink uplink;
  Ledger ledger = *Ledger::Open("");
  std::unique_ptr<Agent> agent;
  NodeTime now{1'000 * kMicrosPerSecond, Timestamp::FromSeconds(kStartS)};

 private:
  struct Running {
    InMemoryTask* task;
    double cores;
  };
  std::map<std::string, Running> cores_;
  int seconds_ = 0;
};

}  // namespace taut::node
