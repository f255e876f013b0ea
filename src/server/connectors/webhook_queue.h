// Orders that wait for the owner's endpoint: only the latest of each job and target, with the time of its
// next attempt and of giving up. Plain values: no HTTP, clock or lock. The caller's lock guards it.
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
  size_t max_bytes = size_t{32} << 20;  // as stored
  double give_up_s = 3600;              // after the order's arrival, or after a restart
  // Delay after a failed attempt: doubled with each failure, less a random part of up to half.
  double first_retry_s = 1, last_retry_s = 60;
  double max_retry_after_s = 600;  // upper bound of the receiver's requested delay
  uint64_t seed = 1;
};

class WebhookQueue {
 public:
  explicit WebhookQueue(const WebhookQueueOptions& options) : options_(options), random_(options.seed) {}

  // Replaces the waiting order of this job and target; the same decision again extends it. `decided_s`: Unix
  // time. `now_s`: a monotonic clock, here and below.
  void Take(const TargetOrder& order, int64_t decided_s, double now_s);

  struct Attempt {
    uint64_t ticket = 0;
    TargetOrder order;
    int64_t decided_s = 0;
  };
  // Returns the order to send now. Gives up orders that waited too long for a failing endpoint. O(orders).
  std::optional<Attempt> Next(double now_s);
  // Returns when Next may have an order; nullopt: not before the next Take. O(orders).
  std::optional<double> NextTime() const;
  // Records the result of an attempt. An order that was replaced or extended meanwhile stays queued as if the
  // attempt had not been made.
  void Done(const Attempt& attempt, const WebhookResult& result, double now_s);

  // Returns the outcomes since the last call. Their time is 0; the caller sets it.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  size_t waiting() const { return entries_.size(); }
  double oldest_s(double now_s) const;  // since its arrival; 0 if none waits
  uint64_t given_up() const { return given_up_; }

  void Save(ByteWriter& out) const;
  // Adds saved orders. Returns false, without adding any, if the data is damaged.
  bool Load(ByteReader& in, double now_s);
  // Removes all orders for which `unwanted` is true. With `why` they fail; without it they get no outcome.
  void RemoveIf(const std::function<bool(const TargetOrder&)>& unwanted, std::string_view why = "");

 private:
  using Key = std::pair<std::string, Target>;  // job, target
  struct Entry {
    TargetOrder order;
    int64_t decided_s = 0;
    double since_s = 0, next_s = 0;
    uint64_t ticket = 0, turn = 0;  // orders that are due are sent by turn
    int attempts = 0;
    size_t bytes = 0;
    std::string error;  // of the last attempt
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
  // State of the endpoint as a whole: consecutive failures, last error ("": it responds), and time of the
  // next attempt.
  int failures_ = 0;
  std::string endpoint_error_;
  double endpoint_next_s_ = 0;
  std::vector<OutcomeUpdate> outcomes_;
};

}  // namespace taut::server
