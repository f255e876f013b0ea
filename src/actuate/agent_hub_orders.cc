// Orders to agents: at once, when tasks come later, and their outcomes.
#include <algorithm>

#include "actuate/agent_hub.h"
#include "base/strings.h"

namespace taut {
namespace {

namespace pb = taut::agent::v1;

constexpr size_t kFailuresRemembered = 50;
constexpr size_t kTimedOrders = 1000;
constexpr size_t kOrdersRemembered = 100'000;

pb::Resource ProtoOf(Resource r) { return r == Resource::kCpu ? pb::CPU : pb::MEMORY; }

// "2 of 5 tasks: host/a: text", with the first of them.
std::string SomeOf(const std::map<std::string, std::string>& texts, size_t tasks) {
  const auto& first = *texts.begin();
  const std::string of = tasks == 1 ? "" : StrCat(texts.size(), " of ", tasks, " tasks: ");
  return StrCat(of, first.first, first.second.empty() ? "" : ": ", first.second);
}

}  // namespace

// ---- what stands ----

// Tasks that came, or whose job's settings changed. Those of an agent that is still bringing what it kept
// wait: a kill may be among it.
std::vector<AgentHub::Due> AgentHub::TakeDue() {
  const std::lock_guard lock(mutex_);
  std::vector<Due> out;
  const double now = options_.steady_s();
  for (const auto& [job, task] : untold_) {
    const auto its_job = jobs_.find(job);
    if (its_job == jobs_.end()) continue;
    const auto it = its_job->second.find(task);
    if (it == its_job->second.end() || it->second.session == 0) continue;
    const auto agent = agents_.find(it->second.agent);
    const bool replays = agent != agents_.end() && agent->second.to_replay > 0 &&
                         now < agent->second.connected_s + options_.hold_s;
    if (!replays) out.push_back({job, task, it->second.session, it->second.ref, it->second.managed});
  }
  return out;
}

void AgentHub::SendStanding() {
  const std::lock_guard sending(send_mutex_);
  const std::vector<Due> all = TakeDue();
  if (all.empty()) return;
  std::map<SessionId, pb::ToAgent> messages;
  for (const Due& due : all) {
    const std::optional<StandingTerms> standing = intake_->Standing(due.ref, due.task);
    if (!standing.has_value()) continue;  // with the next tick
    const std::lock_guard lock(mutex_);
    untold_.erase({due.job, due.task});
    AddStanding(due, *standing, *messages[due.session].mutable_orders());
  }
  for (auto& [session, message] : messages) Send(session, std::move(message));
}

void AgentHub::AddStanding(const Due& due, const StandingTerms& standing, pb::Orders& out) {
  pb::Terms* terms = out.add_terms();
  terms->set_job(due.job);
  terms->set_apply(options_.apply && (standing.mode == Mode::kAuto || standing.mode == Mode::kCanary));
  if (standing.upper[0].has_value()) terms->set_cpu_upper_cores(*standing.upper[0]);
  if (standing.upper[1].has_value()) terms->set_memory_upper_bytes(*standing.upper[1]);
  if (!options_.apply || !due.managed) return;
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    const auto newest = newest_order_.find({due.job, r});
    const auto it = newest == newest_order_.end() ? orders_.end() : orders_.find(newest->second);
    const bool wanted = it != orders_.end() && it->second.Wants(due.task);
    // Nothing in force may mean that a limit was taken back while the task's agent was disconnected.
    const bool released = wanted && !it->second.order.limit.has_value();
    if (!standing.in_force[i].has_value() && !released) continue;
    pb::Order* order = out.add_orders();
    order->mutable_name()->set_job(due.job);
    order->mutable_name()->set_task(due.task);
    order->set_resource(ProtoOf(r));
    if (standing.in_force[i].has_value()) {
      order->set_limit(WithinMachine(jobs_[due.job][due.task], r, *standing.in_force[i]));
    }
    order->set_decided_s(standing.decided_s[i]);
    if (!wanted) continue;
    order->set_decision(newest->second);
    if (!it->second.Has(due.task)) it->second.waiting.insert(due.task);
  }
}

// ---- Actuator ----

bool AgentHub::Order::Has(const std::string& task) const {
  return waiting.contains(task) || applied.contains(task) || observed.contains(task) ||
         failed.contains(task) || held.contains(task);
}

void AgentHub::Order::Forget(const std::string& task) {
  waiting.erase(task);
  applied.erase(task);
  observed.erase(task);
  failed.erase(task);
  held.erase(task);
}

bool AgentHub::Order::Wants(const std::string& task) const {
  return !order.tasks.has_value() ||
         std::find(order.tasks->begin(), order.tasks->end(), task) != order.tasks->end();
}

void AgentHub::Apply(std::span<const LimitOrder> orders, int64_t now_s) {
  std::map<SessionId, pb::ToAgent> messages;
  const std::lock_guard sending(send_mutex_);
  {
    const std::lock_guard lock(mutex_);
    for (const LimitOrder& o : orders) TakeOrder(o, now_s, messages);
  }
  for (auto& [session, message] : messages) Send(session, std::move(message));
}

void AgentHub::TakeOrder(const LimitOrder& o, int64_t now_s, std::map<SessionId, pb::ToAgent>& messages) {
  Order order;
  uint64_t& newest = newest_order_[{o.job, o.resource}];
  const auto old = orders_.find(newest);
  if (old != orders_.end() && newest == o.decision) {
    order = std::move(old->second);  // the same for more tasks
  } else if (old != orders_.end()) {
    // What was carried out stays carried out.
    const std::optional<Outcome>& told = old->second.told;
    if (!told.has_value() || *told == Outcome::kPending) {
      Tell(old->second, Outcome::kSuperseded, StrCat("replaced by decision ", o.decision));
    }
    orders_.erase(old);
  }
  order.order = o;
  order.sent_s = options_.steady_s();
  newest = o.decision;
  const auto job = jobs_.find(o.job);
  bool away = false, known = false, observes = false;
  if (job != jobs_.end()) {
    for (const auto& [name, task] : job->second) {
      if (!order.Wants(name)) continue;
      known = true;
      if (order.Has(name)) continue;
      if (!task.managed || !options_.apply) {
        const auto agent = agents_.find(task.agent);
        observes |= agent != agents_.end() && agent->second.hello.observe();
        continue;
      }
      order.waiting.insert(name);
      away |= task.session == 0;
      if (task.session == 0) {
        order.away.insert(name);
        continue;
      }
      pb::Order* out = messages[task.session].mutable_orders()->add_orders();
      out->set_decision(o.decision);
      out->mutable_name()->set_job(o.job);
      out->mutable_name()->set_task(name);
      out->set_resource(ProtoOf(o.resource));
      if (o.limit.has_value()) out->set_limit(WithinMachine(task, o.resource, *o.limit));
      out->set_decided_s(now_s);
      ++counts_.orders;
    }
  }
  if (order.tasks() == 0) {
    Tell(order, Outcome::kDryRun,
         !known            ? o.tasks.has_value() ? "no agent has its tasks" : "no agent has this job"
         : !options_.apply ? "dry run (actuator.kind: dry_run)"
         : observes        ? "the agent only measures (--observe)"
                           : "its agents may not set its limits (manage: false)");
  } else if (away) {
    Tell(order, Outcome::kPending, "an agent is disconnected; it receives the order when it reconnects");
  }
  // Also an order without tasks: its tasks may come.
  if (orders_.size() >= kOrdersRemembered) orders_.erase(orders_.begin());
  orders_.insert_or_assign(o.decision, std::move(order));
}

std::vector<OutcomeUpdate> AgentHub::TakeOutcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

void AgentHub::Tell(Order& order, Outcome outcome, std::string text) {
  // An order is reported as applied once: tasks that come later change nothing about it.
  if (order.told == outcome && (outcome == Outcome::kApplied || order.text == text)) return;
  order.told = outcome;
  order.text = text;
  OutcomeUpdate& update = outcomes_.emplace_back();
  update.id = order.order.decision;
  update.outcome = outcome;
  update.text = std::move(text);
  if (!order.minimum.has_value()) return;
  update.minimum = order.minimum;
  update.job = order.order.job;
  update.resource = order.order.resource;
}

void AgentHub::Judge(Order& order) {
  const size_t tasks = order.tasks();
  if (!order.failed.empty()) {
    Tell(order, Outcome::kFailed, SomeOf(order.failed, tasks));
  } else if (!order.held.empty()) {
    Tell(order, Outcome::kPending, SomeOf(order.held, tasks));
  } else if (!order.waiting.empty()) {
    return;
  } else if (!order.applied.empty()) {
    Tell(order, Outcome::kApplied,
         tasks == 1 ? "" : StrCat("on ", order.applied.size(), " of ", tasks, " tasks"));
  } else if (!order.observed.empty()) {
    Tell(order, Outcome::kDryRun, "the agent only measures (--observe)");
  } else if (order.told != Outcome::kApplied && order.told != Outcome::kDryRun) {
    Tell(order, Outcome::kPending, "its tasks are gone; the order is sent when they return");
  }
}

void AgentHub::TakeOutcome(Agent& agent, const pb::Outcome& outcome) {
  const bool failed = outcome.result() == pb::Outcome::FAILED;
  const bool applied = outcome.result() == pb::Outcome::APPLIED;
  agent.applied += applied ? 1 : 0;
  agent.failed += failed ? 1 : 0;
  counts_.applied += applied ? 1 : 0;
  counts_.failed += failed ? 1 : 0;
  if (failed) {
    agent.failures.push_back(
        {options_.now().seconds(), outcome.decision(), outcome.name().job(), outcome.name().task(),
         outcome.resource() == pb::CPU ? Resource::kCpu : Resource::kMemory, outcome.text()});
    if (agent.failures.size() > kFailuresRemembered) agent.failures.pop_front();
  }
  const auto it = orders_.find(outcome.decision());
  if (it == orders_.end()) return;
  Order& order = it->second;
  const std::string& task = outcome.name().task();
  if (!order.Has(task)) return;
  if (order.waiting.contains(task) && !order.away.contains(task)) {
    order_ms_.push_back((options_.steady_s() - order.sent_s) * 1000);
    if (order_ms_.size() > kTimedOrders) order_ms_.pop_front();
  }
  order.Forget(task);
  if (outcome.has_minimum()) order.minimum = std::max(order.minimum.value_or(0), outcome.minimum());
  switch (outcome.result()) {
    case pb::Outcome::FAILED:
      order.failed[task] = outcome.text();
      break;
    case pb::Outcome::STEPPING:
    case pb::Outcome::HELD:
      order.held[task] = outcome.text();
      break;
    case pb::Outcome::OBSERVED:
      order.observed.insert(task);
      break;
    default:
      order.applied.insert(task);
  }
  Judge(order);
}

}  // namespace taut
