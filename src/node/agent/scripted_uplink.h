// An uplink without a connection, for tests: stores the sent messages and returns scripted messages.
#pragma once

#include <utility>
#include <vector>

#include "node/agent/uplink.h"

namespace taut::node {

class ScriptedUplink final : public Uplink {
 public:
  struct Sent {
    taut::agent::v1::FromAgent message;
    Keep keep = Keep::kNo;
  };

  void Send(taut::agent::v1::FromAgent message, Keep keep) override {
    sent.push_back({std::move(message), keep});
  }
  std::vector<taut::agent::v1::ToAgent> Take() override { return std::exchange(to_agent, {}); }
  bool TakeConnected() override { return std::exchange(connected, false); }
  int wake_fd() const override { return -1; }
  UplinkStatus status() const override { return said; }
  void Flush(int) override {}

  // Return all outcomes, windows, ... sent so far, in order.
  std::vector<taut::agent::v1::Outcome> Outcomes() const {
    std::vector<taut::agent::v1::Outcome> out;
    for (const Sent& s : sent) {
      for (const auto& o : s.message.outcomes().outcomes()) out.push_back(o);
    }
    return out;
  }
  std::vector<taut::agent::v1::Windows> Windows() const {
    std::vector<taut::agent::v1::Windows> out;
    for (const Sent& s : sent) {
      if (s.message.has_windows()) out.push_back(s.message.windows());
    }
    return out;
  }
  std::vector<taut::agent::v1::Tasks> Tasks() const {
    std::vector<taut::agent::v1::Tasks> out;
    for (const Sent& s : sent) {
      if (s.message.has_tasks()) out.push_back(s.message.tasks());
    }
    return out;
  }
  std::vector<taut::agent::v1::Oom> Ooms() const {
    std::vector<taut::agent::v1::Oom> out;
    for (const Sent& s : sent) {
      if (s.message.has_oom()) out.push_back(s.message.oom());
    }
    return out;
  }

  // Returns the acts that were sent with Keep::kUntilAcknowledged.
  std::vector<taut::agent::v1::TierAct> TierActs() const {
    std::vector<taut::agent::v1::TierAct> out;
    for (const Sent& s : sent) {
      if (s.message.has_tier_act() && s.keep == Keep::kUntilAcknowledged) out.push_back(s.message.tier_act());
    }
    return out;
  }

  std::vector<Sent> sent;
  std::vector<taut::agent::v1::ToAgent> to_agent;
  bool connected = false;
  UplinkStatus said;
};

}  // namespace taut::node
