#include "server/auth/login_sessions.h"

#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr size_t kCookieBytes = 32;
constexpr int64_t kBackS = 60;  // tolerated step of the clock backwards, in seconds

// Returns the digest of a cookie. Only digests are stored: tautd's memory contains no valid cookie, and the
// duration of a look-up reveals nothing.
std::string DigestOf(std::string_view cookie) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(cookie.data()), cookie.size(), digest);
  return {reinterpret_cast<const char*>(digest), sizeof(digest)};
}

}  // namespace

// With the prefix __Host-, a browser accepts the cookie only over https, from the host itself, and with the path
// "/". No page of another host in the domain can set a cookie with this prefix.
std::string_view LoginSessions::cookie_name() const {
  return options_.secure ? "__Host-taut_session" : "taut_session";
}

bool LoginSessions::IsCurrent(const Entry& entry, int64_t now_s) const {
  return now_s < entry.until_s && now_s >= entry.since_s - kBackS;
}

absl::StatusOr<std::string> LoginSessions::Begin(VerifiedToken claims) {
  // Check the role before the session exists: a person without a role receives no session.
  if (const absl::StatusOr<Caller> caller = options_.verifier->CallerOf(claims); !caller.ok())
    return caller.status();
  const int64_t now_s = options_.now_s();
  std::string cookie = absl::WebSafeBase64Escape(options_.random(kCookieBytes));
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& each) { return !IsCurrent(each.second, now_s); });
  const auto end_oldest = [this](auto counts, size_t most) {
    size_t found = 0;
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (!counts(at->second)) continue;
      ++found;
      if (oldest == entries_.end() || at->second.since_s < oldest->second.since_s) oldest = at;
    }
    if (found >= most) entries_.erase(oldest);
  };
  end_oldest([&](const Entry& entry) { return entry.claims.user == claims.user; }, options_.max_of_user);
  end_oldest([](const Entry&) { return true; }, options_.max_sessions);
  entries_[DigestOf(cookie)] = {std::move(claims), now_s, now_s + options_.session_s};
  return cookie;
}

void LoginSessions::End(std::string_view cookie) {
  const std::lock_guard lock(mutex_);
  entries_.erase(DigestOf(cookie));
}

size_t LoginSessions::size() const {
  const int64_t now_s = options_.now_s();
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(
      std::ranges::count_if(entries_, [&](const auto& each) { return IsCurrent(each.second, now_s); }));
}

absl::StatusOr<Caller> LoginSessions::CallerOf(std::string_view cookie) const {
  VerifiedToken claims;
  {
    const int64_t now_s = options_.now_s();
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(DigestOf(cookie));
    if (at == entries_.end() || !IsCurrent(at->second, now_s))
      return absl::UnauthenticatedError("the session is over: sign in again");
    claims = at->second.claims;
    claims.expires_s = at->second.until_s;
    // Call the verifier without the lock, because the verifier locks its own mutex.
  }
  return options_.verifier->CallerOf(claims);
}

}  // namespace taut::server
