// The API's routes, with one function per topic. Pointers must outlive the table. A null pointer stands for a part
// that the daemon lacks, whose routes respond with an explanation.
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
#include "server/pool/capacity_component.h"
#include "server/pool/machines_component.h"
#include "server/pool/prices_component.h"
#include "server/pool/quota_component.h"

namespace taut::server {

// A link to the dashboard of another cell.
struct CellLink {
  std::string name, url;
};

// Facts about the daemon that the status shows.
struct AboutDaemon {
  std::string version;
  std::string store_text;   // text for users, such as "SQLite, /var/lib/tautd/tautd.db"
  std::string config_file;  // path of the configuration file; "" if there is none
  std::string cell_name;    // name of the cell; "" if there is none
  std::vector<CellLink> cell_links;
  int64_t started_s = 0;
  bool pages = true;
  bool has_external = false;  // true if an external recommender is configured
  bool takes_tokens = false;  // true if authentication is required
};

// The objects that the API shows.
struct ApiParts {
  // Components, which the list of components sets.
  const KubernetesComponent* cluster = nullptr;
  const AgentsComponent* agents = nullptr;
  const BackfillComponent* backfill = nullptr;
  const LateHistory* late_history = nullptr;
  const PricesComponent* price_book = nullptr;
  QuotaComponent* quota = nullptr;
  BudgetComponent* budgets = nullptr;
  MachinesComponent* machines = nullptr;
  CapacityComponent* capacity = nullptr;
  DaemonClock* clock = nullptr;               // clock that an operator may confirm
  const ComponentList* components = nullptr;  // source of the components' metrics and warnings
  // Objects that HttpComponent sets.
  AboutDaemon about = {};
  LoginService* login = nullptr;  // sign-in with a provider; null: none
  AuditLog* audit = nullptr;
  EventStreams* events = nullptr;
  const ReplicaWatch* replica_watch = nullptr;  // watch of replicas; null if tautd watches a cluster
  double (*steady_s)() = nullptr;

  const KubernetesSource* pods() const { return cluster == nullptr ? nullptr : &cluster->cluster(); }
};

// Returns the table of all routes. `access` and the objects in `parts` must outlive the table.
RouteTable RoutesOf(const FleetAccess& access, const ApiParts& parts);

// Adds /healthz and /readyz.
void AddHealthRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes);
// Adds the routes for a browser that signs in, which require no role.
void AddLoginRoutes(const ApiParts& parts, RouteTable& routes);
// Returns the paths that require no role if users sign in: the page, its files, and the paths of the sign-in.
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
void AddCostRoutes(const FleetAccess& access, BudgetService* budgets, RouteTable& routes);
// Adds the route of allocations in the format of OpenCost.
void AddAllocationRoutes(const FleetAccess& access, const CapacityService* capacity, RouteTable& routes);
void AddBillRoutes(const FleetAccess& access, const PricesComponent* prices, RouteTable& routes);
void AddBusinessRoutes(const FleetAccess& access, BudgetService* service, RouteTable& routes);
void AddQuotaRoutes(QuotaService* service, RouteTable& routes);
void AddCapacityRoutes(const FleetAccess& access, const CapacityService* service, RouteTable& routes);
// Adds routes for the compiled-in files. The router itself serves paths without a route.
void AddPageRoutes(bool pages, RouteTable& routes);
void AddMachineRoutes(const MachineService* service, RouteTable& routes);

}  // namespace taut::server
