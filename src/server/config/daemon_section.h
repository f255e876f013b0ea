// The sections of the daemon's configuration: each file X_config.cc has the rows of its structs. For this room's
// .cc files.
#pragma once

#include <span>

#include "absl/status/status.h"
#include "server/config/address_field.h"
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
}  // namespace taut::server

// DaemonSetting::field of a path below DaemonConfig.
#define TAUT_DAEMON_FIELD(name) +[](DaemonConfig& c) -> FieldRef { return &c.name; }
#define TAUT_DAEMON_ADDRESSES(name) +[](DaemonConfig& c) { return AddressesOf(&c.name); }
// Of a value with names, an array of EnumName.
#define TAUT_DAEMON_CHOICE(names, name) +[](DaemonConfig& c) { return ChoiceOf<names>(&c.name); }
