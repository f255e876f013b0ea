// Keys and sign-in endpoints of an OpenID Connect provider. A thread fetches them, so that no request waits
// for the provider.
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
    std::string issuer;               // URL of the issuer: https://..., or http:// on loopback
    std::string ca_file;              // path of the CAs in PEM; "": the system's CAs
    std::chrono::seconds every{300};  // interval between fetches
    // Delay after a failed fetch, and least time between two fetches that unknown keys cause.
    std::chrono::seconds retry{10};
    std::chrono::seconds keep{24 * 3600};  // time for which keys are used after the last successful fetch
    bool login = false;                    // true if the discovery document must have the sign-in endpoints
    // Called by the thread when the error changes; "": fetches succeed.
    std::function<void(const std::string& error)> on_change;
  };
  // Creates the object without fetching anything; Start begins to fetch. Returns InvalidArgument if the issuer's
  // address is invalid.
  static absl::StatusOr<std::unique_ptr<ProviderKeys>> Create(Options options);
  void Start();
  ~ProviderKeys();

  // Returns the keys; null if no keys were fetched or the last fetch is too old. Never blocks on the network.
  // This function and the functions below are thread-safe.
  std::shared_ptr<const KeySet> keys() const;
  // Returns the sign-in endpoints; null under the same conditions as keys(), and without Options::login.
  std::shared_ptr<const LoginProvider> login() const;
  // Requests that a fetch starts soon. Call when a token's key is unknown.
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
