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
#include "server/control/component.h"
#include "server/pool/admission_server.h"

namespace taut::server {

class QuotaGrpcComponent final : public Component {
 public:
  // Returns the HTTP server's options as they are in force: whose tokens and roles count.
  using ServerFn = std::function<ServerOptions()>;
  // `context`, and what the functions need, outlive it.
  QuotaGrpcComponent(QuotaGrpcConfig config, ServerFn server,
                     std::function<HttpResponse(const HttpRequest&)> handle, const DaemonContext& context)
      : config_(std::move(config)),
        server_(std::move(server)),
        handle_(std::move(handle)),
        context_(context) {}

  std::string_view name() const override { return "quota.grpc"; }
  // Its handler answers.
  std::span<const std::string_view> after() const override;
  // Errors as AdmissionServer, with the section's name.
  absl::Status Start() override;
  // Takes over the server's tokens, for calls from now on. If what is in the TLS files has changed, the port is
  // closed and opened again: calls that have not ended a second later are cancelled. Addresses stay.
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
  // Of calls from now on.
  void SetAccess(const ServerOptions& server, const std::string& client_ca_file);
  // True: the port was opened again. Not OK: certificates are as before, unless the error says that the port is
  // closed.
  absl::StatusOr<bool> TakeFiles(const QuotaGrpcConfig& config);
  absl::Status Open(const AdmissionServerOptions& options);
  HttpResponse Answer(HttpRequest request, const std::optional<std::string>& certificate_name) const;

  QuotaGrpcConfig config_;
  const ServerFn server_;
  const std::function<HttpResponse(const HttpRequest&)> handle_;
  const DaemonContext& context_;
  std::string tls_;           // what was in the files
  mutable std::mutex mutex_;  // over what follows
  std::shared_ptr<const Access> access_;
  std::shared_ptr<AdmissionServer> grpc_;
  AdmissionServerCounts ended_;  // of the servers before it
};

}  // namespace taut::server
