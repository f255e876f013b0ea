// API handlers for the fleet: its sums, and its jobs as a list and in groups.
#include <algorithm>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

absl::Status ModeParameter(const HttpRequest& request, std::optional<Mode>& mode) {
  const std::string text = TextParameter(request, "mode");
  if (text.empty()) return absl::OkStatus();
  mode = ParseMode(text);
  if (mode.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("invalid mode \"", ShortText(text), "\": expected off, observe, canary or auto"));
}

// Returns at most `most` points. Each returned point is the last point of a run, with the events of the whole run.
std::vector<FleetPoint> Thinned(const std::vector<FleetPoint>& points, size_t most) {
  const size_t group = (points.size() + most - 1) / most;
  std::vector<FleetPoint> out;
  for (size_t first = 0; first < points.size(); first += group) {
    const size_t last = std::min(first + group, points.size());
    FleetPoint& p = out.emplace_back(points[last - 1]);
    for (size_t i = first; i + 1 < last; ++i) {
      p.oom_kills += points[i].oom_kills;
      p.changes += points[i].changes;
    }
  }
  return out;
}

HttpResponse GetFleet(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  PutFleet(*access.ViewOf(call.reach), access.ShownTo(call.reach, access.PricesFor(call.request, call.reach)),
           json);
  return JsonResponse(200, json.Take());
}

HttpResponse GetFleetHistory(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"from", "to", "points"}); !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<TimeSpan> span = SpanParameters(call.request, access.NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> points = IntParameter(call.request, "points", 500, 1, 5000);
  if (!points.ok()) return ErrorResponse(points.status());
  const absl::StatusOr<std::vector<FleetPoint>> read =
      access.control().history().FleetPoints(WindowId::Of(Timestamp::FromSeconds(span->from_s)),
                                             WindowId::Of(Timestamp::FromSeconds(span->to_s)), 1);
  if (!read.ok()) return ErrorResponse(read.status());
  JsonWriter json;
  PutFleetHistory(Thinned(*read, static_cast<size_t>(*points)), json);
  return JsonResponse(200, json.Take());
}

absl::Status SortParameter(const HttpRequest& request, const Prices& prices, JobsQuery& query) {
  const std::string sort = TextParameter(request, "sort");
  if (sort.empty()) return absl::OkStatus();
  const std::optional<JobSort> parsed = ParseJobSort(sort);
  if (!parsed.has_value())
    return absl::InvalidArgumentError(
        StrCat("sort=", sort, ": expected name, tasks, saving, tight, cpu_usage, ..."));
  query.sort = *parsed;
  if (parsed->by == SortBy::kSavingPerMonth && !prices.known())
    return absl::InvalidArgumentError(
        "sort=saving_per_month: no prices are configured (prices.core_hour), or these are not yours to see");
  for (const Resource r : kResources) query.price[static_cast<size_t>(r)] = prices.PerMonth(r, 1);
  return absl::OkStatus();
}

absl::StatusOr<JobsQuery> JobsQueryOf(const HttpRequest& request, const Prices& prices) {
  JobsQuery query;
  query.search = TextParameter(request, "search");
  if (absl::Status s = ModeParameter(request, query.mode); !s.ok()) return s;
  if (absl::Status s = SortParameter(request, prices, query); !s.ok()) return s;
  const absl::StatusOr<PageOfList> page = PageParameters(request);
  if (!page.ok()) return page.status();
  query.ascending = page->ascending.value_or(false);
  query.offset = page->offset;
  query.limit = page->limit;
  return query;
}

// Writes the sums over all jobs that match the query, including jobs that are not on the page.
void PutTotalsOf(JobsQuery query, const FleetView& view, const Prices& prices, JsonWriter& json) {
  query.sort.by = SortBy::kTasks;
  query.offset = 0;
  query.limit = view.jobs.size();
  JobTotals sums;
  const int64_t now_s = view.window.has_value() ? view.window->next().start_s() : INT64_MIN;
  for (const JobId id : ListJobs(view, query).jobs) sums.Add(*view.Find(id), now_s);
  json.Key("totals");
  json.BeginObject();
  PutTotals(sums, prices, json);
  json.EndObject();
}

HttpResponse GetJobs(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s =
          OnlyParameters(call.request, {"search", "mode", "sort", "order", "offset", "limit", "totals"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  const Prices& prices = access.PricesFor(call.request, call.reach);
  const absl::StatusOr<JobsQuery> query = JobsQueryOf(call.request, prices);
  if (!query.ok()) return ErrorResponse(query.status());
  const std::string totals = TextParameter(call.request, "totals");
  if (!totals.empty() && totals != "true" && totals != "false")
    return ErrorResponse(400, StrCat("totals=", totals, ": expected true or false"));
  const std::shared_ptr<const FleetView> view = access.ViewOf(call.reach);
  const JobsPage page = ListJobs(*view, *query);
  JsonWriter json;
  json.BeginObject();
  json.Field("total", static_cast<int64_t>(page.total));
  json.Field("offset", static_cast<int64_t>(query->offset));
  if (prices.known()) json.Field("currency", std::string_view(prices.currency));
  if (totals == "true") PutTotalsOf(*query, *view, prices, json);
  json.Key("jobs");
  json.BeginArray();
  for (const JobId id : page.jobs) {
    json.BeginObject();
    PutJobFields(*view->Find(id), {prices, access.control().ingest().time.grace_s()}, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetTotals(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"by", "search", "mode", "limit"}); !s.ok())
    return ErrorResponse(s);
  const std::string by = TextParameter(call.request, "by");
  if (by.empty())
    return ErrorResponse(400,
                         "missing parameter by: expected the name of a label or a property such as :class");
  const Prices& prices = access.PricesFor(call.request, call.reach);
  JobsQuery which;
  which.search = TextParameter(call.request, "search");
  if (absl::Status s = ModeParameter(call.request, which.mode); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const std::shared_ptr<const FleetView> view = access.ViewOf(call.reach);
  const std::vector<GroupTotals> groups = TotalsBy(*view, by, which);
  const bool any =
      std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.value.has_value(); });
  if (!any && !view->jobs.empty()) {
    std::vector<std::string> names = LabelNames(*view);
    names.insert(names.end(), GroupProperties().begin(), GroupProperties().end());
    if (std::ranges::find(names, by) == names.end()) {
      return ErrorResponse(404, fmt::format("no job has a label \"{}\"; labels and properties of jobs: {}",
                                            by, Join(names, ", ")));
    }
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("by", std::string_view(by));
  json.Field("total", static_cast<int64_t>(groups.size()));
  if (prices.known()) json.Field("currency", std::string_view(prices.currency));
  json.Key("groups");
  json.BeginArray();
  for (size_t i = 0; i < std::min(groups.size(), static_cast<size_t>(*limit)); ++i) {
    json.BeginObject();
    json.Key("value");
    if (groups[i].value.has_value()) {
      json.String(*groups[i].value);
    } else {
      json.Null();
    }
    PutTotals(groups[i].totals, prices, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddFleetRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("GET", "/api/v1/fleet", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetFleet(call, access); });
  routes.Add("GET", "/api/v1/fleet/history", Act::kSeePlatform,
             [&access](const ApiCall& call) { return GetFleetHistory(call, access); });
  routes.Add("GET", "/api/v1/jobs", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetJobs(call, access); });
  routes.Add("GET", "/api/v1/totals", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetTotals(call, access); });
}

}  // namespace taut::server
