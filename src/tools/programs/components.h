// The components of tautd, in the order in which they start.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "server/api/http_component.h"
#include "server/connectors/external_component.h"
#include "server/control/component.h"
#include "server/control/past/backfill_component.h"

namespace taut::tools {

// The components, and pointers to some of them, which the list owns. A pointer is null if the configuration
// does not enable the component.
struct Components {
  server::ComponentList list;
  server::KubernetesComponent* cluster = nullptr;
  server::ExternalComponent* external = nullptr;
  server::BudgetComponent* budgets = nullptr;
  server::BackfillComponent* backfill = nullptr;
  server::HttpComponent* http = nullptr;
};

// Values that components need from the daemon, in addition to the context.
struct DaemonHooks {
  std::string config_path;  // "" without a configuration file
  int64_t started_s = 0;
  server::DaemonClock* clock = nullptr;  // the daemon's clock, which an operator may confirm
  // Calls ControlPlane::Tick for the past, and runs the components' work before and after the pass.
  std::function<absl::Status(Timestamp through)> tick_past;
};

// Creates the components of a configuration without starting them. `context`, `history` and `out` must
// outlive the components. Returns errors of the settings, or of files that the settings name.
absl::Status MakeComponents(const server::DaemonConfig& config, const server::DaemonContext& context,
                            server::History* history, const DaemonHooks& hooks, Components& out);

// Checks the components' settings for --check-config, including the files that they name. Appends sentences
// to `warnings`.
absl::Status CheckComponents(const server::DaemonConfig& config, std::vector<std::string>& warnings);

}  // namespace taut::tools
