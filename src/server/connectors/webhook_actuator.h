// Sends orders to the owner's HTTP endpoint, one after the other, from a separate thread. Retries after failures
// that may be temporary, also after a restart. All attempts have the same idempotency key.
//
// The threading rules of Actuator apply. Start() may be called once; any thread may call counts() and
// last_error().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http_poster.h"
#include "server/connectors/webhook_queue.h"
#include "server/control/actuator.h"

namespace taut::server {

struct WebhookActuatorCounts {
  // Number of requests by result. no_response includes the statuses 429 and 503.
  uint64_t applied = 0, refused = 0, retry = 0, no_response = 0;
  uint64_t given_up = 0;  // orders that were not delivered in time, or did not fit into the queue
  uint64_t waiting = 0;
  double oldest_s = 0;  // seconds since the oldest waiting order arrived
};

class WebhookActuator final : public Actuator {
 public:
  struct Options {
    std::string jobs;  // pattern (common/base/pattern.h) of the names of jobs; "": all jobs
    // True if the webhook sets limits, or numbers of tasks, of these jobs.
    bool sets_limits = true, sets_replicas = true;
    WebhookQueueOptions queue;
    // Prefix of the idempotency keys, unless the saved state contains a prefix. Must be unique and without blanks.
    std::string instance;
    // Returns the secret. Called before each request, so that a changed secret needs no restart.
    std::function<absl::StatusOr<std::string>()> secret;
    std::function<int64_t()> unix_s;   // returns the Unix time for requests
    std::function<double()> steady_s;  // returns the time for delays
  };
  // Sends no order before Start().
  WebhookActuator(Options options, std::unique_ptr<HttpPoster> poster)
      : options_(std::move(options)),
        poster_(std::move(poster)),
        queue_(options_.queue),
        instance_(options_.instance) {}
  ~WebhookActuator() override { Stop(); }

  // Starts the thread that sends orders. Call after LoadState(). `is_open` returns true for decisions without an
  // outcome. Restored orders of other decisions are dropped.
  void Start(const std::function<bool(uint64_t decision)>& is_open);
  // Stops sending. Waits for the current request, at most until its deadline. Later orders are still accepted and
  // saved.
  void Stop();
  // Makes one attempt if an order is due. Returns false if no order is due. Start() calls this function in a loop;
  // tests call it directly.
  bool Step();

  std::string_view name() const override { return "webhook"; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  WebhookActuatorCounts counts() const;
  // Returns the error of the last attempt; "" if the attempt succeeded.
  std::string last_error() const;

 private:
  void Run();
  absl::StatusOr<HttpResponse> Send(const WebhookQueue::Attempt& attempt);

  const Options options_;
  const std::unique_ptr<HttpPoster> poster_;  // client that only Step() uses
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  WebhookQueue queue_;
  std::string instance_;
  WebhookActuatorCounts counts_;
  std::string last_error_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace taut::server
