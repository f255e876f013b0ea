// Signing in to tautd's pages: the flow, the sessions, and the threads that exchange codes, so that no request
// waits for the provider.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/auth/exchange_queue.h"
#include "server/auth/login_flow.h"
#include "server/auth/login_sessions.h"
#include "server/auth/provider_client.h"

namespace taut::server {

// Thread-safe; nothing but the threads of its own waits for a network.
class LoginService {
 public:
  struct Options {
    LoginOptions flow;
    std::string name;     // of the provider, for people
    std::string ca_file;  // PEM; "": the system's CAs
    int64_t session_s = 12 * 3600;
    std::vector<std::string> proxies = {};  // addresses whose X-Forwarded-For says where a browser is
    ExchangeLimits limits = {};             // of exchanges
    int threads = 4;                        // exchanges at a time
    std::chrono::seconds most_waiting{30};  // of an exchange, until its turn
    std::chrono::seconds key_wait{15};      // for keys that the ID token's may be one of
    std::shared_ptr<const OidcVerifier> verifier;
    std::function<std::shared_ptr<const LoginProvider>()> provider;  // null: not known
    std::function<void()> refresh;                                   // of what the provider says
    std::function<int64_t()> now_s;
  };
  explicit LoginService(Options options);
  ~LoginService() { Stop(); }
  void Start();
  void Stop();

  const std::vector<std::string>& proxies() const { return options_.proxies; }
  const std::string& name() const { return options_.name; }
  // "" or "/PREFIX": before the paths of tautd's pages, where a proxy adds it.
  std::string_view prefix() const { return PrefixOfRedirectUrl(options_.flow.redirect_url); }
  // As browsers call tautd, with a port that is not that of the scheme.
  std::string host() const { return HostOfUrl(options_.flow.redirect_url); }
  // Whether browsers come by https.
  bool is_secure() const { return options_.flow.redirect_url.starts_with("https://"); }
  // Of the sign-in under way.
  std::string_view cookie_name() const { return is_secure() ? "__Host-taut_login" : "taut_login"; }
  int64_t pending_s() const { return options_.flow.pending_s; }
  const std::shared_ptr<LoginSessions>& sessions() const { return sessions_; }
  int64_t session_s() const { return options_.session_s; }

  // Unavailable: where the provider signs people in is not known.
  absl::StatusOr<LoginFlow::Begun> Begin();
  // `address`: of the browser, or of its network. Errors as LoginFlow::Callback and ExchangeQueue::Check;
  // Unavailable: too many wait.
  absl::Status Callback(std::string_view cookie, const std::vector<QueryParameter>& query,
                        const std::string& address);
  struct Outcome {
    LoginFlow::Stage stage = LoginFlow::Stage::kUnknown;
    std::string session = {};  // kDone: the cookie's value
    std::string error = {};    // kFailed: a sentence
  };
  Outcome Collect(std::string_view cookie);

  struct Counts {
    uint64_t done = 0, failed = 0;  // sign-ins
  };
  Counts counts() const { return {done_, failed_}; }

 private:
  struct Job {
    LoginFlow::Exchange exchange;
    std::chrono::steady_clock::time_point since;
  };
  void Run(ProviderClient& client);
  absl::StatusOr<VerifiedToken> Claims(const Job& job, ProviderClient& client);
  absl::StatusOr<VerifiedToken> Verify(const std::string& token, const std::string& nonce);

  const Options options_;
  const std::shared_ptr<LoginSessions> sessions_;
  std::deque<ProviderClient> clients_;  // one of each thread
  std::atomic<uint64_t> done_ = 0, failed_ = 0;
  std::mutex mutex_;  // over what follows
  std::condition_variable wake_;
  LoginFlow flow_;
  ExchangeQueue<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace taut::server
