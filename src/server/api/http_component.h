// The daemon's component for its HTTP server: the API, access control and sign-in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/net/http_server.h"
#include "server/api/routes.h"
#include "server/auth/oidc_setup.h"
#include "server/control/component.h"

namespace taut::server {

class HttpComponent final : public Component {
 public:
  struct Options {
    const DaemonConfig& config;  // running configuration, which must outlive the component
    std::string config_path;     // path of the configuration file; "" if there is none
    std::string version;
    int64_t started_s = 0;
  };
  // `context` and the objects in `parts` must outlive the component.
  HttpComponent(Options options, ApiParts parts, const DaemonContext& context);
  ~HttpComponent() override;

  std::string_view name() const override { return "http"; }
  // Returns the components that the API shows, and which must therefore start first.
  std::span<const std::string_view> after() const override;
  // Opens the port. Returns InvalidArgument or NotFound if a file or setting of access control is invalid, and
  // Unavailable if an address is in use.
  absl::Status Start() override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Ends event streams, waits for current requests, and stops the server.
  void Stop() override;
  // Returns the current options, which include access control. Call this and the functions below after Start()
  // only.
  const ServerOptions& options() const { return server_options_; }
  uint16_t port() const { return server_->port(); }
  // Returns the URL of the pages, such as "http://127.0.0.1:7070/".
  std::string url() const;

 private:
  absl::StatusOr<ServerOptions> OpenServer();
  // Returns `config` with the verifiers of OpenID Connect, without which a reload would disable sign-in.
  ServerConfig WithSignIn(ServerConfig config) const;
  absl::StatusOr<AboutDaemon> About() const;
  absl::Status MakeRouter();
  absl::Status TakeAccess(Reloading& reload);

  const Options options_;
  const DaemonContext& context_;
  AuditLog audit_;
  ServerOptions server_options_;
  OidcParts oidc_;
  std::unique_ptr<ReplicaWatch> replica_watch_;  // watch of replicas; null if tautd watches a cluster
  ApiParts api_;
  std::unique_ptr<FleetAccess> access_;
  std::unique_ptr<EventStreams> events_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace taut::server
