// The daemon's quota: the file, the log of requests beside the store, and what is due.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/pool/quota_service.h"
#include "server/store/request_log.h"

namespace taut::server {

// The log of this name beside the store; in memory for the store "memory".
absl::StatusOr<std::unique_ptr<RequestLog>> OpenRequestLog(const std::string& store_path,
                                                           std::string_view suffix);

// The quota of a file. InvalidArgument or NotFound with every error, a line each. `warnings`: sentences.
absl::StatusOr<brain::QuotaSpec> ReadQuota(const QuotaConfig& config, std::vector<std::string>& warnings);

// As CheckBoundGroups, by the quota file of `quota` and the businesses of the budgets file, which are bound as
// "business:NAME". Errors as that, as ReadQuota and as ReadBudgetFile.
absl::Status CheckBindings(const ServerConfig& server, const ServerOptions& options, const QuotaConfig& quota,
                           const BudgetsConfig& budgets);

class QuotaComponent final : public Component {
 public:
  struct Options {
    QuotaConfig config;  // with a file
    int keep_days = 90;
    // As QuotaRequestsOptions.
    std::function<std::string(std::string_view)> held;
  };
  // `context` outlives it.
  QuotaComponent(Options options, const DaemonContext& context);

  std::string_view name() const override { return "quota"; }
  // Null before Start.
  QuotaService* service() { return service_.get(); }
  const QuotaService* service() const { return service_.get(); }
  // Errors as ReadQuota, or of the log.
  absl::Status Start() override;
  // What is due by the time, at most once a second. Failures are logged once.
  void Tick(const LoopTurn& turn) override;
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  // Writes what was in use by the hour, and which jobs count, into "STORE.quota". Failures are logged once.
  void Save() override;

 private:
  void Load();
  void SayChange(const brain::QuotaRequest& request) const;
  void SaveIfDue(double steady_s);
  absl::Status TakeFile(const QuotaConfig& config);

  const Options options_;
  const DaemonContext& context_;
  const std::string history_file_;  // "": none
  std::unique_ptr<RequestLog> log_;
  std::unique_ptr<QuotaService> service_;
  double next_s_ = 0;
  QuotaService::Times saved_;        // of the file
  std::optional<double> saved_s_;    // absent: not since the start
  std::string said_, said_of_file_;  // the failures that were logged last
};

}  // namespace taut::server
