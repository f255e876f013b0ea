// The API's routes, with one function for each topic. Pointers must outlive the table. A null pointer stands
// for a part that the daemon does not have; the routes of this part respond with an explanation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/agents/agents_component.h"
#include "server/api/event_streams.h"
#include "server/api/router.h"
#include "server/auth/login_service.h"
#include "server/control/daemon_clock.h"
#include "server/control/past/late_history.h"
#include "server/kubernetes/run/kubernetes_component.h"
#include "server/kubernetes/watch/replica_watch.h"
#include "server/pool/budget_component.h"
#include "server/pool/budgets.h"
#include "server/pool/capacity_component.h"
#include "server/pool/machines_component.h"
#include "server/pool/prices_component.h"
#include "server/pool/quota_component.h"

namespace taut::server {

// A link to another cell's dashboard.
struct CellLink {
  std::string name, url;
};

// Facts about the daemon and its surroundings, as the status shows them.
struct AboutDaemon {
  std::string version;
  std::string store_text;   // text for people, such as "SQLite, /var/lib/tautd/tautd.db"
  std::string config_file;  // "" without a configuration file
  std::string cell_name;    // "" if the cell has no name
  std::vector<CellLink> cell_links;
  int64_t started_s = 0;
  bool pages = true;
  bool has_external = false;  // an external recommender is configured
  bool takes_tokens = false;  // false: no authentication is required
};

// The objects that the API shows.
struct ApiParts {
  // Components. The list of components sets these pointers.
  const KubernetesComponent* cluster = nullptr;
  const AgentsComponent* agents = nullptr;
  const BackfillComponent* backfill = nullptr;
  const LateHistory* late_history = nullptr;
  const PricesComponent* price_book = nullptr;
  const LabelBudgets* label_budgets = nullptr;
  QuotaComponent* quota = nullptr;
  BudgetComponent* budgets = nullptr;
  MachinesComponent* machines = nullptr;
  CapacityComponent* capacity = nullptr;
  DaemonClock* clock = nullptr;               // an operator may confirm that this clock is right
  const ComponentList* components = nullptr;  // source of the components' metrics and warnings
  // Objects that HttpComponent sets.
  AboutDaemon about = {};
  LoginService* login = nullptr;  // null: no sign-in with a provider
  AuditLog* audit = nullptr;
  EventStreams* events = nullptr;
  const ReplicaWatch* replica_watch = nullptr;  // null with a cluster
  double (*steady_s)() = nullptr;

  const KubernetesSource* pods() const { return cluster == nullptr ? nullptr : &cluster->cluster(); }
};

// Returns the table of all routes. `access` and the objects in `parts` must outlive the table.
RouteTable RoutesOf(const FleetAccess& access, const ApiParts& parts);

// Adds /healthz and /readyz.
void AddHealthRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes);
// Adds the routes for a browser that signs in. They require no role.
void AddLoginRoutes(const ApiParts& parts, RouteTable& routes);
// Returns the paths that need no role if people sign in: the page, the page's files, and the paths of the
// sign-in.
std::vector<std::string> OpenPathsWithLogin();
void AddStatusRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes);
void AddWriteRoutes(const FleetAccess& access, RouteTable& routes);
void AddFleetRoutes(const FleetAccess& access, RouteTable& routes);
void AddJobRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes);
void AddJobHistoryRoutes(const FleetAccess& access, RouteTable& routes);
void AddWhatIfRoutes(const FleetAccess& access, double (*steady_s)(), RouteTable& routes);
void AddSettingsRoutes(const FleetAccess& access, std::string config_file, RouteTable& routes);
void AddBulkSettingsRoutes(const FleetAccess& access, RouteTable& routes);
void AddDecisionRoutes(const FleetAccess& access, RouteTable& routes);
void AddTierActRoutes(const FleetAccess& access, RouteTable& routes);
void AddPromiseRoutes(const FleetAccess& access, RouteTable& routes);
void AddCostRoutes(const FleetAccess& access, const LabelBudgets* budgets, RouteTable& routes);
// Adds the route of allocations in the format of OpenCost.
void AddAllocationRoutes(const FleetAccess& access, const CapacityService* capacity, RouteTable& routes);
void AddBillRoutes(const FleetAccess& access, const PricesComponent* prices, RouteTable& routes);
void AddBusinessRoutes(const FleetAccess& access, BudgetService* service, RouteTable& routes);
void AddQuotaRoutes(QuotaService* service, RouteTable& routes);
void AddCapacityRoutes(const FleetAccess& access, const CapacityService* service, RouteTable& routes);
// Adds routes for the compiled-in files. The router itself serves the paths that are no route.
void AddPageRoutes(bool pages, RouteTable& routes);
void AddMachineRoutes(const MachineService* service, RouteTable& routes);

}  // namespace taut::server
