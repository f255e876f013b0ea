// API handlers for one job and the reasons for its limits.

#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/api/job_notices.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

void PutSide(std::string_view key, const brain::TrialSide& side, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  json.Field("task_windows", static_cast<int64_t>(side.task_windows));
  json.Field("ooms", static_cast<int64_t>(side.ooms));
  json.Field("over", static_cast<int64_t>(side.over));
  PutAmount("throttled_share", side.periods > 0 ? std::optional(side.ThrottledShare()) : std::nullopt, json);
  PutAmount("slack", side.limit_sum > 0 ? std::optional(1 - side.usage_sum / side.limit_sum) : std::nullopt,
            json);
  json.EndObject();
}

void PutTrial(const brain::LiveJob& job, Resource r, JsonWriter& json) {
  const brain::Trial& trial = *job.of(r).gate.trial;
  json.BeginObject();
  json.Field("resource", Name(r));
  PutAmount("limit", trial.limit, json);
  PutAmount("old_limit", trial.old_limit, json);
  json.Field("since", trial.since_s);
  json.Field("until", trial.since_s + static_cast<int64_t>(job.policy->canary.hours * brain::kHour));
  PutSide("tasks", trial.tasks, json);
  PutSide("rest", trial.rest, json);
  json.Field("elsewhere", static_cast<int64_t>(trial.elsewhere));
  json.Key("names");
  json.BeginArray();
  for (const brain::TrialTask& t : trial.members) json.String(t.name);
  json.EndArray();
  json.Field("sentence", std::string_view(job.of(r).hold));
  json.EndObject();
}

void PutAllocation(const brain::JobPolicy& policy, JsonWriter& json) {
  json.Key("allocation");
  json.BeginObject();
  for (const Resource r : kResources) {
    json.Key(Name(r));
    json.BeginObject();
    json.Field("applies_to", kAppliesToNames[static_cast<size_t>(policy.allocation(r).applies_to)]);
    PutAmount("request_share", policy.allocation(r).request_share, json);
    json.EndObject();
  }
  json.EndObject();
}

void PutContainer(const std::optional<TemplateContainer>& container, JsonWriter& json) {
  json.Key("container");
  if (!container.has_value()) return json.Null();
  json.BeginObject();
  json.Field("init", container->is_init);
  json.Field("guaranteed", container->guaranteed);
  json.Field("others_equal", container->rest_is_equal);
  for (const Resource r : kResources) {
    json.Key(Name(r));
    json.BeginObject();
    PutAmount("request", container->of(r).request, json);
    PutAmount("limit", container->of(r).limit, json);
    json.Key("scaled_by");
    const std::string& by = container->scaled_by[static_cast<size_t>(r)];
    by.empty() ? json.Null() : json.String(by);
    json.EndObject();
  }
  json.EndObject();
}

void PutPod(const std::optional<PodTotals>& pod, JsonWriter& json) {
  json.Key("pod");
  if (!pod.has_value()) return json.Null();
  json.BeginObject();
  json.Field("containers", int64_t{pod->containers});
  json.Field("recommended", int64_t{pod->recommended});
  for (const Resource r : kResources) {
    json.Key(Name(r));
    json.BeginObject();
    PutAmount("request", pod->of(r).request, json);
    PutAmount("limit", pod->of(r).limit, json);
    json.EndObject();
  }
  json.EndObject();
}

// Writes the monthly prices of a core and of a GiB.
void PutPrices(const Prices& prices, JsonWriter& json) {
  json.Field("currency", std::string_view(prices.currency));
  json.Key("price_per_month");
  json.BeginObject();
  for (const Resource r : kResources) PutAmount(Name(r), prices.PerMonth(r, UnitOf(r).large), json);
  json.EndObject();
}

void PutTrials(const brain::LiveJob& job, JsonWriter& json) {
  json.Key("trials");
  json.BeginArray();
  for (const Resource r : kResources) {
    if (job.of(r).gate.trial.has_value()) PutTrial(job, r, json);
  }
  json.EndArray();
}

void PutHolds(const brain::LiveJob& job, JsonWriter& json) {
  json.Key("holds");
  json.BeginArray();
  for (const Resource r : kResources) {
    if (job.of(r).hold.empty()) continue;
    json.BeginObject();
    json.Field("resource", Name(r));
    json.Field("sentence", std::string_view(job.of(r).hold));
    json.EndObject();
  }
  json.EndArray();
}

// Writes the memory need of the job's tasks, which agents found by probing.
void PutMemoryNeeded(const std::string& job, const AgentsComponent* agents, JsonWriter& json) {
  json.Key("memory_needed");
  if (agents == nullptr) return json.Null();
  const std::map<std::string, NeededMemory> by_job = agents->hub()->MemoryNeeded(job);
  if (by_job.empty()) return json.Null();
  const NeededMemory* const needed = &by_job.begin()->second;
  json.BeginObject();
  PutAmount("bytes", needed->bytes, json);
  json.Field("tasks", int64_t{needed->tasks});
  PutTime("time", needed->window_end_s, json);
  json.EndObject();
}

JobFacts FactsOf(JobId id, const std::string& name, const Workload& workload, const FleetAccess& access,
                 const ApiParts& parts) {
  JobFacts out{.has_external = parts.about.has_external};
  if (const auto sources = access.control().ingest().jobs.SourcesOf(id); sources.has_value()) {
    out.oom_source = sources->oom_source;
    out.knows_starts = sources->knows_starts;
    out.collision = sources->collision;
  }
  Workload elsewhere = workload;
  elsewhere.cell.clear();
  if (!workload.cell.empty() && access.control().Find(elsewhere.JobName()).has_value()) {
    out.cluster = workload.cell;
    out.without_cluster = elsewhere.JobName();
  }
  if (parts.pods() != nullptr) {
    out.of_pods = parts.pods()->NoticeOf(workload);
  } else if (parts.replica_watch != nullptr) {
    out.of_pods = parts.replica_watch->NoticeOf(name);
  }
  return out;
}

HttpResponse GetJob(const ApiCall& call, const FleetAccess& access, const ApiParts& parts) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  const Prices none;
  const bool sees_money = access.Reaches(access.ReachOf(call.request, Act::kSeeMoney), call.job);
  const Prices& prices = sees_money ? access.prices() : none;
  const std::shared_ptr<const FleetView> view = access.control().view();
  const int32_t day = view->window.has_value() ? view->window->day() : 0;
  const std::string name = access.NameOf(call.job);
  Workload workload;
  access.control().Look(call.job, [&](const brain::LiveJob& job) { workload = job.record->workload(); });
  const JobFacts facts = FactsOf(call.job, name, workload, access, parts);
  const KubernetesSource* const pods = parts.pods();
  const auto container = pods != nullptr ? pods->ContainerOf(workload) : std::nullopt;
  const auto pod = pods != nullptr ? pods->PodTotalsOf(workload) : std::nullopt;
  JsonWriter json;
  json.BeginObject();
  bool known = false;
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    known = fleet.Has(call.job);
    if (!known) return;
    const brain::LiveJob& job = fleet.job(call.job);
    const JobView shown = ViewOf(fleet, job, day);
    PutJobFields(shown, {prices, access.control().ingest().time.grace_s()}, json);
    if (prices.known()) PutPrices(prices, json);
    json.Key("labels");
    json.BeginObject();
    for (const auto& [key, value] : job.record->labels) json.Field(key, std::string_view(value));
    json.EndObject();
    PutTime("first_seen", job.record->first_seen_s, json);
    PutAmount("risk", job.policy->risk, json);
    PutAmount("throttled", job.policy->throttled, json);
    PutReplicas("replicas", job.replicas.get(), json);
    PutAllocation(*job.policy, json);
    PutContainer(container, json);
    PutPod(pod, json);
    PutTrials(job, json);
    PutHolds(job, json);
    json.Key("notices");
    json.BeginArray();
    for (const std::string& notice : JobNotices(job, shown, facts, view->window)) json.String(notice);
    json.EndArray();
  });
  if (!known) return ErrorResponse(404, "the job was forgotten: its tasks are gone");
  PutMemoryNeeded(name, parts.agents, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetExplanation(const ApiCall& call, const FleetAccess& access, const ApiParts& parts) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  const auto sources = access.control().ingest().jobs.SourcesOf(call.job);
  const auto knows_starts = sources.has_value() ? std::optional(sources->knows_starts) : std::nullopt;
  const int64_t grace_s = access.control().ingest().time.grace_s();
  const std::shared_ptr<const FleetView> view = access.control().view();
  const int32_t day = view->window.has_value() ? view->window->day() : 0;
  JsonWriter json;
  json.BeginObject();
  for (const Resource r : kResources) {
    const Reason reason = access.control().Explain(call.job, r);
    json.Key(Name(r));
    json.BeginObject();
    access.control().WithFleet([&](const brain::LiveFleet& fleet) {
      if (!fleet.Has(call.job)) return;
      const brain::LiveJob& job = fleet.job(call.job);
      const brain::LiveLane& lane = job.of(r);
      PutAmount("would_be", lane.lane.recommended(), json);
      PutAmount("limit", lane.real_limit(), json);
      PutAmount("ordered", lane.gate.in_force, json);
      PutAmount("applied", lane.reported(), json);
      PutAmount("owner_limit", lane.owner(), json);
      PutRisk(fleet.risk.Of(job, r, day), json);
      json.Field("of", std::string_view(lane.of_request ? "request" : "limit"));
      json.Field("enforced", fleet.Enforced(job));
      const std::optional<brain::ProvisionalLimit> early = fleet.risk.ProvisionalOf(job, r);
      PutProvisional(early.has_value() ? std::optional(early->limit) : std::nullopt,
                     early.has_value() ? early->first_limit : WindowId{INT32_MIN}, grace_s, json);
      std::string paragraph = ExplainParagraph(job, r, reason, fleet.Enforced(job));
      if (r == Resource::kCpu && job.policy->startup_window_s > 0 && knows_starts == false)
        StrAppend(&paragraph, " ", kNoStartsNotice);
      if (early.has_value()) StrAppend(&paragraph, " ", ProvisionalSentence(*early, r, grace_s));
      json.Field("paragraph", std::string_view(paragraph));
    });
    json.Key("reason");
    PutReason(reason, json);
    json.EndObject();
  }
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    PutReplicas("replicas", fleet.Has(call.job) ? fleet.job(call.job).replicas.get() : nullptr, json);
  });
  PutMemoryNeeded(access.NameOf(call.job), parts.agents, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddJobRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes) {
  routes.Add("GET", "/api/v1/jobs/{job}", Act::kSeeJobs,
             [&](const ApiCall& call) { return GetJob(call, access, parts); });
  routes.Add("GET", "/api/v1/jobs/{job}/explain", Act::kSeeJobs,
             [&](const ApiCall& call) { return GetExplanation(call, access, parts); });
}

}  // namespace taut::server
