// Orders that wait for the owner's endpoint: for each job and target, the latest order and the time of its next
// attempt. No HTTP, clock or lock; the caller serializes the calls.
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
  size_t max_bytes = size_t{32} << 20;  // maximum size of the waiting orders in saved form
  // Time from an order's arrival, or from a restart, after which the order is dropped if it cannot be delivered.
  double give_up_s = 3600;
  // First and maximum delay after a failed attempt. The delay doubles with each failure, less a random part of up
  // to half.
  double first_retry_s = 1, last_retry_s = 60;
  double max_retry_after_s = 600;  // maximum delay that a receiver may request
  uint64_t seed = 1;
};

class WebhookQueue {
 public:
  explicit WebhookQueue(const WebhookQueueOptions& options) : options_(options), random_(options.seed) {}

  // Replaces the waiting order of this job and target. Extends the order to more tasks if its decision is the
  // same. `decided_s` is Unix time; `now_s` (here and below) is a monotonic clock in seconds.
  void Take(const TargetOrder& order, int64_t decided_s, double now_s);

  struct Attempt {
    uint64_t ticket = 0;
    TargetOrder order;
    int64_t decided_s = 0;
  };
  // Returns the order to send now; nullopt if no order is due. Gives up orders that have waited too long for a
  // failing endpoint. O(orders).
  std::optional<Attempt> Next(double now_s);
  // Returns the time at which Next() may return an order; nullopt if no order waits. O(orders).
  std::optional<double> NextTime() const;
  // Stores the result of an attempt. An order that was replaced or extended meanwhile stays in the queue, as if
  // there had been no attempt.
  void Done(const Attempt& attempt, const WebhookResult& result, double now_s);

  // Returns the outcomes since the last call, with time 0, which the caller must set.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  size_t waiting() const { return entries_.size(); }
  double oldest_s(double now_s) const;  // seconds since the oldest order arrived; 0: no order waits
  uint64_t given_up() const { return given_up_; }

  void Save(ByteWriter& out) const;
  // Adds saved orders. Returns false, and adds no order, if the data is damaged.
  bool Load(ByteReader& in, double now_s);
  // Removes all orders for which `unwanted` returns true. The removed orders fail with the text `why`, or without
  // an outcome if `why` is empty.
  void RemoveIf(const std::function<bool(const TargetOrder&)>& unwanted, std::string_view why = "");

 private:
  using Key = std::pair<std::string, Target>;  // job and target of an order
  struct Entry {
    TargetOrder order;
    int64_t decided_s = 0;
    double since_s = 0, next_s = 0;
    // The ticket identifies the order; the due order with the lowest turn is sent first.
    uint64_t ticket = 0, turn = 0;
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
  // State of the endpoint: number of consecutive failures, last error ("" if the endpoint responds), and time of
  // the next attempt.
  int failures_ = 0;
  std::string endpoint_error_;
  double endpoint_next_s_ = 0;
  std::vector<OutcomeUpdate> outcomes_;
};

}  // namespace taut::server
