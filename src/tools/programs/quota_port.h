// The gRPC port of requests for quota: the tokens of the HTTP server, and the API's handler behind it. It can be
// opened again with other certificates.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/net/access.h"
#include "server/config/daemon_config.h"
#include "server/pool/admission_server.h"

namespace taut::tools {

// Reload and Stop: one thread. The others: any.
class QuotaPort {
 public:
  // `server`: whose tokens and roles count. `handle` must outlive this. Errors as AdmissionServer, with the
  // section's name.
  static absl::StatusOr<std::unique_ptr<QuotaPort>> Start(
      const server::QuotaGrpcConfig& config, const ServerOptions& server,
      std::function<HttpResponse(const HttpRequest&)> handle);
  ~QuotaPort() { Stop(); }

  // Takes over the tokens of `server`, for calls from now on. If what is in the TLS files that `config` names has
  // changed, the port is closed and opened again: calls that have not ended a second later are cancelled. True:
  // so it was. Not OK: certificates are as before, unless the error says that the port is closed. Addresses
  // stay.
  absl::StatusOr<bool> Reload(const server::QuotaGrpcConfig& config, const ServerOptions& server);
  int port() const { return Current()->port(); }
  server::AdmissionServerCounts counts() const;  // since the start, whatever was opened again
  void Stop() {
    if (const std::shared_ptr<server::AdmissionServer> grpc = Current(); grpc != nullptr) grpc->Stop();
  }

 private:
  QuotaPort(server::QuotaGrpcConfig config, std::function<HttpResponse(const HttpRequest&)> handle);
  std::shared_ptr<server::AdmissionServer> Current() const {
    const std::lock_guard lock(mutex_);
    return grpc_;
  }
  // Of calls from now on.
  void SetAccess(const ServerOptions& server, const std::string& client_ca_file);
  absl::Status Open(const server::AdmissionServerOptions& options);
  HttpResponse Answer(HttpRequest request, const std::optional<std::string>& certificate_name) const;

  server::QuotaGrpcConfig config_;
  std::string tls_;  // what was in the files
  const std::function<HttpResponse(const HttpRequest&)> handle_;
  mutable std::mutex mutex_;  // over what follows
  std::shared_ptr<const Access> access_;
  std::shared_ptr<server::AdmissionServer> grpc_;
  server::AdmissionServerCounts ended_;  // of the servers before it
};

}  // namespace taut::tools
