// The component of the gRPC port for requests for quota, which uses the tokens of the HTTP server and reopens the
// port when certificates change.
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
#include "server/pool/quota_component.h"

namespace taut::server {

class QuotaGrpcComponent final : public Component {
 public:
  // Returns the current options of the HTTP server, whose tokens and roles also apply to the gRPC port.
  using ServerFn = std::function<ServerOptions()>;
  // `quota`, `context`, and the objects that `server` uses must outlive this object.
  QuotaGrpcComponent(QuotaGrpcConfig config, ServerFn server, QuotaComponent& quota,
                     const DaemonContext& context);

  std::string_view name() const override { return "quota.grpc"; }
  // Returns the components that must start first: the quota component, whose service decides, and the HTTP server,
  // which reads the tokens.
  std::span<const std::string_view> after() const override;
  // Opens the port. Returns errors of AdmissionServer, which start with the name of the configuration's section.
  absl::Status Start() override;
  // Applies new tokens of the HTTP server to later calls. If the TLS files have changed, closes and reopens the
  // port, which cancels calls that take longer than a second. Addresses do not change.
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
  // Reopens the port if the TLS files have changed. Returns true if the port was reopened. After an error the
  // certificates are unchanged, unless the error states that the port is closed.
  absl::StatusOr<bool> TakeFiles(const QuotaGrpcConfig& config);
  absl::Status Open(const AdmissionServerOptions& options);
  absl::Status Identify(HttpRequest& caller, const std::optional<std::string>& certificate_name) const;

  QuotaGrpcConfig config_;
  const ServerFn server_;
  QuotaComponent& quota_;
  const DaemonContext& context_;
  AuditLog audit_;
  std::string tls_;           // contents of the TLS files
  mutable std::mutex mutex_;  // lock for the members below
  std::shared_ptr<const Access> access_;
  std::shared_ptr<AdmissionServer> grpc_;
  AdmissionServerCounts ended_;  // counts of the servers before the last reopening
};

}  // namespace taut::server
