// Configuration of tautd, in one YAML file. Every value has a default, and the file is optional.
// docs/reference/configuration.md is generated from the rows of settings (daemon_section.h);
// docs/tautd.example.yaml is an example.
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

// Actuators that apply limits; kDryRun cannot be combined with others.
enum class ActuatorKind : uint8_t { kDryRun, kAgents, kKubernetes };

struct StoreConfig {
  std::string path = "tautd.db";  // path of the store; "memory": all data are lost when the daemon stops
  int history_days = 30;          // retention of usage in days
  int decision_days = 90;
  int checkpoint_windows = 6;
  int forget_jobs_days = 30;
};

// Settings of the log, which tautd writes to standard error.
struct LogConfig {
  std::string level = "info", format = "text";
};

// Name of this cell, and links to other cells: "NAME=URL".
struct CellConfig {
  std::string name;
  std::vector<std::string> links;
};
// Parses name and URL of a link. Returns InvalidArgument unless the URL is http or https, because a browser opens
// it.
absl::StatusOr<std::pair<std::string, std::string>> ParseCellLink(std::string_view link);

struct DaemonConfig {
  std::string compatibility;  // version whose defaults apply; "": the program's version
  CellConfig cell;
  ServerConfig server;
  ClockSource clock = ClockSource::kWall;
  int clock_wait_s = 600;  // maximum wait for confirmation of a clock far ahead of stored data; 0: none
  StoreConfig store;
  IngestConfig ingest;
  BackfillConfig backfill;
  MachineSize machine;
  PricesConfig prices;
  QuotaConfig quota;
  BudgetsConfig budgets;
  MachinesConfig machines;
  brain::PolicyRules rules;  // rules of the file, and the default settings of jobs
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
  // One notice per old key, such as "tautd.yaml:3: store.history_days is now store.history; ...".
  SettingNotices notices;

  // Returns true if this kind of actuator sets limits.
  bool SetsThrough(ActuatorKind kind) const { return std::ranges::find(actuators, kind) != actuators.end(); }
};

// Parses a configuration file. A missing value has the default of the version in `compatibility`.
// Returns InvalidArgument "file:line: ..." for an unknown key (with the nearest known key), a repeated key, or an
// invalid value (with the valid values).
absl::StatusOr<DaemonConfig> ParseDaemonConfig(std::string_view yaml, std::string_view name,
                                               std::span<const ChangedDefault> changes = ChangedDefaults());
// Reads and parses the file. Returns NotFound if the file cannot be read, else the errors of ParseDaemonConfig.
absl::StatusOr<DaemonConfig> ReadDaemonConfig(const std::string& path);

// Returns the mapping rules of the file at `path`; for "", the built-in rules. Returns the errors of
// ReadDaemonConfig.
absl::StatusOr<std::vector<MappingRule>> ReadMappingRules(const std::string& path);

// A single value of the file. Lists of rules, and settings of jobs and recommenders, have separate tables.
using DaemonSetting = SettingRow<DaemonConfig>;
std::span<const DaemonSetting> DaemonSettingsTable();
// Returns the keys whose values differ, among the rows of settings and the list of mapping rules
// ("ingest.mapping").
std::vector<std::string> ChangedKeys(const DaemonConfig& before, const DaemonConfig& after);
// Returns the rows of a section that can be reloaded. For the section "quota", only keys with one dot
// ("quota.file").
std::vector<const DaemonSetting*> ReloadableOf(std::string_view section);
// Copies the values of these rows from `next` to `running`.
void TakeReloadable(std::string_view section, const DaemonConfig& next, DaemonConfig& running);

// Returns the text of docs/reference/configuration.md.
std::string DaemonSettingsMarkdown();

}  // namespace taut::server
