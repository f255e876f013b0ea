// Asks the Docker engine of this machine, over its Unix socket.
//
// Only Unix sockets: the limits are set by the engine, but usage is read from this machine's cgroups, so an
// engine elsewhere (tcp://) would be of no use.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/docker/engine_answer.h"

namespace taut::node {

struct EngineClientOptions {
  std::string address = "unix:///var/run/docker.sock";  // or the plain path
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds timeout{5000};  // of a whole request
  size_t max_answer_bytes = size_t{64} << 20;
};

// The path of an address of a socket. InvalidArgument for tcp:// and the like, and for paths too long for a
// socket (107 bytes).
absl::StatusOr<std::string> SocketPathOf(std::string_view address);
// What keeps this process from connecting to a socket, and the way out.
std::string WhyUnreachable(const std::string& socket_path);
// The version of the API to speak: 1.41, which has all that is needed, if the engine can, else the nearest
// that it can. FailedPrecondition below 1.24.
absl::StatusOr<std::string> ChooseApiVersion(const EngineVersion& version);

// Thread-safe; requests go out one after the other. Keeps its connection. Errors of all requests, with the
// engine's own words:
//   Unavailable         no engine answers at the socket, or it is shutting down
//   DeadlineExceeded    it does not answer in time
//   NotFound            no such container
//   InvalidArgument     it does not take the value
//   ResourceExhausted   the container uses more memory than the limit asked for
//   FailedPrecondition  it cannot do this to this container
//   DataLoss            its answer is damaged or too long
//   Internal            everything else
class EngineClient {
 public:
  static absl::StatusOr<std::shared_ptr<EngineClient>> Create(const EngineClientOptions& options);
  ~EngineClient();
  EngineClient(const EngineClient&) = delete;
  EngineClient& operator=(const EngineClient&) = delete;

  absl::StatusOr<EngineVersion> Version();
  // Those that run (or are paused), in the engine's order.
  absl::StatusOr<std::vector<ContainerSummary>> ListRunning();
  // Of a container that runs or not. `id` may be a name too.
  absl::StatusOr<ContainerDetails> Inspect(std::string_view id);
  // `body`: JSON of the fields to change. About 50 ms for one that runs.
  absl::Status Update(std::string_view id, std::string_view body);
  // Of the engine's machine; asked for once.
  absl::StatusOr<int64_t> Cores();

  const std::string& socket_path() const { return socket_path_; }

 private:
  struct Handle;
  enum class Method : uint8_t { kGet, kPost };
  EngineClient(std::string socket_path, const EngineClientOptions& options);

  // `path` behind the version. Negotiates the version first, anew after a break.
  absl::StatusOr<std::string> Request(Method method, std::string_view path, std::string_view body = {});
  absl::StatusOr<std::string> Perform(Method method, const std::string& path, std::string_view body);
  absl::Status Failure(int curl_code, const std::string& path) const;

  const std::string socket_path_;
  const EngineClientOptions options_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<Handle> handle_;
  std::string api_version_;  // "" before it is negotiated
  int64_t cores_ = 0;        // 0 before it is known
};

// The error that an answer with this HTTP status is.
absl::Status EngineError(int http_status, std::string_view body, std::string_view request);

}  // namespace taut::node
