// Requests to a Kubernetes API server.
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

// Not thread-safe, but for Interrupt: one client, one thread, one connection.
class ApiClient {
 public:
  struct Options {
    std::chrono::milliseconds timeout = std::chrono::seconds(30);  // of a request other than a watch
    size_t max_body_bytes = size_t{256} << 20;
  };
  // InvalidArgument: what is wrong with the address or the files. Connects at the first request.
  static absl::StatusOr<std::unique_ptr<ApiClient>> Create(const ClusterAccess& access,
                                                           const Options& options);

  // The body. Errors: those of HttpClient, and those of ApiStatus. A change waits at most 3 s for a credential.
  // `accept`: the media type wanted; "": JSON.
  absl::StatusOr<std::string> Get(std::string_view path, std::string_view accept = "");
  absl::StatusOr<std::string> Create(std::string_view collection, std::string_view body);
  absl::StatusOr<std::string> Patch(std::string_view path, std::string_view body, std::string_view type);
  // Lines of a watch until on_line returns false or the server ends it (OK).
  absl::Status Watch(std::string_view path, std::string_view accept,
                     const std::function<bool(std::string_view line)>& on_line,
                     std::chrono::milliseconds silence);
  // From any thread: the request under way fails, and so do later ones.
  void Interrupt();

  // Seconds that the server asked to wait before the next request (429, 503), 0 if it did not; of the last
  // request.
  int retry_after_s() const { return retry_after_s_; }

 private:
  ApiClient(std::unique_ptr<HttpClient> http, ClusterAccess access, ClientOptions options);
  using SteadyTime = std::chrono::steady_clock::time_point;
  // Its headers for `accept`, and a connection with the certificate that counts now. Waits for a credential until
  // `give_up`.
  absl::Status Prepare(HttpClient::Request& request, std::string_view accept, SteadyTime give_up);
  absl::Status UseCertificate(const Credential& credential);
  // The answer is a 401 to a credential for which there is a newer one: the request is to be made again.
  bool IsOutdated(int status, SteadyTime give_up);
  absl::StatusOr<std::string> Send(HttpClient::Request request, std::string_view accept);
  void NoteRetryAfter(const HttpResponse& response);

  const ClusterAccess access_;
  ClientOptions options_;  // those of http_
  std::unique_ptr<HttpClient> http_;
  std::mutex http_mutex_;  // over replacing it and Interrupt
  std::atomic<bool> interrupted_ = false;
  CredentialPtr used_;  // by the last request; null: none of a plugin
  int retry_after_s_ = 0;
};

// A patch of these types.
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
// Server-side apply: makes the object if it is not there.
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";
// Names, owners and labels of objects, without their specs.
inline constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
inline constexpr std::string_view kMetadataOnlyWatch =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
// Who we are in managedFields of objects that we change.
inline constexpr std::string_view kFieldManager = "tautline";

// The status for an answer: OK for 2xx; else the words of the server's Status object. 404 NotFound, 401
// Unauthenticated, 403 PermissionDenied, 409 Aborted (changed meanwhile), 410 OutOfRange (the version is too
// old: list again), 422 and 400 InvalidArgument, 429 and 503 Unavailable, but ResourceExhausted
// where a PodDisruptionBudget forbids an eviction (429), others Internal.
absl::Status ApiStatus(const HttpResponse& response);

}  // namespace taut::server
