// API handlers for the cell's capacity: time series, capacity for sale, and promises.
#include <algorithm>

#include "common/base/strings.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/capacity_text.h"

namespace taut::server {
namespace {

constexpr int64_t kLineSeconds = 3600;
constexpr int64_t kMostPoints = 500;
constexpr int64_t kMostResolution = 30 * kDaySeconds;

// Returns the default resolution in seconds: the smallest number of whole hours that results in at most
// kMostPoints points, but at most kMostResolution.
int64_t DefaultResolution(const TimeSpan& span) {
  const int64_t hours = (span.to_s - span.from_s + kLineSeconds - 1) / kLineSeconds;
  return std::clamp((hours + kMostPoints - 1) / kMostPoints * kLineSeconds, kLineSeconds, kMostResolution);
}

void PutCapacityLines(const CapacityHistory& history, JsonWriter& json) {
  json.Field("resolution", history.resolution_s);
  json.Key("time");
  json.BeginArray();
  for (const int64_t time : history.time_s) json.Int(time);
  json.EndArray();
  for (const Resource r : kResources) {
    json.Key(Name(r));
    json.BeginObject();
    for (const CapacityLine line : kCapacityLines) {
      json.Key(Name(line));
      json.BeginArray();
      for (const auto& value : history.lines[static_cast<size_t>(r)][static_cast<size_t>(line)]) {
        if (value.has_value()) {
          json.Number(*value, 7);
        } else {
          json.Null();
        }
      }
      json.EndArray();
    }
    json.EndObject();
  }
}

void PutKeptPromises(const brain::KeptSummary& kept, JsonWriter& json) {
  json.Key("kept");
  json.BeginObject();
  json.Field("promises", kept.promises);
  json.Field("promises_kept", kept.promises_kept);
  json.Field("unmeasured", kept.unmeasured_promises);
  json.Field("hours", kept.steps);
  json.Field("missed_hours", kept.missed_steps);
  const bool any = kept.promises > 0;
  PutAmount("kept_share", any ? std::optional(kept.kept_time) : std::nullopt, json);
  PutAmount("kept_share_low", any ? std::optional(kept.time_interval.low) : std::nullopt, json);
  PutAmount("kept_share_high", any ? std::optional(kept.time_interval.high) : std::nullopt, json);
  json.Field("verdict", Name(kept.verdict));
  json.EndObject();
}

void PutHorizon(const std::optional<size_t>& horizon, JsonWriter& json) {
  if (horizon.has_value()) {
    json.Field("horizon", kCapacityHorizons[*horizon].name);
    json.Field("horizon_seconds", kCapacityHorizons[*horizon].seconds());
    return;
  }
  json.Key("horizon");
  json.Null();
  json.Key("horizon_seconds");
  json.Null();
}

void PutOffer(const CapacityView& view, const CapacityOffer& offer, JsonWriter& json) {
  json.BeginObject();
  json.Field("tier", std::string_view(view.tiers[offer.tier].name));
  json.Field("resource", Name(offer.resource));
  PutHorizon(offer.horizon, json);
  json.Field("promise", offer.promise);
  PutAmount("sellable", offer.sellable, json);
  PutAmount("sold", offer.sold, json);
  PutAmount("left", offer.left, json);
  PutAmount("oversold", offer.oversold, json);
  PutTime("ready", offer.ready_s.value_or(INT64_MIN), json);
  json.Field("text", std::string_view(OfferText(view, offer)));
  PutKeptPromises(offer.kept, json);
  json.EndObject();
}

void PutPromise(const CapacityView& view, const CapacityPromise& one, JsonWriter& json) {
  const brain::PromiseOutcome& o = one.outcome;
  json.BeginObject();
  json.Field("tier", std::string_view(view.tiers[one.tier].name));
  json.Field("resource", Name(one.resource));
  PutHorizon(one.horizon, json);
  json.Field("promise", o.promise.level);
  json.Field("start", o.promise.start_s);
  json.Field("end", o.promise.start_s + o.promise.horizon_s);
  json.Field("amount", o.promise.amount);
  json.Field("state", OutcomeName(o));
  json.Field("hours", o.measured);
  json.Field("missed_hours", o.missed);
  PutAmount("lowest", o.measured > 0 ? std::optional(o.worst) : std::nullopt, json);
  json.EndObject();
}

void PutTiers(const CapacityView& view, JsonWriter& json) {
  json.Key("tiers");
  json.BeginArray();
  for (const CapacityTier& tier : view.tiers) {
    json.BeginObject();
    json.Field("name", std::string_view(tier.name));
    json.Field("sale", Name(tier.sale));
    json.Field("availability", tier.promise);
    json.Field("risk", std::string_view(RiskText(tier)));
    json.EndObject();
  }
  json.EndArray();
}

HttpResponse GetCapacity(const ApiCall& call, const FleetAccess& access, const CapacityService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"from", "to", "resolution"}); !s.ok())
    return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, "capacity is not kept");
  const absl::StatusOr<TimeSpan> span = SpanParameters(call.request, access.NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> resolution =
      IntParameter(call.request, "resolution", DefaultResolution(*span), kLineSeconds, kMostResolution);
  if (!resolution.ok()) return ErrorResponse(resolution.status());
  if (*resolution % kLineSeconds != 0)
    return ErrorResponse(400,
                         StrCat("invalid resolution=", *resolution, ": expected a multiple of 3600 seconds"));
  const std::shared_ptr<const CapacityView> view = service->View();
  JsonWriter json;
  json.BeginObject();
  PutTime("window_end", view->latest.has_value() ? view->latest->window.next().start_s() : INT64_MIN, json);
  json.Field("source", Name(view->latest.has_value() ? view->latest->source : CapacitySource::kNone));
  json.Field("why", std::string_view(CapacityWhy(*view)));
  json.Field("note", std::string_view(CapacityNote(*view)));
  json.Field("kept_days", int64_t{kCapacityDays});
  PutTime("first", view->first_s.value_or(INT64_MIN), json);
  json.Key("measured_hours");
  json.BeginObject();
  for (const Resource r : kResources)
    json.Field(Name(r), int64_t{view->measured_hours[static_cast<size_t>(r)]});
  json.EndObject();
  PutCapacityLines(service->History(span->from_s, span->to_s, *resolution), json);
  PutTiers(*view, json);
  json.Key("offers");
  json.BeginArray();
  for (const CapacityOffer& offer : view->offers) PutOffer(*view, offer, json);
  json.EndArray();
  json.Key("promises");
  json.BeginArray();
  for (const CapacityPromise& promise : view->promises) PutPromise(*view, promise, json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddCapacityRoutes(const FleetAccess& access, const CapacityService* service, RouteTable& routes) {
  routes.Add("GET", "/api/v1/capacity", Act::kSeePlatform,
             [&access, service](const ApiCall& call) { return GetCapacity(call, access, service); });
}

}  // namespace taut::server
