// The component of the quota service, which reads the quota file, stores the log of requests and the history, and
// runs periodic work.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/control/kept_state.h"
#include "server/pool/quota_service.h"

namespace taut::server {

// Returns the quota in the file. Returns InvalidArgument or NotFound with all errors, one per line. Sets
// `warnings` to sentences about the quota.
absl::StatusOr<brain::QuotaSpec> ReadQuota(const QuotaConfig& config, std::vector<std::string>& warnings);

// Calls CheckBoundGroups() with the groups of the quota file and the businesses of the budgets file, which
// bindings name as "business:NAME". Returns errors of CheckBoundGroups(), ReadQuota() and ReadBudgetFile().
absl::Status CheckBindings(const ServerConfig& server, const ServerOptions& options, const QuotaConfig& quota,
                           const BudgetsConfig& budgets);

class QuotaComponent final : public Component {
 public:
  struct Options {
    QuotaConfig config;  // settings, in which `file` is not empty
    int keep_days = 90;
    // Returns the reason why a group may not start tasks now (see QuotaRequestsOptions::held).
    std::function<std::string(std::string_view)> held;
  };
  // `context` must outlive this object.
  QuotaComponent(Options options, const DaemonContext& context);

  std::string_view name() const override { return "quota"; }
  // Returns the service; null before Start().
  QuotaService* service() { return service_.get(); }
  const QuotaService* service() const { return service_.get(); }
  // Starts the service. Returns errors of ReadQuota() and of the log.
  absl::Status Start() override;
  // Calls QuotaService::Step() at most once a second. Logs each failure once.
  void Tick(const LoopTurn& turn) override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Saves the hourly use, and the jobs whose use is kept after a gap. Logs each failure once.
  void Save() override;

 private:
  void Load();
  void SayChange(const brain::QuotaRequest& request) const;
  void SaveIfDue(double steady_s);
  absl::Status TakeFile(const QuotaConfig& config);

  const Options options_;
  const DaemonContext& context_;
  KeptState history_;
  std::unique_ptr<QuotaService> service_;
  double next_s_ = 0;
  QuotaService::Times saved_;      // QuotaService::times() at the last save
  std::optional<double> saved_s_;  // steady time of the last save; absent: none since the start
  std::string said_;               // last failure that was logged
};

}  // namespace taut::server
