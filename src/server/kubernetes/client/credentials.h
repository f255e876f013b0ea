// A client's credential for an API server, if it changes and takes a while to obtain: from a credential
// plugin.
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
  std::optional<Timestamp> expires;      // absent: valid until the server rejects it
};
using CredentialPtr = std::shared_ptr<const Credential>;

// The credential of one cluster, shared by all its clients. Thread-safe. Its own thread obtains the
// credential at the first request, a minute before it expires (clients continue with the old one meanwhile),
// and after the server rejected it. It waits kPause after each attempt, so that clients do not repeat
// failures and rejections.
class Credentials {
 public:
  static constexpr std::chrono::seconds kPause{15}, kBeforeExpiry{60};
  // May block; must return soon after `stopping` is set.
  using Fetch = std::function<absl::StatusOr<Credential>(const std::atomic<bool>& stopping)>;

  Credentials(Fetch fetch, std::function<Timestamp()> now);
  // Stops the attempt in progress. No other call may be in progress.
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Returns the present credential. If there is none, waits up to `timeout` (DeadlineExceeded) or until
  // `stopped` is set (Unavailable). Other errors: those of the last `fetch`.
  absl::StatusOr<CredentialPtr> Get(std::chrono::milliseconds timeout, const std::atomic<bool>& stopped);
  // Call when the server responded 401 to it. No effect if it is not the newest.
  void Refuse(const CredentialPtr& credential);

 private:
  void Run();
  bool IsPaused(Timestamp now) const;

  const Fetch fetch_;
  const std::function<Timestamp()> now_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> stopping_ = false;
  bool is_wanted_ = false;  // requested and not yet obtained
  bool is_refused_ = false;
  CredentialPtr newest_;  // null: none obtained yet
  absl::Status failure_;  // of the last attempt
  std::optional<Timestamp> last_;
  std::thread thread_;
};

}  // namespace taut::server
