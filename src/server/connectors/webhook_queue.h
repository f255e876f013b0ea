// Orders that wait for the owner's endpoint. For each job and target only the latest order is kept, with the
// time of its next attempt. Plain values: no HTTP, clock or lock. The caller guards the queue with its own
// lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/random.h"
#include "server/connectors/webhook_message.h"
#include "server/control/actuator.h"

namespace taut::server {

struct WebhookQueueOptions {
  size_t max_orders = 100'000;
  size_t max_bytes = size_t{32} << 20;  // most bytes of the waiting orders, in their stored form
  double give_up_s = 3600;              // since the order's arrival, or since a restart
  // Delay after a failed attempt, at first and at most. The delay doubles with each failure; a random part of
  // up to half is subtracted.
  double first_retry_s = 1, last_retry_s = 60;
  double max_retry_after_s = 600;  // upper bound of the delay that a receiver requests
  uint64_t seed = 1;
};

class WebhookQueue {
 public:
  explicit WebhookQueue(const WebhookQueueOptions& options) : options_(options), random_(options.seed) {}

  // Replaces the waiting order of this job and target. If the decision is the same, extends the order to
  // further tasks. `decided_s`: Unix time. `now_s`: a monotonic clock in seconds, here and below.
  void Take(const TargetOrder& order, int64_t decided_s, double now_s);

  struct Attempt {
    uint64_t ticket = 0;
    TargetOrder order;
    int64_t decided_s = 0;
  };
  // Returns the order to send now; nullopt if no order is due. Gives up orders that have waited too long for
  // a failing endpoint. O(orders).
  std::optional<Attempt> Next(double now_s);
  // Returns the time at which Next may return an order; nullopt if no order waits. O(orders).
  std::optional<double> NextTime() const;
  // Stores the result of an attempt. If the order was replaced or extended meanwhile, it stays queued as if
  // the attempt had not been made.
  void Done(const Attempt& attempt, const WebhookResult& result, double now_s);

  // Returns the outcomes since the last call. The time of each outcome is 0; the caller sets it.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  size_t waiting() const { return entries_.size(); }
  double oldest_s(double now_s) const;  // seconds since the oldest order arrived; 0 if no order waits
  uint64_t given_up() const { return given_up_; }

  void Save(ByteWriter& out) const;
  // Adds saved orders. Returns false, and adds no order, if the data is damaged.
  bool Load(ByteReader& in, double now_s);
  // Removes all orders for which `unwanted` returns true. Each fails with the text `why`; if `why` is empty,
  // no outcome is reported.
  void RemoveIf(const std::function<bool(const TargetOrder&)>& unwanted, std::string_view why = "");

 private:
  using Key = std::pair<std::string, Target>;  // job, target
  struct Entry {
    TargetOrder order;
    int64_t decided_s = 0;
    double since_s = 0, next_s = 0;
    uint64_t ticket = 0, turn = 0;  // of the due orders, the one with the lowest turn is sent first
    int attempts = 0;
    size_t bytes = 0;
    std::string error;  // error of the last attempt; "": none
  };
  void Add(const TargetOrder& order, int64_t decided_s, double now_s);
  void Erase(std::map<Key, Entry>::iterator at);
  void GiveUp(double now_s);
  double Pause(int failures, std::optional<double> wish_s);
  void Report(uint64_t decision, Outcome outcome, std::string text);

  const WebhookQueueOptions options_;
  Rng random_;
  std::map<Key, Entry> entries_;
  size_t bytes_ = 0;
  uint64_t next_ticket_ = 1, next_turn_ = 1, given_up_ = 0;
  // State of the endpoint as a whole: number of consecutive failures, last error ("" if the endpoint
  // responds), and time of the next attempt.
  int failures_ = 0;
  std::string endpoint_error_;
  double endpoint_next_s_ = 0;
  std::vector<OutcomeUpdate> outcomes_;
};

}  // namespace taut::server
