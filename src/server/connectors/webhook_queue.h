// The orders that wait for the owner's endpoint: of each job and target only the latest, when each is due, and
// when it is given up. Values only: no HTTP, clock or lock; the caller's lock guards it.
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
  size_t max_bytes = size_t{32} << 20;  // of the orders as stored
  double give_up_s = 3600;              // after its arrival, or after a restart
  // The pause after a failed attempt: doubled with each, and a random part of up to a half less.
  double first_retry_s = 1, last_retry_s = 60;
  double max_retry_after_s = 600;  // a longer wish of the receiver counts as this
  uint64_t seed = 1;
};

class WebhookQueue {
 public:
  explicit WebhookQueue(const WebhookQueueOptions& options) : options_(options), random_(options.seed) {}

  // Replaces the waiting order of its job and target; the same decision again extends it. `decided_s`: Unix
  // time; `now_s`: a monotonic clock, as everywhere here.
  void Take(const TargetOrder& order, int64_t decided_s, double now_s);

  struct Attempt {
    uint64_t ticket = 0;
    TargetOrder order;
    int64_t decided_s = 0;
  };
  // The order to send now; gives up those that have waited too long for an endpoint that does not answer.
  std::optional<Attempt> Next(double now_s);
  // When Next may have something; nullopt: not before the next Take.
  std::optional<double> NextTime() const;
  // Of an attempt. An order that was replaced or extended meanwhile goes on as if this had not been.
  void Done(const Attempt& attempt, const WebhookResult& result, double now_s);

  // Their time is 0, for the caller to fill in.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  size_t waiting() const { return entries_.size(); }
  double oldest_s(double now_s) const;  // since its arrival; 0 if none waits
  uint64_t given_up() const { return given_up_; }

  void Save(ByteWriter& out) const;
  // Adds what was saved. False: damaged, and nothing is added.
  bool Load(ByteReader& in, double now_s);
  // Removes those for which `unwanted` is true; with `why` they fail, else they have no outcome.
  void RemoveIf(const std::function<bool(const TargetOrder&)>& unwanted, std::string_view why = "");

 private:
  using Key = std::pair<std::string, Target>;  // by job
  struct Entry {
    TargetOrder order;
    int64_t decided_s = 0;
    double since_s = 0, next_s = 0;
    uint64_t ticket = 0, turn = 0;  // those due are sent by turn
    int attempts = 0;
    size_t bytes = 0;
    std::string error;  // of its last attempt
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
  // The endpoint as a whole: failures in a row, the last error ("": it answers), and when to try again.
  int failures_ = 0;
  std::string endpoint_error_;
  double endpoint_next_s_ = 0;
  std::vector<OutcomeUpdate> outcomes_;
};

}  // namespace taut::server
