// The daemon's HTTP server: the API behind it, who may come, and how people sign in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/net/http_server.h"
#include "server/api/api.h"
#include "server/api/audit_log.h"
#include "server/auth/oidc_setup.h"
#include "server/control/component.h"
#include "server/kubernetes/watch/replica_watch.h"
#include "server/pool/capacity_run.h"

namespace taut::server {

class HttpRun final : public Component {
 public:
  // The components that the API shows; null are those that the daemon does not have. All outlive it.
  struct Parts {
    const ClusterRun* cluster = nullptr;
    const AgentsRun* agents = nullptr;
    const BackfillRun* backfill = nullptr;
    const LateHistory* late_history = nullptr;
    const PriceBook* price_book = nullptr;
    const LabelBudgets* label_budgets = nullptr;
    QuotaRun* quota = nullptr;
    BudgetRun* budgets = nullptr;
    MachinesRun* machines = nullptr;
    CapacityRun* capacity = nullptr;
  };
  struct Options {
    DaemonConfig config;
    std::string config_path;  // "" for none
    std::string version;
    int64_t started_s = 0;
    // As ApiOptions.
    std::function<bool()> confirm_clock;
    std::function<void(MetricsText&)> collect;
    std::function<std::vector<std::string>()> warnings;
  };
  // `context` outlives it.
  HttpRun(Options options, const Parts& parts, const DaemonContext& context);
  ~HttpRun() override;

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
  HttpResponse Handle(const HttpRequest& request) { return api_->Handle(request); }
  // Who may come, as it is in force.
  const ServerOptions& options() const { return server_options_; }
  uint16_t port() const { return server_->port(); }
  // "http://127.0.0.1:7070/".
  std::string url() const;

 private:
  absl::StatusOr<ServerOptions> OpenServer();
  absl::StatusOr<ApiOptions> ApiOptionsOf() const;
  absl::Status TakeAccess(Reloading& reload);

  Options options_;
  const Parts parts_;
  const DaemonContext& context_;
  AuditLog audit_;
  ServerOptions server_options_;
  OidcParts oidc_;
  std::unique_ptr<ReplicaWatch> replica_watch_;  // without a cluster
  std::unique_ptr<Api> api_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace taut::server
