// The daemon's quota: its file, the log of requests and the history in the store, and periodic work.
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

// Returns the quota of a file. InvalidArgument or NotFound with all errors, one per line. `warnings`:
// sentences.
absl::StatusOr<brain::QuotaSpec> ReadQuota(const QuotaConfig& config, std::vector<std::string>& warnings);

// Calls CheckBoundGroups with the groups of the quota file and the businesses of the budgets file, which are
// bound as "business:NAME". Errors of that, of ReadQuota and of ReadBudgetFile.
absl::Status CheckBindings(const ServerConfig& server, const ServerOptions& options, const QuotaConfig& quota,
                           const BudgetsConfig& budgets);

class QuotaComponent final : public Component {
 public:
  struct Options {
    QuotaConfig config;  // must have a file
    int keep_days = 90;
    // As in QuotaRequestsOptions.
    std::function<std::string(std::string_view)> held;
  };
  // `context` outlives this object.
  QuotaComponent(Options options, const DaemonContext& context);

  std::string_view name() const override { return "quota"; }
  // Null before Start.
  QuotaService* service() { return service_.get(); }
  const QuotaService* service() const { return service_.get(); }
  // Errors as ReadQuota, or of the log.
  absl::Status Start() override;
  // Calls QuotaService::Step, at most once a second. Logs each failure once.
  void Tick(const LoopTurn& turn) override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Saves the use by hour, and which jobs count. Logs each failure once.
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
  QuotaService::Times saved_;      // times of the saved state
  std::optional<double> saved_s_;  // absent: not saved since the start
  std::string said_;               // last failure that was logged
};

}  // namespace taut::server
