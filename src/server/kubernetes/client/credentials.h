// What a client shows an API server, where it changes and takes a while to get: from a credential plugin.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/time.h"

namespace taut::server {

struct Credential {
  std::string token;                     // "": none
  std::string certificate_pem, key_pem;  // both or neither
  std::optional<Timestamp> expires;      // absent: when the server refuses it
};
using CredentialPtr = std::shared_ptr<const Credential>;

// Of one cluster, for all its clients. Thread-safe. A thread of its own gets the credential when it is first asked
// for, again a minute before it expires, while the clients go on with the one there is, and again after the server
// has refused it; but not within kPause of the last time, whatever came of that: neither a failure nor a refusal
// is repeated by each client.
class Credentials {
 public:
  static constexpr std::chrono::seconds kPause{15}, kBeforeExpiry{60};
  // May block; returns soon after `stopping` is set.
  using Fetch = std::function<absl::StatusOr<Credential>(const std::atomic<bool>& stopping)>;

  Credentials(Fetch fetch, std::function<Timestamp()> now);
  // Stops what is under way. No other call may be.
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // The credential that counts now. Waits if there is none: up to `timeout` (DeadlineExceeded), or until
  // soon after `stopped` is set (Unavailable). Other errors: those of `fetch`, the last time.
  absl::StatusOr<CredentialPtr> Get(std::chrono::milliseconds timeout, const std::atomic<bool>& stopped);
  // The server answered 401 to it. No effect if it is not the newest.
  void Refuse(const CredentialPtr& credential);

 private:
  void Run();
  bool IsPaused(Timestamp now) const;

  const Fetch fetch_;
  const std::function<Timestamp()> now_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> stopping_ = false;
  bool is_wanted_ = false;  // asked for, until it is there
  bool is_refused_ = false;
  CredentialPtr newest_;  // null: none was got yet
  absl::Status failure_;  // of the last time
  std::optional<Timestamp> last_;
  std::thread thread_;
};

}  // namespace taut::server
