// Sessions of browsers after a sign-in. Sessions are kept in memory and end when tautd stops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/net/access.h"
#include "server/auth/oidc_verifier.h"

namespace taut::server {

// The sessions, by the cookie of the browser. Thread-safe.
class LoginSessions final : public BrowserSessions {
 public:
  struct Options {
    int64_t session_s = 12 * 3600;
    bool secure = true;  // true if the pages use https; selects the cookie's name
    // Maximum numbers of sessions, in total and of one user. If a bound is reached, a new session ends the oldest
    // session.
    size_t max_sessions = 5000, max_of_user = 20;
    std::shared_ptr<const OidcVerifier> verifier;
    std::function<std::string(size_t bytes)> random;
    std::function<int64_t()> now_s;  // returns the wall-clock time that also applies to tokens
  };
  explicit LoginSessions(Options options) : options_(std::move(options)) {}

  // Starts a session and returns the value of its cookie. Returns Unauthenticated if no role is bound to the
  // claims.
  absl::StatusOr<std::string> Begin(VerifiedToken claims);
  // Ends the session of this cookie. No effect if there is no such session.
  void End(std::string_view cookie);
  size_t size() const;

  std::string_view cookie_name() const override;
  // Returns the caller with the current bindings, so that a removed binding has effect at once. Returns
  // Unauthenticated if there is no such session, if the session has expired, or if no role is bound to its claims
  // any more.
  absl::StatusOr<Caller> CallerOf(std::string_view cookie) const override;

 private:
  struct Entry {
    VerifiedToken claims;
    int64_t since_s = 0, until_s = 0;
  };
  bool IsCurrent(const Entry& entry, int64_t now_s) const;

  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;  // sessions by the digest of the cookie
};

}  // namespace taut::server
