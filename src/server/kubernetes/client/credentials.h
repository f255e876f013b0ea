// A credential that changes over time and takes time to fetch, such as the output of a credential plugin for an
// API server.
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
  std::string token;                     // bearer token; "": none
  std::string certificate_pem, key_pem;  // certificate with its key; both "": none
  // end of validity; absent: valid until the server rejects the credential
  std::optional<Timestamp> expires;
};
using CredentialPtr = std::shared_ptr<const Credential>;

// The credential for one cluster, shared by all clients. Thread-safe. A thread fetches the credential at the first
// request, a minute before it expires, and after the server rejected it. Clients use the old credential until it
// expires. The thread waits kPause after each attempt, so that failures and rejections are not repeated at once.
class Credentials {
 public:
  static constexpr std::chrono::seconds kPause{15}, kBeforeExpiry{60};
  // Fetches a credential. May block, but must return soon after `stopping` is set.
  using Fetch = std::function<absl::StatusOr<Credential>(const std::atomic<bool>& stopping)>;

  Credentials(Fetch fetch, std::function<Timestamp()> now);
  // Stops the current attempt. REQUIRES: no other function is running.
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Returns the current credential. If there is none, waits until one is fetched. Returns DeadlineExceeded after
  // `timeout`, Unavailable after `stopped` is set, and otherwise the error of the last Fetch.
  absl::StatusOr<CredentialPtr> Get(std::chrono::milliseconds timeout, const std::atomic<bool>& stopped);
  // Reports that the server responded with 401 to a request with this credential. Has no effect if a newer
  // credential exists.
  void Refuse(const CredentialPtr& credential);

 private:
  void Run();
  bool IsPaused(Timestamp now) const;

  const Fetch fetch_;
  const std::function<Timestamp()> now_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> stopping_ = false;
  bool is_wanted_ = false;  // true while a requested credential is not fetched yet
  bool is_refused_ = false;
  CredentialPtr newest_;  // last fetched credential; null: none
  absl::Status failure_;  // error of the last attempt
  std::optional<Timestamp> last_;
  std::thread thread_;
};

}  // namespace taut::server
