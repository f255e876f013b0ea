// API handlers for the past of one job: usage as a heatmap, and tasks.
#include "common/base/strings.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/control/past_in_order.h"

namespace taut::server {
namespace {

HttpResponse GetUsage(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"resource", "from", "to", "columns"}); !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<std::optional<Resource>> resource = ResourceParameter(call.request);
  if (!resource.ok()) return ErrorResponse(resource.status());
  const absl::StatusOr<TimeSpan> span = SpanParameters(call.request, access.NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> columns = IntParameter(call.request, "columns", 336, 1, 2000);
  if (!columns.ok()) return ErrorResponse(columns.status());
  const HeatmapQuery query{resource->value_or(Resource::kMemory), span->from_s, span->to_s,
                           static_cast<int>(*columns)};
  const WindowId last{WindowId::Of(Timestamp::FromSeconds(span->to_s)).index + 1};
  const auto days =
      access.control().history().JobDays(call.job, WindowId::Of(Timestamp::FromSeconds(span->from_s)), last);
  if (!days.ok()) return ErrorResponse(days.status());
  DecisionQuery of_job;
  of_job.job = call.job;
  of_job.target = query.resource;
  of_job.limit = 10'000;
  const auto decisions = DecisionsInOrder(access.control().history(), of_job);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  auto ooms = OomsInOrder(access.control().history(), call.job, span->from_s, 1000);
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  if (ThrottlesAtLimit(query.resource)) ooms->clear();
  JsonWriter json;
  PutHeatmap(MakeHeatmap(query, *days, *decisions), query, *ooms, json);
  return JsonResponse(200, json.Take());
}

HttpResponse GetReplicas(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"from", "to", "columns"}); !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<TimeSpan> span = SpanParameters(call.request, access.NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> columns = IntParameter(call.request, "columns", 336, 1, 2000);
  if (!columns.ok()) return ErrorResponse(columns.status());
  constexpr int64_t kMostSeconds = 400 * kDaySeconds, kFarSeconds = int64_t{1} << 36;
  if (span->to_s - span->from_s > kMostSeconds || std::abs(span->to_s) > kFarSeconds)
    return ErrorResponse(400,
                         "from and to: expected a time of at most 400 days, and not thousands of years away");
  ReplicaHistoryQuery query;
  query.from = WindowId::Of(Timestamp::FromSeconds(span->from_s));
  query.to = WindowId{WindowId::Of(Timestamp::FromSeconds(span->to_s)).index + 1};
  query.columns = static_cast<int>(*columns);
  brain::JobPolicy policy;
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(call.job)) return;
    policy = *fleet.job(call.job).policy;
    query.size = fleet.SizeUseOf(fleet.job(call.job));
  });
  query.policy = &policy;
  // Also replay the previous week, if stored, so that the policy starts with history.
  constexpr int32_t kWeek = 7 * kWindowsPerDay;
  const auto days =
      access.control().history().JobDays(call.job, WindowId{query.from.index - kWeek}, query.to);
  if (!days.ok()) return ErrorResponse(days.status());
  JsonWriter json;
  PutReplicaHistory(ReplicasOverTime(query, *days), json);
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddJobHistoryRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("GET", "/api/v1/jobs/{job}/usage", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetUsage(call, access); });
  routes.Add("GET", "/api/v1/jobs/{job}/replicas", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetReplicas(call, access); });
}

}  // namespace taut::server
