#include "api/api.h"

#include <algorithm>
#include <charconv>

#include "api/embedded_files.h"
#include "api/parameters.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "control/decision_search.h"

namespace taut {
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

HttpResponse Json(JsonWriter& json) { return JsonResponse(200, json.Take()); }

constexpr std::string_view kWritePath = "/api/v1/write";

// nullopt: the role may.
std::optional<std::string_view> Forbidden(const HttpRequest& request) {
  const bool write = request.path == kWritePath;
  // What-if is a question, though its parameters come as a body.
  const bool question =
      request.method == "GET" || (request.segments.size() == 5 && request.segments[4] == "whatif");
  switch (request.role) {
    case Role::kOperator:
      return std::nullopt;
    case Role::kWriter:
      if (write) return std::nullopt;
      return "a writer's token may only be used for POST /api/v1/write";
    default:
      if (question && !write) return std::nullopt;
      return write ? "role writer or operator required; this is a reader's token"
                   : "role operator required; this is a reader's token";
  }
}

absl::Status ModeParameter(const HttpRequest& request, std::optional<Mode>& mode) {
  const std::string text = TextParameter(request, "mode");
  if (text.empty()) return absl::OkStatus();
  mode = ParseMode(text);
  if (mode.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("invalid mode \"", text, "\": expected off, observe, canary or auto"));
}

// Up to three jobs that `name` may have been meant for: those that contain it, or else the nearest ones.
std::vector<std::string> NearestJobs(const FleetView& view, std::string_view name) {
  constexpr size_t kMost = 3, kMostCompared = 20'000;
  std::vector<std::string> out;
  if (name.size() > 200) return out;
  JobsQuery query;
  query.search = std::string(name);
  query.sort = JobSort::kName;
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

Api::Api(ControlPlane& control, ApiOptions options)
    : control_(control), options_(std::move(options)), budgets_(options_.budgets) {
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
  if (!options_.steady_ms) return Answer(request);
  const double start_ms = options_.steady_ms();
  HttpResponse response = Answer(request);
  times_.Note(RouteTimes::RouteOf(request), (options_.steady_ms() - start_ms) / 1000);
  return response;
}

HttpResponse Api::Answer(const HttpRequest& request) {
  if (request.path == "/healthz") return TextResponse(200, "ok\n");
  if (request.path == "/readyz") {
    const absl::Status ready = control_.ready();
    if (!ready.ok()) return TextResponse(503, StrCat(Message(ready), "\n"));
    std::string text = "ready\n";
    if (const std::string clock = control_.clock_view().sentence; !clock.empty()) {
      text = StrCat("ready; ", clock, "\n");
    }
    const auto backfill = options_.backfill ? options_.backfill() : std::nullopt;
    if (!backfill.has_value()) return TextResponse(200, text);
    // Anybody may ask this: what the other server said is only for those with a token.
    const std::string_view state = backfill->running ? "backfill is running\n"
                                   : backfill->error.empty()
                                       ? ""
                                       : "backfill failed: GET /api/v1/status says why\n";
    return TextResponse(200, StrCat(text, state));
  }
  if (request.role == Role::kNone)
    return ErrorResponse(401, "authentication required: send the header Authorization: Bearer TOKEN");
  if (const auto why = Forbidden(request); why.has_value()) return ErrorResponse(403, *why);
  return Route(request);
}

HttpResponse Api::Route(const HttpRequest& request) {
  struct Row {
    std::string_view method, path;
    Handler handler;
  };
  static constexpr Row kRows[] = {{"POST", "/api/v1/write", &Api::Write},
                                  {"GET", "/api/v1/fleet", &Api::Fleet},
                                  {"GET", "/api/v1/fleet/history", &Api::History},
                                  {"GET", "/api/v1/jobs", &Api::Jobs},
                                  {"GET", "/api/v1/totals", &Api::Totals},
                                  {"GET", "/api/v1/costs", &Api::Costs},
                                  {"GET", "/api/v1/budgets", &Api::Budgets},
                                  {"GET", "/api/v1/bills", &Api::Bills},
                                  {"GET", "/api/v1/quota", &Api::Quota},
                                  {"GET", "/api/v1/admission", &Api::Admission},
                                  {"GET", "/api/v1/requests", &Api::QuotaRequests},
                                  {"POST", "/api/v1/requests", &Api::MakeQuotaRequest},
                                  {"GET", "/api/v1/machines", &Api::Machines},
                                  {"GET", "/allocation", &Api::Allocation},
                                  {"GET", "/allocation/compute", &Api::Allocation},
                                  {"GET", "/api/v1/decisions", &Api::Decisions},
                                  {"GET", "/api/v1/ooms", &Api::Ooms},
                                  {"GET", "/api/v1/settings", &Api::Settings},
                                  {"GET", "/api/v1/recommenders", &Api::Recommenders},
                                  {"PATCH", "/api/v1/settings", &Api::PatchMany},
                                  {"GET", "/api/v1/status", &Api::Status},
                                  {"GET", "/api/v1/agents", &Api::Agents},
                                  {"GET", "/api/v1/events", &Api::Events},
                                  {"GET", "/metrics", &Api::Metrics}};
  bool other_method = false;
  for (const Row& row : kRows) {
    if (row.path != request.path) continue;
    if (row.method == request.method) return (this->*row.handler)(request);
    other_method = true;
  }
  if (other_method) return ErrorResponse(405, StrCat(request.path, " does not support ", request.method));
  if (request.segments.size() >= 4 && request.path.starts_with("/api/v1/jobs/")) return JobRoute(request);
  if (request.segments.size() == 4 && request.path.starts_with("/api/v1/decisions/") &&
      request.method == "GET") {
    return OneDecision(request);
  }
  if (request.segments.size() == 4 && request.path.starts_with("/api/v1/machines/") &&
      request.method == "GET") {
    return OneMachine(request);
  }
  if (request.segments.size() == 4 && request.path.starts_with("/api/v1/requests/") &&
      (request.method == "GET" || request.method == "DELETE")) {
    return OneQuotaRequest(request);
  }
  if (request.method == "GET") return File(request);
  return ErrorResponse(
      404, StrCat("there is no ", request.path, "; the API is described in /api/v1/openapi.yaml"));
}

HttpResponse Api::NoJob(std::string_view name) const {
  const std::shared_ptr<const FleetView> view = control_.view();
  std::string text = StrCat("no job \"", name, "\"");
  const std::vector<std::string> near = NearestJobs(*view, name);
  if (!near.empty()) {
    StrAppend(&text, "; did you mean \"", fmt::join(near, "\" or \""), "\"?");
  } else {
    text += "; GET /api/v1/jobs?search= finds names, which go into a path percent-encoded";
  }
  return ErrorResponse(404, text);
}

HttpResponse Api::JobRoute(const HttpRequest& request) {
  const std::optional<JobId> id = control_.Find(request.segments[3]);
  if (!id.has_value()) {
    return NoJob(request.segments[3]);
  }
  const std::string_view what = request.segments.size() > 4 ? std::string_view(request.segments[4]) : "";
  const bool get = request.method == "GET";
  if (request.segments.size() <= 5) {
    if (get && (what.empty() || what == "explain" || what == "settings")) {
      if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
    }
    if (get && request.segments.size() == 4) return Job(*id);
    if (get && what == "usage") return Usage(request, *id);
    if (get && what == "replicas") return ReplicasOfJob(request, *id);
    if (get && what == "explain") return Explain(*id);
    if (get && what == "settings") return GetSettings(*id);
    if (request.method == "PATCH" && what == "settings") return PatchSettings(request, *id);
    if (request.method == "POST" && what == "whatif") return WhatIfOf(request, *id);
  }
  return ErrorResponse(404, StrCat("a job has usage, replicas, explain, settings and whatif; not ",
                                   request.method, " ", what));
}

HttpResponse Api::File(const HttpRequest& request) {
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

HttpResponse Api::Write(const HttpRequest& request) {
  const std::string* encoding = request.header("Content-Encoding");
  if (encoding == nullptr || !EqualsIgnoreCase(*encoding, "snappy")) {
    return ErrorResponse(400,
                         "remote write must be snappy-compressed protobuf: set Content-Encoding: snappy");
  }
  const absl::StatusOr<WriteResult> result = control_.Write(request.body, options_.now());
  if (!result.ok()) return ErrorResponse(result.status());
  HttpResponse taken;
  taken.status = 204;
  return taken;
}

// ---- the fleet ----

HttpResponse Api::Fleet(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  PutFleet(*control_.view(), FleetShownHere(), json);
  return Json(json);
}

HttpResponse Api::History(const HttpRequest& request) {
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

HttpResponse Api::Jobs(const HttpRequest& request) {
  if (absl::Status s =
          OnlyParameters(request, {"search", "mode", "sort", "order", "offset", "limit", "totals"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  JobsQuery query;
  query.search = TextParameter(request, "search");
  if (absl::Status s = ModeParameter(request, query.mode); !s.ok()) return ErrorResponse(s);
  if (const std::string sort = TextParameter(request, "sort"); !sort.empty()) {
    const std::optional<JobSort> parsed = ParseJobSort(sort);
    if (!parsed.has_value())
      return ErrorResponse(400,
                           StrCat("sort=", sort, ": expected name, tasks, saving, tight, cpu_usage, ..."));
    query.sort = *parsed;
    if (*parsed == JobSort::kSavingPerMonth && !options_.prices.known())
      return ErrorResponse(400, "sort=saving_per_month: no prices are configured (prices.core_hour)");
    for (const Resource r : kResources) query.price[static_cast<size_t>(r)] = options_.prices.PerMonth(r, 1);
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
  const std::shared_ptr<const FleetView> view = control_.view();
  const JobsPage page = ListJobs(*view, query);
  JsonWriter json;
  json.BeginObject();
  json.Field("total", static_cast<int64_t>(page.total));
  json.Field("offset", *offset);
  if (options_.prices.known()) json.Field("currency", std::string_view(options_.prices.currency));
  if (totals == "true") {
    JobsQuery all = query;
    all.sort = JobSort::kTasks;
    all.offset = 0;
    all.limit = view->jobs.size();
    JobTotals sums;
    for (const JobId id : ListJobs(*view, all).jobs) sums.Add(*view->Find(id));
    json.Key("totals");
    json.BeginObject();
    PutTotals(sums, options_.prices, json);
    json.EndObject();
  }
  json.Key("jobs");
  json.BeginArray();
  for (const JobId id : page.jobs) {
    json.BeginObject();
    PutJobFields(*view->Find(id), options_.prices, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return Json(json);
}

HttpResponse Api::Totals(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(request, {"by", "search", "mode", "limit"}); !s.ok())
    return ErrorResponse(s);
  const std::string by = TextParameter(request, "by");
  if (by.empty())
    return ErrorResponse(400,
                         "missing parameter by: expected the name of a label or a property such as :class");
  JobsQuery which;
  which.search = TextParameter(request, "search");
  if (absl::Status s = ModeParameter(request, which.mode); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const std::shared_ptr<const FleetView> view = control_.view();
  const std::vector<GroupTotals> groups = TotalsBy(*view, by, which);
  const bool any =
      std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.value.has_value(); });
  if (!any && !view->jobs.empty()) {
    std::vector<std::string> names = LabelNames(*view);
    names.insert(names.end(), GroupProperties().begin(), GroupProperties().end());
    if (std::ranges::find(names, by) == names.end()) {
      return ErrorResponse(404, fmt::format("no job has a label \"{}\"; labels and properties of jobs: {}",
                                            by, fmt::join(names, ", ")));
    }
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("by", std::string_view(by));
  json.Field("total", static_cast<int64_t>(groups.size()));
  if (options_.prices.known()) json.Field("currency", std::string_view(options_.prices.currency));
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
    PutTotals(groups[i].totals, options_.prices, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return Json(json);
}

// ---- decisions and OOM kills ----

HttpResponse Api::Decisions(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(
          request, {"job", "search", "resource", "target", "kind", "outcome", "before", "limit"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  DecisionFilter filter;
  DecisionQuery& query = filter.query;
  if (const std::string job = TextParameter(request, "job"); !job.empty()) {
    query.job = control_.Find(job);
    if (!query.job.has_value()) return NoJob(job);
  }
  const absl::StatusOr<std::optional<Target>> target = TargetParameter(request);
  if (!target.ok()) return ErrorResponse(target.status());
  query.target = *target;
  if (const std::string outcome = TextParameter(request, "outcome"); !outcome.empty()) {
    for (int o = 0; o < kNumOutcomes; ++o) {
      if (Name(static_cast<Outcome>(o)) == outcome) query.outcome = static_cast<Outcome>(o);
    }
    if (!query.outcome.has_value()) {
      return ErrorResponse(400, StrCat("invalid outcome=", outcome,
                                       ": expected pending, applied, dry_run, failed or superseded"));
    }
  }
  if (const std::string kind = TextParameter(request, "kind"); !kind.empty()) {
    for (int k = 0; k < kNumDecisionKinds; ++k) {
      if (Name(static_cast<DecisionKind>(k)) == kind) query.kind = static_cast<DecisionKind>(k);
    }
    if (!query.kind.has_value()) {
      return ErrorResponse(
          400, StrCat("invalid kind=", kind,
                      ": expected would_set, set, try, promote, roll_back, oom_raise or release"));
    }
  }
  const absl::StatusOr<int64_t> before = IntParameter(request, "before", INT64_MAX, 1, INT64_MAX);
  if (!before.ok()) return ErrorResponse(before.status());
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  query.before_id = static_cast<uint64_t>(*before);
  query.limit = static_cast<size_t>(*limit);
  if (const std::string search = TextParameter(request, "search"); !search.empty()) {
    filter.job = [fits = JobsThatFit(*control_.view(), search)](JobId id) {
      return id.value < fits.size() && fits[id.value];
    };
  }
  const absl::StatusOr<DecisionsFound> found = FindDecisions(control_.history(), filter);
  if (!found.ok()) return ErrorResponse(found.status());
  JsonWriter json;
  json.BeginObject();
  json.Key("decisions");
  json.BeginArray();
  for (const Decision& d : found->decisions) {
    json.BeginObject();
    PutDecisionFields(d, NameOf(d.job), json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("next_before");
  if (found->next_before.has_value()) {
    json.Int(static_cast<int64_t>(*found->next_before));
  } else {
    json.Null();
  }
  json.EndObject();
  return Json(json);
}

HttpResponse Api::OneDecision(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  const std::string& text = request.segments[3];
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id == 0 || id > INT64_MAX) {
    return ErrorResponse(404, "invalid decision: expected its number");
  }
  DecisionQuery query;
  query.before_id = id + 1;
  query.after_id = id - 1;
  query.limit = 1;
  const auto decisions = control_.history().Decisions(query, History::Reasons::kInclude);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  if (decisions->empty())
    return ErrorResponse(404, StrCat("no decision ", id, "; it may be older than store.decision_days"));
  const Decision& d = decisions->front();
  JsonWriter json;
  json.BeginObject();
  PutDecisionFields(d, NameOf(d.job), json);
  json.Key("reason");
  const absl::StatusOr<Reason> reason = LoadReason(d.reason);
  if (reason.ok()) {
    PutReason(*reason, json);
  } else {
    json.Null();
  }
  json.EndObject();
  return Json(json);
}

HttpResponse Api::Ooms(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(request, {"job", "limit"}); !s.ok()) return ErrorResponse(s);
  std::optional<JobId> job;
  if (const std::string name = TextParameter(request, "job"); !name.empty()) {
    job = control_.Find(name);
    if (!job.has_value()) return NoJob(name);
  }
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const auto ooms = control_.history().Ooms(job, INT64_MIN, static_cast<size_t>(*limit));
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  JsonWriter json;
  json.BeginObject();
  json.Key("ooms");
  json.BeginArray();
  for (const OomRecord& o : *ooms) PutOom(o, NameOf(o.job), json);
  json.EndArray();
  json.EndObject();
  return Json(json);
}

// ---- events ----

HttpResponse Api::Events(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  HttpResponse response;
  response.stream = events_.Subscribe();
  // So that the client learns at once that it listens.
  (void)response.stream->Send(std::make_shared<const std::string>(": tautd\n\n"));
  return response;
}

void Api::Publish(const TickEvents& events) {
  if (events_.size() == 0) return;
  const auto send = [&](std::string_view event, auto put, std::string_view id) {
    JsonWriter json;
    put(json);
    events_.Publish(event, json.Take(), id);
  };
  for (const Decision& d : events.decisions) {
    const auto put = [&](JsonWriter& json) {
      json.BeginObject();
      PutDecisionFields(d, NameOf(d.job), json);
      json.EndObject();
    };
    send("decision", put, StrCat(d.id));
  }
  for (const OomRecord& o : events.ooms) {
    send(
        "oom", [&](JsonWriter& json) { PutOom(o, NameOf(o.job), json); }, "");
  }
  for (const SettingChange& c : events.settings) {
    send(
        "setting", [&](JsonWriter& json) { PutSettingChange(c, json); }, "");
  }
  if (!events.window_closed) return;
  const auto put = [&](JsonWriter& json) { PutFleet(*control_.view(), FleetShownHere(), json); };
  send("window", put, "");
}

}  // namespace taut
