// Keys and sign-in endpoints of an OpenID Connect provider, fetched by a thread, so that no request waits for
// them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/auth/login_flow.h"
#include "server/auth/provider_client.h"
#include "server/auth/token.h"

namespace taut::server {

class ProviderKeys {
 public:
  struct Options {
    std::string issuer;               // https://..., or http:// on loopback
    std::string ca_file;              // PEM; "": the system's CAs
    std::chrono::seconds every{300};  // interval between fetches
    std::chrono::seconds retry{
        10};  // delay after a failed fetch, and least time between two that unknown keys cause
    std::chrono::seconds keep{24 * 3600};  // without a successful fetch, keys are used for this time
    bool login = false;                    // the discovery document must have the sign-in endpoints
    std::function<void(const std::string& error)> on_change;  // "": works again; called on the thread
  };
  // Nothing is fetched before Start. InvalidArgument if the issuer is not such an address.
  static absl::StatusOr<std::unique_ptr<ProviderKeys>> Create(Options options);
  void Start();
  ~ProviderKeys();

  // Null if no keys were fetched or they are too old. Never blocks on the network. Thread-safe, as the
  // functions below.
  std::shared_ptr<const KeySet> keys() const;
  // Sign-in endpoints; null also without Options::login.
  std::shared_ptr<const LoginProvider> login() const;
  // Requests a fetch soon, because a token has an unknown key.
  void Refresh();

 private:
  struct Fetched {
    std::shared_ptr<const KeySet> keys;
    std::shared_ptr<const LoginProvider> login;
  };
  explicit ProviderKeys(Options options) : options_(std::move(options)), client_(options_.ca_file) {}
  bool TooOld() const;  // REQUIRES mutex_
  void Run();
  absl::StatusOr<Fetched> Fetch();
  absl::StatusOr<std::string> Get(std::string_view url);

  const Options options_;
  ProviderClient client_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false, wanted_ = false;
  std::shared_ptr<const KeySet> keys_;
  std::shared_ptr<const LoginProvider> login_;
  std::chrono::steady_clock::time_point fetched_;
  std::thread thread_;
};

}  // namespace taut::server
