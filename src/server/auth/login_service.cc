#include "server/auth/login_service.h"

#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

double SecondsOf(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(t.time_since_epoch()).count();
}

}  // namespace

LoginService::LoginService(Options options)
    : options_(std::move(options)),
      sessions_(std::make_shared<LoginSessions>(
          LoginSessions::Options{.session_s = options_.session_s,
                                 .secure = options_.flow.redirect_url.starts_with("https://"),
                                 .verifier = options_.verifier,
                                 .random = options_.flow.random,
                                 .now_s = options_.now_s})),
      flow_(options_.flow),
      jobs_(options_.limits) {
  for (int i = 0; i < options_.threads; ++i) clients_.emplace_back(options_.ca_file);
}

void LoginService::Start() {
  for (ProviderClient& client : clients_) threads_.emplace_back([this, &client] { Run(client); });
}

void LoginService::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  // Cancel the requests first: otherwise the threads would wait for the provider until their timeouts.
  for (ProviderClient& client : clients_) client.Stop();
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

absl::StatusOr<LoginFlow::Begun> LoginService::Begin() {
  const std::shared_ptr<const LoginProvider> provider = options_.provider();
  if (provider == nullptr) {
    options_.refresh();
    return absl::UnavailableError(
        StrCat("tautd cannot reach ", options_.name, ", which signs people in. Retry in a moment."));
  }
  const std::lock_guard lock(mutex_);
  return flow_.Begin(*provider, options_.now_s());
}

absl::Status LoginService::Callback(std::string_view cookie, const std::vector<QueryParameter>& query,
                                    const std::string& address) {
  absl::Status status;
  {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    status = jobs_.Check(address, SecondsOf(now));
    absl::StatusOr<LoginFlow::Exchange> exchange = status.ok()
                                                       ? flow_.Callback(cookie, query, options_.now_s())
                                                       : absl::StatusOr<LoginFlow::Exchange>(status);
    status = exchange.status();
    if (status.ok()) {
      // Copy the id, because the exchange is moved into the queue.
      const std::string id = exchange->id;
      const std::optional<Job> dropped = jobs_.Add(address, {*std::move(exchange), now}, SecondsOf(now));
      const absl::Status busy = absl::UnavailableError("Too many sign-ins are under way: retry in a minute.");
      if (dropped.has_value()) flow_.Finish(dropped->exchange.id, busy);
      if (dropped.has_value() && dropped->exchange.id == id) status = busy;
    }
  }
  // Notify after the lock is released, because a woken thread locks the mutex at once.
  if (status.ok()) wake_.notify_all();
  if (!status.ok()) ++failed_;
  return status;
}

LoginService::Outcome LoginService::Collect(std::string_view cookie) {
  LoginFlow::Collected collected;
  {
    const std::lock_guard lock(mutex_);
    collected = flow_.Collect(cookie, options_.now_s());
  }
  Outcome out{collected.stage, "", std::move(collected.error)};
  if (out.stage != LoginFlow::Stage::kDone) return out;
  const std::string user = collected.claims.user;
  absl::StatusOr<std::string> session = sessions_->Begin(std::move(collected.claims));
  if (session.ok()) {
    ++done_;
    out.session = *std::move(session);
    return out;
  }
  out.stage = LoginFlow::Stage::kFailed;
  out.error = StrCat("You are signed in at ", options_.name, " as ", user,
                     ", but may do nothing here: ", Message(session.status()), ".");
  ++failed_;
  return out;
}

void LoginService::Run(ProviderClient& client) {
  const auto now_s = [] { return SecondsOf(std::chrono::steady_clock::now()); };
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || jobs_.waiting() > 0; });
    if (stopping_) return;
    const auto turn = jobs_.Next(now_s());
    lock.unlock();
    absl::StatusOr<VerifiedToken> claims = Claims(turn->job, client);
    if (!claims.ok()) ++failed_;
    lock.lock();
    // An unreachable provider does not count as a failure of the address.
    jobs_.Done(turn->address, !claims.ok() && !absl::IsUnavailable(claims.status()), now_s());
    flow_.Finish(turn->job.exchange.id, std::move(claims));
  }
}

absl::StatusOr<VerifiedToken> LoginService::Claims(const Job& job, ProviderClient& client) {
  const auto away = [this](std::string_view why) {
    return absl::UnavailableError(StrCat(options_.name, " did not answer: ", why, "."));
  };
  if (std::chrono::steady_clock::now() - job.since > options_.most_waiting)
    return away("sign-ins before this one took too long");
  const std::shared_ptr<const LoginProvider> provider = options_.provider();
  if (provider == nullptr) return away("where it exchanges codes is not known any more");
  const LoginFlow::TokenRequest request = [&] {
    const std::lock_guard lock(mutex_);
    return flow_.RequestFor(*provider, job.exchange);
  }();
  const absl::StatusOr<HttpResponse> answer = client.Post(provider->token, request.form, request.headers);
  if (!answer.ok()) return away(Message(answer.status()));
  const absl::StatusOr<std::string> token = LoginFlow::IdTokenOf(answer->status, answer->text());
  if (!token.ok()) return token.status();
  absl::StatusOr<VerifiedToken> verified = Verify(*token, job.exchange.nonce);
  if (verified.ok()) return verified;
  return absl::UnauthenticatedError(
      StrCat("The ID token of ", options_.name, " is refused: ", Message(verified.status()), "."));
}

// Retries while the token's key is not among the provider's keys. The verifier has requested a fetch of newer
// keys.
absl::StatusOr<VerifiedToken> LoginService::Verify(const std::string& token, const std::string& nonce) {
  const auto until = std::chrono::steady_clock::now() + options_.key_wait;
  while (true) {
    absl::StatusOr<VerifiedToken> verified =
        options_.verifier->VerifyIdToken(token, options_.flow.client_id, nonce);
    if (!absl::IsNotFound(verified.status()) || std::chrono::steady_clock::now() >= until) return verified;
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, std::chrono::milliseconds(250), [this] { return stopping_; })) return verified;
  }
}

}  // namespace taut::server
