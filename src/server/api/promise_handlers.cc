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

void Api::PutPromiseMetrics(MetricsText& out) const {
  const std::shared_ptr<const FleetView> view = control_.view();
  const auto put = [&](const char* name, const char* help, auto value_of) {
    for (const auto& [key, row] : view->risks.rows()) {
      const std::optional<double> value = value_of(key, row.recent);
      if (!value.has_value()) continue;
      out.Gauge(name, help, *value,
                {{"resource", Name(key.resource)},
                 {"limits", key.limits_name()},
                 {"promise", key.promise_name()},
                 {"class", key.class_name()},
                 {"size", key.size_name()}});
    }
  };
  put("tautd_promise_jobdays",
      "Job-days with a recommended limit (set or shown), weighed by age (half-life 30 days).",
      [](const brain::RiskKey&, const brain::RiskSums& sums) { return std::optional(sums.days); });
  put("tautd_promised_overrun_share",
      "Promised share of job-days (promise chance) or of work above the limits, of recent job-days.",
      brain::PromisedShare);
  put("tautd_delivered_overrun_share", "The share that came.", brain::DeliveredShare);
  out.Gauge("tautd_broken_promises",
            "Promises that do not hold: over a fifth more came than promised, beyond the sampling error.",
            static_cast<double>(brain::BrokenPromises(view->risks).size()));
}

}  // namespace taut::server
