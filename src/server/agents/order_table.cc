#include "server/agents/order_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr size_t kTimedOrders = 1000;

// Returns the number of texts and the first text, as in "2 of 5 tasks: host/a: text".
std::string SomeOf(const std::map<std::string, std::string>& texts, size_t tasks) {
  const auto& first = *texts.begin();
  const std::string of = tasks == 1 ? "" : StrCat(texts.size(), " of ", tasks, " tasks: ");
  return StrCat(of, first.first, first.second.empty() ? "" : ": ", first.second);
}

}  // namespace

bool OrderTable::Entry::Has(const std::string& task) const {
  return waiting.contains(task) || applied.contains(task) || observed.contains(task) ||
         failed.contains(task) || held.contains(task);
}

void OrderTable::Entry::Forget(const std::string& task) {
  waiting.erase(task);
  applied.erase(task);
  observed.erase(task);
  failed.erase(task);
  held.erase(task);
}

bool OrderTable::Entry::IsFor(std::string_view task) const {
  return !order.tasks.has_value() ||
         std::find(order.tasks->begin(), order.tasks->end(), task) != order.tasks->end();
}

OrderTable::Entry* OrderTable::Latest(const std::string& job, Target target) {
  return const_cast<Entry*>(std::as_const(*this).Latest(job, target));
}

const OrderTable::Entry* OrderTable::Latest(const std::string& job, Target target) const {
  const auto latest = latest_.find({job, target});
  const auto entry = latest == latest_.end() ? entries_.end() : entries_.find(latest->second);
  return entry == entries_.end() ? nullptr : &entry->second;
}

OrderTable::Entry OrderTable::Open(const TargetOrder& order) {
  uint64_t& latest = latest_[{order.job, order.target}];
  const auto old = entries_.find(latest);
  Entry entry;
  if (old != entries_.end()) {
    if (latest == order.decision) {
      entry = std::move(old->second);  // the same decision was extended to more tasks
    } else {
      End(old->second, Outcome::kSuperseded, StrCat("replaced by decision ", order.decision));
    }
    entries_.erase(old);
  }
  latest = order.decision;
  entry.order = order;
  if (IsFinal(order.known) && !entry.reported.has_value()) entry.reported = order.known;
  return entry;
}

std::vector<std::string> OrderTable::Take(const TargetOrder& order, std::span<const OrderTask> tasks,
                                          double sent_s) {
  Entry entry = Open(order);
  entry.sent_s = sent_s;
  std::vector<std::string> send_to;
  bool disconnected = false;
  for (const OrderTask& task : tasks) {
    const std::string name(task.name);
    if (!order.target.is_limit() || !task.managed || dry_run_ || !entry.IsFor(name) || entry.Has(name))
      continue;
    entry.waiting.insert(name);
    if (task.connected) {
      send_to.push_back(name);
    } else {
      entry.disconnected.insert(name);
      disconnected = true;
    }
  }
  if (entry.tasks() == 0) {
    // After a restart, no task is known until its agent connects. An order with a known final outcome keeps this
    // outcome.
    if (!IsFinal(order.known)) Report(entry, Outcome::kDryRun, WhyNotSent(entry, tasks));
  } else if (disconnected) {
    Report(entry, Outcome::kPending, "an agent is disconnected; it receives the order when it reconnects");
  }
  // Orders without tasks are kept, too, because their tasks may appear later. If there is no room, the entry of
  // the oldest decision is dropped (decisions ascend).
  if (entries_.size() >= most_orders_) Drop(entries_.begin());
  entries_.insert_or_assign(order.decision, std::move(entry));
  return send_to;
}

void OrderTable::Drop(std::map<uint64_t, Entry>::iterator at) {
  End(at->second, Outcome::kFailed,
      StrCat("forgotten before all its tasks had reported: only ", most_orders_, " orders are remembered"));
  const auto latest = latest_.find({at->second.order.job, at->second.order.target});
  if (latest != latest_.end() && latest->second == at->first) latest_.erase(latest);
  entries_.erase(at);
}

std::string OrderTable::WhyNotSent(const Entry& entry, std::span<const OrderTask> tasks) const {
  constexpr std::string_view kDryRun = "dry run (actuator.kind: dry_run)";
  if (!entry.order.target.is_limit()) {
    return std::string(dry_run_ ? kDryRun
                                : "agents do not set replicas, and no other actuator sets this job's");
  }
  bool known = false, observes = false;
  for (const OrderTask& task : tasks) {
    if (!entry.IsFor(task.name)) continue;
    known = true;
    observes |= task.observes;
  }
  if (!known) return entry.order.tasks.has_value() ? "no agent has its tasks" : "no agent has this job";
  if (dry_run_) return std::string(kDryRun);
  return observes ? "the agent only measures (--observe)"
                  : "its agents may not set its limits (manage: false)";
}

const TargetOrder* OrderTable::OrderFor(const std::string& job, Target target,
                                        const std::string& task) const {
  const Entry* entry = Latest(job, target);
  return entry != nullptr && entry->IsFor(task) ? &entry->order : nullptr;
}

void OrderTable::SentTo(const std::string& job, Target target, const std::string& task) {
  Entry* entry = Latest(job, target);
  if (entry != nullptr && !entry->Has(task)) entry->waiting.insert(task);
}

void OrderTable::TakeOutcome(const TaskOutcome& outcome, double now_s) {
  const auto it = entries_.find(outcome.decision);
  if (it == entries_.end() || !it->second.Has(outcome.task)) return;
  Entry& entry = it->second;
  const std::string& task = outcome.task;
  // For a task that was disconnected, the measured time would include the disconnection.
  if (entry.waiting.contains(task) && !entry.disconnected.contains(task)) {
    times_ms_.push_back((now_s - entry.sent_s) * 1000);
    if (times_ms_.size() > kTimedOrders) times_ms_.pop_front();
  }
  entry.Forget(task);
  if (outcome.minimum.has_value()) entry.minimum = std::max(entry.minimum.value_or(0), *outcome.minimum);
  switch (outcome.result) {
    case TaskOutcome::Result::kFailed:
      entry.failed[task] = outcome.text;
      break;
    case TaskOutcome::Result::kHeld:
      entry.held[task] = outcome.text;
      break;
    case TaskOutcome::Result::kObserved:
      entry.observed.insert(task);
      break;
    case TaskOutcome::Result::kApplied:
      entry.applied.insert(task);
      break;
  }
  Summarize(entry);
}

void OrderTable::DropTask(const std::string& job, const std::string& task) {
  for (const Resource r : kResources) {
    Entry* entry = Latest(job, r);
    if (entry == nullptr || !entry->Has(task)) continue;
    entry->Forget(task);
    if (entry->reported != Outcome::kApplied) Summarize(*entry);
    // An applied order remains applied when its tasks end.
  }
}

void OrderTable::End(Entry& entry, Outcome outcome, std::string text) {
  const bool has_ended = entry.reported.has_value() && *entry.reported != Outcome::kPending;
  if (!has_ended) Report(entry, outcome, std::move(text));
}

void OrderTable::Report(Entry& entry, Outcome outcome, std::string text) {
  // An order is reported as applied once: tasks that apply it later cause no further report.
  if (entry.reported == outcome && (outcome == Outcome::kApplied || entry.text == text)) return;
  entry.reported = outcome;
  entry.text = text;
  OutcomeUpdate& update = outcomes_.emplace_back();
  update.id = entry.order.decision;
  update.outcome = outcome;
  update.text = std::move(text);
  if (!entry.minimum.has_value()) return;
  update.minimum = entry.minimum;
  update.job = entry.order.job;
  update.target = entry.order.target;
}

void OrderTable::Summarize(Entry& entry) {
  const size_t tasks = entry.tasks();
  if (!entry.failed.empty()) {
    Report(entry, Outcome::kFailed, SomeOf(entry.failed, tasks));
  } else if (!entry.held.empty()) {
    Report(entry, Outcome::kPending, SomeOf(entry.held, tasks));
  } else if (!entry.waiting.empty()) {
    return;
  } else if (!entry.applied.empty()) {
    Report(entry, Outcome::kApplied,
           tasks == 1 ? "" : StrCat("on ", entry.applied.size(), " of ", tasks, " tasks"));
  } else if (!entry.observed.empty()) {
    Report(entry, Outcome::kDryRun, "the agent only measures (--observe)");
  } else if (entry.reported != Outcome::kApplied && entry.reported != Outcome::kDryRun) {
    Report(entry, Outcome::kPending, "its tasks are gone; the order is sent when they return");
  }
}

double OrderTable::slowest_ms() const {
  return times_ms_.empty() ? 0 : *std::max_element(times_ms_.begin(), times_ms_.end());
}

double OrderTable::mean_ms() const {
  if (times_ms_.empty()) return 0;
  return std::accumulate(times_ms_.begin(), times_ms_.end(), 0.0) / static_cast<double>(times_ms_.size());
}

}  // namespace taut::server
