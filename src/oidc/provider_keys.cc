#include "oidc/provider_keys.h"

#include <utility>

#include "base/strings.h"
#include "json/json_tree.h"
#include "net/access.h"
#include "net/http_client.h"
#include "net/server_options.h"

namespace taut {
namespace {

constexpr std::string_view kDiscovery = "/.well-known/openid-configuration";
constexpr size_t kMostAnswerBytes = size_t{1} << 20;  // of an answer

// "https://host/a?b" -> "https://host", "/a?b".
std::pair<std::string, std::string> Parted(std::string_view url) {
  const size_t host = url.find("://");
  const size_t path = host == std::string_view::npos ? host : url.find('/', host + 3);
  if (path == std::string_view::npos) return {std::string(url), "/"};
  return {std::string(url.substr(0, path)), std::string(url.substr(path))};
}

// Keys that come in plain text over a network could be anyone's.
absl::Status CheckUrl(std::string_view what, std::string_view url) {
  const std::string_view host = url.substr(std::min(url.size(), url.find("://") + 3));
  const std::string_view name = HostWithoutPort(host.substr(0, host.find('/')));
  const bool plain = url.starts_with("http://") && (name == "localhost" || IsLoopback(name));
  if ((url.starts_with("https://") || plain) && !name.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(what, " \"", url, "\": expected https://HOST/..., or http:// on this machine"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProviderKeys>> ProviderKeys::Create(Options options) {
  if (absl::Status s = CheckUrl("issuer", options.issuer); !s.ok()) return s;
  return std::unique_ptr<ProviderKeys>(new ProviderKeys(std::move(options)));
}

void ProviderKeys::Start() {
  thread_ = std::thread([this] { Run(); });
}

ProviderKeys::~ProviderKeys() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (fetching_ != nullptr) fetching_->Interrupt();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::string> ProviderKeys::Get(std::string_view url) {
  const auto [base, path] = Parted(url);
  ClientOptions options;
  options.ca_file = options_.ca_file;
  options.timeout = std::chrono::seconds(10);
  options.max_body_bytes = kMostAnswerBytes;
  const absl::StatusOr<std::unique_ptr<HttpClient>> client = HttpClient::Create(base, options);
  if (!client.ok()) return client.status();
  const auto fetching = [this](HttpClient* now) {
    const std::lock_guard lock(mutex_);
    fetching_ = now;
    return !stopping_;
  };
  if (!fetching(client->get())) return absl::CancelledError("stopped");
  const absl::StatusOr<HttpResponse> answer = (*client)->Get(path);
  (void)fetching(nullptr);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200)
    return absl::UnavailableError(StrCat(url, ": status ", answer->status, " instead of 200"));
  return std::string(answer->text());
}

std::shared_ptr<const KeySet> ProviderKeys::keys() const {
  const std::lock_guard lock(mutex_);
  if (keys_ == nullptr || std::chrono::steady_clock::now() - fetched_ > options_.keep) return nullptr;
  return keys_;
}

void ProviderKeys::Refresh() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  wake_.notify_all();
}

absl::StatusOr<std::shared_ptr<const KeySet>> ProviderKeys::Fetch() {
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
  const std::string url(tree.root().Text("jwks_uri"));
  if (absl::Status s = CheckUrl("jwks_uri", url); !s.ok()) return s;
  const absl::StatusOr<std::string> keys = Get(url);
  if (!keys.ok()) return keys.status();
  absl::StatusOr<std::shared_ptr<const KeySet>> parsed = KeySet::Parse(*keys);
  if (!parsed.ok()) return absl::Status(parsed.status().code(), StrCat(url, ": ", Message(parsed.status())));
  return parsed;
}

void ProviderKeys::Run() {
  std::optional<std::string> said;  // the first time in any case
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wanted_ = false;
    lock.unlock();
    const absl::StatusOr<std::shared_ptr<const KeySet>> fetched = Fetch();
    const std::string error(Message(fetched.status()));
    if (error != said && options_.on_change) options_.on_change(error);
    said = error;
    lock.lock();
    if (fetched.ok()) {
      keys_ = *fetched;
      fetched_ = std::chrono::steady_clock::now();
    }
    // Tokens with unknown keys cause no more than one fetch in this time.
    wake_.wait_for(lock, options_.retry, [this] { return stopping_; });
    if (fetched.ok() && options_.every > options_.retry)
      wake_.wait_for(lock, options_.every - options_.retry, [this] { return stopping_ || wanted_; });
  }
}

}  // namespace taut
