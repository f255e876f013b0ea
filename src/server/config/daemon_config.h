// All configuration of tautd, in one YAML file; every value has a default, and no file at all is fine.
// docs/reference/configuration.md is made from its rows (daemon_section.h); docs/tautd.example.yaml is an example.
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

// Who carries the daemon's limits out. kDryRun stands alone.
enum class ActuatorKind : uint8_t { kDryRun, kAgents, kKubernetes };

struct StoreConfig {
  std::string path = "tautd.db";  // "memory": nothing outlives the daemon
  int history_days = 30;          // of usage
  int decision_days = 90;
  int checkpoint_windows = 6;
  int forget_jobs_days = 30;
};

// The log on standard error.
struct LogConfig {
  std::string level = "info", format = "text";
};

// What this cell is called, for people, and where others are: "NAME=URL".
struct CellConfig {
  std::string name;
  std::vector<std::string> links;
};
// NAME and URL of a link, which is http or https: a browser goes there. The error says what is wanted.
absl::StatusOr<std::pair<std::string, std::string>> ParseCellLink(std::string_view link);

struct DaemonConfig {
  std::string compatibility;  // the version whose defaults hold; "": this program's
  CellConfig cell;
  ServerConfig server;
  ClockSource clock = ClockSource::kWall;
  int clock_wait_s = 600;  // of a start far beyond the stored data, until the clock is believed; 0: none
  StoreConfig store;
  IngestConfig ingest;
  BackfillConfig backfill;
  MachineSize machine;
  PricesConfig prices;
  QuotaConfig quota;
  BudgetsConfig budgets;
  MachinesConfig machines;
  brain::PolicyRules rules;  // with the defaults of jobs
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
  SettingNotices notices;  // of old keys: "tautd.yaml:3: store.history_days is now store.history; ..."

  // Whether limits are set by this kind of actuator.
  bool SetsThrough(ActuatorKind kind) const { return std::ranges::find(actuators, kind) != actuators.end(); }
};

// InvalidArgument "file:line: ..." for a key that does not exist (with the nearest one that does), one that
// is there twice, or a value that cannot be (with what can).
// Values that it does not set have the defaults of its `compatibility`.
absl::StatusOr<DaemonConfig> ParseDaemonConfig(std::string_view yaml, std::string_view name,
                                               std::span<const ChangedDefault> changes = ChangedDefaults());
// NotFound if the file cannot be read; else as ParseDaemonConfig.
absl::StatusOr<DaemonConfig> ReadDaemonConfig(const std::string& path);

// Those of the file at `path`; of "" the built-in ones. Errors as ReadDaemonConfig.
absl::StatusOr<std::vector<MappingRule>> ReadMappingRules(const std::string& path);

// One plain value of the file; lists of rules and the settings of jobs and recommenders have tables of their
// own.
using DaemonSetting = SettingRow<DaemonConfig>;
std::span<const DaemonSetting> DaemonSettingsTable();
// Keys whose values differ, of the table and of the lists of rules ("ingest.mapping").
std::vector<std::string> ChangedKeys(const DaemonConfig& before, const DaemonConfig& after);
// Rows that reload, of one section: those of "quota" have no further dot ("quota.file").
std::vector<const DaemonSetting*> ReloadableOf(std::string_view section);
// Copies their values from `next` to `running`.
void TakeReloadable(std::string_view section, const DaemonConfig& next, DaemonConfig& running);

// docs/reference/configuration.md.
std::string DaemonSettingsMarkdown();

}  // namespace taut::server
