#include "server/connectors/webhook_actuator.h"

#include <chrono>

#include "common/base/bytes.h"
#include "common/base/pattern.h"
#include "common/base/printable.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr uint8_t kWebhookStateVersion = 1;
constexpr size_t kMaxInstanceBytes = 64;

}  // namespace

void WebhookActuator::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WebhookActuator::Start(const std::function<bool(uint64_t decision)>& is_open) {
  const std::lock_guard lock(mutex_);
  queue_.RemoveIf([&](const TargetOrder& order) { return !is_open(order.decision); });
  queue_.RemoveIf([&](const TargetOrder& order) { return !Claims(order); },
                  "not sent: webhook.jobs or webhook.targets changed before it was delivered");
  thread_ = std::thread([this] { Run(); });
}

void WebhookActuator::Run() {
  while (true) {
    const bool stepped = Step();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    if (stepped) continue;
    const std::optional<double> next_s = queue_.NextTime();
    if (!next_s.has_value()) {
      wake_.wait(lock, [this] { return stopping_ || queue_.NextTime().has_value(); });
    } else if (const double pause_s = *next_s - options_.steady_s(); pause_s > 0) {
      // Apply() wakes the thread for a new order, which may be due before the waiting orders.
      wake_.wait_for(lock, std::chrono::duration<double>(pause_s));
    }
    if (stopping_) return;
  }
}

absl::StatusOr<HttpResponse> WebhookActuator::Send(const WebhookQueue::Attempt& attempt) {
  const absl::StatusOr<std::string> secret = options_.secret();
  if (!secret.ok()) return secret.status();
  // Create the key under the lock, because LoadState() may replace the instance.
  std::string key;
  {
    const std::lock_guard lock(mutex_);
    key = IdempotencyKey(instance_, attempt.order);
  }
  const int64_t sent_s = options_.unix_s();
  const std::string body = WebhookBody(attempt.order, attempt.decided_s, sent_s);
  return poster_->Post(body, WebhookHeaders(key, *secret, body, sent_s));
}

bool WebhookActuator::Step() {
  std::optional<WebhookQueue::Attempt> attempt;
  {
    const std::lock_guard lock(mutex_);
    attempt = queue_.Next(options_.steady_s());
  }
  if (!attempt.has_value()) return false;
  // Send the request without the lock, because Apply() must not wait for the endpoint.
  const WebhookResult result = ResultOf(Send(*attempt));
  const std::lock_guard lock(mutex_);
  queue_.Done(*attempt, result, options_.steady_s());
  using Kind = WebhookResult::Kind;
  uint64_t* const counted[] = {&counts_.applied, &counts_.refused, &counts_.retry, &counts_.no_response};
  ++*counted[static_cast<size_t>(result.kind)];
  last_error_ = result.kind == Kind::kApplied ? "" : result.text;
  return true;
}

bool WebhookActuator::Claims(const TargetOrder& order) const {
  if (!(order.target.is_limit() ? options_.sets_limits : options_.sets_replicas)) return false;
  return options_.jobs.empty() || FitsPattern(order.job, options_.jobs);
}

void WebhookActuator::Apply(std::span<const TargetOrder> orders, int64_t now_s) {
  {
    const std::lock_guard lock(mutex_);
    for (const TargetOrder& order : orders) queue_.Take(order, now_s, options_.steady_s());
  }
  wake_.notify_all();
}

std::vector<OutcomeUpdate> WebhookActuator::TakeOutcomes() {
  const std::lock_guard lock(mutex_);
  return queue_.TakeOutcomes();
}

std::string WebhookActuator::SaveState() const {
  const std::lock_guard lock(mutex_);
  std::string state;
  ByteWriter out(&state);
  out.Put(kWebhookStateVersion);
  out.PutString(instance_);
  queue_.Save(out);
  return state;
}

void WebhookActuator::LoadState(std::string_view state) {
  ByteReader in(state);
  const auto version = in.Get<uint8_t>();
  const std::string_view instance = in.GetString();
  if (in.failed() || version != kWebhookStateVersion || instance.empty() ||
      instance.size() > kMaxInstanceBytes || !IsPrintableUtf8(instance)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  instance_ = instance;
  // If the state is damaged, no order is restored. The store still has the decisions.
  (void)queue_.Load(in, options_.steady_s());
}

WebhookActuatorCounts WebhookActuator::counts() const {
  const std::lock_guard lock(mutex_);
  WebhookActuatorCounts out = counts_;
  out.given_up = queue_.given_up();
  out.waiting = queue_.waiting();
  out.oldest_s = queue_.oldest_s(options_.steady_s());
  return out;
}

std::string WebhookActuator::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace taut::server
