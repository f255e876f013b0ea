// Client of a Kubernetes API server.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/http_client.h"
#include "server/kubernetes/client/kubeconfig.h"

namespace taut::server {

// A client with one connection. REQUIRES: one thread calls all functions except Interrupt(), which is thread-safe.
class ApiClient {
 public:
  struct Options {
    std::chrono::milliseconds timeout = std::chrono::seconds(30);  // timeout of all requests except watches
    size_t max_body_bytes = size_t{256} << 20;
  };
  // Creates a client, which connects when the first request is sent. Returns InvalidArgument if the address or a
  // file is invalid.
  static absl::StatusOr<std::unique_ptr<ApiClient>> Create(const ClusterAccess& access,
                                                           const Options& options);

  // Return the body of the response, or errors of HttpClient and ApiStatus(). A request that changes an object
  // waits at most 3 s for a credential. `accept` is the requested media type; "": JSON.
  absl::StatusOr<std::string> Get(std::string_view path, std::string_view accept = "");
  absl::StatusOr<std::string> Create(std::string_view collection, std::string_view body);
  absl::StatusOr<std::string> Patch(std::string_view path, std::string_view body, std::string_view type);
  // Passes each line of a watch to on_line, until on_line returns false or the server ends the watch. Returns OK
  // in both cases. Fails if no data arrives within `silence`.
  absl::Status Watch(std::string_view path, std::string_view accept,
                     const std::function<bool(std::string_view line)>& on_line,
                     std::chrono::milliseconds silence);
  // Makes the current request and all later requests fail. Thread-safe.
  void Interrupt();

  // Returns the delay that the last response (429, 503) requested, in seconds; 0 if none.
  int retry_after_s() const { return retry_after_s_; }

 private:
  ApiClient(std::unique_ptr<HttpClient> http, ClusterAccess access, ClientOptions options);
  using SteadyTime = std::chrono::steady_clock::time_point;
  // Sets the headers, and opens a new connection if the certificate changed. Waits for a credential until
  // `give_up`.
  absl::Status Prepare(HttpClient::Request& request, std::string_view accept, SteadyTime give_up);
  absl::Status UseCertificate(const Credential& credential);
  // Returns true if the status is 401 and the credential was replaced meanwhile, so that the request must be
  // repeated.
  bool IsOutdated(int status, SteadyTime give_up);
  absl::StatusOr<std::string> Send(HttpClient::Request request, std::string_view accept);
  void NoteRetryAfter(const HttpResponse& response);

  const ClusterAccess access_;
  ClientOptions options_;  // options of http_
  std::unique_ptr<HttpClient> http_;
  std::mutex http_mutex_;  // lock for replacing http_, which Interrupt() uses
  std::atomic<bool> interrupted_ = false;
  CredentialPtr used_;  // credential of the last request; null: not from a plugin
  int retry_after_s_ = 0;
};

// Media type of a strategic merge patch.
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
// Media type of a server-side apply, which creates a missing object.
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";
// Media type of a response with the objects' metadata only.
inline constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
inline constexpr std::string_view kMetadataOnlyWatch =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
// Tautline's name in the managedFields of objects.
inline constexpr std::string_view kFieldManager = "tautline";

// Converts a response to a status with the message of the server's Status object:
//   2xx       OK
//   400, 422  InvalidArgument
//   401       Unauthenticated
//   403       PermissionDenied
//   404       NotFound
//   409       Aborted: the object changed meanwhile
//   410       OutOfRange: the version is too old, so list again
//   429, 503  Unavailable; ResourceExhausted for a 429 because of a PodDisruptionBudget
//   others    Internal
absl::Status ApiStatus(const HttpResponse& response);

}  // namespace taut::server
