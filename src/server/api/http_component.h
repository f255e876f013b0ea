// The daemon's HTTP server: the API behind it, who may come, and how people sign in.
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
    const DaemonConfig& config;  // the running one, which outlives it
    std::string config_path;     // "" for none
    std::string version;
    int64_t started_s = 0;
  };
  // `context` and what `parts` point at outlive it.
  HttpComponent(Options options, ApiParts parts, const DaemonContext& context);
  ~HttpComponent() override;

  std::string_view name() const override { return "http"; }
  // What they hold is shown.
  std::span<const std::string_view> after() const override;
  // Listens. InvalidArgument or NotFound: a file or a setting of who may come; Unavailable: an address is taken.
  absl::Status Start() override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Lets requests in flight finish.
  void Stop() override;
  // The rest is for after Start. Answers as the server does.
  HttpResponse Handle(const HttpRequest& request) { return router_->Handle(request); }
  // Who may come, as it is in force.
  const ServerOptions& options() const { return server_options_; }
  uint16_t port() const { return server_->port(); }
  // "http://127.0.0.1:7070/".
  std::string url() const;

 private:
  absl::StatusOr<ServerOptions> OpenServer();
  // `config` with the checks of OpenID Connect, which have no keys.
  ServerConfig WithSignIn(ServerConfig config) const;
  absl::StatusOr<AboutDaemon> About() const;
  absl::Status MakeRouter();
  absl::Status TakeAccess(Reloading& reload);

  const Options options_;
  const DaemonContext& context_;
  AuditLog audit_;
  ServerOptions server_options_;
  OidcParts oidc_;
  std::unique_ptr<ReplicaWatch> replica_watch_;  // without a cluster
  ApiParts api_;
  std::unique_ptr<FleetAccess> access_;
  std::unique_ptr<EventStreams> events_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace taut::server
