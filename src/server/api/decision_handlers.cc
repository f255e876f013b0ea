// What the API says of decisions and OOM kills.
#include <algorithm>

#include "common/base/strings.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/control/decision_search.h"

namespace taut::server {
HttpResponse Api::Decisions(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(
          request, {"job", "search", "resource", "target", "kind", "outcome", "before", "limit"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  DecisionFilter filter;
  DecisionQuery& query = filter.query;
  if (const std::string job = TextParameter(request, "job"); !job.empty()) {
    query.job = FindJob(job, reach);
    if (!query.job.has_value()) return NoJob(job, reach);
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
      return ErrorResponse(400, StrCat("invalid kind=", kind, ": expected ", DecisionKindNames()));
    }
  }
  const absl::StatusOr<int64_t> before = IntParameter(request, "before", INT64_MAX, 1, INT64_MAX);
  if (!before.ok()) return ErrorResponse(before.status());
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  query.before_id = static_cast<uint64_t>(*before);
  query.limit = static_cast<size_t>(*limit);
  if (const std::string search = TextParameter(request, "search"); !search.empty()) {
    filter.job = [fits = JobsThatFit(*ViewOf(reach), search)](JobId id) {
      return id.value < fits.size() && fits[id.value];
    };
  } else if (!reach.all()) {
    filter.job = ReachedJobs(reach);
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
  return JsonResponse(200, json.Take());
}

HttpResponse Api::OneDecision(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  const std::optional<int64_t> number = WholeNumber(request.segments[3]);
  if (!number.has_value() || *number <= 0) return ErrorResponse(404, "invalid decision: expected its number");
  const auto id = static_cast<uint64_t>(*number);
  DecisionQuery query;
  query.before_id = id + 1;
  query.after_id = id - 1;
  query.limit = 1;
  const auto decisions = control_.history().Decisions(query, History::Reasons::kInclude);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  if (decisions->empty() || !Reaches(reach, decisions->front().job))
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
  return JsonResponse(200, json.Take());
}

HttpResponse Api::Ooms(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {"job", "limit"}); !s.ok()) return ErrorResponse(s);
  std::optional<JobId> job;
  if (const std::string name = TextParameter(request, "job"); !name.empty()) {
    job = FindJob(name, reach);
    if (!job.has_value()) return NoJob(name, reach);
  }
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  // Of some groups alone it looks through the newest, as FindDecisions.
  constexpr size_t kLookedThrough = 20'000;
  const bool some = !reach.all() && !job.has_value();
  auto ooms = control_.history().Ooms(job, INT64_MIN, some ? kLookedThrough : static_cast<size_t>(*limit));
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  if (some) {
    std::erase_if(*ooms, [mine = ReachedJobs(reach)](const OomRecord& o) { return !mine(o.job); });
    ooms->resize(std::min(ooms->size(), static_cast<size_t>(*limit)));
  }
  JsonWriter json;
  json.BeginObject();
  json.Key("ooms");
  json.BeginArray();
  for (const OomRecord& o : *ooms) PutOom(o, NameOf(o.job), json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace taut::server
