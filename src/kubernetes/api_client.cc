#include "kubernetes/api_client.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/strings.h"
#include "json/json_tree.h"

namespace taut {
namespace {

constexpr size_t kMaxMessageBytes = 500;

// The message of a Status object, else the first line.
std::string MessageOf(std::string_view body) {
  JsonTree tree;
  (void)tree.Parse(body);  // no root if it is not JSON
  std::string_view first_line = StripSpace(body);
  first_line = first_line.substr(0, first_line.find('\n'));
  return std::string(tree.root()["message"].text().value_or(first_line).substr(0, kMaxMessageBytes));
}

// What forbids an eviction, as a cause of the Status says; "": nothing of this kind.
std::string DisruptionBudgetOf(std::string_view body) {
  JsonTree tree;
  (void)tree.Parse(body);
  std::string out;
  tree.root()["details"]["causes"].ForEachItem([&out](JsonNode cause) {
    if (out.empty() && cause.Text("reason") == "DisruptionBudget")
      out = cause.Text("message").substr(0, kMaxMessageBytes);
  });
  return out;
}

absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 400:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 429:
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status ApiStatus(const HttpResponse& response) {
  if (response.status >= 200 && response.status < 300) return absl::OkStatus();
  if (const std::string budget = response.status == 429 ? DisruptionBudgetOf(response.text()) : "";
      !budget.empty()) {
    return absl::ResourceExhaustedError(budget);
  }
  const std::string message = MessageOf(response.text());
  return absl::Status(CodeOf(response.status), StrCat("the API server answered ", response.status,
                                                      message.empty() ? "" : ": ", message));
}

ApiClient::ApiClient(std::unique_ptr<HttpClient> http, const ClusterAccess& access)
    : http_(std::move(http)), token_(access.token), token_file_(access.token_file) {}

absl::StatusOr<std::unique_ptr<ApiClient>> ApiClient::Create(const ClusterAccess& access,
                                                             const Options& options) {
  ClientOptions client;
  client.ca_file = access.ca_file;
  client.ca_pem = access.ca_pem;
  client.certificate_file = access.certificate_file;
  client.certificate_pem = access.certificate_pem;
  client.key_file = access.key_file;
  client.key_pem = access.key_pem;
  client.timeout = options.timeout;
  client.max_body_bytes = options.max_body_bytes;
  absl::StatusOr<std::unique_ptr<HttpClient>> http = HttpClient::Create(access.server, client);
  if (!http.ok()) return http.status();
  return std::unique_ptr<ApiClient>(new ApiClient(*std::move(http), access));
}

// The token's file is small and in memory, so it is read for each request: a new token is used at once.
absl::StatusOr<std::vector<HttpHeader>> ApiClient::Headers(std::string_view accept) const {
  std::vector<HttpHeader> headers;
  headers.push_back({"Accept", std::string(accept.empty() ? "application/json" : accept)});
  std::string token = token_;
  if (!token_file_.empty()) {
    std::ifstream file(token_file_);
    if (!file || !std::getline(file, token)) {
      return absl::UnauthenticatedError(StrCat("cannot read the token file ", token_file_));
    }
    token = std::string(StripSpace(token));
  }
  if (!token.empty()) headers.push_back({"Authorization", StrCat("Bearer ", token)});
  return headers;
}

void ApiClient::NoteRetryAfter(const HttpResponse& response) {
  const std::string* after = response.header("Retry-After");
  retry_after_s_ =
      after == nullptr ? 0 : static_cast<int>(std::clamp(ParseDouble(*after).value_or(0), 0.0, 300.0));
}

absl::StatusOr<std::string> ApiClient::Send(const HttpClient::Request& request) {
  absl::StatusOr<HttpResponse> response = http_->Send(request);
  NoteRetryAfter(response.ok() ? *response : HttpResponse());
  if (!response.ok()) return response.status();
  if (absl::Status s = ApiStatus(*response); !s.ok()) return s;
  return std::move(response->body);
}

absl::StatusOr<std::string> ApiClient::Get(std::string_view path, std::string_view accept) {
  absl::StatusOr<std::vector<HttpHeader>> headers = Headers(accept);
  if (!headers.ok()) return headers.status();
  return Send({.path = path, .body = {}, .content_type = {}, .headers = *std::move(headers)});
}

absl::StatusOr<std::string> ApiClient::Create(std::string_view collection, std::string_view body) {
  absl::StatusOr<std::vector<HttpHeader>> headers = Headers("");
  if (!headers.ok()) return headers.status();
  return Send({.method = "POST",
               .path = collection,
               .body = body,
               .content_type = "application/json",
               .headers = *std::move(headers)});
}

absl::StatusOr<std::string> ApiClient::Patch(std::string_view path, std::string_view body,
                                             std::string_view type) {
  absl::StatusOr<std::vector<HttpHeader>> headers = Headers("");
  if (!headers.ok()) return headers.status();
  return Send(
      {.method = "PATCH", .path = path, .body = body, .content_type = type, .headers = *std::move(headers)});
}

absl::Status ApiClient::Watch(std::string_view path, std::string_view accept,
                              const std::function<bool(std::string_view line)>& on_line,
                              std::chrono::milliseconds silence) {
  absl::StatusOr<std::vector<HttpHeader>> headers = Headers(accept);
  if (!headers.ok()) return headers.status();
  HttpResponse refused;
  const absl::Status status =
      http_->ReadLines({.path = path, .body = {}, .content_type = {}, .headers = *std::move(headers)},
                       on_line, silence, &refused);
  NoteRetryAfter(refused);
  return refused.status == 200 ? status : ApiStatus(refused);
}

}  // namespace taut
