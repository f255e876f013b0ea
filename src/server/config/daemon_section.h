// The sections of the daemon's configuration: each file X_config.cc has the rows of its structs. For this room's
// .cc files.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "server/config/daemon_config.h"

namespace taut::server {

struct DaemonSection {
  std::span<const DaemonSetting> rows;
  // InvalidArgument, without the file's name, if its values do not fit together or to others; null: all do.
  absl::Status (*check)(const DaemonConfig&) = nullptr;
};

DaemonSection ServerSection();
DaemonSection IngestSection();
DaemonSection PoolSection();
DaemonSection WebhookSection();
DaemonSection KubernetesSection();
DaemonSection AgentsSection();
DaemonSection ExternalSection();
DaemonSection NotifySection();
// In the order of docs/reference/configuration.md, with those of the daemon itself.
std::span<const DaemonSection> DaemonSections();

constexpr double kYearSeconds = 365 * brain::kDay;
constexpr bool kReloads = true;  // DaemonSetting::reloads

}  // namespace taut::server

// DaemonSetting::field of a path below DaemonConfig.
#define TAUT_DAEMON_FIELD(name) +[](DaemonConfig& c) -> ConfigField { return &c.name; }
