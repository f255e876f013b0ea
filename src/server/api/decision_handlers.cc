// API handlers for decisions and OOM kills.
#include <algorithm>

#include "common/base/strings.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/control/decision_search.h"

namespace taut::server {
namespace {

// Parses all parameters except the job and the search text.
absl::Status ReadDecisionQuery(const HttpRequest& request, DecisionQuery& query) {
  const absl::StatusOr<std::optional<Target>> target = TargetParameter(request);
  if (!target.ok()) return target.status();
  query.target = *target;
  if (const std::string outcome = TextParameter(request, "outcome"); !outcome.empty()) {
    for (int o = 0; o < kNumOutcomes; ++o) {
      if (Name(static_cast<Outcome>(o)) == outcome) query.outcome = static_cast<Outcome>(o);
    }
    if (!query.outcome.has_value()) {
      return absl::InvalidArgumentError(
          StrCat("invalid outcome=", outcome, ": expected pending, applied, dry_run, failed or superseded"));
    }
  }
  if (const std::string kind = TextParameter(request, "kind"); !kind.empty()) {
    for (int k = 0; k < kNumDecisionKinds; ++k) {
      if (Name(static_cast<DecisionKind>(k)) == kind) query.kind = static_cast<DecisionKind>(k);
    }
    if (!query.kind.has_value()) {
      return absl::InvalidArgumentError(StrCat("invalid kind=", kind, ": expected ", DecisionKindNames()));
    }
  }
  const absl::StatusOr<int64_t> before = IntParameter(request, "before", INT64_MAX, 1, INT64_MAX);
  if (!before.ok()) return before.status();
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return limit.status();
  query.before_id = static_cast<uint64_t>(*before);
  query.limit = static_cast<size_t>(*limit);
  return absl::OkStatus();
}

HttpResponse GetDecisions(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(
          call.request, {"job", "search", "resource", "target", "kind", "outcome", "before", "limit"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  DecisionFilter filter;
  if (const std::string job = TextParameter(call.request, "job"); !job.empty()) {
    filter.query.job = access.FindJob(job, call.reach);
    if (!filter.query.job.has_value()) return access.NoJob(job, call.reach);
  }
  if (absl::Status s = ReadDecisionQuery(call.request, filter.query); !s.ok()) return ErrorResponse(s);
  if (const std::string search = TextParameter(call.request, "search"); !search.empty()) {
    filter.job = [fits = JobsThatFit(*access.ViewOf(call.reach), search)](JobId id) {
      return id.value < fits.size() && fits[id.value];
    };
  } else if (!call.reach.all()) {
    filter.job = access.ReachedJobs(call.reach);
  }
  const absl::StatusOr<DecisionsFound> found = FindDecisions(access.control().history(), filter);
  if (!found.ok()) return ErrorResponse(found.status());
  JsonWriter json;
  json.BeginObject();
  json.Key("decisions");
  json.BeginArray();
  for (const Decision& d : found->decisions) {
    json.BeginObject();
    PutDecisionFields(d, *access.RecordOf(d.job), json);
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
  return JsonResponse(200, json.Take());
}

HttpResponse GetDecision(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  const std::optional<int64_t> number = WholeNumber(call.request.segments[3]);
  if (!number.has_value() || *number <= 0) return ErrorResponse(404, "invalid decision: expected its number");
  const auto id = static_cast<uint64_t>(*number);
  DecisionQuery query;
  query.before_id = id + 1;
  query.after_id = id - 1;
  query.limit = 1;
  const auto decisions = access.control().history().Decisions(query, History::Reasons::kInclude);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  if (decisions->empty() || !access.Reaches(call.reach, decisions->front().job))
    return ErrorResponse(404, StrCat("no decision ", id, "; it may be older than store.decisions"));
  const Decision& d = decisions->front();
  JsonWriter json;
  json.BeginObject();
  PutDecisionFields(d, *access.RecordOf(d.job), json);
  json.Key("reason");
  const absl::StatusOr<Reason> reason = LoadReason(d.reason);
  if (reason.ok()) {
    PutReason(*reason, json);
  } else {
    json.Null();
  }
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetOoms(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"job", "limit"}); !s.ok()) return ErrorResponse(s);
  std::optional<JobId> job;
  if (const std::string name = TextParameter(call.request, "job"); !name.empty()) {
    job = access.FindJob(name, call.reach);
    if (!job.has_value()) return access.NoJob(name, call.reach);
  }
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  // Maximum number of the newest kills that is searched for callers bound to groups, as in FindDecisions().
  constexpr size_t kLookedThrough = 20'000;
  const bool some = !call.reach.all() && !job.has_value();
  auto ooms =
      access.control().history().Ooms(job, INT64_MIN, some ? kLookedThrough : static_cast<size_t>(*limit));
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  if (some) {
    std::erase_if(*ooms,
                  [mine = access.ReachedJobs(call.reach)](const OomRecord& o) { return !mine(o.job); });
    ooms->resize(std::min(ooms->size(), static_cast<size_t>(*limit)));
  }
  JsonWriter json;
  json.BeginObject();
  json.Key("ooms");
  json.BeginArray();
  for (const OomRecord& o : *ooms) PutOom(o, access.NameOf(o.job), json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddDecisionRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("GET", "/api/v1/decisions", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetDecisions(call, access); });
  routes.Add("GET", "/api/v1/decisions/{id}", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetDecision(call, access); });
  routes.Add("GET", "/api/v1/ooms", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetOoms(call, access); });
}

}  // namespace taut::server
