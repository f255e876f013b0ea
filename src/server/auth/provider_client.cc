#include "server/auth/provider_client.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "common/base/strings.h"
#include "common/net/access.h"
#include "common/net/server_options.h"

namespace taut::server {
namespace {

constexpr size_t kMostAnswerBytes = size_t{1} << 20;

// Splits an address such as "https://host/a?b" into "https://host" and "/a?b".
std::pair<std::string, std::string> Parted(std::string_view url) {
  const size_t host = url.find("://");
  const size_t path = host == std::string_view::npos ? host : url.find('/', host + 3);
  if (path == std::string_view::npos) return {std::string(url), "/"};
  return {std::string(url.substr(0, path)), std::string(url.substr(path))};
}

}  // namespace

absl::Status CheckProviderUrl(std::string_view what, std::string_view url) {
  const std::string_view host = url.substr(std::min(url.size(), url.find("://") + 3));
  const std::string_view name = HostWithoutPort(host.substr(0, host.find('/')));
  const bool plain = url.starts_with("http://") && (name == "localhost" || IsLoopback(name));
  if ((url.starts_with("https://") || plain) && !name.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(what, " \"", url, "\": expected https://HOST/..., or http:// on this machine"));
}

std::string HostOfUrl(std::string_view url) {
  const std::string_view host = url.substr(std::min(url.size(), url.find("://") + 3));
  return std::string(host.substr(0, host.find('/')));
}

bool ProviderClient::SetCurrent(HttpClient* current) {
  const std::lock_guard lock(mutex_);
  current_ = current;
  return !stopped_;
}

void ProviderClient::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (current_ != nullptr) current_->Interrupt();
}

absl::StatusOr<HttpResponse> ProviderClient::Send(std::string_view url, std::string_view method,
                                                  std::string_view form, std::vector<HttpHeader> headers) {
  const auto [base, path] = Parted(url);
  ClientOptions options;
  options.ca_file = ca_file_;
  options.timeout = std::chrono::seconds(10);
  options.max_body_bytes = kMostAnswerBytes;
  const absl::StatusOr<std::unique_ptr<HttpClient>> client = HttpClient::Create(base, options);
  if (!client.ok()) return client.status();
  HttpClient::Request request;
  request.method = method;
  request.path = path;
  request.body = form;
  if (method == "POST") request.content_type = "application/x-www-form-urlencoded";
  request.headers = std::move(headers);
  // Stop cancels only a request that SetCurrent has set. If Stop was called earlier, do not send the request.
  if (!SetCurrent(client->get())) {
    (void)SetCurrent(nullptr);
    return absl::CancelledError("stopped");
  }
  absl::StatusOr<HttpResponse> answer = (*client)->Send(request);
  (void)SetCurrent(nullptr);
  return answer;
}

}  // namespace taut::server
