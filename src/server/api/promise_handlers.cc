// API handlers for promises: predicted and observed rates of usage above the limit.
#include "brain/fleet/risk_json.h"
#include "common/base/strings.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

HttpResponse GetPromises(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  const std::shared_ptr<const FleetView> view = access.control().view();
  JsonWriter json;
  json.BeginObject();
  PutTime("window_end", view->window.has_value() ? view->window->next().start_s() : INT64_MIN, json);
  brain::PutRisks(view->risks, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddPromiseRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("GET", "/api/v1/promises", Act::kSeePlatform,
             [&access](const ApiCall& call) { return GetPromises(call, access); });
}

}  // namespace taut::server
