// Configuration of tautlet, in one YAML file. docs/reference/configuration.md is generated from the tables in
// agent_config.cc; docs/agent/install.md has an example.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/settings/setting_row.h"
#include "node/agent/limit_mover.h"
#include "node/agent/probe_selection.h"
#include "node/agent/task_rule.h"
#include "node/agent/tier_options.h"
#include "server/config/changed_defaults.h"

namespace taut::server {

struct AgentConfig {
  std::string compatibility;  // version whose defaults apply; "": the program's version
  std::string name;           // agent ID; "": the host name
  std::string host;           // value of {host} in task names; "": the host name
  std::string state = "/var/lib/tautlet";
  bool observe = false;
  int sample_ms = 1000;
  int64_t find_s = 5;
  double speed = 1;
  std::string cgroup_root;  // directory at or above the mounts of the used hierarchies; "": any mount
  std::string log_level = "info", log_format = "text";
  std::string docker_socket = "/var/run/docker.sock";
  // Connection to the daemon. daemon_address "": the agent runs standalone.
  std::string daemon_address, token_file, server_name;
  bool tls = false;
  std::string ca_file, certificate_file, key_file;
  size_t queue_bytes = size_t{32} << 20;
  node::MoverOptions moves;
  node::TierOptions tiers;
  node::ProbeSelection probe;
  std::vector<std::string> probe_tiers;  // names of the tiers in probe.tiers
  int64_t probe_interval_s = 6, probe_rest_s = 600;
  int64_t guard_after_s = 5, guard_settle_s = 5, guard_calm_s = 30;  // durations of tiers.guard
  int guard_ahead_ms = 1000;
  std::vector<node::TaskRule> tasks;
  // Notices, one per old key: "tautlet.yaml:3: sample_ms is now sample; write sample: 100ms".
  SettingNotices notices;
};

// Parses a configuration file. Returns InvalidArgument "file:line: ..." as ParseDaemonConfig does.
absl::StatusOr<AgentConfig> ParseAgentConfig(std::string_view yaml, std::string_view name,
                                             std::span<const ChangedDefault> changes = ChangedDefaults());
// Reads and parses the file. Returns NotFound if the file cannot be read, else the errors of ParseAgentConfig.
absl::StatusOr<AgentConfig> ReadAgentConfig(const std::string& path);

using AgentSetting = SettingRow<AgentConfig>;
std::span<const AgentSetting> AgentSettingsTable();
// A key of an item in the list `tasks`.
struct TaskRuleKey {
  std::string_view key, help;
};
std::span<const TaskRuleKey> TaskRuleKeys();
// Returns the keys of an item in `tiers.rules`.
std::span<const TaskRuleKey> TierRuleKeys();

}  // namespace taut::server
