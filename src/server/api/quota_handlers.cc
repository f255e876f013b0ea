// API handlers for quota and quota requests.

#include "common/base/printable.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/model/units.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

constexpr int64_t kMaxTasks = 1'000'000'000;

// Writes an amount: CPU in cores and memory in bytes, as everywhere in the API; other resources in their own
// unit.
void PutOne(std::string_view resource, int64_t amount, JsonWriter& json) {
  if (resource == brain::kQuotaCpu) {
    json.Number(static_cast<double>(amount) / 1000, 15);
  } else {
    json.Int(amount);
  }
}

void PutAmounts(std::string_view key, const brain::QuotaVector& amounts, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  for (const brain::QuotaAmount& a : amounts.amounts()) {
    json.Key(a.resource);
    PutOne(a.resource, a.amount, json);
  }
  json.EndObject();
}

void PutTexts(std::string_view key, std::span<const std::string> texts, JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void PutAdvice(std::string_view resource, const brain::QuotaAdvice& advice, JsonWriter& json) {
  json.Key("history");
  json.BeginObject();
  json.Field("hours", advice.hours);
  const auto put = [&](std::string_view name, std::optional<int64_t> amount) {
    if (!amount.has_value()) return;
    json.Key(name);
    PutOne(resource, *amount, json);
  };
  put("in_use_p95", advice.in_use_p95);
  put("in_use_peak", advice.in_use_peak);
  put("usage_p95", advice.usage_p95);
  put("usage_peak", advice.usage_peak);
  put("recommended", advice.recommended);
  json.Field("reason", std::string_view(advice.reason));
  json.EndObject();
}

void PutRow(const brain::QuotaRowView& row, JsonWriter& json) {
  json.BeginObject();
  json.Field("group", std::string_view(row.group));
  json.Field("cohort", row.cohort);
  json.Field("tier", std::string_view(row.tier));
  json.Field("resource", std::string_view(row.resource));
  for (const auto& [name, amount] : {std::pair<std::string_view, int64_t>{"quota", row.cell.quota},
                                     {"in_use", row.cell.held},
                                     {"borrowed", row.borrowed()},
                                     {"over_quota", row.over_quota()},
                                     {"available", std::max<int64_t>(0, row.available)},
                                     {"at_most", row.maximum}}) {
    json.Key(name);
    PutOne(row.resource, amount, json);
  }
  if (row.advice.has_value()) PutAdvice(row.resource, *row.advice, json);
  json.EndObject();
}

void PutVerdict(const brain::AdmissionVerdict& verdict, JsonWriter& json) {
  json.BeginObject();
  json.Field("outcome", Name(verdict.outcome));
  json.Field("explanation", std::string_view(Explain(verdict)));
  PutAmounts("asked", verdict.use.amounts, json);
  json.Key("borrowed");
  json.BeginArray();
  for (const brain::AdmissionBorrowing& b : verdict.borrowed) {
    json.BeginObject();
    json.Field("resource", std::string_view(b.resource));
    json.Key("amount");
    PutOne(b.resource, b.amount, json);
    json.Field("cohort", std::string_view(b.cohort));
    json.EndObject();
  }
  json.EndArray();
  json.Key("reasons");
  json.BeginArray();
  for (const brain::AdmissionReason& r : verdict.reasons) {
    json.BeginObject();
    json.Field("resource", std::string_view(r.resource));
    json.Field("level", std::string_view(r.level));
    json.Key("asked");
    PutOne(r.resource, r.asked, json);
    json.Key("available");
    PutOne(r.resource, r.available, json);
    json.Field("never", r.never);
    json.Field("sentence", std::string_view(r.text));
    json.EndObject();
  }
  json.EndArray();
  json.Field("fitting_tasks", verdict.fitting_tasks);
  PutAmounts("fitting", verdict.fitting, json);
  PutTexts("other_tiers", verdict.other_tiers, json);
  json.Field("reclaimable", verdict.reclaimable);
  PutTime("probably_at", verdict.probably_at.has_value() ? verdict.probably_at->seconds() : INT64_MIN, json);
  json.EndObject();
}

void PutRequest(const brain::QuotaRequest& r, JsonWriter& json) {
  json.BeginObject();
  json.Field("id", static_cast<int64_t>(r.id));
  json.Field("state", Name(r.state));
  json.Field("end", Name(r.end));
  json.Field("group", std::string_view(r.asked.group));
  json.Field("tier", std::string_view(r.asked.tier));
  json.Field("job", std::string_view(Printable(r.job)));  // earlier versions accepted any text
  json.Field("tasks", r.asked.tasks);
  PutAmounts("per_task", r.asked.per_task, json);
  json.Field("priority", int64_t{r.asked.priority});
  json.Key("duration");
  if (r.asked.duration_s.has_value()) {
    json.Int(*r.asked.duration_s);
  } else {
    json.Null();
  }
  PutTime("asked", r.asked.now.seconds(), json);
  PutTime("since", r.since.seconds(), json);
  PutTime("admitted", r.admitted_at.has_value() ? r.admitted_at->seconds() : INT64_MIN, json);
  json.Field("who", std::string_view(r.who));
  json.Field("reason", std::string_view(r.reason));
  json.EndObject();
}

// A parsed request for quota and the job that the quota is for.
struct Asked {
  brain::AdmissionRequest request;
  std::string job;
};

// Parses one field of a request. Resources have the names "cpu" or "per_task.cpu", for example.
absl::Status TakeField(std::string_view key, const std::string& text, Asked& out) {
  const auto bad = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        StrCat("invalid ", ShortText(key), " \"", ShortText(text), "\": expected ", what));
  };
  const auto whole = [&](int64_t low, int64_t high, int64_t& to) {
    const std::optional<int64_t> value = WholeNumber(text);
    if (!value.has_value() || *value < low || *value > high)
      return bad(StrCat("a whole number from ", low, " to ", high));
    to = *value;
    return absl::OkStatus();
  };
  if (key == "group") return (out.request.group = text, absl::OkStatus());
  if (key == "tier") return (out.request.tier = text, absl::OkStatus());
  if (key == "job") return (out.job = text, absl::OkStatus());
  if (key == "tasks") return whole(1, kMaxTasks, out.request.tasks);
  if (key == "priority") {
    int64_t priority = 0;
    if (absl::Status s = whole(INT32_MIN, INT32_MAX, priority); !s.ok()) return s;
    out.request.priority = static_cast<int32_t>(priority);
    return absl::OkStatus();
  }
  if (key == "duration") {
    const absl::StatusOr<double> seconds = ParseDurationSeconds(text);
    if (!seconds.ok()) return bad("a duration such as 2h or 90min");
    out.request.duration_s = static_cast<int64_t>(*seconds);
    return absl::OkStatus();
  }
  constexpr size_t kMaxKey = 63, kMaxResources = 16;
  if (key.size() > kMaxKey || Printable(key) != key ||
      out.request.per_task.amounts().size() >= kMaxResources) {
    return absl::InvalidArgumentError(StrCat("invalid resource: expected at most ", kMaxResources,
                                             ", with names of at most ", kMaxKey, " printable characters"));
  }
  const absl::StatusOr<int64_t> amount = brain::ParseQuotaAmount(key, text);
  if (!amount.ok()) return absl::InvalidArgumentError(StrCat(key, ": ", Message(amount.status())));
  out.request.per_task.Set(key, *amount);
  return absl::OkStatus();
}

absl::Status CheckAsked(const Asked& asked) {
  constexpr size_t kMaxName = 300;
  if (asked.request.group.empty()) return absl::InvalidArgumentError("group is missing");
  if (asked.request.tier.empty()) return absl::InvalidArgumentError("tier is missing");
  if (asked.request.per_task.empty())
    return absl::InvalidArgumentError("nothing is asked for: expected cpu, memory or another resource");
  if (asked.job.size() > kMaxName) {
    return absl::InvalidArgumentError(
        StrCat("job is ", asked.job.size(), " bytes long: expected at most ", kMaxName));
  }
  for (const auto& [what, text] : {std::pair("group", &asked.request.group),
                                   std::pair("tier", &asked.request.tier), std::pair("job", &asked.job)}) {
    if (!IsPrintableUtf8(*text))
      return absl::InvalidArgumentError(StrCat("invalid ", what, " \"", ShortText(Printable(*text)),
                                               "\": expected UTF-8 without control characters"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Asked> AskedInQuery(const HttpRequest& request) {
  Asked out;
  for (const auto& [key, value] : request.query) {
    if (absl::Status s = TakeField(key, value, out); !s.ok()) return s;
  }
  if (absl::Status s = CheckAsked(out); !s.ok()) return s;
  return out;
}

// Parses a body such as {"cpu": 2, "memory": "4GiB"}, with numbers or texts. A number for memory is in bytes.
absl::StatusOr<Asked> AskedInBody(std::string_view body) {
  JsonTree tree;
  if (!tree.Parse(body).ok() || !tree.root().is_object()) {
    return absl::InvalidArgumentError(
        R"(invalid body: expected a JSON object such as {"group": "search", "tier": "batch", "cpu": 2, "memory": "4GiB"})");
  }
  Asked out;
  absl::Status status;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (!status.ok()) return;
    if (const auto text = value.text(); text.has_value()) {
      status = TakeField(key, std::string(*text), out);
    } else if (const auto integer = value.whole(); integer.has_value()) {
      status = TakeField(key, StrCat(*integer), out);
    } else if (const auto number = value.number(); number.has_value()) {
      status = TakeField(key, StrCat(*number), out);
    } else {
      status = absl::InvalidArgumentError(StrCat(key, ": expected a text or a number"));
    }
  });
  if (status.ok()) status = CheckAsked(out);
  if (!status.ok()) return status;
  return out;
}

// Returns the response to an unknown group. It names only the groups that the caller may see.
HttpResponse NoGroup(std::string_view group, const Reach& reach) {
  std::string text = StrCat("no group \"", ShortText(group), "\" of yours");
  if (!reach.groups().empty()) StrAppend(&text, ": expected ", Join(reach.groups(), ", "), " or one below");
  return ErrorResponse(404, text);
}

// Returns the request with this number. Returns the same NotFound for a missing request and for a request out
// of reach, so that callers cannot tell the two apart.
absl::StatusOr<brain::QuotaRequest> FindRequest(const std::string& text, const Reach& reach,
                                                const QuotaService& service) {
  const std::optional<int64_t> id = WholeNumber(text);
  if (!id.has_value() || *id < 0) return absl::NotFoundError("invalid request: expected its number");
  absl::StatusOr<brain::QuotaRequest> found = service.Find(static_cast<uint64_t>(*id));
  if (reach.all() || (found.ok() && reach.Has(found->asked.group))) return found;
  return absl::NotFoundError(StrCat("no request ", *id, " of your groups"));
}

// Returns true if the caller made the request or was the last to change it. The names are compared in the
// format of WhoOf.
bool IsOf(const HttpRequest& caller, const brain::QuotaRequest& request) {
  if (caller.user.empty()) return false;
  return request.who == caller.user || request.who.starts_with(StrCat(caller.user, " (says "));
}

// Returns the rows, use and requests of the groups in reach. Leaves out the cohorts above these groups,
// because the use of other groups could be computed from a cohort's use.
QuotaView ViewWithin(const Reach& reach, QuotaView view, const QuotaService& service) {
  if (reach.all()) return view;
  std::erase_if(view.rows, [&](const brain::QuotaRowView& row) { return !reach.Has(row.group); });
  std::erase_if(view.uncovered, [&](const brain::UncoveredUse& use) { return !reach.Has(use.group); });
  std::erase_if(view.warnings, [&](const brain::QuotaFinding& finding) { return !reach.Has(finding.group); });
  view.queued = view.open = 0;
  const auto count = [&](const brain::QuotaRequest& r) {
    if (!reach.Has(r.asked.group)) return false;
    view.queued += r.state == brain::RequestState::kQueued ? 1 : 0;
    view.open += r.open() ? 1 : 0;
    return false;
  };
  (void)service.List(count, 1);
  return view;
}

constexpr std::string_view kNoQuota = "no quota is configured: quota.file names no file";

HttpResponse GetQuota(const ApiCall& call, QuotaService* service) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  const QuotaView view = ViewWithin(call.reach, service->ViewWithAdvice(), *service);
  JsonWriter json;
  json.BeginObject();
  PutTime("measured", view.measured_at.has_value() ? view.measured_at->seconds() : INT64_MIN, json);
  json.Field("silent", view.silent);
  json.Field("queued", static_cast<int64_t>(view.queued));
  json.Field("open", static_cast<int64_t>(view.open));
  json.Key("warnings");
  json.BeginArray();
  for (const brain::QuotaFinding& finding : view.warnings) json.String(finding.text);
  json.EndArray();
  json.Key("rows");
  json.BeginArray();
  for (const brain::QuotaRowView& row : view.rows) PutRow(row, json);
  json.EndArray();
  json.Key("uncovered");
  json.BeginArray();
  for (const brain::UncoveredUse& use : view.uncovered) {
    json.BeginObject();
    json.Field("group", std::string_view(use.group));
    json.Field("tier", std::string_view(use.tier));
    json.Field("jobs", static_cast<int64_t>(use.jobs));
    json.Field("first_job", std::string_view(use.first_job));
    json.Field("requests", static_cast<int64_t>(use.requests));
    PutAmounts("amounts", use.amounts, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetAdmission(const ApiCall& call, QuotaService* service) {
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  const absl::StatusOr<Asked> asked = AskedInQuery(call.request);
  if (!asked.ok()) return ErrorResponse(asked.status());
  if (!call.reach.Has(asked->request.group)) return NoGroup(asked->request.group, call.reach);
  const absl::StatusOr<brain::AdmissionVerdict> verdict = service->Decide(asked->request, asked->job);
  if (!verdict.ok()) return ErrorResponse(verdict.status());
  JsonWriter json;
  PutVerdict(*verdict, json);
  return JsonResponse(200, json.Take());
}

HttpResponse GetRequests(const ApiCall& call, QuotaService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"state", "group", "ended", "limit", "before"}); !s.ok())
    return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 10'000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const absl::StatusOr<int64_t> before = IntParameter(call.request, "before", INT64_MAX, 1, INT64_MAX);
  if (!before.ok()) return ErrorResponse(before.status());
  const std::string state_text = TextParameter(call.request, "state"),
                    group = TextParameter(call.request, "group");
  const std::optional<brain::RequestState> state = brain::RequestStateNamed(state_text);
  if (!state_text.empty() && !state.has_value())
    return ErrorResponse(
        400, StrCat("invalid state=", state_text, ": expected queued, admitted, running or ended"));
  const std::string ended = TextParameter(call.request, "ended");
  if (!ended.empty() && ended != "true" && ended != "false")
    return ErrorResponse(400, StrCat("invalid ended=", ended, ": expected true or false"));
  const std::vector<brain::QuotaRequest> found = service->List(
      [&](const brain::QuotaRequest& r) {
        if (r.id >= static_cast<uint64_t>(*before) || !call.reach.Has(r.asked.group)) return false;
        if (ended == "false" && r.state == brain::RequestState::kEnded) return false;
        return (!state.has_value() || r.state == *state) && (group.empty() || r.asked.group == group);
      },
      static_cast<size_t>(*limit));
  // A group that was removed may still have requests, so an unknown group is an error only without requests.
  if (found.empty() && !group.empty() && !service->scheme()->Has(group)) {
    if (!call.reach.all()) return NoGroup(group, call.reach);
    return ErrorResponse(
        404, StrCat("no group \"", ShortText(group), "\" in the quota, and no such request of one"));
  }
  JsonWriter json;
  json.BeginObject();
  json.Key("requests");
  json.BeginArray();
  for (const brain::QuotaRequest& r : found) PutRequest(r, json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse PostRequest(const ApiCall& call, const FleetAccess& access, QuotaService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"who"}); !s.ok()) return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  const absl::StatusOr<std::string> who = WhoOf(call.request);
  if (!who.ok()) return ErrorResponse(who.status());
  const absl::StatusOr<Asked> asked = AskedInBody(call.request.body);
  if (!asked.ok()) return ErrorResponse(asked.status());
  if (!call.reach.Has(asked->request.group)) {
    // The caller may see this group, so the response is 403 and not 404.
    if (access.ReachOf(call.request, Act::kSeeQuota).Has(asked->request.group))
      return ErrorResponse(403, RefusalText(call.request, Act::kMakeRequests));
    return NoGroup(asked->request.group, call.reach);
  }
  const absl::StatusOr<brain::QuotaRequest> made = service->Submit(asked->request, asked->job, *who);
  if (!made.ok()) return ErrorResponse(made.status());
  JsonWriter json;
  PutRequest(*made, json);
  return JsonResponse(200, json.Take());
}

HttpResponse GetRequest(const ApiCall& call, QuotaService* service) {
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<brain::QuotaRequest> found =
      FindRequest(call.request.segments[3], call.reach, *service);
  if (!found.ok()) return ErrorResponse(found.status());
  JsonWriter json;
  PutRequest(*found, json);
  return JsonResponse(200, json.Take());
}

HttpResponse DeleteRequest(const ApiCall& call, const FleetAccess& access, QuotaService* service) {
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  if (absl::Status s = OnlyParameters(call.request, {"who"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<std::string> who = WhoOf(call.request);
  if (!who.ok()) return ErrorResponse(who.status());
  // The request is searched in the reach of kSeeQuota, which is larger: a request that the caller may see
  // must give 403 and not 404.
  const absl::StatusOr<brain::QuotaRequest> found =
      FindRequest(call.request.segments[3], access.ReachOf(call.request, Act::kSeeQuota), *service);
  if (!found.ok()) return ErrorResponse(found.status());
  const bool any = access.ReachOf(call.request, Act::kEndRequests).Has(found->asked.group);
  const bool own = call.reach.Has(found->asked.group) && IsOf(call.request, *found);
  if (!any && !own) {
    return ErrorResponse(403, StrCat("request ", found->id, " is of ", Printable(found->who), ": ",
                                     RefusalText(call.request, Act::kEndRequests)));
  }
  const absl::StatusOr<brain::QuotaRequest> ended = service->Withdraw(found->id, *who);
  if (!ended.ok()) return ErrorResponse(ended.status());
  JsonWriter json;
  PutRequest(*ended, json);
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddQuotaRoutes(const FleetAccess& access, QuotaService* service, RouteTable& routes) {
  routes.Add("GET", "/api/v1/quota", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetQuota(call, service); });
  routes.Add("GET", "/api/v1/admission", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetAdmission(call, service); });
  routes.Add("GET", "/api/v1/requests", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetRequests(call, service); });
  routes.Add("POST", "/api/v1/requests", Act::kMakeRequests,
             [&access, service](const ApiCall& call) { return PostRequest(call, access, service); });
  routes.Add("GET", "/api/v1/requests/{id}", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetRequest(call, service); });
  routes.Add("DELETE", "/api/v1/requests/{id}", Act::kMakeRequests,
             [&access, service](const ApiCall& call) { return DeleteRequest(call, access, service); });
}

}  // namespace taut::server
