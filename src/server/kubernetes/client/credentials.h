// A client's credential for an API server, for credentials that change and that take time to obtain, such as
// those of a credential plugin.
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
  std::string certificate_pem, key_pem;  // both set, or both ""
  std::optional<Timestamp> expires;      // absent: valid until the server rejects it
};
using CredentialPtr = std::shared_ptr<const Credential>;

// The credential of one cluster, shared by all its clients. Thread-safe. A separate thread obtains the
// credential at the first request, a minute before it expires, and after the server has rejected it. Clients
// continue with the old credential until it expires. The thread waits kPause after each attempt, so that
// failures and rejections are not repeated at once.
class Credentials {
 public:
  static constexpr std::chrono::seconds kPause{15}, kBeforeExpiry{60};
  // Obtains a credential. May block, but must return soon after `stopping` is set.
  using Fetch = std::function<absl::StatusOr<Credential>(const std::atomic<bool>& stopping)>;

  Credentials(Fetch fetch, std::function<Timestamp()> now);
  // Stops the attempt in progress. No other function may be running.
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Returns the present credential. If there is none, waits until a credential is obtained, for at most
  // `timeout` (DeadlineExceeded), or until `stopped` is set (Unavailable). Other errors: those of the last
  // Fetch.
  absl::StatusOr<CredentialPtr> Get(std::chrono::milliseconds timeout, const std::atomic<bool>& stopped);
  // Call when the server responded 401 to a request with this credential. No effect if a newer credential
  // exists.
  void Refuse(const CredentialPtr& credential);

 private:
  void Run();
  bool IsPaused(Timestamp now) const;

  const Fetch fetch_;
  const std::function<Timestamp()> now_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> stopping_ = false;
  bool is_wanted_ = false;  // a credential was requested and is not yet obtained
  bool is_refused_ = false;
  CredentialPtr newest_;  // null: no credential was obtained yet
  absl::Status failure_;  // error of the last attempt
  std::optional<Timestamp> last_;
  std::thread thread_;
};

}  // namespace taut::server
