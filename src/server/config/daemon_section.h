// Sections of the daemon's configuration. Each file X_config.cc contains the rows for the structs of X_config.h.
// Internal to src/server/config/.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "server/config/address_field.h"
#include "server/config/daemon_config.h"

namespace taut::server {

struct DaemonSection {
  std::span<const DaemonSetting> rows;
  // Checks values against each other. Returns InvalidArgument without the file's name. Null: the section has
  // no such check.
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
// Returns all sections in the order of docs/reference/configuration.md, including the daemon's own.
std::span<const DaemonSection> DaemonSections();

constexpr double kYearSeconds = 365 * brain::kDay;
}  // namespace taut::server

// Value of DaemonSetting::field for a member path in DaemonConfig.
#define TAUT_DAEMON_FIELD(name) +[](DaemonConfig& c) -> FieldRef { return &c.name; }
#define TAUT_DAEMON_ADDRESSES(name) +[](DaemonConfig& c) { return AddressesOf(&c.name); }
// Value of DaemonSetting::field for a member with named values; `names` is an array of EnumName.
#define TAUT_DAEMON_CHOICE(names, name) +[](DaemonConfig& c) { return ChoiceOf<names>(&c.name); }
