// tautd's quota from its settings: the file, the log of requests beside the store, and what is due.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/daemon_config.h"
#include "server/control/fleet_view.h"
#include "server/kubernetes/act/quota_writer.h"
#include "server/pool/quota_desk.h"
#include "server/store/request_log.h"

namespace taut::tools {

// The log of this name beside the store; in memory for the store "memory".
absl::StatusOr<std::unique_ptr<server::RequestLog>> OpenRequestLog(const std::string& store_path,
                                                                   std::string_view suffix);

// The quota of a file. InvalidArgument or NotFound with every error, a line each. `warnings`: sentences.
absl::StatusOr<brain::QuotaSpec> ReadQuota(const server::QuotaConfig& config,
                                           std::vector<std::string>& warnings);

// As CheckBoundGroups, by the quota file of `quota` and the businesses of the budgets file, which are bound as
// "business:NAME". Errors as that, as ReadQuota and as ReadBudgetFile.
absl::Status CheckBindings(const server::ServerConfig& server, const ServerOptions& options,
                           const server::QuotaConfig& quota, const server::BudgetsConfig& budgets);

// What pods of the namespaces that are groups may request in all, in the default tier: what is in use of it
// and what is available. nullopt: not known, no window has closed yet.
std::optional<std::vector<server::NamespaceQuota>> NamespaceQuotasOf(const server::QuotaView& view);

class QuotaRun {
 public:
  // REQUIRES: config.file is not empty. `store_path`: "memory", or the store that the log is beside. `held`: as
  // RequestBookOptions. Errors as ReadQuota, or of the log.
  struct Parts {
    std::string store_path;
    int keep_days = 90;
    std::function<Timestamp()> now;
    std::function<std::string()> doubt;  // as QuotaDesk::Options
    std::function<std::string(std::string_view)> held;
  };
  static absl::StatusOr<std::unique_ptr<QuotaRun>> Open(const server::QuotaConfig& config, Parts parts);

  server::QuotaDesk* desk() { return desk_.get(); }
  // From the loop: what is due by the time, at most once a second. Failures are logged once.
  void Step(double steady_s);
  // Writes what was in use by the hour, and which jobs count, into "STORE.quota". Failures are logged once.
  void Save();
  // Another file or other rules. Not OK: all stays as it was.
  absl::Status Reload(const server::QuotaConfig& config, const server::FleetView& view);

 private:
  QuotaRun() = default;

  std::unique_ptr<server::RequestLog> log_;
  std::unique_ptr<server::QuotaDesk> desk_;
  void Load();

  std::string history_file_;  // "": none
  double next_s_ = 0;
  std::optional<Timestamp> saved_measured_;  // QuotaDesk::measured_at, likewise
  std::optional<Timestamp> saved_gap_;       // QuotaDesk::settled_at of the file
  std::optional<double> saved_s_;            // absent: not since the start
  std::string said_, said_of_file_;          // the failures that were logged last
};

}  // namespace taut::tools
