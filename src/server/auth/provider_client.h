// Requests to an OpenID Connect provider that another thread can cancel.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http_client.h"

namespace taut::server {

// InvalidArgument unless the address is https://HOST/..., or http:// on this machine: a plain-text response
// from the network could be forged. `what` names the address in the error.
absl::Status CheckProviderUrl(std::string_view what, std::string_view url);

// "https://id.example.com:8443/a" -> "id.example.com:8443".
std::string HostOfUrl(std::string_view url);

// Get and Post from one thread; Stop from any thread.
class ProviderClient {
 public:
  // `ca_file`: PEM; "": the system's CAs.
  explicit ProviderClient(std::string ca_file) : ca_file_(std::move(ca_file)) {}

  // Any status is a response; it has at most 1 MiB and arrives within 10 s. Errors as of HttpClient;
  // Cancelled after Stop.
  absl::StatusOr<HttpResponse> Get(std::string_view url) { return Send(url, "GET", "", {}); }
  // Sends a form (application/x-www-form-urlencoded).
  absl::StatusOr<HttpResponse> Post(std::string_view url, std::string_view form,
                                    std::vector<HttpHeader> headers) {
    return Send(url, "POST", form, std::move(headers));
  }
  // Cancels the request in progress and all later ones.
  void Stop();

 private:
  absl::StatusOr<HttpResponse> Send(std::string_view url, std::string_view method, std::string_view form,
                                    std::vector<HttpHeader> headers);
  bool SetCurrent(HttpClient* current);  // false: stopped

  const std::string ca_file_;
  std::mutex mutex_;
  bool stopped_ = false;
  HttpClient* current_ = nullptr;  // request in progress
};

}  // namespace taut::server
