// The components that tautd runs beside its pass, in the order in which they start.
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

// Components and pointers to some of them, owned by the list. Null: the configuration does not enable the
// component.
struct Components {
  server::ComponentList list;
  server::KubernetesComponent* cluster = nullptr;
  server::ExternalComponent* external = nullptr;
  server::BudgetComponent* budgets = nullptr;
  server::BackfillComponent* backfill = nullptr;
  server::HttpComponent* http = nullptr;
};

// Values that components need from the daemon, beyond the context.
struct DaemonHooks {
  std::string config_path;  // "" without a file
  int64_t started_s = 0;
  server::DaemonClock* clock = nullptr;  // the clock, which an operator may confirm
  // Calls ControlPlane::Tick for the past, with the work that is due around a pass.
  std::function<absl::Status(Timestamp through)> tick_past;
};

// Creates the components of a configuration without starting them. `context`, `history` and `out` must outlive
// them. Returns errors of the settings, or of files that they name.
absl::Status MakeComponents(const server::DaemonConfig& config, const server::DaemonContext& context,
                            server::History* history, const DaemonHooks& hooks, Components& out);

// Checks the parts for --check-config, beyond the file itself. Appends sentences to `warnings`.
absl::Status CheckComponents(const server::DaemonConfig& config, std::vector<std::string>& warnings);

}  // namespace taut::tools
