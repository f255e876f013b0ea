// What the API says of one job, and what people change of it.
#include <algorithm>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/histogram/grid.h"
#include "common/json/json_tree.h"
#include "common/model/units.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/control/past_in_order.h"

namespace taut::server {
namespace {

constexpr size_t kMaxChanges = 100;
constexpr size_t kMaxOoms = 100'000, kMaxDecisions = 10'000;  // of a what-if

HttpResponse Json(JsonWriter& json) { return JsonResponse(200, json.Take()); }

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

// "" is an object without fields.
absl::Status ReadWhatIf(std::string_view body, double& days, WhatIfChange& change) {
  JsonTree tree;
  if (!tree.Parse(body.empty() ? "{}" : body).ok() || !tree.root().is_object()) {
    return absl::InvalidArgumentError(
        R"(invalid body: expected a JSON object, such as {"recommender": "peak", "peak_days": 3})");
  }
  struct Field {
    std::string_view key;
    double low, high;
    std::optional<double>* value;
  };
  std::optional<double> days_asked;
  const Field fields[] = {
      {"days", 1, 60, &days_asked}, {"lower", 0, 1e18, &change.lower}, {"upper", 0, 1e18, &change.upper}};
  const auto read_field = [&](std::string_view key, JsonNode value) -> absl::Status {
    if (value.is_null()) return absl::OkStatus();
    if (key == "recommender") {
      if (!value.text().has_value()) return absl::InvalidArgumentError("recommender: expected a name");
      const absl::StatusOr<brain::Policy> policy = brain::ParseJobPolicy(*value.text());
      if (policy.ok()) change.recommender = *policy;
      return policy.status();
    }
    const auto field =
        std::find_if(std::begin(fields), std::end(fields), [&](const Field& f) { return f.key == key; });
    const brain::WhatIfKnob* knob = brain::FindKnob(key);
    const bool is_field = field != std::end(fields);
    if (!is_field && knob == nullptr)
      return absl::InvalidArgumentError(StrCat("no parameter \"", ShortText(key), "\" of what-if"));
    const double low = is_field ? field->low : knob->least;
    const double high = is_field ? field->high : knob->most;
    const std::optional<double> number = value.number();
    if (!number.has_value() || *number < low || *number > high)
      return absl::InvalidArgumentError(StrCat(key, ": expected a number from ", low, " to ", high));
    if (is_field) {
      *field->value = *number;
    } else {
      change.knobs.emplace_back(knob, *number);
    }
    return absl::OkStatus();
  };
  absl::Status read;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (read.ok()) read = read_field(key, value);
  });
  days = days_asked.value_or(days);
  return read;
}

// All that is wrong, as one text and by key.
HttpResponse SettingErrors(std::span<const brain::KeyValue> errors) {
  std::string all;
  for (const auto& [key, error] : errors) StrAppend(&all, all.empty() ? "" : "; ", error);
  JsonWriter json;
  json.BeginObject();
  json.Field("error", std::string_view(all));
  json.Key("errors");
  json.BeginArray();
  for (const auto& [key, error] : errors) {
    json.BeginObject();
    json.Field("key", std::string_view(key));
    json.Field("error", std::string_view(error));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(400, json.Take());
}

// What GET settings shows, copied under the lock.
struct SettingsShown {
  std::vector<brain::SettingSource> sources;
  brain::JobPolicy policy, by_rules;
};

SettingsShown Shown(const brain::LiveJob& job, const brain::PolicyRules& rules) {
  SettingsShown shown;
  shown.policy = rules.Resolve(job.record.name, job.record.labels, job.overrides, &shown.sources);
  shown.by_rules = rules.Resolve(job.record.name, job.record.labels, {});
  return shown;
}

std::string_view OomSourceNotice(std::optional<OomSource> source) {
  if (source == OomSource::kNone) {
    return "No source reports OOM kills of this job: a kill would not be detected. kube-state-metrics or an "
           "agent "
           "(tautlet) reports them.";
  }
  if (source == OomSource::kSurvivors) {
    return "OOM kills of this job are read from container_oom_events_total alone, which stays 0 when the "
           "whole container is killed. kube-state-metrics or an agent (tautlet) reports such kills.";
  }
  return "";
}

constexpr std::string_view kNoStarts =
    "No series says when its tasks start, so that cpu.startup_window does nothing: kubernetes, "
    "kube-state-metrics "
    "(kube_pod_container_state_started) or cAdvisor (container_start_time_seconds) say it.";

std::string CollisionNotice(std::string_view sources) {
  return StrCat(
      "Series from several sources have this job's name: ", sources,
      ". If these are different workloads, or the same one measured twice, this job's figures are wrong: "
      "give one of them another name with a mapping rule, or with the job template of its agent.");
}

// The largest amount of a task that is counted.
double MostOf(Resource r) {
  const std::span<const double> bounds = (InCores(r) ? Grid::Cpu() : Grid::Memory()).upper_bounds();
  return bounds.back();
}

// Of a job whose tasks may be larger than what tautd counts: "" for others.
std::string BoundNotice(const JobView& job, Resource r) {
  const double owner = job.of(r).owner_limit;
  if (!(owner > MostOf(r))) return "";
  return StrCat(
      "Its owner's ", Name(r), " limit, ", FormatAmount(r, owner), ", is above ", FormatAmount(r, MostOf(r)),
      ", the largest amount of a task that tautd counts: higher usage is not counted, and nothing is "
      "recommended above it.");
}

// Of a job whose CPU usage passes what would be recommended on many days, as at starts and in bursts.
std::string BurstNotice(const JobView& job, const brain::JobPolicy& policy) {
  constexpr int kFewestDays = 5;
  const int days = job.of(Resource::kCpu).days, over = job.of(Resource::kCpu).days_over;
  if (policy.startup_window_s > 0 || days < kFewestDays || 3 * over < days) return "";
  return StrCat(
      "Its CPU usage was above the recommended limit on ", over, " of its last ", days,
      " days. If that is the work of a task's start, cpu.startup_window (such as 5m) leaves it out of the "
      "limit; if it comes at other times, a sensitive class or a smaller throttled orders a higher limit.");
}

// Of a job of a cluster beside which there is one of the same name without it: "" if there is none.
std::string NewClusterNotice(std::string_view cluster, std::string_view before) {
  return StrCat(
      "Its series have the label cluster=", cluster, ", and there is a job ", before,
      " from before they had it, whose history does not count here. A mapping rule without the cluster, or a "
      "labeldrop of cluster in Prometheus where there is only one, keeps the name.");
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

constexpr std::string_view kMachineNotice =
    "This job is all that its machines use. Their containers and processes are jobs of their own, so it is "
    "in no sum, "
    "saving, cost or capacity.";

// Writes the prices of a core and of a GiB for a month.
void PutPrices(const Prices& prices, JsonWriter& json) {
  json.Field("currency", std::string_view(prices.currency));
  json.Key("price_per_month");
  json.BeginObject();
  for (const Resource r : kResources) PutAmount(Name(r), prices.PerMonth(r, UnitOf(r).large), json);
  json.EndObject();
}

std::string StepBackNotice(const brain::LiveJob& job, std::optional<WindowId> window) {
  if (job.replicas == nullptr || !window.has_value()) return "";
  const std::optional<int64_t> until = job.replicas->steps_back_until(window->next().start_s());
  if (!until.has_value()) return "";
  return StrCat(
      "The number of tasks changed without an order: another program may set it, such as a "
      "HorizontalPodAutoscaler, or tasks fail. tautd orders none until ",
      FormatTime(*until), " UTC. Let one program set it.");
}

}  // namespace

HttpResponse Api::Job(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  const Prices none;
  const Prices& prices = Reaches(ReachOf(request, Act::kSeeMoney), id) ? options_.prices : none;
  JsonWriter json;
  json.BeginObject();
  const std::shared_ptr<const FleetView> view = control_.view();
  const int32_t day = view->window.has_value() ? view->window->day() : 0;
  const std::optional<OomSource> oom_source = control_.ingest().oom_source(id);
  const std::optional<bool> knows_starts = control_.ingest().KnowsStarts(id);
  const std::string collision = control_.ingest().NameCollision(id);
  const std::string name = NameOf(id);
  const KubernetesRun* const pods = options_.pods();
  const auto container = pods != nullptr ? pods->ContainerOf(name) : std::nullopt;
  const std::string of_cluster = options_.cluster_notice ? options_.cluster_notice(name) : "";
  const std::string cluster = name.substr(0, name.find('/'));
  const std::string before = cluster.size() < name.size() ? name.substr(cluster.size() + 1) : "";
  const bool was_without_cluster = !before.empty() && control_.Find(before).has_value();
  bool known = false;
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    known = fleet.Has(id);
    if (!known) return;
    const brain::LiveJob& job = fleet.job(id);
    const JobView shown = taut::server::ViewOf(fleet, job, day);
    PutJobFields(shown, {prices, control_.ingest().grace_s()}, json);
    if (prices.known()) PutPrices(prices, json);
    json.Key("labels");
    json.BeginObject();
    for (const auto& [key, value] : job.record.labels) json.Field(key, std::string_view(value));
    json.EndObject();
    PutTime("first_seen", job.record.first_seen_s, json);
    PutAmount("risk", job.policy->risk, json);
    PutAmount("throttled", job.policy->throttled, json);
    PutReplicas("replicas", job.replicas.get(), json);
    PutAllocation(*job.policy, json);
    PutContainer(container, json);
    PutPod(pods != nullptr ? pods->PodTotalsOf(name) : std::nullopt, json);
    json.Key("trials");
    json.BeginArray();
    for (const Resource r : kResources) {
      if (job.of(r).gate.trial.has_value()) PutTrial(job, r, json);
    }
    json.EndArray();
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
    json.Key("notices");
    json.BeginArray();
    if (!job.notice.empty()) json.String(job.notice);
    if (shown.whole_machine) json.String(kMachineNotice);
    if (const std::string notice = StepBackNotice(job, view->window); !notice.empty()) json.String(notice);
    if (job.replicas != nullptr && !job.replicas->CountNotice().empty())
      json.String(job.replicas->CountNotice());
    for (const std::string& wrong : brain::WrongSettingLabels(job.record.labels, *job.policy))
      json.String(wrong);
    if (const std::string_view notice = OomSourceNotice(oom_source); !notice.empty()) json.String(notice);
    if (job.policy->startup_window_s > 0 && knows_starts == false) json.String(kNoStarts);
    if (!collision.empty()) json.String(CollisionNotice(collision));
    for (const Resource r : kResources) {
      if (const std::string notice = BoundNotice(shown, r); !notice.empty()) json.String(notice);
    }
    if (const std::string notice = BurstNotice(shown, *job.policy); !notice.empty()) json.String(notice);
    const bool has_cluster =
        std::ranges::find(job.record.labels, std::pair<std::string, std::string>("cluster", cluster)) !=
        job.record.labels.end();
    if (was_without_cluster && has_cluster) json.String(NewClusterNotice(cluster, before));
    if (!of_cluster.empty()) json.String(of_cluster);
    if (job.policy->external && !options_.has_external) {
      json.String(
          "external is true, but external_recommender.address of tautd is empty: the job's own recommender "
          "sets its limits");
    }
    json.EndArray();
  });
  if (!known) return ErrorResponse(404, "the job was forgotten: its tasks are gone");
  PutMemoryNeeded(id, json);
  json.EndObject();
  return Json(json);
}

HttpResponse Api::Usage(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {"resource", "from", "to", "columns"}); !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<std::optional<Resource>> resource = ResourceParameter(request);
  if (!resource.ok()) return ErrorResponse(resource.status());
  const absl::StatusOr<TimeSpan> span = SpanParameters(request, NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> columns = IntParameter(request, "columns", 336, 1, 2000);
  if (!columns.ok()) return ErrorResponse(columns.status());
  const HeatmapQuery query{resource->value_or(Resource::kMemory), span->from_s, span->to_s,
                           static_cast<int>(*columns)};
  const WindowId last{WindowId::Of(Timestamp::FromSeconds(span->to_s)).index + 1};
  const auto days = control_.history().JobDays(id, WindowId::Of(Timestamp::FromSeconds(span->from_s)), last);
  if (!days.ok()) return ErrorResponse(days.status());
  DecisionQuery of_job;
  of_job.job = id;
  of_job.target = query.resource;
  of_job.limit = 10'000;
  const auto decisions = DecisionsInOrder(control_.history(), of_job);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  auto ooms = OomsInOrder(control_.history(), id, span->from_s, 1000);
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  if (ThrottlesAtLimit(query.resource)) ooms->clear();
  JsonWriter json;
  PutHeatmap(MakeHeatmap(query, *days, *decisions), query, *ooms, json);
  return Json(json);
}

HttpResponse Api::ReplicasOfJob(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {"from", "to", "columns"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<TimeSpan> span = SpanParameters(request, NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> columns = IntParameter(request, "columns", 336, 1, 2000);
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
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(id)) return;
    policy = *fleet.job(id).policy;
    query.size = fleet.SizeUseOf(fleet.job(id));
  });
  query.policy = &policy;
  // A week more is replayed before, where stored, so that the policy starts with history.
  constexpr int32_t kWeek = 7 * kWindowsPerDay;
  const auto days = control_.history().JobDays(id, WindowId{query.from.index - kWeek}, query.to);
  if (!days.ok()) return ErrorResponse(days.status());
  JsonWriter json;
  PutReplicaHistory(ReplicasOverTime(query, *days), json);
  return Json(json);
}

HttpResponse Api::Explain(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  const std::optional<bool> knows_starts = control_.ingest().KnowsStarts(id);
  const int64_t grace_s = control_.ingest().grace_s();
  const std::shared_ptr<const FleetView> view = control_.view();
  const int32_t day = view->window.has_value() ? view->window->day() : 0;
  JsonWriter json;
  json.BeginObject();
  for (const Resource r : kResources) {
    const Reason reason = control_.Explain(id, r);
    json.Key(Name(r));
    json.BeginObject();
    control_.WithFleet([&](const brain::LiveFleet& fleet) {
      if (!fleet.Has(id)) return;
      const brain::LiveJob& job = fleet.job(id);
      const brain::LiveLane& lane = job.of(r);
      PutAmount("would_be", lane.lane.recommended(), json);
      PutAmount("limit", lane.real_limit(), json);
      PutAmount("ordered", lane.gate.in_force, json);
      PutAmount("applied", lane.reported(), json);
      PutAmount("owner_limit", lane.owner(), json);
      PutRisk(fleet.RiskOf(job, r, day), json);
      json.Field("of", std::string_view(lane.of_request ? "request" : "limit"));
      json.Field("enforced", fleet.Enforced(job));
      const std::optional<brain::ProvisionalLimit> early = fleet.ProvisionalOf(job, r);
      PutProvisional(early.has_value() ? std::optional(early->limit) : std::nullopt,
                     early.has_value() ? early->first_limit : WindowId{INT32_MIN}, grace_s, json);
      std::string paragraph = ExplainParagraph(job, r, reason, fleet.Enforced(job));
      if (r == Resource::kCpu && job.policy->startup_window_s > 0 && knows_starts == false)
        StrAppend(&paragraph, " ", kNoStarts);
      if (early.has_value()) StrAppend(&paragraph, " ", ProvisionalSentence(*early, r, grace_s));
      json.Field("paragraph", std::string_view(paragraph));
    });
    json.Key("reason");
    PutReason(reason, json);
    json.EndObject();
  }
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    PutReplicas("replicas", fleet.Has(id) ? fleet.job(id).replicas.get() : nullptr, json);
  });
  PutMemoryNeeded(id, json);
  json.EndObject();
  return Json(json);
}

HttpResponse Api::GetSettings(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  return SettingsOf(id);
}

HttpResponse Api::SettingsOf(JobId id) {
  SettingsShown shown;
  std::string name;
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(id)) return;
    shown = Shown(fleet.job(id), fleet.settings().rules);
    name = fleet.job(id).record.name;
  });
  const auto changes = control_.history().Settings(name, kMaxChanges);
  if (!changes.ok()) return ErrorResponse(changes.status());
  JsonWriter json;
  json.BeginObject();
  json.Key("values");
  json.BeginArray();
  for (const brain::SettingSource& s : shown.sources) {
    json.BeginObject();
    json.Field("key", s.key);
    json.Field("value", std::string_view(brain::GetJobSetting(s.key, shown.policy)));
    json.Field("source", std::string_view(s.source));
    json.Field("by_rules", std::string_view(brain::GetJobSetting(s.key, shown.by_rules)));
    json.EndObject();
  }
  json.EndArray();
  json.Key("changes");
  json.BeginArray();
  for (const SettingChange& c : *changes) PutSettingChange(c, json);
  json.EndArray();
  json.EndObject();
  return Json(json);
}

HttpResponse Api::PatchSettings(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {"who"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<std::string> who = WhoOf(request);
  if (!who.ok()) return ErrorResponse(who.status());
  JsonTree tree;
  if (!tree.Parse(request.body).ok() || !tree.root().is_object()) {
    return ErrorResponse(400,
                         R"(invalid body: expected a JSON object of settings, such as {"mode": "auto"})");
  }
  std::vector<brain::KeyValue> wanted, errors;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) {
      wanted.emplace_back(key, *text);
    } else {
      errors.emplace_back(key, StrCat(key, ": expected a string, also for numbers, such as \"0.1\""));
    }
  });
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    for (brain::KeyValue& error : fleet.CheckSettings(id, wanted)) errors.push_back(std::move(error));
  });
  if (!errors.empty()) return SettingErrors(errors);
  const absl::StatusOr<std::vector<SettingChange>> changes = control_.SetMany(id, wanted, *who);
  return changes.ok() ? SettingsOf(id) : ErrorResponse(changes.status());
}

HttpResponse Api::WhatIfOf(const HttpRequest& request, JobId id) {
  if (absl::Status s = OnlyParameters(request, {"resource"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<std::optional<Resource>> resource = ResourceParameter(request);
  if (!resource.ok()) return ErrorResponse(resource.status());
  WhatIfQuery query;
  query.resource = resource->value_or(Resource::kMemory);
  double days = 14;
  if (absl::Status s = ReadWhatIf(request.body, days, query.change); !s.ok()) return ErrorResponse(s);
  const double start_ms = options_.steady_ms();
  const WindowId end{WindowId::Of(Timestamp::FromSeconds(NowSeconds())).index + 1};
  query.score_from = WindowId{end.index - static_cast<int32_t>(days * kWindowsPerDay)};
  // The same time and a week more are replayed before, where stored, so that all start with history.
  const WindowId from{query.score_from.index - static_cast<int32_t>((days + 7) * kWindowsPerDay)};
  const auto history = control_.history().JobDays(id, from, end);
  if (!history.ok()) return ErrorResponse(history.status());
  const auto ooms = OomsInOrder(control_.history(), id, from.start_s(), kMaxOoms);
  if (!ooms.ok()) return ErrorResponse(ooms.status());
  DecisionQuery of_job;
  of_job.job = id;
  of_job.limit = kMaxDecisions;
  const auto decisions = DecisionsInOrder(control_.history(), of_job);
  if (!decisions.ok()) return ErrorResponse(decisions.status());
  query.decisions = *decisions;
  WhatIfResult result;
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(id)) return;
    query.policy = fleet.job(id).policy.get();
    query.settings = &fleet.settings().vertical;
    query.fleet = &fleet.models();
    query.job = fleet.job(id).record.name;
    result = WhatIf(query, *history, *ooms);
  });
  JsonWriter json;
  PutWhatIf(result, query.resource, options_.steady_ms() - start_ms, json);
  return Json(json);
}

}  // namespace taut::server
