// API handlers for quota and quota requests.

#include "common/base/printable.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/model/units.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/quota_access.h"

namespace taut::server {
namespace {

// Writes CPU in cores and memory in bytes, as everywhere in the API, and any other resource in its own unit.
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
                                     {"in_use", row.in_use()},
                                     {"borrowed", row.borrowed()},
                                     {"over_quota", row.over_quota()},
                                     {"available", std::max<int64_t>(0, row.available)},
                                     {"at_most", row.maximum}}) {
    json.Key(name);
    PutOne(row.resource, amount, json);
  }
  if (row.oversold.has_value()) {
    json.Key("oversold");
    PutOne(row.resource, *row.oversold, json);
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
  json.Field("job", std::string_view(Printable(r.job)));  // earlier versions accepted any characters
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

absl::StatusOr<AskedQuota> AskedInQuery(const HttpRequest& request) {
  AskedQuota out;
  for (const auto& [key, value] : request.query) {
    if (absl::Status s = out.Set(key, value); !s.ok()) return s;
  }
  if (absl::Status s = out.Check(); !s.ok()) return s;
  return out;
}

// Parses a body such as {"cpu": 2, "memory": "4GiB"}, with numbers or texts. A number for memory is in bytes.
absl::StatusOr<AskedQuota> AskedInBody(std::string_view body) {
  JsonTree tree;
  if (!tree.Parse(body).ok() || !tree.root().is_object()) {
    return absl::InvalidArgumentError(
        R"(invalid body: expected a JSON object such as {"group": "search", "tier": "batch", "cpu": 2, "memory": "4GiB"})");
  }
  AskedQuota out;
  absl::Status status;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (!status.ok()) return;
    if (const auto text = value.text(); text.has_value()) {
      status = out.Set(key, std::string(*text));
    } else if (const auto integer = value.whole(); integer.has_value()) {
      status = out.Set(key, StrCat(*integer));
    } else if (const auto number = value.number(); number.has_value()) {
      status = out.Set(key, StrCat(*number));
    } else {
      status = absl::InvalidArgumentError(StrCat(key, ": expected a text or a number"));
    }
  });
  if (status.ok()) status = out.Check();
  if (!status.ok()) return status;
  return out;
}

// Returns the number of the request in the path. Returns -1, which is not the number of a request, for any other
// text.
int64_t RequestIn(const HttpRequest& request) { return WholeNumber(request.segments[3]).value_or(-1); }

// Returns rows, use and requests of the groups in reach. Omits the cohorts above these groups, because a cohort's
// use would reveal the use of other groups.
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
  const absl::StatusOr<AskedQuota> asked = AskedInQuery(call.request);
  if (!asked.ok()) return ErrorResponse(asked.status());
  const absl::StatusOr<brain::AdmissionVerdict> verdict = QuotaAccess(*service).Decide(call.request, *asked);
  if (!verdict.ok()) return ErrorResponse(verdict.status());
  JsonWriter json;
  PutVerdict(*verdict, json);
  return JsonResponse(200, json.Take());
}

HttpResponse RequestResponse(const absl::StatusOr<brain::QuotaRequest>& request) {
  if (!request.ok()) return ErrorResponse(request.status());
  JsonWriter json;
  PutRequest(*request, json);
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
  // A removed group may still have requests, so an unknown group is an error only without requests.
  if (found.empty() && !group.empty() && !service->scheme()->Has(group)) {
    if (!call.reach.all()) return ErrorResponse(NoGroup(group, call.reach));
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

HttpResponse PostRequest(const ApiCall& call, QuotaService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"who"}); !s.ok()) return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  const absl::StatusOr<AskedQuota> asked = AskedInBody(call.request.body);
  if (!asked.ok()) return ErrorResponse(asked.status());
  return RequestResponse(QuotaAccess(*service).Submit(call.request, *asked));
}

HttpResponse GetRequest(const ApiCall& call, QuotaService* service) {
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  return RequestResponse(QuotaAccess(*service).Find(call.request, RequestIn(call.request)));
}

HttpResponse DeleteRequest(const ApiCall& call, QuotaService* service) {
  if (service == nullptr) return ErrorResponse(404, kNoQuota);
  if (absl::Status s = OnlyParameters(call.request, {"who"}); !s.ok()) return ErrorResponse(s);
  return RequestResponse(QuotaAccess(*service).Withdraw(call.request, RequestIn(call.request)));
}

}  // namespace

void AddQuotaRoutes(QuotaService* service, RouteTable& routes) {
  routes.Add("GET", "/api/v1/quota", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetQuota(call, service); });
  routes.Add("GET", "/api/v1/admission", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetAdmission(call, service); });
  routes.Add("GET", "/api/v1/requests", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetRequests(call, service); });
  routes.Add("POST", "/api/v1/requests", Act::kMakeRequests,
             [service](const ApiCall& call) { return PostRequest(call, service); });
  routes.Add("GET", "/api/v1/requests/{id}", Act::kSeeQuota,
             [service](const ApiCall& call) { return GetRequest(call, service); });
  routes.Add("DELETE", "/api/v1/requests/{id}", Act::kMakeRequests,
             [service](const ApiCall& call) { return DeleteRequest(call, service); });
}

}  // namespace taut::server
