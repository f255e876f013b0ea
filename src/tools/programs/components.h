// The list of what tautd runs beside its pass, in the order of starts.
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

// Pointers are to components of the list; null are those that the configuration does not ask for.
struct Components {
  server::ComponentList list;
  server::KubernetesComponent* cluster = nullptr;
  server::ExternalComponent* external = nullptr;
  server::BudgetComponent* budgets = nullptr;
  server::BackfillComponent* backfill = nullptr;
  server::HttpComponent* http = nullptr;
};

// What components ask of the daemon, beyond the context.
struct DaemonHooks {
  std::string config_path;  // "" for none
  int64_t started_s = 0;
  server::DaemonClock* clock = nullptr;  // which an operator may confirm
  // ControlPlane::Tick of the past, and what else is due meanwhile.
  std::function<absl::Status(Timestamp through)> tick_past;
};

// Makes the components of a configuration; nothing is started. `context`, `history` and `out` outlive them. Errors
// are of the settings, or of files that they name.
absl::Status MakeComponents(const server::DaemonConfig& config, const server::DaemonContext& context,
                            server::History* history, const DaemonHooks& hooks, Components& out);

// What --check-config checks of the parts, beyond the file itself. `warnings`: sentences.
absl::Status CheckComponents(const server::DaemonConfig& config, std::vector<std::string>& warnings);

}  // namespace taut::tools
