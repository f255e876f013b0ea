#include "server/auth/provider_keys.h"

#include <utility>

#include "common/base/strings.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

constexpr std::string_view kDiscovery = "/.well-known/openid-configuration";
absl::StatusOr<LoginProvider> LoginProviderOf(JsonNode discovery) {
  LoginProvider out;
  out.authorization = discovery.Text("authorization_endpoint");
  out.token = discovery.Text("token_endpoint");
  if (absl::Status s = CheckProviderUrl("authorization_endpoint", out.authorization); !s.ok()) return s;
  if (absl::Status s = CheckProviderUrl("token_endpoint", out.token); !s.ok()) return s;
  // If the document does not name a method, RFC 8414 requires client_secret_basic.
  bool basic = false, post = false;
  discovery["token_endpoint_auth_methods_supported"].ForEachItem([&](JsonNode method) {
    basic = basic || method.text() == "client_secret_basic";
    post = post || method.text() == "client_secret_post";
  });
  out.secret_in_form = post && !basic;
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProviderKeys>> ProviderKeys::Create(Options options) {
  if (absl::Status s = CheckProviderUrl("issuer", options.issuer); !s.ok()) return s;
  return std::unique_ptr<ProviderKeys>(new ProviderKeys(std::move(options)));
}

void ProviderKeys::Start() {
  thread_ = std::thread([this] { Run(); });
}

ProviderKeys::~ProviderKeys() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  client_.Stop();
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::string> ProviderKeys::Get(std::string_view url) {
  const absl::StatusOr<HttpResponse> answer = client_.Get(url);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200)
    return absl::UnavailableError(StrCat(url, ": status ", answer->status, " instead of 200"));
  return std::string(answer->text());
}

bool ProviderKeys::TooOld() const { return std::chrono::steady_clock::now() - fetched_ > options_.keep; }

std::shared_ptr<const KeySet> ProviderKeys::keys() const {
  const std::lock_guard lock(mutex_);
  return keys_ == nullptr || TooOld() ? nullptr : keys_;
}

std::shared_ptr<const LoginProvider> ProviderKeys::login() const {
  const std::lock_guard lock(mutex_);
  return login_ == nullptr || TooOld() ? nullptr : login_;
}

void ProviderKeys::Refresh() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  wake_.notify_all();
}

absl::StatusOr<ProviderKeys::Fetched> ProviderKeys::Fetch() {
  std::string base = options_.issuer;
  while (base.ends_with('/')) base.pop_back();
  const absl::StatusOr<std::string> found = Get(StrCat(base, kDiscovery));
  if (!found.ok()) return found.status();
  JsonTree tree;
  if (!tree.Parse(*found).ok()) return absl::DataLossError(StrCat(base, kDiscovery, ": not JSON"));
  if (tree.root().Text("issuer") != options_.issuer) {
    return absl::FailedPreconditionError(StrCat(base, kDiscovery, ": the issuer is \"",
                                                tree.root().Text("issuer"), "\", not ", options_.issuer));
  }
  Fetched out;
  if (options_.login) {
    auto login = LoginProviderOf(tree.root());
    if (!login.ok()) return login.status();
    out.login = std::make_shared<const LoginProvider>(*std::move(login));
  }
  const std::string url(tree.root().Text("jwks_uri"));
  if (absl::Status s = CheckProviderUrl("jwks_uri", url); !s.ok()) return s;
  const absl::StatusOr<std::string> keys = Get(url);
  if (!keys.ok()) return keys.status();
  absl::StatusOr<std::shared_ptr<const KeySet>> parsed = KeySet::Parse(*keys);
  if (!parsed.ok()) return absl::Status(parsed.status().code(), StrCat(url, ": ", Message(parsed.status())));
  out.keys = *std::move(parsed);
  return out;
}

void ProviderKeys::Run() {
  std::optional<std::string> said;  // last reported error; absent: the first result is reported in any case
  std::unique_lock lock(mutex_);
  // The lock is released during the fetch, so that requests can read keys() at the same time.
  while (!stopping_) {
    wanted_ = false;
    lock.unlock();
    const absl::StatusOr<Fetched> fetched = Fetch();
    const std::string error(Message(fetched.status()));
    if (error != said && options_.on_change) options_.on_change(error);
    said = error;
    lock.lock();
    if (fetched.ok()) {
      keys_ = fetched->keys;
      login_ = fetched->login;
      fetched_ = std::chrono::steady_clock::now();
    }
    // Wait without regard to wanted_: tokens with unknown keys cause at most one fetch in this time.
    wake_.wait_for(lock, options_.retry, [this] { return stopping_; });
    if (fetched.ok() && options_.every > options_.retry)
      wake_.wait_for(lock, options_.every - options_.retry, [this] { return stopping_ || wanted_; });
  }
}

}  // namespace taut::server
