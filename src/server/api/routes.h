// The API's routes, one function for each topic. Pointers must outlive the table. Null stands for a part that
// the daemon does not have; its routes respond with an explanation.
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

// Facts about the daemon and its surroundings, for the status.
struct AboutDaemon {
  std::string version;
  std::string store_text;   // for people: "SQLite, /var/lib/tautd/tautd.db"
  std::string config_file;  // "" for none
  std::string cell_name;    // "" for none
  std::vector<CellLink> cell_links;
  int64_t started_s = 0;
  bool pages = true;
  bool has_external = false;  // an external recommender is configured
  bool takes_tokens = false;  // false: no authentication is required
};

// The objects that the API shows.
struct ApiParts {
  // Components, set by the list of components.
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
  DaemonClock* clock = nullptr;               // which an operator may confirm
  const ComponentList* components = nullptr;  // for their metrics and warnings
  // Set by HttpComponent.
  AboutDaemon about = {};
  LoginService* login = nullptr;  // null: no sign-in with a provider
  AuditLog* audit = nullptr;
  EventStreams* events = nullptr;
  const ReplicaWatch* replica_watch = nullptr;  // only without a cluster
  double (*steady_s)() = nullptr;

  const KubernetesSource* pods() const { return cluster == nullptr ? nullptr : &cluster->cluster(); }
};

// Returns all routes. `access` and the objects in `parts` must outlive the table.
RouteTable RoutesOf(const FleetAccess& access, const ApiParts& parts);

// /healthz and /readyz.
void AddHealthRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes);
// Routes of a browser that signs in; they require no role.
void AddLoginRoutes(const ApiParts& parts, RouteTable& routes);
// Returns the paths that need no role where people sign in: the page, its files, and the way to a session.
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
// In the format of OpenCost.
void AddAllocationRoutes(const FleetAccess& access, const CapacityService* capacity, RouteTable& routes);
void AddBillRoutes(const FleetAccess& access, const PricesComponent* prices, RouteTable& routes);
void AddBusinessRoutes(const FleetAccess& access, BudgetService* service, RouteTable& routes);
void AddQuotaRoutes(const FleetAccess& access, QuotaService* service, RouteTable& routes);
void AddCapacityRoutes(const FleetAccess& access, const CapacityService* service, RouteTable& routes);
// The compiled-in files; the router serves their other paths.
void AddPageRoutes(bool pages, RouteTable& routes);
void AddMachineRoutes(const MachineService* service, RouteTable& routes);

}  // namespace taut::server
