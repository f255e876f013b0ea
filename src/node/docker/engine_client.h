// Client of this machine's Docker engine, over its Unix socket.
//
// Only Unix sockets are supported: limits are set by the engine, but usage is read from this machine's
// cgroups, so an engine elsewhere (tcp://) would be useless.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/http_client.h"
#include "node/docker/engine_answer.h"

namespace taut::node {

struct EngineClientOptions {
  std::string address = "unix:///var/run/docker.sock";  // or a plain path
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds timeout{5000};  // limit of a whole request
  size_t max_answer_bytes = size_t{64} << 20;
};

// Returns the path in a socket's address. InvalidArgument for tcp:// and similar addresses, and for paths too long
// for a socket (above 107 bytes).
absl::StatusOr<std::string> SocketPathOf(std::string_view address);
// Explains why this process cannot connect to a socket, and how to fix it.
std::string WhyUnreachable(const std::string& socket_path);
// Returns the API version to use: 1.41 if the engine supports it, else the nearest supported version.
// FailedPrecondition below 1.24.
absl::StatusOr<std::string> ChooseApiVersion(const EngineVersion& version);

// Thread-safe: requests are sent one after the other, and a caller waits for earlier requests. Keeps its
// connection. Errors of all requests, with the engine's message:
//   Unavailable         no engine at the socket, or it is shutting down
//   DeadlineExceeded    no response in time
//   NotFound            no such container
//   InvalidArgument     the value is rejected
//   ResourceExhausted   the container uses more memory than the requested limit
//   PermissionDenied    the engine forbids the request
//   FailedPrecondition  not possible for this container
//   DataLoss            the response is damaged or too long
//   Internal            everything else
class EngineClient {
 public:
  static absl::StatusOr<std::shared_ptr<EngineClient>> Create(const EngineClientOptions& options);
  ~EngineClient();
  EngineClient(const EngineClient&) = delete;
  EngineClient& operator=(const EngineClient&) = delete;

  absl::StatusOr<EngineVersion> Version();
  // Returns the running (or paused) containers in the engine's order.
  absl::StatusOr<std::vector<ContainerSummary>> ListRunning();
  // Returns a container, running or not. `id` may also be a name.
  absl::StatusOr<ContainerDetails> Inspect(std::string_view id);
  // Updates a container. `body`: JSON with the fields to change. Takes about 50 ms for a running container.
  absl::Status Update(std::string_view id, std::string_view body);
  // Returns the number of cores of the engine's machine. Sends a request only at the first call.
  absl::StatusOr<int64_t> Cores();

  const std::string& socket_path() const { return socket_path_; }

 private:
  EngineClient(std::string socket_path, const EngineClientOptions& options, std::unique_ptr<HttpClient> http);

  // `path` is the part of the request's path after the version. Negotiates the version first, and again after a
  // lost connection.
  absl::StatusOr<std::string> Get(std::string_view path);
  absl::StatusOr<std::string> Request(HttpClient::Request request);
  absl::StatusOr<std::string> Perform(const HttpClient::Request& request);
  absl::Status Failure(const absl::Status& status, std::string_view path) const;

  const std::string socket_path_;
  const EngineClientOptions options_;
  std::mutex mutex_;  // guards the members below
  std::unique_ptr<HttpClient> http_;
  std::string api_version_;  // "": not negotiated yet
  int64_t cores_ = 0;        // 0: unknown yet
};

// Converts an HTTP error response to a status.
absl::Status EngineError(int http_status, std::string_view body, std::string_view request);

}  // namespace taut::node
