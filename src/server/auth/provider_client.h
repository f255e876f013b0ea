// Requests to an OpenID Connect provider that another thread can cancel.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http_client.h"

namespace taut::server {

// Returns InvalidArgument unless the address is https://HOST/..., or http:// on this machine: a plain-text
// response from the network could be forged. `what` names the address in the error.
absl::Status CheckProviderUrl(std::string_view what, std::string_view url);

// Returns the host and port of an address: "id.example.com:8443" for "https://id.example.com:8443/a".
std::string HostOfUrl(std::string_view url);

// Threads: Get and Post must be called from one thread; Stop may be called from any thread.
class ProviderClient {
 public:
  // `ca_file`: file of CAs in PEM; "": the system's CAs.
  explicit ProviderClient(std::string ca_file) : ca_file_(std::move(ca_file)) {}

  // Sends a request. Returns a response of any status. A response may have at most 1 MiB and must arrive
  // within 10 s. Returns Cancelled after Stop, else the errors of HttpClient.
  absl::StatusOr<HttpResponse> Get(std::string_view url) { return Send(url, "GET", "", {}); }
  // Sends a form (application/x-www-form-urlencoded). The bounds and errors of Get apply.
  absl::StatusOr<HttpResponse> Post(std::string_view url, std::string_view form,
                                    std::vector<HttpHeader> headers) {
    return Send(url, "POST", form, std::move(headers));
  }
  // Cancels the request in progress and every later request.
  void Stop();

 private:
  absl::StatusOr<HttpResponse> Send(std::string_view url, std::string_view method, std::string_view form,
                                    std::vector<HttpHeader> headers);
  bool SetCurrent(HttpClient* current);  // returns false if stopped

  const std::string ca_file_;
  std::mutex mutex_;
  bool stopped_ = false;
  HttpClient* current_ = nullptr;  // request in progress
};

}  // namespace taut::server
