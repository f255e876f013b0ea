#include "server/api/routes.h"

namespace taut::server {
namespace {

template <typename Run>
auto DeskOf(Run* run) -> decltype(run->service()) {
  return run == nullptr ? nullptr : run->service();
}

}  // namespace

RouteTable RoutesOf(const FleetAccess& access, const ApiParts& parts) {
  RouteTable routes;
  AddHealthRoutes(access, parts, routes);
  AddLoginRoutes(parts, routes);
  AddWriteRoutes(access, routes);
  AddFleetRoutes(access, routes);
  AddJobRoutes(access, parts, routes);
  AddJobHistoryRoutes(access, routes);
  AddWhatIfRoutes(access, parts.steady_s, routes);
  AddSettingsRoutes(access, parts.about.config_file, routes);
  AddBulkSettingsRoutes(access, routes);
  AddDecisionRoutes(access, routes);
  AddTierActRoutes(access, routes);
  AddPromiseRoutes(access, routes);
  AddCostRoutes(access, DeskOf(parts.budgets), routes);
  AddAllocationRoutes(access, DeskOf(parts.capacity), routes);
  AddBillRoutes(access, parts.price_book, routes);
  AddBusinessRoutes(access, DeskOf(parts.budgets), routes);
  AddQuotaRoutes(DeskOf(parts.quota), routes);
  AddCapacityRoutes(access, DeskOf(parts.capacity), routes);
  AddMachineRoutes(DeskOf(parts.machines), routes);
  AddStatusRoutes(access, parts, routes);
  if (parts.events != nullptr) parts.events->AddRoutes(routes);
  AddPageRoutes(parts.about.pages, routes);
  return routes;
}

}  // namespace taut::server
