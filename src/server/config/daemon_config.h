// Configuration of tautd, in one YAML file. Every value has a default, and the file is optional.
// docs/reference/configuration.md is generated from the rows (daemon_section.h); docs/tautd.example.yaml is
// an example.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/settings.h"
#include "brain/rollout/migration.h"
#include "brain/rollout/rules.h"
#include "common/base/clock_source.h"
#include "common/model/machine_size.h"
#include "common/settings/setting_row.h"
#include "server/config/agents_config.h"
#include "server/config/changed_defaults.h"
#include "server/config/connectors_config.h"
#include "server/config/ingest_config.h"
#include "server/config/kubernetes_config.h"
#include "server/config/pool_config.h"
#include "server/config/server_config.h"

namespace taut::server {

// Applies limits through these; kDryRun cannot be combined.
enum class ActuatorKind : uint8_t { kDryRun, kAgents, kKubernetes };

struct StoreConfig {
  std::string path = "tautd.db";  // "memory": lost when the daemon stops
  int history_days = 30;          // retention of usage
  int decision_days = 90;
  int checkpoint_windows = 6;
  int forget_jobs_days = 30;
};

// The log on standard error.
struct LogConfig {
  std::string level = "info", format = "text";
};

// Name of this cell, and links to others: "NAME=URL".
struct CellConfig {
  std::string name;
  std::vector<std::string> links;
};
// Parses name and URL of a link. The URL must be http or https, because a browser opens it; else
// InvalidArgument.
absl::StatusOr<std::pair<std::string, std::string>> ParseCellLink(std::string_view link);

struct DaemonConfig {
  std::string compatibility;  // version whose defaults apply; "": this program's
  CellConfig cell;
  ServerConfig server;
  ClockSource clock = ClockSource::kWall;
  int clock_wait_s = 600;  // delay of a start far beyond the stored data before the clock is trusted; 0: none
  StoreConfig store;
  IngestConfig ingest;
  BackfillConfig backfill;
  MachineSize machine;
  PricesConfig prices;
  QuotaConfig quota;
  BudgetsConfig budgets;
  MachinesConfig machines;
  brain::PolicyRules rules;  // includes the defaults of jobs
  brain::MigrationSettings migration;
  brain::VerticalSettings recommenders;
  std::vector<ActuatorKind> actuators = {ActuatorKind::kDryRun};
  AgentsConfig agents;
  ExternalScalerConfig external_scaler;
  QuotaGrpcConfig quota_grpc;
  ExternalRecommenderConfig external_recommender;
  LogConfig log;
  NotifyConfig notify;
  WebhookConfig webhook;
  KubernetesConfig kubernetes;
  SettingNotices notices;  // one per old key: "tautd.yaml:3: store.history_days is now store.history; ..."

  // Returns true if this kind of actuator sets limits.
  bool SetsThrough(ActuatorKind kind) const { return std::ranges::find(actuators, kind) != actuators.end(); }
};

// Parses a configuration file. Missing values have the defaults of its `compatibility`. InvalidArgument
// "file:line: ..." for an unknown key (with the nearest known one), a repeated key, or an invalid value (with
// the valid ones).
absl::StatusOr<DaemonConfig> ParseDaemonConfig(std::string_view yaml, std::string_view name,
                                               std::span<const ChangedDefault> changes = ChangedDefaults());
// Reads and parses the file. NotFound if it cannot be read; else as ParseDaemonConfig.
absl::StatusOr<DaemonConfig> ReadDaemonConfig(const std::string& path);

// Returns the mapping rules of the file at `path`; the built-in ones for "". Errors as ReadDaemonConfig.
absl::StatusOr<std::vector<MappingRule>> ReadMappingRules(const std::string& path);

// A plain value of the file. Lists of rules, and settings of jobs and recommenders, have tables of their own.
using DaemonSetting = SettingRow<DaemonConfig>;
std::span<const DaemonSetting> DaemonSettingsTable();
// Returns the keys with different values, of the table and of the list of mapping rules ("ingest.mapping").
std::vector<std::string> ChangedKeys(const DaemonConfig& before, const DaemonConfig& after);
// Returns the rows of one section that can be reloaded. Keys of "quota" have one dot ("quota.file").
std::vector<const DaemonSetting*> ReloadableOf(std::string_view section);
// Copies the values of these rows from `next` to `running`.
void TakeReloadable(std::string_view section, const DaemonConfig& next, DaemonConfig& running);

// Returns the text of docs/reference/configuration.md.
std::string DaemonSettingsMarkdown();

}  // namespace taut::server
