// What was promised of limits, and what came.
#include "brain/fleet/risk_json.h"
#include "common/base/strings.h"
#include "server/api/api.h"
#include "server/api/parameters.h"

namespace taut::server {

HttpResponse Api::Promises(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  const std::shared_ptr<const FleetView> view = control_.view();
  JsonWriter json;
  json.BeginObject();
  PutTime("window_end", view->window.has_value() ? view->window->next().start_s() : INT64_MIN, json);
  brain::PutRisks(view->risks, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace taut::server
