// Orders to agents, which are sent at once or when their tasks appear, and the outcomes of these orders.
#include <algorithm>

#include "common/base/strings.h"
#include "common/rpc/resource_proto.h"
#include "server/agents/agent_hub.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

constexpr size_t kFailuresRemembered = 50;

TaskOutcome OutcomeOf(const pb::Outcome& outcome) {
  TaskOutcome out;
  out.decision = outcome.decision();
  out.task = outcome.name().task();
  out.text = outcome.text();
  if (outcome.has_minimum()) out.minimum = outcome.minimum();
  switch (outcome.result()) {
    case pb::Outcome::FAILED:
      out.result = TaskOutcome::Result::kFailed;
      break;
    case pb::Outcome::STEPPING:
    case pb::Outcome::HELD:
      out.result = TaskOutcome::Result::kHeld;
      break;
    case pb::Outcome::OBSERVED:
      out.result = TaskOutcome::Result::kObserved;
      break;
    default:
      out.result = TaskOutcome::Result::kApplied;
  }
  return out;
}

}  // namespace

// ---- terms and orders of new tasks ----

// Returns the tasks that appeared or whose job's settings changed. Leaves out the tasks of an agent that is still
// resending kept messages. These messages may report an OOM kill, which an order sent now would not take into
// account.
std::vector<AgentHub::Due> AgentHub::TakeDue() {
  const std::lock_guard lock(mutex_);
  std::vector<Due> out;
  const double now = options_.steady_s();
  agents_by_task_.Settle(now);
  for (const AgentTable::Name& name : agents_by_task_.unsent()) {
    const AgentTable::Task* task = agents_by_task_.Find(name);
    if (task == nullptr || task->session == 0) continue;
    const auto agent = agents_.find(task->agent);
    const bool replays = agent != agents_.end() && agent->second.to_replay > 0 &&
                         now < agent->second.connected_s + options_.hold_s;
    if (!replays) out.push_back({name.first, name.second, *task});
  }
  return out;
}

void AgentHub::SendStanding() {
  // Hold send_mutex_ until the messages are sent: a newer order that Apply sends meanwhile must not arrive
  // before an older order of this function.
  const std::lock_guard sending(send_mutex_);
  const std::vector<Due> all = TakeDue();
  if (all.empty()) return;
  std::map<SessionId, pb::ToAgent> messages;
  for (const Due& due : all) {
    const std::optional<StandingTerms> standing = intake_->Standing(due.task.ref, due.name);
    if (!standing.has_value()) continue;  // the orders of the task are sent with the next tick
    const std::lock_guard lock(mutex_);
    // Mark the task before the message is sent: if the stream breaks, Announce marks the task as unsent
    // again.
    agents_by_task_.MarkSent({due.job, due.name});
    AddStanding(due, *standing, *messages[due.task.session].mutable_orders());
  }
  for (auto& [session, message] : messages) Send(session, std::move(message));
}

void AgentHub::AddStanding(const Due& due, const StandingTerms& standing, pb::Orders& out) {
  pb::Terms* terms = out.add_terms();
  terms->set_job(due.job);
  const bool applies = Applies(due.job);
  const bool holds = standing.mode == Mode::kAuto || standing.mode == Mode::kCanary;
  terms->set_apply(applies && holds);
  if (standing.upper[0].has_value()) terms->set_cpu_upper_cores(*standing.upper[0]);
  if (standing.upper[1].has_value()) terms->set_memory_upper_bytes(*standing.upper[1]);
  terms->set_startup_grace_s(static_cast<uint32_t>(standing.startup_grace_s));
  if (const ThrottleControlSettings& control = standing.throttle_control; control.target.has_value()) {
    pb::ThrottleControl& sent = *terms->mutable_throttle_control();
    sent.set_target(*control.target);
    sent.set_low(control.low);
    sent.set_high(control.high);
    if (standing.lower_cores.has_value()) sent.set_lower_cores(*standing.lower_cores);
  }
  if (!applies || !due.task.managed) return;
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    const TargetOrder* latest = orders_by_task_.OrderFor(due.job, r, due.name);
    // If no limit is in force, an agent may still apply a limit: the limit was released while the agent was
    // disconnected, or another tautd has set the limit.
    const bool released = latest != nullptr && !latest->value.has_value();
    const bool gives_back = released || (!holds && standing.knows_settings);
    if (!standing.in_force[i].has_value() && !gives_back) continue;
    pb::Order* order = out.add_orders();
    order->mutable_name()->set_job(due.job);
    order->mutable_name()->set_task(due.name);
    order->set_resource(ProtoOf(r));
    // In a mode that sets no limits, the order restores the owner's limit.
    if (standing.in_force[i].has_value() && holds) {
      const double limit = std::min(*standing.in_force[i], standing.upper[i].value_or(*standing.in_force[i]));
      order->set_limit(WithinMachine(due.task.agent, r, limit));
    }
    order->set_decided_s(standing.decided_s[i]);
    if (latest == nullptr) continue;
    order->set_decision(latest->decision);
    orders_by_task_.SentTo(due.job, r, due.name);
  }
}

// ---- Actuator ----

bool AgentHub::Claims(const TargetOrder& order) const {
  if (!Applies(order.job) || !order.target.is_limit()) return false;
  const std::lock_guard lock(mutex_);
  const std::map<std::string, AgentTable::Task>& tasks = agents_by_task_.TasksOfJob(order.job);
  return std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.second.managed; });
}

void AgentHub::Apply(std::span<const TargetOrder> orders, int64_t now_s) {
  std::map<SessionId, pb::ToAgent> messages;
  // send_mutex_ is held until the messages are sent, so that newer orders arrive last (SendStanding).
  const std::lock_guard sending(send_mutex_);
  {
    const std::lock_guard lock(mutex_);
    for (const TargetOrder& o : orders) TakeOrder(o, now_s, messages);
  }
  for (auto& [session, message] : messages) Send(session, std::move(message));
}

void AgentHub::TakeOrder(const TargetOrder& o, int64_t now_s, std::map<SessionId, pb::ToAgent>& messages) {
  const std::map<std::string, AgentTable::Task>& of_job = agents_by_task_.TasksOfJob(o.job);
  std::vector<OrderTask> tasks;
  for (const auto& [name, task] : of_job) {
    const auto agent = agents_.find(task.agent);
    const bool observes = agent != agents_.end() && agent->second.hello.observe();
    tasks.push_back({name, task.managed, task.session != 0, observes});
  }
  for (const std::string& name : orders_by_task_.Take(o, tasks, options_.steady_s())) {
    const AgentTable::Task& task = of_job.at(name);
    pb::Order* out = messages[task.session].mutable_orders()->add_orders();
    out->set_decision(o.decision);
    out->mutable_name()->set_job(o.job);
    out->mutable_name()->set_task(name);
    const Resource r = o.target.resource();
    out->set_resource(ProtoOf(r));
    if (o.value.has_value()) out->set_limit(WithinMachine(task.agent, r, *o.value));
    out->set_decided_s(now_s);
    ++counts_.orders;
  }
}

std::vector<OutcomeUpdate> AgentHub::TakeOutcomes() {
  const std::lock_guard lock(mutex_);
  return orders_by_task_.TakeOutcomes();
}

void AgentHub::TakeOutcome(Agent& agent, const pb::Outcome& outcome) {
  const bool failed = outcome.result() == pb::Outcome::FAILED;
  const bool applied = outcome.result() == pb::Outcome::APPLIED;
  agent.applied += applied ? 1 : 0;
  agent.failed += failed ? 1 : 0;
  counts_.applied += applied ? 1 : 0;
  counts_.failed += failed ? 1 : 0;
  if (failed) {
    agent.failures.push_back({options_.now().seconds(), outcome.decision(), outcome.name().job(),
                              outcome.name().task(), ResourceOf(outcome.resource()).value_or(Resource::kCpu),
                              outcome.text()});
    if (agent.failures.size() > kFailuresRemembered) agent.failures.pop_front();
  }
  orders_by_task_.TakeOutcome(OutcomeOf(outcome), options_.steady_s());
}

}  // namespace taut::server
