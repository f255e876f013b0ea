#include "server/kubernetes/client/api_client.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxMessageBytes = 500;
// A change is sent soon after it was allowed, or not at all: another tautd may acquire the lease 5 s after this
// tautd stopped holding it.
constexpr std::chrono::milliseconds kWaitToChange{3000};

// Returns the time left until `end`, at least 0.
std::chrono::milliseconds Until(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

// Returns the message of a Status object. Returns the first line of any other body.
std::string MessageOf(std::string_view body) {
  JsonTree tree;
  (void)tree.Parse(body);  // a body that is not JSON leaves the tree without a root
  std::string_view first_line = StripSpace(body);
  first_line = first_line.substr(0, first_line.find('\n'));
  return std::string(CutUtf8(tree.root()["message"].text().value_or(first_line), kMaxMessageBytes));
}

// Returns the message of the PodDisruptionBudget in a Status that forbids an eviction; "" if there is none.
std::string DisruptionBudgetOf(std::string_view body) {
  JsonTree tree;
  (void)tree.Parse(body);
  std::string out;
  tree.root()["details"]["causes"].ForEachItem([&out](JsonNode cause) {
    if (out.empty() && cause.Text("reason") == "DisruptionBudget")
      out = CutUtf8(cause.Text("message"), kMaxMessageBytes);
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

ApiClient::ApiClient(std::unique_ptr<HttpClient> http, ClusterAccess access, ClientOptions options)
    : access_(std::move(access)), options_(std::move(options)), http_(std::move(http)) {}

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
  return std::unique_ptr<ApiClient>(new ApiClient(*std::move(http), access, std::move(client)));
}

void ApiClient::Interrupt() {
  interrupted_ = true;
  const std::lock_guard lock(http_mutex_);
  http_->Interrupt();
}

// Read the token file for each request, so that a new token is used at once. The file is small and cached.
absl::Status ApiClient::Prepare(HttpClient::Request& request, std::string_view accept, SteadyTime give_up) {
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    std::ifstream file(access_.token_file);
    if (!file || !std::getline(file, token)) {
      return absl::UnauthenticatedError(StrCat("cannot read the token file ", access_.token_file));
    }
    token = std::string(StripSpace(token));
  }
  if (access_.credentials != nullptr) {
    absl::StatusOr<CredentialPtr> credential = access_.credentials->Get(Until(give_up), interrupted_);
    if (absl::IsUnavailable(credential.status()) || absl::IsDeadlineExceeded(credential.status()))
      return credential.status();
    if (!credential.ok()) return absl::UnauthenticatedError(StrCat(Message(credential.status())));
    used_ = *std::move(credential);
    token = used_->token;
    if (absl::Status s = UseCertificate(*used_); !s.ok()) return s;
  }
  request.headers = {{"Accept", std::string(accept.empty() ? "application/json" : accept)}};
  if (!token.empty()) request.headers.push_back({"Authorization", StrCat("Bearer ", token)});
  return absl::OkStatus();
}

// Opens a new connection if the certificate changed, because a connection keeps its certificate.
absl::Status ApiClient::UseCertificate(const Credential& credential) {
  if (credential.certificate_pem == options_.certificate_pem && credential.key_pem == options_.key_pem)
    return absl::OkStatus();
  ClientOptions options = options_;
  options.certificate_pem = credential.certificate_pem;
  options.key_pem = credential.key_pem;
  absl::StatusOr<std::unique_ptr<HttpClient>> http = HttpClient::Create(access_.server, options);
  if (!http.ok()) return http.status();
  const std::lock_guard lock(http_mutex_);
  http_ = *std::move(http);
  options_ = std::move(options);
  // Interrupt() may have stopped only the previous connection.
  if (interrupted_) http_->Interrupt();
  return absl::OkStatus();
}

bool ApiClient::IsOutdated(int status, SteadyTime give_up) {
  if (status != 401 || used_ == nullptr) return false;
  access_.credentials->Refuse(used_);
  const absl::StatusOr<CredentialPtr> next = access_.credentials->Get(Until(give_up), interrupted_);
  return next.ok() && *next != used_;
}

void ApiClient::NoteRetryAfter(const HttpResponse& response) {
  const std::string* after = response.header("Retry-After");
  retry_after_s_ =
      after == nullptr ? 0 : static_cast<int>(std::clamp(ParseDouble(*after).value_or(0), 0.0, 300.0));
}

absl::StatusOr<std::string> ApiClient::Send(HttpClient::Request request, std::string_view accept) {
  const SteadyTime give_up =
      steady_clock::now() +
      (request.method == "GET" ? options_.timeout : std::min(options_.timeout, kWaitToChange));
  for (bool is_first = true;; is_first = false) {
    if (absl::Status s = Prepare(request, accept, give_up); !s.ok()) return s;
    absl::StatusOr<HttpResponse> response = http_->Send(request);
    NoteRetryAfter(response.ok() ? *response : HttpResponse());
    if (!response.ok()) return response.status();
    // Repeat the request at most once: a credential that was rejected twice will not be accepted later.
    if (is_first && IsOutdated(response->status, give_up)) continue;
    if (absl::Status s = ApiStatus(*response); !s.ok()) return s;
    return std::move(response->body);
  }
}

absl::StatusOr<std::string> ApiClient::Get(std::string_view path, std::string_view accept) {
  return Send({.path = path, .body = {}, .content_type = {}, .headers = {}}, accept);
}

absl::StatusOr<std::string> ApiClient::Create(std::string_view collection, std::string_view body) {
  return Send(
      {.method = "POST", .path = collection, .body = body, .content_type = "application/json", .headers = {}},
      "");
}

absl::StatusOr<std::string> ApiClient::Patch(std::string_view path, std::string_view body,
                                             std::string_view type) {
  return Send({.method = "PATCH", .path = path, .body = body, .content_type = type, .headers = {}}, "");
}

absl::Status ApiClient::Watch(std::string_view path, std::string_view accept,
                              const std::function<bool(std::string_view line)>& on_line,
                              std::chrono::milliseconds silence) {
  HttpClient::Request request{.path = path, .body = {}, .content_type = {}, .headers = {}};
  for (bool is_first = true;; is_first = false) {
    if (absl::Status s = Prepare(request, accept, steady_clock::now() + options_.timeout); !s.ok()) return s;
    HttpResponse refused;
    const absl::Status status = http_->ReadLines(
        request, {.on_line = on_line, .on_open = {}, .silence = silence, .refused = &refused});
    NoteRetryAfter(refused);
    if (refused.status == 200) return status;
    if (is_first && IsOutdated(refused.status, steady_clock::now() + options_.timeout)) continue;
    return ApiStatus(refused);
  }
}

}  // namespace taut::server
