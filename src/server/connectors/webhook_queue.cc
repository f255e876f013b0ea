#include "server/connectors/webhook_queue.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::server {
namespace {

constexpr size_t kOverheadBytes = 64;  // size of an order without its texts

size_t BytesOf(const TargetOrder& order) {
  size_t bytes = kOverheadBytes + order.job.size();
  if (!order.tasks.has_value()) return bytes;
  for (const std::string& task : *order.tasks) bytes += task.size() + 5;
  return bytes;
}

}  // namespace

void WebhookQueue::Report(uint64_t decision, Outcome outcome, std::string text) {
  outcomes_.push_back({decision, outcome, std::move(text), 0});
}

void WebhookQueue::Erase(std::map<Key, Entry>::iterator at) {
  bytes_ -= at->second.bytes;
  entries_.erase(at);
}

void WebhookQueue::Take(const TargetOrder& order, int64_t decided_s, double now_s) {
  const auto at = entries_.find({order.job, order.target});
  if (at != entries_.end()) {
    const TargetOrder& waiting = at->second.order;
    // After a restart, orders may arrive out of sequence. Keep the order with the newer decision.
    if (waiting.decision > order.decision) {
      return Report(order.decision, Outcome::kSuperseded, StrCat("replaced by decision ", waiting.decision));
    }
    if (waiting.decision == order.decision && waiting.tasks == order.tasks) return;
    if (waiting.decision < order.decision) {
      Report(waiting.decision, Outcome::kSuperseded, StrCat("replaced by decision ", order.decision));
    }
    Erase(at);
  }
  if (!IsFinal(order.known)) Add(order, decided_s, now_s);
}

void WebhookQueue::Add(const TargetOrder& order, int64_t decided_s, double now_s) {
  const size_t bytes = BytesOf(order);
  if (entries_.size() >= options_.max_orders || bytes > options_.max_bytes - bytes_) {
    ++given_up_;
    return Report(
        order.decision, Outcome::kFailed,
        StrCat("not sent to the webhook: ", entries_.size(), " orders are waiting, the queue is full"));
  }
  Entry entry;
  entry.order = order;
  entry.decided_s = decided_s;
  entry.since_s = entry.next_s = now_s;
  entry.ticket = next_ticket_++;
  entry.turn = next_turn_++;
  entry.bytes = bytes;
  bytes_ += bytes;
  entries_.emplace(Key(order.job, order.target), std::move(entry));
}

void WebhookQueue::GiveUp(double now_s) {
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto at = it++;
    const Entry& entry = at->second;
    const std::string& error = entry.error.empty() ? endpoint_error_ : entry.error;
    if (error.empty() || now_s - entry.since_s < options_.give_up_s) continue;
    ++given_up_;
    Report(entry.order.decision, Outcome::kFailed,
           StrCat("given up after ", FormatDuration(std::llround(now_s - entry.since_s)), ": ", error));
    Erase(at);
  }
}

std::optional<WebhookQueue::Attempt> WebhookQueue::Next(double now_s) {
  GiveUp(now_s);
  if (now_s < endpoint_next_s_) return std::nullopt;
  const Entry* first = nullptr;
  for (const auto& [key, entry] : entries_) {
    if (entry.next_s <= now_s && (first == nullptr || entry.turn < first->turn)) first = &entry;
  }
  if (first == nullptr) return std::nullopt;
  return Attempt{first->ticket, first->order, first->decided_s};
}

std::optional<double> WebhookQueue::NextTime() const {
  std::optional<double> out;
  for (const auto& [key, entry] : entries_) {
    const double next_s = std::max(entry.next_s, endpoint_next_s_);
    if (!out.has_value() || next_s < *out) out = next_s;
  }
  return out;
}

double WebhookQueue::Pause(int failures, std::optional<double> wish_s) {
  const double full =
      std::min(options_.first_retry_s * std::exp2(std::min(failures - 1, 30)), options_.last_retry_s);
  const double least_s = std::min(wish_s.value_or(0), options_.max_retry_after_s);
  return std::max(full * random_.Uniform(0.5, 1), least_s);
}

void WebhookQueue::Done(const Attempt& attempt, const WebhookResult& result, double now_s) {
  using Kind = WebhookResult::Kind;
  if (result.kind == Kind::kUnavailable) {
    endpoint_error_ = result.text;
    endpoint_next_s_ = now_s + Pause(++failures_, result.retry_after_s);
  } else {
    endpoint_error_.clear();
    failures_ = 0;
  }
  const auto at = entries_.find({attempt.order.job, attempt.order.target});
  // The ticket changes when the order is replaced or extended, so that this result does not apply to the new
  // order.
  if (at == entries_.end() || at->second.ticket != attempt.ticket) return;
  Entry& entry = at->second;
  switch (result.kind) {
    case Kind::kApplied:
      Report(entry.order.decision, Outcome::kApplied, result.text);
      return Erase(at);
    case Kind::kRefused:
      Report(entry.order.decision, Outcome::kFailed, result.text);
      return Erase(at);
    case Kind::kRetry:
      entry.next_s = now_s + Pause(++entry.attempts, result.retry_after_s);
      break;
    case Kind::kUnavailable:
      break;
  }
  entry.error = result.text;
  entry.turn = next_turn_++;  // send other orders first, because the failure may affect only this order
  GiveUp(now_s);
}

double WebhookQueue::oldest_s(double now_s) const {
  double out = 0;
  for (const auto& [key, entry] : entries_) out = std::max(out, now_s - entry.since_s);
  return out;
}

void WebhookQueue::Save(ByteWriter& out) const {
  std::vector<const Entry*> by_turn;
  for (const auto& [key, entry] : entries_) by_turn.push_back(&entry);
  std::ranges::sort(by_turn, {}, [](const Entry* e) { return e->turn; });
  out.PutVarint(by_turn.size());
  for (const Entry* entry : by_turn) {
    out.Put(entry->decided_s);
    SaveOrder(entry->order, out);
  }
}

bool WebhookQueue::Load(ByteReader& in, double now_s) {
  const uint64_t count = in.GetVarint();
  if (in.failed() || count > options_.max_orders) return false;
  // Parse all orders before adding the first, so that damaged data adds none.
  std::vector<std::pair<int64_t, TargetOrder>> orders;
  for (uint64_t i = 0; i < count; ++i) {
    const auto decided_s = in.Get<int64_t>();
    std::optional<TargetOrder> order = LoadOrder(in);
    if (!order.has_value()) return false;
    orders.emplace_back(decided_s, *std::move(order));
  }
  for (const auto& [decided_s, order] : orders) Take(order, decided_s, now_s);
  return true;
}

void WebhookQueue::RemoveIf(const std::function<bool(const TargetOrder&)>& unwanted, std::string_view why) {
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto at = it++;
    if (!unwanted(at->second.order)) continue;
    if (!why.empty()) Report(at->second.order.decision, Outcome::kFailed, std::string(why));
    Erase(at);
  }
}

}  // namespace taut::server
