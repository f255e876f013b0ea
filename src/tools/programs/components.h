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

// The components in start order, and pointers to some of them. `list` owns the components. A pointer is null if
// the configuration does not enable the component.
struct Components {
  server::ComponentList list;
  server::KubernetesComponent* cluster = nullptr;
  server::ExternalComponent* external = nullptr;
  server::BudgetComponent* budgets = nullptr;
  server::BackfillComponent* backfill = nullptr;
  server::HttpComponent* http = nullptr;
};

// Values and functions of the daemon that components need in addition to the context.
struct DaemonHooks {
  std::string config_path;  // path of the configuration file; "" if there is none
  int64_t started_s = 0;
  server::DaemonClock* clock = nullptr;  // clock of the daemon, which an operator may confirm
  // Runs a pass for windows up to `through` that ended in the past, with the components' work before and after the
  // pass.
  std::function<absl::Status(Timestamp through)> tick_past;
};

// Creates the components that the configuration enables, without starting them. `context`, `history` and `out`
// must outlive the components. Returns an error if a setting, or a file that a setting names, is invalid.
absl::Status MakeComponents(const server::DaemonConfig& config, const server::DaemonContext& context,
                            server::History* history, const DaemonHooks& hooks, Components& out);

// Checks the components' settings and the files that they name, for --check-config. Appends one sentence per
// finding that is not an error to `warnings`.
absl::Status CheckComponents(const server::DaemonConfig& config, std::vector<std::string>& warnings);

}  // namespace taut::tools
