// The gRPC port for requests for quota: tokens of the HTTP server, and the API's handler. It can be reopened
// with other certificates.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/net/access.h"
#include "server/control/component.h"
#include "server/pool/admission_server.h"

namespace taut::server {

class QuotaGrpcComponent final : public Component {
 public:
  // Returns the HTTP server's options in force, whose tokens and roles apply.
  using ServerFn = std::function<ServerOptions()>;
  // `context`, and everything that the functions use, outlive this object.
  QuotaGrpcComponent(QuotaGrpcConfig config, ServerFn server,
                     std::function<HttpResponse(const HttpRequest&)> handle, const DaemonContext& context)
      : config_(std::move(config)),
        server_(std::move(server)),
        handle_(std::move(handle)),
        context_(context) {}

  std::string_view name() const override { return "quota.grpc"; }
  // Starts after the HTTP server, whose handler it uses.
  std::span<const std::string_view> after() const override;
  // Errors of AdmissionServer, which begin with the section's name.
  absl::Status Start() override;
  // Applies the server's new tokens to later calls. If the TLS files have changed, the port is closed and
  // opened again, and calls that run longer than a second are cancelled. Addresses do not change.
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  void Stop() override {
    if (const std::shared_ptr<AdmissionServer> grpc = Current(); grpc != nullptr) grpc->Stop();
  }
  int port() const { return Current()->port(); }

 private:
  std::shared_ptr<AdmissionServer> Current() const {
    const std::lock_guard lock(mutex_);
    return grpc_;
  }
  // Sets the access rules of later calls.
  void SetAccess(const ServerOptions& server, const std::string& client_ca_file);
  // Returns true if the port was reopened. On an error, the certificates are unchanged, unless the error
  // reports that the port is closed.
  absl::StatusOr<bool> TakeFiles(const QuotaGrpcConfig& config);
  absl::Status Open(const AdmissionServerOptions& options);
  HttpResponse Answer(HttpRequest request, const std::optional<std::string>& certificate_name) const;

  QuotaGrpcConfig config_;
  const ServerFn server_;
  const std::function<HttpResponse(const HttpRequest&)> handle_;
  const DaemonContext& context_;
  std::string tls_;           // contents of the TLS files
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<const Access> access_;
  std::shared_ptr<AdmissionServer> grpc_;
  AdmissionServerCounts ended_;  // counts of previous servers
};

}  // namespace taut::server
