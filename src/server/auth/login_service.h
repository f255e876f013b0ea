// Sign-in to tautd's pages: the sign-in flow, the sessions, and the threads that exchange codes. No request
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

// Thread-safe. Only the service's own threads wait for the network.
class LoginService {
 public:
  struct Options {
    LoginOptions flow;
    std::string name;     // name of the provider for users
    std::string ca_file;  // path of the CAs in PEM; "": the system's CAs
    int64_t session_s = 12 * 3600;
    std::vector<std::string> proxies = {};  // addresses of proxies whose X-Forwarded-For is trusted
    ExchangeLimits limits = {};             // bounds of waiting and running exchanges
    int threads = 4;                        // number of parallel exchanges
    std::chrono::seconds most_waiting{30};  // maximum time that an exchange waits for its turn
    std::chrono::seconds key_wait{15};      // maximum time that an exchange waits for the provider's new keys
    std::shared_ptr<const OidcVerifier> verifier;
    std::function<std::shared_ptr<const LoginProvider>()> provider;  // returns null while unknown
    std::function<void()> refresh;  // requests a fetch of the provider's document
    std::function<int64_t()> now_s;
  };
  explicit LoginService(Options options);
  ~LoginService() { Stop(); }
  void Start();
  void Stop();

  const std::vector<std::string>& proxies() const { return options_.proxies; }
  const std::string& name() const { return options_.name; }
  // Returns the prefix that a proxy adds to the paths of tautd's pages: "" or "/PREFIX".
  std::string_view prefix() const { return PrefixOfRedirectUrl(options_.flow.redirect_url); }
  // Returns the host name that browsers use for tautd, with the port unless it is the scheme's default.
  std::string host() const { return HostOfUrl(options_.flow.redirect_url); }
  // Returns true if browsers use https.
  bool is_secure() const { return options_.flow.redirect_url.starts_with("https://"); }
  // Returns the name of the cookie of a sign-in in progress.
  std::string_view cookie_name() const { return is_secure() ? "__Host-taut_login" : "taut_login"; }
  int64_t pending_s() const { return options_.flow.pending_s; }
  const std::shared_ptr<LoginSessions>& sessions() const { return sessions_; }
  int64_t session_s() const { return options_.session_s; }

  // Starts a sign-in. Returns Unavailable if the provider's endpoints are not known.
  absl::StatusOr<LoginFlow::Begun> Begin();
  // Queues the exchange of the code. `address`: the address of the browser, or of its network. Returns
  // Unavailable if too many exchanges wait, else the errors of LoginFlow::Callback and ExchangeQueue::Check.
  absl::Status Callback(std::string_view cookie, const std::vector<QueryParameter>& query,
                        const std::string& address);
  struct Outcome {
    LoginFlow::Stage stage = LoginFlow::Stage::kUnknown;
    std::string session = {};  // value of the session's cookie, if kDone
    std::string error = {};    // sentence about the cause, if kFailed
  };
  // Returns the state of the browser's sign-in. If the sign-in is done, also starts the session.
  Outcome Collect(std::string_view cookie);

  struct Counts {
    uint64_t done = 0, failed = 0;  // numbers of sign-ins
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
  std::deque<ProviderClient> clients_;  // one client for each thread
  std::atomic<uint64_t> done_ = 0, failed_ = 0;
  std::mutex mutex_;  // lock for the members below
  std::condition_variable wake_;
  LoginFlow flow_;
  ExchangeQueue<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace taut::server
