#include "server/api/api.h"

#include <algorithm>

#include "common/base/nearest.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/net/server_options.h"
#include "fmt/format.h"
#include "server/api/embedded_files.h"
#include "server/api/parameters.h"

namespace taut::server {
namespace {

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 413;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

// Whether a Content-Type names no protobuf message, or that of remote write 1.0.
bool IsRemoteWrite1(std::string_view type) {
  constexpr std::string_view kMessage = "proto=";
  const size_t at = type.find(kMessage);
  if (at == std::string_view::npos) return true;
  std::string_view message = type.substr(at + kMessage.size());
  message = StripSpace(message.substr(0, message.find(';')));
  return message == "prometheus.WriteRequest" || message == "\"prometheus.WriteRequest\"";
}

HttpResponse Json(JsonWriter& json) { return JsonResponse(200, json.Take()); }

absl::Status ModeParameter(const HttpRequest& request, std::optional<Mode>& mode) {
  const std::string text = TextParameter(request, "mode");
  if (text.empty()) return absl::OkStatus();
  mode = ParseMode(text);
  if (mode.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("invalid mode \"", ShortText(text), "\": expected off, observe, canary or auto"));
}

// Up to three jobs that `name` may have been meant for: those that contain it, or else the nearest ones.
std::vector<std::string> NearestJobs(const FleetView& view, std::string_view name) {
  constexpr size_t kMost = 3, kMostCompared = 20'000;
  std::vector<std::string> out;
  if (name.size() > 200) return out;
  JobsQuery query;
  query.search = std::string(name);
  query.sort.by = SortBy::kName;
  query.ascending = true;
  query.limit = kMost;
  for (const JobId id : ListJobs(view, query).jobs) out.push_back(view.Find(id)->record->name);
  if (!out.empty() || view.jobs.empty() || view.jobs.size() > kMostCompared) return out;
  std::vector<std::string_view> names;
  for (const JobView& job : view.jobs) {
    if (job.record != nullptr) names.push_back(job.record->name);
  }
  return NearestNames(name, names, kMost);
}

// At most `most` points: the last of each group, with what happened in all of it.
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

// Whether the path of a row is that of the request; "{id}" is any piece.
bool FitsPath(std::string_view row, const HttpRequest& request) {
  if (row.find('{') == std::string_view::npos) return row == request.path;
  const std::vector<std::string_view> pieces = Split(row.substr(1), '/');
  if (pieces.size() != request.segments.size()) return false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].starts_with('{') && pieces[i] != request.segments[i]) return false;
  }
  return true;
}

std::string_view ContentTypeOf(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
      {".yaml", "application/yaml"},         {".json", "application/json"}};
  for (const auto& [suffix, type] : kTypes) {
    if (path.ends_with(suffix)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

bool HasPages() {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == "/index.html") return true;
  }
  return false;
}

HttpResponse ErrorResponse(const absl::Status& status) {
  return ErrorResponse(HttpStatusOf(status.code()), Message(status));
}

Api::Api(ControlPlane& control, ApiOptions options) : control_(control), options_(std::move(options)) {
  control_.OnTick([this](const TickEvents& events) { Publish(events); });
}

int64_t Api::NowSeconds() const {
  const std::shared_ptr<const FleetView> view = control_.view();
  return view->window.has_value() ? view->window->next().start_s() : options_.now().seconds();
}

std::string Api::NameOf(JobId id) const {
  const std::shared_ptr<const FleetView> view = control_.view();
  if (const JobView* job = view->Find(id); job != nullptr) return job->record->name;
  // Of a job that was forgotten the store still has the name.
  const absl::StatusOr<JobRecord> record = control_.history().Job(id);
  return record.ok() ? record->name : StrCat("job ", id.value);
}

// ---- who answers what ----

HttpResponse Api::Handle(const HttpRequest& request) {
  const double start_ms = options_.steady_ms ? options_.steady_ms() : 0;
  HttpResponse response = Answer(request);
  Audit(request, response);
  if (options_.steady_ms) times_.Note(RouteTimes::RouteOf(request), (options_.steady_ms() - start_ms) / 1000);
  return response;
}

HttpResponse Api::Answer(const HttpRequest& request) {
  if (request.path == "/healthz") return TextResponse(200, "ok\n");
  if (request.path == "/readyz") {
    const absl::Status ready = control_.status().ready();
    if (!ready.ok()) return TextResponse(503, StrCat(Message(ready), "\n"));
    std::string text = "ready\n";
    if (const std::string clock = control_.status().clock().sentence; !clock.empty()) {
      text = StrCat("ready; ", clock, "\n");
    }
    const std::string why = options_.pods() != nullptr ? options_.pods()->WhyUndecided() : "";
    if (!why.empty()) StrAppend(&text, why, "\n");
    const std::optional<BackfillProgress> backfill = options_.backfill_progress();
    if (!backfill.has_value()) return TextResponse(200, text);
    // Anybody may ask this: what the other server said is only for those with a token.
    const std::string_view state = backfill->running ? "backfill is running\n"
                                   : backfill->error.empty()
                                       ? ""
                                       : "backfill failed: GET /api/v1/status says why\n";
    return TextResponse(200, StrCat(text, state));
  }
  if (options_.login != nullptr) {
    if (std::optional<HttpResponse> response = LoginRoute(request); response.has_value())
      return *std::move(response);
  }
  if (request.role == Role::kNone)
    return ErrorResponse(401, "authentication required: send the header Authorization: Bearer TOKEN");
  return Route(request);
}

// Samples and what-if change nothing that a person is asked about.
void Api::Audit(const HttpRequest& request, const HttpResponse& response) const {
  // A sign-out says so itself.
  if (!options_.audit || request.role == Role::kNone || request.path == "/logout") return;
  const bool question = request.method == "GET" || request.path == "/api/v1/write" ||
                        (request.segments.size() == 5 && request.segments[4] == "whatif");
  // A name that is not there, and one of another group, are answered alike, and both are recorded.
  const bool refused = response.status == 403 || (request.role == Role::kGroup && response.status == 404 &&
                                                  request.segments.size() > 3);
  if (question && !refused) return;
  const std::string address = request.peer.substr(0, request.peer.rfind(':'));
  ApiAct act{request.user.empty() ? std::string_view(address) : std::string_view(request.user),
             RolesText(request),
             request.method,
             request.path,
             "",
             response.status};
  if (act.refused()) act.text = response.text();
  options_.audit(act);
}

// Each row says what it needs; a handler is called only if the caller may do that, within the reach of it.
std::span<const Api::RouteRow> Api::RouteRows() {
  using enum Act;
  static constexpr RouteRow kRows[] = {
      {"POST", "/api/v1/write", &Api::Write, kWriteSamples},
      {"GET", "/api/v1/fleet", &Api::Fleet, kSeeJobs},
      {"GET", "/api/v1/fleet/history", &Api::History, kSeePlatform},
      {"GET", "/api/v1/jobs", &Api::Jobs, kSeeJobs},
      {"GET", "/api/v1/totals", &Api::Totals, kSeeJobs},
      {"GET", "/api/v1/costs", &Api::Costs, kSeeMoney},
      {"GET", "/api/v1/budgets", &Api::Budgets, kSeeMoney},
      {"GET", "/api/v1/businesses", &Api::Businesses, kSeeMoney},
      {"GET", "/api/v1/budget-ledger", &Api::BudgetLedger, kSeeMoney},
      {"POST", "/api/v1/budget-ledger", &Api::EnterInBudgetLedger, kMoveMoney},
      {"GET", "/api/v1/bills", &Api::Bills, kSeeMoney},
      {"GET", "/api/v1/quota", &Api::Quota, kSeeQuota},
      {"GET", "/api/v1/admission", &Api::Admission, kSeeQuota},
      {"GET", "/api/v1/requests", &Api::QuotaRequests, kSeeQuota},
      {"POST", "/api/v1/requests", &Api::MakeQuotaRequest, kMakeRequests},
      {"GET", "/api/v1/requests/{id}", &Api::OneQuotaRequest, kSeeQuota},
      {"DELETE", "/api/v1/requests/{id}", &Api::WithdrawQuotaRequest, kMakeRequests},
      {"GET", "/api/v1/promises", &Api::Promises, kSeePlatform},
      {"GET", "/api/v1/capacity", &Api::Capacity, kSeePlatform},
      {"GET", "/api/v1/machines", &Api::Machines, kSeePlatform},
      {"GET", "/api/v1/machines/{name}", &Api::OneMachine, kSeePlatform},
      {"GET", "/allocation", &Api::Allocation, kSeeMoney},
      {"GET", "/allocation/compute", &Api::Allocation, kSeeMoney},
      {"GET", "/api/v1/decisions", &Api::Decisions, kSeeJobs},
      {"GET", "/api/v1/decisions/{id}", &Api::OneDecision, kSeeJobs},
      {"GET", "/api/v1/ooms", &Api::Ooms, kSeeJobs},
      {"GET", "/api/v1/tier_acts", &Api::TierActs, kSeeJobs},
      {"GET", "/api/v1/settings", &Api::Settings, kSeeJobs},
      {"GET", "/api/v1/recommenders", &Api::Recommenders, kLook},
      {"PATCH", "/api/v1/settings", &Api::PatchMany, kSetJobs},
      {"GET", "/api/v1/status", &Api::Status, kLook},
      {"GET", "/api/v1/login", &Api::LoginWays, kLook},
      {"POST", "/api/v1/clock/confirm", &Api::ConfirmClock, kRunPlatform},
      {"GET", "/api/v1/agents", &Api::Agents, kSeePlatform},
      {"GET", "/api/v1/events", &Api::Events, kSeeJobs},
      {"GET", "/metrics", &Api::Metrics, kSeePlatform},
      {"GET", "/api/v1/openapi.yaml", &Api::File, kLook},
      {"GET", "/", &Api::File, kLook},
      {"GET", "/assets/{file}", &Api::File, kLook}};
  return kRows;
}

std::span<const Api::JobRouteRow> Api::JobRouteRows() {
  using enum Act;
  static constexpr JobRouteRow kRows[] = {{"GET", "", &Api::Job, kSeeJobs},
                                          {"GET", "usage", &Api::Usage, kSeeJobs},
                                          {"GET", "replicas", &Api::ReplicasOfJob, kSeeJobs},
                                          {"GET", "explain", &Api::Explain, kSeeJobs},
                                          {"GET", "settings", &Api::GetSettings, kSeeJobs},
                                          {"PATCH", "settings", &Api::PatchSettings, kSetJobs},
                                          {"POST", "whatif", &Api::WhatIfOf, kSeeJobs}};
  return kRows;
}

std::vector<ApiRoute> Api::Routes() {
  std::vector<ApiRoute> out;
  for (const RouteRow& row : RouteRows()) out.push_back({row.method, std::string(row.path), row.act});
  for (const JobRouteRow& row : JobRouteRows()) {
    out.push_back({row.method, StrCat("/api/v1/jobs/{job}", row.what.empty() ? "" : "/", row.what), row.act});
  }
  return out;
}

HttpResponse Api::Route(const HttpRequest& request) {
  bool other_method = false;
  for (const RouteRow& row : RouteRows()) {
    if (!FitsPath(row.path, request)) continue;
    if (row.method != request.method) {
      other_method = true;
      continue;
    }
    if (!May(request, row.act)) return ErrorResponse(403, RefusalText(request, row.act));
    return (this->*row.handler)(request, ReachOf(request, row.act));
  }
  // Others that are not of the table are files, if they are there.
  if (!May(request, Act::kLook)) return ErrorResponse(403, RefusalText(request, Act::kLook));
  if (other_method)
    return ErrorResponse(405,
                         StrCat(ShortText(request.path), " does not support ", ShortText(request.method)));
  if (request.segments.size() >= 4 && request.path.starts_with("/api/v1/jobs/")) return JobRoute(request);
  if (request.method == "GET") return File(request, Reach());
  return ErrorResponse(
      404, StrCat("there is no ", ShortText(request.path), "; the API is described in /api/v1/openapi.yaml"));
}

HttpResponse Api::NoJob(std::string_view name, const Reach& reach) {
  const std::shared_ptr<const FleetView> view = ViewOf(reach);
  std::string text = StrCat("no job \"", ShortText(name), "\"");
  const std::vector<std::string> near = NearestJobs(*view, name);
  if (!near.empty()) {
    StrAppend(&text, "; did you mean \"", Join(near, "\" or \""), "\"?");
  } else if (!view->window.has_value()) {
    const std::optional<Timestamp> first = control_.ingest().first_close();
    text += first.has_value() ? StrCat(": no window has closed yet; the first closes at ",
                                       FormatTime(first->seconds()), " UTC")
                              : ": no sample has arrived yet";
  } else {
    text += "; GET /api/v1/jobs?search= finds names, which go into a path percent-encoded";
  }
  return ErrorResponse(404, text);
}

HttpResponse Api::JobRoute(const HttpRequest& request) {
  const std::string_view what = request.segments.size() > 4 ? std::string_view(request.segments[4]) : "";
  const auto rows = JobRouteRows();
  const auto row = std::ranges::find_if(rows, [&](const JobRouteRow& r) {
    return r.method == request.method && r.what == what && request.segments.size() == (what.empty() ? 4 : 5);
  });
  if (row != rows.end() && !May(request, row->act)) return ErrorResponse(403, RefusalText(request, row->act));
  // A job that the caller may see, but not change, is there.
  const Reach seen = ReachOf(request, Act::kSeeJobs);
  const std::optional<JobId> id = FindJob(request.segments[3], seen);
  if (!id.has_value()) return NoJob(request.segments[3], seen);
  if (row == rows.end()) {
    return ErrorResponse(404, StrCat("a job has usage, replicas, explain, settings and whatif; not ",
                                     request.method, " ", what));
  }
  if (!Reaches(ReachOf(request, row->act), *id)) return ErrorResponse(403, RefusalText(request, row->act));
  return (this->*row->handler)(request, *id);
}

HttpResponse Api::File(const HttpRequest& request, const Reach& /*reach*/) {
  const std::string_view wanted =
      request.path == "/" ? std::string_view("/index.html") : std::string_view(request.path);
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path != wanted) continue;
    if (!options_.pages && !wanted.starts_with("/api/")) break;
    HttpResponse response;
    response.content_type = ContentTypeOf(wanted);
    response.body = file.bytes;
    // Names of assets change with what is in them.
    const bool asset = wanted.starts_with("/assets/");
    response.headers.push_back({"Cache-Control", asset ? "public, max-age=31536000, immutable" : "no-cache"});
    return response;
  }
  if (wanted == "/index.html") {
    return TextResponse(
        404, options_.pages
                 ? "tautd was built without its dashboard, because npm was missing. The API is at /api/v1, "
                   "described in /api/v1/openapi.yaml.\n"
                 : "The dashboard is disabled. The API is at /api/v1.\n");
  }
  return ErrorResponse(404, StrCat("there is no ", request.path));
}

// ---- remote write ----

// Loopback is this machine, whose clock says nothing new.
uint64_t Api::SenderOf(const std::string& peer) {
  std::string_view address = std::string_view(peer).substr(0, peer.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address.empty() || IsLoopback(address)) return 0;
  return std::hash<std::string_view>()(address) | 1;
}

HttpResponse Api::Write(const HttpRequest& request, const Reach& /*reach*/) {
  const std::string* encoding = request.header("Content-Encoding");
  if (encoding == nullptr || !EqualsIgnoreCase(*encoding, "snappy")) {
    return ErrorResponse(400,
                         "remote write must be snappy-compressed protobuf: set Content-Encoding: snappy");
  }
  if (const std::string* type = request.header("Content-Type"); type != nullptr && !IsRemoteWrite1(*type)) {
    return ErrorResponse(415, StrCat("unsupported Content-Type ", *type,
                                     ": expected application/x-protobuf;proto=prometheus.WriteRequest "
                                     "(remote write 1.0)"));
  }
  const absl::StatusOr<WriteResult> result =
      control_.ingest().Write(request.body, options_.now(), SenderOf(request.peer));
  if (!result.ok()) return ErrorResponse(result.status());
  HttpResponse taken;
  taken.status = 204;
  return taken;
}

// ---- the fleet ----

HttpResponse Api::Fleet(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  PutFleet(*ViewOf(reach), FleetShownTo(reach, PricesFor(request, reach)), json);
  return Json(json);
}

HttpResponse Api::History(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {"from", "to", "points"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<TimeSpan> span = SpanParameters(request, NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> points = IntParameter(request, "points", 500, 1, 5000);
  if (!points.ok()) return ErrorResponse(points.status());
  const absl::StatusOr<std::vector<FleetPoint>> read =
      control_.history().FleetPoints(WindowId::Of(Timestamp::FromSeconds(span->from_s)),
                                     WindowId::Of(Timestamp::FromSeconds(span->to_s)), 1);
  if (!read.ok()) return ErrorResponse(read.status());
  JsonWriter json;
  PutFleetHistory(Thinned(*read, static_cast<size_t>(*points)), json);
  return Json(json);
}

HttpResponse Api::Jobs(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s =
          OnlyParameters(request, {"search", "mode", "sort", "order", "offset", "limit", "totals"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  const Prices& prices = PricesFor(request, reach);
  JobsQuery query;
  query.search = TextParameter(request, "search");
  if (absl::Status s = ModeParameter(request, query.mode); !s.ok()) return ErrorResponse(s);
  if (const std::string sort = TextParameter(request, "sort"); !sort.empty()) {
    const std::optional<JobSort> parsed = ParseJobSort(sort);
    if (!parsed.has_value())
      return ErrorResponse(400,
                           StrCat("sort=", sort, ": expected name, tasks, saving, tight, cpu_usage, ..."));
    query.sort = *parsed;
    if (parsed->by == SortBy::kSavingPerMonth && !prices.known())
      return ErrorResponse(400,
                           "sort=saving_per_month: no prices are configured (prices.core_hour), or these are "
                           "not yours to see");
    for (const Resource r : kResources) query.price[static_cast<size_t>(r)] = prices.PerMonth(r, 1);
  }
  const std::string order = TextParameter(request, "order");
  if (!order.empty() && order != "asc" && order != "desc")
    return ErrorResponse(400, "invalid order: expected asc or desc");
  query.ascending = order == "asc";
  const absl::StatusOr<int64_t> offset = IntParameter(request, "offset", 0, 0, INT32_MAX);
  if (!offset.ok()) return ErrorResponse(offset.status());
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const std::string totals = TextParameter(request, "totals");
  if (!totals.empty() && totals != "true" && totals != "false")
    return ErrorResponse(400, StrCat("totals=", totals, ": expected true or false"));
  query.offset = static_cast<size_t>(*offset);
  query.limit = static_cast<size_t>(*limit);
  const std::shared_ptr<const FleetView> view = ViewOf(reach);
  const JobsPage page = ListJobs(*view, query);
  JsonWriter json;
  json.BeginObject();
  json.Field("total", static_cast<int64_t>(page.total));
  json.Field("offset", *offset);
  if (prices.known()) json.Field("currency", std::string_view(prices.currency));
  if (totals == "true") {
    JobsQuery all = query;
    all.sort.by = SortBy::kTasks;
    all.offset = 0;
    all.limit = view->jobs.size();
    JobTotals sums;
    const int64_t now_s = view->window.has_value() ? view->window->next().start_s() : INT64_MIN;
    for (const JobId id : ListJobs(*view, all).jobs) sums.Add(*view->Find(id), now_s);
    json.Key("totals");
    json.BeginObject();
    PutTotals(sums, prices, json);
    json.EndObject();
  }
  json.Key("jobs");
  json.BeginArray();
  for (const JobId id : page.jobs) {
    json.BeginObject();
    PutJobFields(*view->Find(id), {prices, control_.ingest().grace_s()}, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return Json(json);
}

HttpResponse Api::Totals(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {"by", "search", "mode", "limit"}); !s.ok())
    return ErrorResponse(s);
  const std::string by = TextParameter(request, "by");
  if (by.empty())
    return ErrorResponse(400,
                         "missing parameter by: expected the name of a label or a property such as :class");
  const Prices& prices = PricesFor(request, reach);
  JobsQuery which;
  which.search = TextParameter(request, "search");
  if (absl::Status s = ModeParameter(request, which.mode); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const std::shared_ptr<const FleetView> view = ViewOf(reach);
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
  return Json(json);
}

}  // namespace taut::server
