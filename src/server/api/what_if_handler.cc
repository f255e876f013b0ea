// POST /api/v1/jobs/JOB/whatif: computes the limits that another recommender or other settings would have set.
#include <algorithm>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/control/past_in_order.h"

namespace taut::server {
namespace {

constexpr size_t kMaxOoms = 100'000, kMaxDecisions = 10'000;

// Parses the body. An empty body is equivalent to an object without fields.
absl::Status ReadWhatIf(std::string_view body, double& days, WhatIfChange& change) {
  JsonTree tree;
  if (!tree.Parse(body.empty() ? "{}" : body).ok() || !tree.root().is_object()) {
    return absl::InvalidArgumentError(
        R"(invalid body: expected a JSON object, such as {"recommender": "peak", "peak_days": 3})");
  }
  struct Field {
    std::string_view key;
    double low, high;
    std::optional<double>* value;
  };
  std::optional<double> days_asked;
  const Field fields[] = {
      {"days", 1, 60, &days_asked}, {"lower", 0, 1e18, &change.lower}, {"upper", 0, 1e18, &change.upper}};
  const auto read_field = [&](std::string_view key, JsonNode value) -> absl::Status {
    if (value.is_null()) return absl::OkStatus();
    if (key == "recommender") {
      if (!value.text().has_value()) return absl::InvalidArgumentError("recommender: expected a name");
      const absl::StatusOr<brain::Policy> policy = brain::ParseJobPolicy(*value.text());
      if (policy.ok()) change.recommender = *policy;
      return policy.status();
    }
    const auto field =
        std::find_if(std::begin(fields), std::end(fields), [&](const Field& f) { return f.key == key; });
    const brain::WhatIfKnob* knob = brain::FindKnob(key);
    const bool is_field = field != std::end(fields);
    if (!is_field && knob == nullptr)
      return absl::InvalidArgumentError(StrCat("no parameter \"", ShortText(key), "\" of what-if"));
    const double low = is_field ? field->low : knob->least;
    const double high = is_field ? field->high : knob->most;
    const std::optional<double> number = value.number();
    if (!number.has_value() || *number < low || *number > high)
      return absl::InvalidArgumentError(StrCat(key, ": expected a number from ", low, " to ", high));
    if (is_field) {
      *field->value = *number;
    } else {
      change.knobs.emplace_back(knob, *number);
    }
    return absl::OkStatus();
  };
  absl::Status read;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (read.ok()) read = read_field(key, value);
  });
  days = days_asked.value_or(days);
  return read;
}

HttpResponse PostWhatIf(const ApiCall& call, const FleetAccess& access, double (*steady_s)()) {
  if (absl::Status s = OnlyParameters(call.request, {"resource"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<std::optional<Resource>> resource = ResourceParameter(call.request);
  if (!resource.ok()) return ErrorResponse(resource.status());
  WhatIfQuery query;
  query.resource = resource->value_or(Resource::kMemory);
  double days = 14;
  if (absl::Status s = ReadWhatIf(call.request.body, days, query.change); !s.ok()) return ErrorResponse(s);
  const double start_s = steady_s();
  const WindowId end{WindowId::Of(Timestamp::FromSeconds(access.NowSeconds())).index + 1};
  query.score_from = WindowId{end.index - static_cast<int32_t>(days * kWindowsPerDay)};
  // Also replay the preceding days, if stored, so that each recommender starts with history: the same number of
  // days and one more week.
  const WindowId from{query.score_from.index - static_cast<int32_t>((days + 7) * kWindowsPerDay)};
  const auto history = access.control().history().JobDays(call.job, from, end);
  if (!history.ok()) return ErrorResponse(history.status());
  const auto ooms = OomsInOrder(access.control().history(), call.job, from.start_s(), kMaxOoms);
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  DecisionQuery of_job;
  of_job.job = call.job;
  of_job.limit = kMaxDecisions;
  const auto decisions = DecisionsInOrder(access.control().history(), of_job);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  query.decisions = *decisions;
  WhatIfResult result;
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(call.job)) return;
    query.policy = fleet.job(call.job).policy.get();
    query.settings = &fleet.settings.vertical;
    query.fleet = fleet.models.get();
    query.job = fleet.job(call.job).record->name;
    result = WhatIf(query, *history, *ooms);
  });
  JsonWriter json;
  PutWhatIf(result, query.resource, 1000 * (steady_s() - start_s), json);
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddWhatIfRoutes(const FleetAccess& access, double (*steady_s)(), RouteTable& routes) {
  routes.Add("POST", "/api/v1/jobs/{job}/whatif", Act::kSeeJobs,
             [&access, steady_s](const ApiCall& call) { return PostWhatIf(call, access, steady_s); });
}

}  // namespace taut::server
