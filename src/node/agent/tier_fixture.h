// An agent whose memory guard watches 256 MiB that its tasks share, for tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/strings.h"
#include "node/agent/agent_fixture.h"

namespace taut::node {

// Free memory: 256 MiB less the tasks' usage.
class CellMemory final : public MemorySource {
 public:
  explicit CellMemory(AgentCell& cell) : cell_(cell) {}
  absl::StatusOr<MemoryNow> Read() override {
    if (!error.ok()) return error;
    double sum = 0;
    cell_.agent->ForEachTask([&](const AgentTask& t) { sum += t.meter.memory_bytes().value_or(0); });
    return MemoryNow{256 * kMiB, 256 * kMiB - used.value_or(sum), 0.0, 0.0};
  }
  absl::Status error;
  std::optional<double> used;  // absent: the tasks' usage at the last sample

 private:
  AgentCell& cell_;
};

using Strings = std::vector<std::string>;

struct TierCell : AgentCell {
  TierCell() {
    options.has_memory_high = true;
    options.rules[0].memory = MemoryStyle::kNone;
    options.rules[0].cpu = CpuStyle::kNone;
    options.tiers.rules = {{"batch*", "", "", Tier::kBatch, 20 * kMiB},
                           {"mid*", "", "", Tier::kMid, 20 * kMiB},
                           {"free*", "", "", Tier::kFree, std::nullopt}};
  }
  void Guard() {
    options.tiers.guard.throttle = options.tiers.guard.kill = true;
    Begin();
  }
  void Begin() {
    agent = std::make_unique<Agent>(options,
                                    Agent::Parts{{&tasks}, &uplink, &ledger, nullptr, &memory, &processes});
  }
  // Returns "action task" of each act of the memory guard.
  std::vector<std::string> Acts() {
    std::vector<std::string> out;
    for (const AgentAct& act : agent->TakeActs()) {
      if (act.guard.has_value()) out.push_back(StrCat(act.action, " ", act.task));
    }
    return out;
  }
  CellMemory memory{*this};
};

}  // namespace taut::node
