#include "node/docker/engine_client.h"

#include <curl/curl.h>
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

// Returns true if a message of runc or of the kernel says that more memory is in use than the limit.
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

// Checks that a container id has only the characters that the engine allows: it becomes part of a request's
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

struct Sink {
  std::string body;
  size_t max_bytes = 0;
  bool too_long = false;
};

size_t Append(char* data, size_t size, size_t count, void* user) {
  auto* sink = static_cast<Sink*>(user);
  const size_t bytes = size * count;
  // max_bytes >= body.size() always holds, so the subtraction cannot wrap.
  sink->too_long = bytes > sink->max_bytes - sink->body.size();
  if (sink->too_long) return 0;
  sink->body.append(data, bytes);
  return bytes;
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

struct EngineClient::Handle {
  CURL* curl = curl_easy_init();
  curl_slist* json_headers = curl_slist_append(nullptr, "Content-Type: application/json");

  ~Handle() {
    curl_slist_free_all(json_headers);
    curl_easy_cleanup(curl);
  }
};

absl::StatusOr<std::shared_ptr<EngineClient>> EngineClient::Create(const EngineClientOptions& options) {
  absl::StatusOr<std::string> path = SocketPathOf(options.address);
  if (!path.ok()) return path.status();
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::shared_ptr<EngineClient> out(new EngineClient(*std::move(path), options));
  if (initialized != CURLE_OK || out->handle_->curl == nullptr) {
    return absl::InternalError("curl_easy_init failed");
  }
  return out;
}

EngineClient::EngineClient(std::string socket_path, const EngineClientOptions& options)
    : socket_path_(std::move(socket_path)), options_(options), handle_(std::make_unique<Handle>()) {}

EngineClient::~EngineClient() = default;

absl::Status EngineClient::Failure(int curl_code, const std::string& path) const {
  const auto code = static_cast<CURLcode>(curl_code);
  if (code == CURLE_COULDNT_CONNECT) return absl::UnavailableError(WhyUnreachable(socket_path_));
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return absl::DeadlineExceededError(StrCat(socket_path_, ": the Docker engine did not answer ", path,
                                              " within ", options_.timeout.count(),
                                              " ms; the machine may be overloaded"));
  }
  return absl::UnavailableError(StrCat(socket_path_, ": the Docker engine closed the connection at ", path,
                                       ": ", curl_easy_strerror(code)));
}

absl::StatusOr<std::string> EngineClient::Perform(Method method, const std::string& path,
                                                  std::string_view body) {
  CURL* curl = handle_->curl;
  Sink sink;
  sink.max_bytes = options_.max_answer_bytes;
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket_path_.c_str());
  curl_easy_setopt(curl, CURLOPT_URL, StrCat("http://docker", path).c_str());
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // ignore proxies of the environment
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  if (method == Method::kPost) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->json_headers);
  }
  const CURLcode code = curl_easy_perform(curl);
  if (sink.too_long) {
    return absl::DataLossError(
        StrCat("docker ", path, ": the response is longer than ", options_.max_answer_bytes, " bytes"));
  }
  if (code != CURLE_OK) return Failure(code, path);
  long http_status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http_status);
  if (http_status < 200 || http_status >= 300)
    return EngineError(static_cast<int>(http_status), sink.body, path);
  return std::move(sink.body);
}

absl::StatusOr<std::string> EngineClient::Request(Method method, std::string_view path,
                                                  std::string_view body) {
  // Held during the request: the curl handle has one user at a time.
  const std::lock_guard lock(mutex_);
  if (api_version_.empty()) {
    const absl::StatusOr<std::string> answer = Perform(Method::kGet, "/version", {});
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<EngineVersion> version = ParseEngineVersion(*answer);
    if (!version.ok()) return version.status();
    absl::StatusOr<std::string> chosen = ChooseApiVersion(*version);
    if (!chosen.ok()) return chosen.status();
    api_version_ = *std::move(chosen);
  }
  absl::StatusOr<std::string> answer = Perform(method, StrCat("/v", api_version_, path), body);
  // Negotiate the version again: the engine may restart as another version.
  if (absl::IsUnavailable(answer.status())) api_version_.clear();
  return answer;
}

absl::StatusOr<EngineVersion> EngineClient::Version() {
  const absl::StatusOr<std::string> answer = Request(Method::kGet, "/version");
  if (!answer.ok()) return answer.status();
  return ParseEngineVersion(*answer);
}

absl::StatusOr<std::vector<ContainerSummary>> EngineClient::ListRunning() {
  const absl::StatusOr<std::string> answer = Request(Method::kGet, "/containers/json");
  if (!answer.ok()) return answer.status();
  return ParseContainerList(*answer);
}

absl::StatusOr<ContainerDetails> EngineClient::Inspect(std::string_view id) {
  if (absl::Status status = CheckId(id); !status.ok()) return status;
  const absl::StatusOr<std::string> answer = Request(Method::kGet, StrCat("/containers/", id, "/json"));
  if (!answer.ok()) return answer.status();
  return ParseContainerDetails(*answer);
}

absl::Status EngineClient::Update(std::string_view id, std::string_view body) {
  if (absl::Status status = CheckId(id); !status.ok()) return status;
  return Request(Method::kPost, StrCat("/containers/", id, "/update"), body).status();
}

absl::StatusOr<int64_t> EngineClient::Cores() {
  {
    const std::lock_guard lock(mutex_);
    if (cores_ > 0) return cores_;
  }
  const absl::StatusOr<std::string> answer = Request(Method::kGet, "/info");
  if (!answer.ok()) return answer.status();
  const absl::StatusOr<int64_t> cores = ParseCores(*answer);
  if (!cores.ok()) return cores.status();
  const std::lock_guard lock(mutex_);
  return cores_ = *cores;
}

}  // namespace taut::node
