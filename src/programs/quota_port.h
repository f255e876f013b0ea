// The gRPC port of requests for quota: the tokens of the HTTP server, and the API's handler behind it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "config/daemon_config.h"
#include "net/access.h"
#include "wire/admission_server.h"

namespace taut {

class QuotaPort {
 public:
  // `server`: whose tokens and roles count. `handle` must outlive this. Errors as AdmissionServer, with the
  // section's name.
  static absl::StatusOr<std::unique_ptr<QuotaPort>> Start(
      const QuotaGrpcConfig& config, const ServerOptions& server,
      std::function<HttpResponse(const HttpRequest&)> handle);
  ~QuotaPort() { Stop(); }

  // Takes over the tokens of `server`, for calls from now on. False: the TLS files are not those of the start any
  // more, which only a restart takes over.
  bool Reload(const QuotaGrpcConfig& config, const ServerOptions& server);
  int port() const { return grpc_->port(); }
  AdmissionServerCounts counts() const { return grpc_->counts(); }
  void Stop() {
    if (grpc_ != nullptr) grpc_->Stop();
  }

 private:
  QuotaPort(std::string client_ca_file, std::function<HttpResponse(const HttpRequest&)> handle);
  HttpResponse Answer(HttpRequest request, const std::optional<std::string>& certificate_name) const;

  const std::string client_ca_file_;
  std::string tls_;  // what was in the files at the start
  const std::function<HttpResponse(const HttpRequest&)> handle_;
  mutable std::mutex mutex_;  // over access_
  std::shared_ptr<const Access> access_;
  std::unique_ptr<AdmissionServer> grpc_;
};

}  // namespace taut
