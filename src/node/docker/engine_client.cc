#include "node/docker/engine_client.h"

#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "common/base/strings.h"

namespace taut::node {
namespace {

constexpr int kPreferredMinor = 41;
constexpr int kLeastMinor = 24;

// Returns the minor number of "1.41"; -1 if the text is not such a version.
int MinorOf(std::string_view version) {
  if (!version.starts_with("1.")) return -1;
  version.remove_prefix(2);
  int minor = -1;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  return error == std::errc() && end == version.data() + version.size() ? minor : -1;
}

// Returns true if a message of runc or of the kernel reports that more memory is in use than the limit.
bool SaysInUse(std::string_view message) {
  for (const std::string_view words : {"unable to set memory limit", "unable to set memory max",
                                       "device or resource busy", "Device or resource busy", "EBUSY"}) {
    if (message.find(words) != std::string_view::npos) return true;
  }
  return false;
}

absl::StatusCode CodeOf(int http_status, std::string_view message) {
  if ((http_status == 409 || http_status == 500) && SaysInUse(message))
    return absl::StatusCode::kResourceExhausted;
  switch (http_status) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kFailedPrecondition;
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

// Checks that a container id has only the characters that the engine allows: the id becomes part of a request's
// path.
absl::Status CheckId(std::string_view id) {
  const bool good = !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
  return good ? absl::OkStatus()
              : absl::InvalidArgumentError(
                    StrCat("'", id, "': invalid container ID; expected letters, digits, '_', '.' and '-'"));
}

}  // namespace

absl::StatusOr<std::string> SocketPathOf(std::string_view address) {
  std::string_view path = address;
  if (path.starts_with("unix://")) path.remove_prefix(7);
  if (!path.starts_with('/')) {
    return absl::InvalidArgumentError(
        StrCat("docker address '", address,
               "': expected a Unix socket of this machine, such as unix:///var/run/docker.sock"));
  }
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::InvalidArgumentError(StrCat("docker address '", address, "': longer than the ",
                                             sizeof(sockaddr_un::sun_path) - 1,
                                             " bytes that the path of a socket may have"));
  }
  return std::string(path);
}

std::string WhyUnreachable(const std::string& socket_path) {
  if (access(socket_path.c_str(), F_OK) != 0) {
    return StrCat(socket_path, ": no such socket; check that Docker is running and that this is its address");
  }
  if (access(socket_path.c_str(), R_OK | W_OK) != 0) {
    return StrCat(socket_path, ": permission denied; run as root, or add the user to the group 'docker'");
  }
  return StrCat(socket_path, ": cannot connect; check that Docker is running");
}

absl::StatusOr<std::string> ChooseApiVersion(const EngineVersion& version) {
  const int most = MinorOf(version.api_version);
  if (most < kLeastMinor) {
    return absl::FailedPreconditionError(StrCat("the Docker engine speaks API ", version.api_version, "; 1.",
                                                kLeastMinor, " is needed, which Docker has since 1.12"));
  }
  return StrCat("1.", std::max(std::min(most, kPreferredMinor), MinorOf(version.min_api_version)));
}

absl::Status EngineError(int http_status, std::string_view body, std::string_view request) {
  const std::string message = EngineMessage(body);
  return absl::Status(
      CodeOf(http_status, message),
      StrCat("docker ", request, ": ", message.empty() ? StrCat("HTTP status ", http_status) : message));
}

absl::StatusOr<std::shared_ptr<EngineClient>> EngineClient::Create(const EngineClientOptions& options) {
  absl::StatusOr<std::string> path = SocketPathOf(options.address);
  if (!path.ok()) return path.status();
  ClientOptions client;
  client.connect_timeout = options.connect_timeout;
  client.timeout = options.timeout;
  client.max_body_bytes = options.max_answer_bytes;
  auto http = HttpClient::Create(StrCat("unix://", *path), client);
  if (!http.ok()) return http.status();
  return std::shared_ptr<EngineClient>(new EngineClient(*std::move(path), options, *std::move(http)));
}

EngineClient::EngineClient(std::string socket_path, const EngineClientOptions& options,
                           std::unique_ptr<HttpClient> http)
    : socket_path_(std::move(socket_path)), options_(options), http_(std::move(http)) {}

EngineClient::~EngineClient() = default;

absl::Status EngineClient::Failure(const absl::Status& status, std::string_view path) const {
  switch (status.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return absl::DeadlineExceededError(StrCat(socket_path_, ": the Docker engine did not answer ", path,
                                                " within ", options_.timeout.count(),
                                                " ms; the machine may be overloaded"));
    case absl::StatusCode::kResourceExhausted:
      return absl::DataLossError(
          StrCat("docker ", path, ": the response is longer than ", options_.max_answer_bytes, " bytes"));
    case absl::StatusCode::kUnavailable:
      return absl::UnavailableError(StrCat(WhyUnreachable(socket_path_), " (", Message(status), ")"));
    default:
      return status;
  }
}

absl::StatusOr<std::string> EngineClient::Perform(const HttpClient::Request& request) {
  const absl::StatusOr<HttpResponse> response = http_->Send(request);
  if (!response.ok()) return Failure(response.status(), request.path);
  if (response->status < 200 || response->status >= 300)
    return EngineError(response->status, response->body, request.path);
  return response->body;
}

absl::StatusOr<std::string> EngineClient::Get(std::string_view path) {
  return Request({"GET", path, {}, {}, {}});
}

absl::StatusOr<std::string> EngineClient::Request(HttpClient::Request request) {
  // Hold the lock during the request: the HTTP client serves one caller at a time.
  const std::lock_guard lock(mutex_);
  if (api_version_.empty()) {
    const absl::StatusOr<std::string> answer = Perform({"GET", "/version", {}, {}, {}});
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<EngineVersion> version = ParseEngineVersion(*answer);
    if (!version.ok()) return version.status();
    absl::StatusOr<std::string> chosen = ChooseApiVersion(*version);
    if (!chosen.ok()) return chosen.status();
    api_version_ = *std::move(chosen);
  }
  const std::string path = StrCat("/v", api_version_, request.path);
  request.path = path;
  absl::StatusOr<std::string> answer = Perform(request);
  // Negotiate the version again: the engine may restart as another version.
  if (absl::IsUnavailable(answer.status())) api_version_.clear();
  return answer;
}

absl::StatusOr<EngineVersion> EngineClient::Version() {
  const absl::StatusOr<std::string> answer = Get("/version");
  if (!answer.ok()) return answer.status();
  return ParseEngineVersion(*answer);
}

absl::StatusOr<std::vector<ContainerSummary>> EngineClient::ListRunning() {
  const absl::StatusOr<std::string> answer = Get("/containers/json");
  if (!answer.ok()) return answer.status();
  return ParseContainerList(*answer);
}

absl::StatusOr<ContainerDetails> EngineClient::Inspect(std::string_view id) {
  if (absl::Status status = CheckId(id); !status.ok()) return status;
  const absl::StatusOr<std::string> answer = Get(StrCat("/containers/", id, "/json"));
  if (!answer.ok()) return answer.status();
  return ParseContainerDetails(*answer);
}

absl::Status EngineClient::Update(std::string_view id, std::string_view body) {
  if (absl::Status status = CheckId(id); !status.ok()) return status;
  return Request({"POST", StrCat("/containers/", id, "/update"), body, "application/json", {}}).status();
}

absl::StatusOr<int64_t> EngineClient::Cores() {
  {
    const std::lock_guard lock(mutex_);
    if (cores_ > 0) return cores_;
  }
  const absl::StatusOr<std::string> answer = Get("/info");
  if (!answer.ok()) return answer.status();
  const absl::StatusOr<int64_t> cores = ParseCores(*answer);
  if (!cores.ok()) return cores.status();
  const std::lock_guard lock(mutex_);
  return cores_ = *cores;
}

}  // namespace taut::node
