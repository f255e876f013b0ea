// Checks which machine may use an agent's name, which tasks the agent may report on, and how large the agent's
// figures may be.
#include <algorithm>

#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "server/agents/agent_hub.h"
#include "server/agents/machine_bounds.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

constexpr size_t kRefusedRemembered = 50;
constexpr uint8_t kStateVersion = 1;
constexpr int64_t kRoundSeconds = 3600;
constexpr int64_t kForgetSeconds = 30 * kDaySeconds;

// Returns the id of the agent's machine. Agents of versions without the field `machine` report only their
// host.
std::string MachineOf(const pb::Hello& hello) {
  return hello.machine().empty() ? StrCat("host ", hello.host()) : hello.machine();
}

}  // namespace

std::string AgentHub::WhyNot(const pb::Hello& hello, const std::string& certificate_names) const {
  if (hello.cores() > kMostCores || hello.memory_bytes() > kMostMemoryBytes) {
    return StrCat("no machine has ", hello.cores(), " cores and ", hello.memory_bytes(),
                  " bytes of memory; expected at most ", kMostCores, " and ", kMostMemoryBytes);
  }
  if (!certificate_names.empty()) {
    const std::vector<std::string_view> names = Split(certificate_names, '\n');
    if (std::find(names.begin(), names.end(), hello.agent()) != names.end()) return "";
    return StrCat("the certificate is for ", names.front(), ", not for agent ", hello.agent(),
                  "; the agent's name must be the common name or a subject alternative name");
  }
  const auto it = agents_.find(hello.agent());
  if (it == agents_.end()) return "";
  const Agent& agent = it->second;
  // The number of the queue is random and known only to the agent and tautd, so it proves the agent's
  // identity.
  const bool same = agent.queue == hello.queue() || MachineOf(agent.hello) == MachineOf(hello);
  const double away_s = agent.remembered ? static_cast<double>(options_.now().seconds() - agent.heard_at_s)
                                         : options_.steady_s() - agent.heard_s;
  const bool expired = agent.session == 0 && away_s >= options_.name_expiry_s;
  if (same || expired) return "";
  return StrCat("agent ", hello.agent(), " is another machine, ", agent.hello.host(),
                agent.session != 0 ? ", which is connected"
                                   : StrCat(", heard ", static_cast<int>(away_s), " s ago; its name is free ",
                                            static_cast<int>(options_.name_expiry_s), " s after that"));
}

void AgentHub::CountUnbelieved(Agent& agent) {
  const std::lock_guard lock(mutex_);
  ++agent.not_believed;
  ++counts_.not_believed;
}

double AgentHub::WithinMachine(const std::string& name, Resource r, double limit) const {
  const auto agent = agents_.find(name);
  if (agent == agents_.end()) return limit;
  const pb::Hello& hello = agent->second.hello;
  const double has = InCores(r) ? hello.cores() : hello.memory_bytes();
  const double most = InCores(r) ? kMostCores : kMostMemoryBytes;
  return std::min(limit, has > 0 ? has : most);
}

void AgentHub::NoteRefused(const pb::Hello& hello, std::string why) {
  ++counts_.refused_agents;
  refused_agents_.push_back({options_.now().seconds(), hello.agent(), hello.host(), std::move(why)});
  if (refused_agents_.size() > kRefusedRemembered) refused_agents_.pop_front();
}

// ---- state across restarts ----

std::string AgentHub::SaveState() const {
  const std::lock_guard lock(mutex_);
  const int64_t now_s = options_.now().seconds();
  std::string state;
  ByteWriter out(&state);
  out.Put(kStateVersion);
  for (const auto& [name, agent] : agents_) {
    if (now_s - agent.heard_at_s > kForgetSeconds) continue;
    out.PutString(name);
    out.PutString(agent.hello.host());
    out.PutString(agent.hello.version());
    out.PutString(agent.hello.machine());
    out.Put(agent.queue);
    // The time is rounded for connected agents. Otherwise the state would change with every save.
    out.Put(agent.session != 0 ? now_s / kRoundSeconds * kRoundSeconds : agent.heard_at_s);
  }
  return state;
}

void AgentHub::LoadState(std::string_view state) {
  const std::lock_guard lock(mutex_);
  ByteReader in(state);
  if (in.Get<uint8_t>() != kStateVersion) return;
  while (!in.failed() && in.remaining() > 0) {
    const std::string name(in.GetString());
    pb::Hello hello;
    hello.set_agent(name);
    hello.set_host(std::string(in.GetString()));
    hello.set_version(std::string(in.GetString()));
    hello.set_machine(std::string(in.GetString()));
    const auto queue = in.Get<uint64_t>();
    const auto heard_at_s = in.Get<int64_t>();
    if (in.failed()) return;
    Agent& agent = agents_[name];
    if (agent.session != 0) continue;
    agent.name = name;
    agent.hello = std::move(hello);
    agent.queue = queue;
    agent.heard_at_s = heard_at_s;
    agent.remembered = true;
  }
}

}  // namespace taut::server
