#include "server/kubernetes/client/credentials.h"

#include <utility>

namespace taut::server {
namespace {

constexpr std::chrono::milliseconds kLookAtStop{50};

Timestamp After(Timestamp t, std::chrono::microseconds pause) { return {t.us + pause.count()}; }

}  // namespace

Credentials::Credentials(Fetch fetch, std::function<Timestamp()> now)
    : fetch_(std::move(fetch)), now_(std::move(now)), thread_([this] { Run(); }) {}

Credentials::~Credentials() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

// Returns true in the first kPause after the last attempt. A clock that was set back ends the pause.
bool Credentials::IsPaused(Timestamp now) const {
  return last_.has_value() && *last_ <= now && now < After(*last_, kPause);
}

absl::StatusOr<CredentialPtr> Credentials::Get(std::chrono::milliseconds timeout,
                                               const std::atomic<bool>& stopped) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  const Timestamp now = now_();
  const bool is_usable =
      newest_ != nullptr && !is_refused_ && (!newest_->expires.has_value() || now < *newest_->expires);
  const bool is_due =
      !is_usable || (newest_->expires.has_value() && *newest_->expires <= After(now, kBeforeExpiry));
  if (is_due && !IsPaused(now)) {
    is_wanted_ = true;
    wake_.notify_all();
  }
  // Clients use the current credential while a new one is fetched.
  if (is_usable) return newest_;
  while (is_wanted_) {
    if (stopped) return absl::UnavailableError("the client was stopped");
    if (std::chrono::steady_clock::now() >= deadline)
      return absl::DeadlineExceededError("the credential plugin has not answered yet");
    done_.wait_for(lock, kLookAtStop);
  }
  if (!failure_.ok()) return failure_;
  return newest_;
}

void Credentials::Refuse(const CredentialPtr& credential) {
  const std::lock_guard lock(mutex_);
  if (credential == newest_) is_refused_ = true;
}

void Credentials::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || is_wanted_; });
    if (stopping_) return;
    // Fetch without the lock, because a plugin may take a minute, and clients must not wait.
    lock.unlock();
    absl::StatusOr<Credential> got = fetch_(stopping_);
    const Timestamp now = now_();
    lock.lock();
    failure_ = got.status();
    if (got.ok()) {
      newest_ = std::make_shared<const Credential>(*std::move(got));
      is_refused_ = false;
    }
    last_ = now;
    is_wanted_ = false;
    done_.notify_all();
  }
}

}  // namespace taut::server
