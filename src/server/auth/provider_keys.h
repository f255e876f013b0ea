// The keys of an OpenID Connect provider, and where it signs people in: fetched by a thread of their own, so that
// no request waits for them.
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
    std::chrono::seconds every{300};  // between two fetches
    std::chrono::seconds retry{
        10};  // after one that failed, and the least between two that unknown keys cause
    std::chrono::seconds keep{24 * 3600};  // without a fetch that succeeds, keys are used for this long
    bool login = false;                    // its discovery document must say where people sign in
    std::function<void(const std::string& error)> on_change;  // "": works again; on the thread
  };
  // Fetches nothing before Start. InvalidArgument for an issuer that is no such address.
  static absl::StatusOr<std::unique_ptr<ProviderKeys>> Create(Options options);
  void Start();
  ~ProviderKeys();

  // Null: none were fetched, or they are too old. Never blocks on the network. Thread-safe, as the next.
  std::shared_ptr<const KeySet> keys() const;
  // Likewise; null also without Options::login.
  std::shared_ptr<const LoginProvider> login() const;
  // A token has a key that is not known: fetches soon.
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
