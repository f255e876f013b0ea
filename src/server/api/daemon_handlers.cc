// What the API says of the daemon itself: settings, status, metrics.
#include "common/base/strings.h"
#include "server/api/agents.h"
#include "server/api/api.h"
#include "server/api/external_metrics.h"
#include "server/api/metrics_text.h"
#include "server/api/parameters.h"
#include "server/api/scaler_metrics.h"
#include "server/api/trust_metrics.h"

namespace taut::server {
namespace {

constexpr size_t kMaxChanges = 100;

struct NamedCount {
  std::string_view name;
  uint64_t count;
};

std::vector<NamedCount> SamplesByOutcome(const IngestCounts& c) {
  return {{"accepted", c.accepted},
          {"out_of_order", c.out_of_order},
          {"stale_markers", c.stale_markers},
          {"duplicates", c.duplicates},
          {"conflicts", c.conflicts},
          {"nan", c.nan},
          {"invalid", c.invalid},
          {"far_future", c.far_future},
          {"too_late", c.too_late},
          {"over_capacity", c.over_capacity},
          {"unmapped", c.unmapped},
          {"facts", c.facts},
          {"refused", c.refused},
          {"histograms", c.histograms}};
}

std::string PodsWithoutContainersText(uint64_t pods) {
  return StrCat(
      pods, pods == 1 ? " pod has" : " pods have",
      " no container series, only series of the pod as a whole, and so are no jobs: the kubelet's "
      "cAdvisor does not know the containers of this runtime (some k3s, cri-dockerd). Send "
      "container_cpu_usage_seconds_total and container_memory_working_set_bytes with the labels pod and "
      "container, or run tautlet on the nodes.");
}

void PutTexts(std::string_view key, std::span<const brain::KeyValue> texts, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  for (const auto& [name, value] : texts) json.Field(name, std::string_view(value));
  json.EndObject();
}

void PutWebhook(const WebhookActuatorCounts& counts, MetricsText& out) {
  constexpr std::string_view kName = "tautd_webhook_requests_total";
  constexpr std::string_view kHelp =
      "Requests to webhook.url by result; no_response: also 429, 503 and responses over 64 KiB.";
  out.Counter(kName, kHelp, counts.applied, {{"result", "applied"}});
  out.Counter(kName, kHelp, counts.refused, {{"result", "refused"}});
  out.Counter(kName, kHelp, counts.retry, {{"result", "retry"}});
  out.Counter(kName, kHelp, counts.no_response, {{"result", "no_response"}});
  out.Counter("tautd_webhook_orders_given_up_total",
              "Orders that failed after webhook.give_up_after, or because too many were waiting.",
              counts.given_up);
  out.Gauge("tautd_webhook_orders_waiting", "Orders not yet delivered.", static_cast<double>(counts.waiting));
  out.Gauge("tautd_webhook_oldest_order_seconds", "Seconds since the oldest waiting order arrived; 0: none.",
            counts.oldest_s);
}

void PutKubernetes(const KubernetesFacts& facts, MetricsText& out) {
  out.Gauge("tautd_kubernetes_synced", "1 once the pods of the cluster were listed.", facts.synced ? 1 : 0);
  out.Gauge("tautd_kubernetes_pods", "Pods that are watched.", static_cast<double>(facts.pods));
  out.Gauge("tautd_kubernetes_nodes", "Nodes that are ready.", static_cast<double>(facts.nodes));
  out.Counter("tautd_kubernetes_lists_total", "Whole lists of objects that were requested.", facts.lists);
  out.Counter("tautd_kubernetes_watch_failures_total", "Lists and watches that failed.",
              facts.watch_failures);
  constexpr std::string_view kScrapes = "tautd_kubernetes_scrapes_total";
  constexpr std::string_view kScrapesHelp = "Readings of a node's usage, by result.";
  out.Counter(kScrapes, kScrapesHelp, facts.scrapes, {{"result", "read"}});
  out.Counter(kScrapes, kScrapesHelp, facts.scrape_failures, {{"result", "failed"}});
  out.Gauge("tautd_kubernetes_last_scrape_seconds", "How long reading all nodes took last.",
            facts.last_scrape_s);
  if (facts.holds_lease.has_value()) {
    out.Gauge("tautd_kubernetes_lease_held",
              "1 while this tautd holds kubernetes.lease, and may change the cluster.",
              *facts.holds_lease ? 1 : 0);
  }
  out.Gauge("tautd_kubernetes_vpas", "VerticalPodAutoscalers that name tautline as their recommender.",
            static_cast<double>(facts.vpas));
  out.Gauge("tautd_kubernetes_quota_namespaces", "Namespaces whose ResourceQuota tautd keeps.",
            static_cast<double>(facts.quota_namespaces));
  constexpr std::string_view kEvents = "tautd_kubernetes_events_total";
  constexpr std::string_view kEventsHelp = "Events of decisions, by result.";
  out.Counter(kEvents, kEventsHelp, facts.events, {{"result", "written"}});
  out.Counter(kEvents, kEventsHelp, facts.failed_events, {{"result", "failed"}});
  out.Counter(kEvents, kEventsHelp, facts.dropped_events, {{"result", "dropped"}});
  constexpr std::string_view kStatuses = "tautd_kubernetes_status_writes_total";
  constexpr std::string_view kStatusesHelp = "Writes of the annotation tautline.dev/status, by result.";
  out.Counter(kStatuses, kStatusesHelp, facts.status_writes, {{"result", "written"}});
  out.Counter(kStatuses, kStatusesHelp, facts.failed_status_writes, {{"result", "failed"}});
  constexpr std::string_view kAdmissions = "tautd_kubernetes_admissions_total";
  constexpr std::string_view kAdmissionsHelp = "Reviews of new pods by the mutating webhook, by result.";
  out.Counter(kAdmissions, kAdmissionsHelp, facts.pods_changed, {{"result", "changed"}});
  out.Counter(kAdmissions, kAdmissionsHelp, facts.pods_unchanged, {{"result", "unchanged"}});
  out.Counter(kAdmissions, kAdmissionsHelp, facts.refused_reviews, {{"result", "refused"}});
  constexpr std::string_view kReviews = "tautd_kubernetes_quota_reviews_total";
  constexpr std::string_view kReviewsHelp =
      "Reviews of new pods by the validating webhook of quota, by result.";
  out.Counter(kReviews, kReviewsHelp, facts.quota_fitting, {{"result", "fits"}});
  out.Counter(kReviews, kReviewsHelp, facts.quota_warned, {{"result", "warned"}});
  out.Counter(kReviews, kReviewsHelp, facts.quota_refused, {{"result", "refused"}});
  out.Counter(kReviews, kReviewsHelp, facts.quota_not_covered, {{"result", "not_covered"}});
  out.Counter(kReviews, kReviewsHelp, facts.quota_held, {{"result", "held"}});
  out.Counter(kReviews, kReviewsHelp, facts.quota_unknown, {{"result", "unknown"}});
  constexpr std::string_view kVpas = "tautd_kubernetes_vpa_writes_total";
  constexpr std::string_view kVpasHelp = "Writes of a VerticalPodAutoscaler's status, by result.";
  out.Counter(kVpas, kVpasHelp, facts.vpa_writes, {{"result", "written"}});
  out.Counter(kVpas, kVpasHelp, facts.failed_vpa_writes, {{"result", "failed"}});
  constexpr std::string_view kQuotas = "tautd_kubernetes_quota_writes_total";
  constexpr std::string_view kQuotasHelp = "Writes of a namespace's ResourceQuota, by result.";
  out.Counter(kQuotas, kQuotasHelp, facts.quota_writes, {{"result", "written"}});
  out.Counter(kQuotas, kQuotasHelp, facts.failed_quota_writes, {{"result", "failed"}});
  constexpr std::string_view kChanges = "tautd_kubernetes_changes_total";
  constexpr std::string_view kChangesHelp = "Changes sent to the API server, by result.";
  out.Counter(kChanges, kChangesHelp, facts.resizes, {{"result", "resized"}});
  out.Counter(kChanges, kChangesHelp, facts.scales, {{"result", "scaled"}});
  out.Counter(kChanges, kChangesHelp, facts.templates, {{"result", "template"}});
  out.Counter(kChanges, kChangesHelp, facts.failed_changes, {{"result", "failed"}});
  constexpr std::string_view kEvictions = "tautd_kubernetes_evictions_total";
  constexpr std::string_view kEvictionsHelp = "Evictions of pods that cannot be resized in place, by result.";
  out.Counter(kEvictions, kEvictionsHelp, facts.evictions, {{"result", "evicted"}});
  out.Counter(kEvictions, kEvictionsHelp, facts.refused_evictions, {{"result", "refused"}});
  out.Counter("tautd_kubernetes_stepped_back_total", "Pods whose limit another has changed.",
              facts.stepped_back);
  out.Counter("tautd_kubernetes_startups_total",
              "Starts of containers that had a CPU limit of their own (cpu.startup_window).", facts.startups);
  out.Counter("tautd_kubernetes_low_pod_limits_total",
              "Pods whose cgroup had a lower memory limit than their containers run with.", facts.kernel_low);
  out.Gauge("tautd_kubernetes_orders", "Limits that are kept in force, one per job and resource.",
            static_cast<double>(facts.orders));
}

}  // namespace

void Api::PutRules(JsonWriter& json) const {
  json.Key("rules");
  json.BeginArray();
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    const brain::PolicyRules& rules = fleet.settings().rules;
    for (size_t i = 0; i < rules.rules().size(); ++i) {
      const brain::JobRule& rule = rules.rules()[i];
      int64_t fits = 0;
      for (const brain::LiveJob& job : fleet.jobs()) {
        const JobRecord& record = job.record;
        fits += rules.Fits(i, record.name, record.labels) ? 1 : 0;
      }
      json.BeginObject();
      json.Field("name", std::string_view(rule.name));
      PutTexts("match", rule.match, json);
      PutTexts("set", rule.set, json);
      PutTexts("cap", rule.cap, json);
      json.Field("jobs", fits);
      json.EndObject();
    }
  });
  json.EndArray();
}

// Those that a job may have, with what a what-if can turn of each.
HttpResponse Api::Recommenders(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  json.BeginObject();
  json.Key("recommenders");
  json.BeginArray();
  for (const brain::PolicyInfo& p : brain::Policies()) {
    if (p.replay_only) continue;
    json.BeginObject();
    json.Field("name", p.name);
    json.Field("help", p.what);
    json.Key("knobs");
    json.BeginArray();
    for (const brain::WhatIfKnob& knob : p.knobs) {
      json.BeginObject();
      json.Field("key", knob.key);
      json.Field("name", knob.name);
      json.Field("help", knob.help);
      json.Field("unit", Name(knob.unit));
      json.Field("low", knob.low);
      json.Field("high", knob.high);
      json.Field("initial", knob.initial);
      json.Field("logarithmic", knob.logarithmic);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse Api::Settings(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  // Of some groups alone it looks through the newest.
  constexpr size_t kLookedThrough = 10'000;
  auto changes = control_.history().Settings(std::nullopt, reach.all() ? kMaxChanges : kLookedThrough);
  if (!changes.ok()) return ErrorResponse(changes.status());
  if (!reach.all()) {
    std::erase_if(*changes, [&](const SettingChange& c) { return !FindJob(c.job, reach).has_value(); });
    changes->resize(std::min(changes->size(), kMaxChanges));
  }
  brain::JobPolicy defaults;
  control_.WithFleet([&](const brain::LiveFleet& fleet) { defaults = fleet.settings().rules.defaults(); });
  JsonWriter json;
  json.BeginObject();
  json.Key("table");
  json.BeginArray();
  for (const brain::JobSetting& s : brain::JobSettingsTable()) {
    json.BeginObject();
    json.Field("key", s.key);
    json.Field("help", s.help);
    json.Field("kind", Name(s.kind));
    json.Key("choices");
    json.BeginArray();
    for (const std::string_view choice : s.choices) json.String(choice);
    json.EndArray();
    json.Field("default", std::string_view(brain::GetJobSetting(s.key, defaults)));
    json.EndObject();
  }
  json.EndArray();
  if (reach.all()) {
    PutRules(json);
  } else {
    // Their patterns name other groups' jobs.
    json.Key("rules");
    json.BeginArray();
    json.EndArray();
  }
  json.Key("changes");
  json.BeginArray();
  for (const SettingChange& c : *changes) PutSettingChange(c, json);
  json.EndArray();
  json.Key("config_file");
  if (options_.config_file.empty() || !reach.all()) {
    json.Null();
  } else {
    json.String(options_.config_file);
  }
  json.EndObject();
  return JsonResponse(200, json.Take());
}

// The cell and its machines, of the status.
void Api::PutCell(JsonWriter& json) const {
  json.Key("cell");
  json.BeginObject();
  json.Field("name", std::string_view(options_.cell_name));
  json.Key("links");
  json.BeginArray();
  for (const CellLink& link : options_.cell_links) {
    json.BeginObject();
    json.Field("name", std::string_view(link.name));
    json.Field("url", std::string_view(link.url));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  const AgentHubCounts counts = options_.agent_counts ? options_.agent_counts() : AgentHubCounts();
  json.Key("agents");
  json.BeginObject();
  json.Field("enabled", static_cast<bool>(options_.agents));
  json.Field("connected", static_cast<int64_t>(counts.connected));
  json.Field("known", static_cast<int64_t>(counts.agents));
  json.EndObject();
  json.Key("nodes");
  if (const auto facts = options_.kubernetes ? std::optional(options_.kubernetes()) : std::nullopt;
      facts.has_value() && facts->synced) {
    json.Int(static_cast<int64_t>(facts->nodes));
  } else {
    json.Null();
  }
}

HttpResponse Api::ConfirmClock(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  if (!options_.confirm_clock || !options_.confirm_clock())
    return ErrorResponse(409, "tautd does not wait for a confirmation of its clock");
  return JsonResponse(200, R"({"confirmed":true})");
}

HttpResponse Api::Agents(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  PutAgents(options_.agents ? options_.agents() : std::vector<AgentView>(),
            options_.refused_agents ? options_.refused_agents() : std::vector<RefusedAgent>(),
            static_cast<bool>(options_.agents), json);
  return JsonResponse(200, json.Take());
}

// The fields of a status that do not depend on who asks.
void Api::PutAbout(JsonWriter& json) const {
  json.Field("version", std::string_view(options_.version));
  json.Field("started", options_.started_s);
  json.Field("quota", options_.quota != nullptr);
  json.Field("bills", options_.pricing != nullptr);
  json.Field("businesses", options_.businesses != nullptr);
  json.Field("ready", control_.status().ready().ok());
  json.Field("clock", control_.ingest().clock() == ClockSource::kWall ? "wall" : "samples");
  json.Field("actuator", control_.actuator_name());
  json.Field("pages", options_.pages && HasPages());
  const std::optional<WindowId> last = control_.status().stored_through();
  PutTime("last_window_end", last.has_value() ? last->next().start_s() : INT64_MIN, json);
  const std::optional<Timestamp> first = last.has_value() ? std::nullopt : control_.ingest().first_close();
  PutTime("first_window_closes", first.has_value() ? first->seconds() : INT64_MIN, json);
}

HttpResponse Api::Status(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  if (request.role == Role::kGroup) return GroupStatus(request);
  JsonWriter json;
  json.BeginObject();
  PutAbout(json);
  json.Key("warnings");
  json.BeginArray();
  if (const absl::Status ready = control_.status().ready(); !ready.ok())
    json.String(StrCat("not ready: ", Message(ready)));
  if (const std::string clock = control_.status().clock().sentence; !clock.empty()) json.String(clock);
  if (const absl::Status kept = control_.ingest().sample_log_status(); !kept.ok()) {
    json.String(StrCat("samples of open windows cannot be written to disk and would be lost by a crash: ",
                       Message(kept)));
  }
  if (options_.external) {
    if (const std::string error = options_.external().error; !error.empty())
      json.String(StrCat("the external recommender does not answer: ", error));
  }
  for (const brain::BrokenPromise& broken : brain::BrokenPromises(control_.view()->risks))
    json.String(brain::BrokenText(broken));
  for (const std::string& warning : control_.warnings()) json.String(warning);
  const MapperCounts mapper = control_.ingest().mapper_counts();
  if (mapper.pods_without_containers > 0)
    json.String(PodsWithoutContainersText(mapper.pods_without_containers));
  json.EndArray();
  json.Field("store", std::string_view(options_.store_text));
  PutCell(json);
  json.Key("ingest");
  json.BeginObject();
  for (const NamedCount& c : SamplesByOutcome(control_.ingest().counts()))
    json.Field(c.name, static_cast<int64_t>(c.count));
  json.EndObject();
  json.Key("jobs");
  json.BeginObject();
  json.Field("known", static_cast<int64_t>(mapper.jobs));
  json.Field("refused_series", static_cast<int64_t>(mapper.refused_jobs));
  json.Field("name_collisions", static_cast<int64_t>(mapper.name_collisions));
  json.Field("forgotten", static_cast<int64_t>(control_.status().counts().forgotten_jobs));
  json.EndObject();
  json.Key("last_pass");
  const PassTimes pass = control_.status().last_pass();
  if (pass.steps_ms.empty()) {
    json.Null();
  } else {
    json.BeginObject();
    json.Field("window_end", pass.window.next().start_s());
    json.Field("jobs", static_cast<int64_t>(pass.jobs));
    json.Field("milliseconds", pass.total_ms);
    json.Key("steps");
    json.BeginObject();
    for (const auto& [step, ms] : pass.steps_ms) json.Field(step, ms);
    json.EndObject();
    json.EndObject();
  }
  json.Key("backfill");
  const std::optional<BackfillProgress> backfill = options_.backfill ? options_.backfill() : std::nullopt;
  if (backfill.has_value() && backfill->running) {
    json.BeginObject();
    json.Field("done", static_cast<int64_t>(backfill->done));
    json.Field("total", static_cast<int64_t>(backfill->total));
    json.Field("sentence", std::string_view(backfill->sentence));
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("backfill_error");
  if (backfill.has_value() && !backfill->error.empty()) {
    json.String(backfill->error);
  } else {
    json.Null();
  }
  if (options_.late_jobs) {
    const LateProgress late = options_.late_jobs();
    json.Key("late_jobs");
    json.BeginObject();
    json.Field("waiting", static_cast<int64_t>(late.waiting));
    json.Field("read", static_cast<int64_t>(late.read));
    json.Field("nothing", static_cast<int64_t>(late.nothing));
    json.Field("failed", static_cast<int64_t>(late.failed));
    json.Field("error", std::string_view(late.error));
    json.EndObject();
  }
  PutCaller(request, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse Api::Metrics(const HttpRequest& /*request*/, const Reach& /*reach*/) {
  MetricsText out;
  for (const NamedCount& c : SamplesByOutcome(control_.ingest().counts())) {
    out.Counter("tautd_samples_total", "Samples received, by outcome.", c.count, {{"outcome", c.name}});
  }
  const MapperCounts mapper = control_.ingest().mapper_counts();
  out.Gauge("tautd_series", "Live series that a mapping rule matches.",
            static_cast<double>(mapper.mapped_series));
  out.Gauge("tautd_unmapped_series", "Live series that no mapping rule matches.",
            static_cast<double>(mapper.unmapped_series));
  out.Gauge("tautd_pods_without_containers",
            "Pods with series of the pod as a whole and none of its containers.",
            static_cast<double>(mapper.pods_without_containers));
  out.Gauge("tautd_known_jobs", "Known jobs: with tasks, or without but not yet forgotten.",
            static_cast<double>(mapper.jobs));
  out.Counter("tautd_jobs_refused_total", "Series refused because their job exceeds ingest.max_jobs.",
              mapper.refused_jobs);
  out.Gauge("tautd_job_name_collisions", "Jobs whose series come from two sources: perhaps two workloads.",
            static_cast<double>(mapper.name_collisions));
  out.Counter("tautd_series_claimed_total",
              "Series of containers that an agent measures: not counted beside it.", mapper.claimed_series);
  out.Counter("tautd_jobs_forgotten_total",
              "Jobs forgotten because they had no tasks for store.forget_jobs_days.",
              control_.status().counts().forgotten_jobs);
  const FoldCounts folds = control_.ingest().fold_counts();
  out.Counter("tautd_windows_closed_total", "Windows closed.", folds.windows);
  out.Counter("tautd_job_windows_total", "Windows closed, per job.", folds.job_windows);
  const ControlCounts counts = control_.status().counts();
  out.Counter("tautd_passes_total", "Passes over a closed window.", counts.passes);
  out.Counter("tautd_replica_step_backs_total",
              "Times that no number of tasks was ordered for an hour as another program set it.",
              counts.replica_step_backs);
  for (size_t k = 0; k < counts.decisions_by_kind.size(); ++k) {
    out.Counter("tautd_decisions_total", "Decisions stored.", counts.decisions_by_kind[k],
                {{"kind", Name(static_cast<DecisionKind>(k))}});
  }
  out.Counter("tautd_oom_kills_total", "OOM kills received.", counts.ooms);
  PutTierActMetrics(out);
  out.Counter("tautd_store_commits_total", "Committed transactions.", counts.commits);
  out.Counter("tautd_store_failed_commits_total", "Transactions that failed.", counts.failed_commits);
  PutTrustMetrics(control_, out);
  PutBudgetMetrics(out);
  PutBusinessMetrics(out);
  PutQuotaMetrics(out);
  PutLoginMetrics(out);
  PutMachineMetrics(out);
  PutCapacityMetrics(out);
  PutPromiseMetrics(out);
  const PassTimes pass = control_.status().last_pass();
  for (const auto& [step, ms] : pass.steps_ms) {
    out.Gauge("tautd_last_pass_seconds", "Duration of the steps of the last pass.", ms / 1000,
              {{"step", step}});
  }
  if (const auto backfill = options_.backfill ? options_.backfill() : std::nullopt; backfill.has_value()) {
    out.Gauge("tautd_backfill_running", "1 while history is read from a Prometheus.",
              backfill->running ? 1 : 0);
    out.Gauge("tautd_backfill_failed", "1 if backfill failed or waits for a retry.",
              backfill->error.empty() ? 0 : 1);
    out.Gauge("tautd_backfill_done_seconds", "Seconds of history read so far.",
              static_cast<double>(backfill->done));
    out.Gauge("tautd_backfill_seconds", "Seconds of history to read.", static_cast<double>(backfill->total));
  }
  if (options_.late_jobs) {
    const LateProgress late = options_.late_jobs();
    const std::pair<std::string_view, uint64_t> states[] = {
        {"waiting", late.waiting}, {"read", late.read}, {"nothing", late.nothing}, {"failed", late.failed}};
    for (const auto& [state, jobs] : states) {
      out.Gauge("tautd_late_jobs", "Jobs by the state of the request for their history in a Prometheus.",
                static_cast<double>(jobs), {{"state", state}});
    }
  }
  const std::shared_ptr<const FleetView> view = control_.view();
  out.Gauge("tautd_ready", "1 if samples are accepted and windows stored.",
            control_.status().ready().ok() ? 1 : 0);
  if (view->window.has_value()) {
    out.Gauge("tautd_last_window_end_timestamp_seconds", "End of the window closed last.",
              static_cast<double>(view->window->next().start_s()));
  }
  out.Gauge("tautd_tasks", "Tasks measured in the last window.", view->point.tasks);
  for (size_t m = 0; m < kNumModes; ++m) {
    out.Gauge("tautd_jobs", "Jobs measured in the last window, by mode.", view->point.jobs_by_mode[m],
              {{"mode", Name(static_cast<Mode>(m))}});
  }
  const ReplicaSums& replicas = view->replicas;
  out.Gauge("tautd_replica_jobs", "Jobs with a recommended number of tasks, measured in the last window.",
            replicas.jobs);
  out.Gauge("tautd_replica_tasks", "Tasks of these jobs, as they run and as recommended.",
            static_cast<double>(replicas.tasks), {{"which", "running"}});
  out.Gauge("tautd_replica_tasks", "Tasks of these jobs, as they run and as recommended.",
            static_cast<double>(replicas.would_be), {{"which", "would_be"}});
  out.Gauge("tautd_replica_jobs_overloaded", "Of these jobs, those overloaded in the last window.",
            replicas.jobs_overloaded);
  for (const auto& [which, windows] : {std::pair<std::string_view, uint64_t>{"measured", replicas.windows},
                                       {"overloaded", replicas.overloaded_windows}}) {
    out.Gauge(
        "tautd_replica_windows_day",
        "Windows of five minutes of these jobs' last day: with a measured load, and of these overloaded.",
        static_cast<double>(windows), {{"which", which}});
  }
  for (const brain::HoldCause cause : brain::kHoldCauses) {
    out.Gauge("tautd_replica_jobs_held", "Jobs whose number of tasks cannot be decided just now, by cause.",
              replicas.held[static_cast<size_t>(cause)], {{"cause", Name(cause)}});
  }
  const auto amounts = [&](std::string_view name, std::string_view help, double FleetAmounts::*field) {
    for (const Resource r : kResources) {
      const std::optional<double> amount = AmountOf(view->point.amounts[static_cast<size_t>(r)], field);
      if (amount.has_value()) out.Gauge(name, help, *amount, {{"resource", Name(r)}});
    }
  };
  amounts("tautd_fleet_usage", "Usage of all tasks, cores or bytes.", &FleetAmounts::usage);
  amounts("tautd_fleet_owner_limit", "Owners' limits of all tasks, cores or bytes.",
          &FleetAmounts::owner_limit);
  amounts("tautd_fleet_limit",
          "Limits in force of all tasks, in a dry run those that would be; cores or bytes.",
          &FleetAmounts::in_force);
  amounts("tautd_fleet_would_be_limit", "Limits if every job were in mode auto, cores or bytes.",
          &FleetAmounts::would_be);
  uint64_t unlike = 0;
  double throttled = 0, counted = 0;
  for (const JobView& job : view->jobs) {
    for (const Resource r : kResources) {
      const JobAmounts& a = job.of(r);
      unlike += a.ordered >= 0 && a.applied >= 0 && !brain::IsAtLimit(r, a.applied, a.ordered) ? 1 : 0;
    }
    if (job.throttled < 0) continue;
    throttled += job.throttled;
    ++counted;
  }
  out.Gauge("tautd_jobs_not_as_ordered", "Limits that agents report differently from the order.",
            static_cast<double>(unlike));
  if (counted > 0) {
    out.Gauge("tautd_throttled_share", "Throttled share of CFS periods over about a day, mean over jobs.",
              throttled / counted);
  }
  if (options_.agent_counts) PutAgentMetrics(options_.agent_counts(), out);
  if (options_.agent_port_counts) PutAgentPortMetrics(options_.agent_port_counts(), out);
  if (options_.external) PutExternalMetrics(options_.external(), counts, out);
  if (options_.scaler_counts) PutScalerMetrics(options_.scaler_counts(), out);
  if (options_.quota_port_counts) PutQuotaPortMetrics(options_.quota_port_counts(), out);
  if (options_.server_counts) {
    const ServerCounts server = options_.server_counts();
    for (size_t c = 1; c < server.answers.size(); ++c) {
      out.Counter("tautd_http_answers_total", "HTTP answers, by class of status.", server.answers[c],
                  {{"class", StrCat(c, "xx")}});
    }
    out.Counter("tautd_http_clients_cut_total", "Connections closed because the client was too slow.",
                server.timed_out);
    out.Gauge("tautd_http_connections", "Open connections.", static_cast<double>(server.open_connections));
    out.Counter("tautd_http_connections_displaced_total",
                "Idle connections without a token that were closed to make room.", server.displaced);
    out.Counter("tautd_http_connections_refused_total", "Connections refused over server.limits.connections.",
                server.refused);
    out.Counter("tautd_http_accept_failures_total",
                "Connections that could not be accepted, for lack of descriptors.", server.accept_failures);
    out.Counter("tautd_http_tls_failures_total", "TLS handshakes that failed or took too long.",
                server.tls_failures);
    out.Gauge("tautd_http_streams", "Open event streams.", static_cast<double>(server.open_streams));
  }
  times_.Put(out);
  PutNeededMetrics(out);
  if (options_.agents) PutAgentTimes(options_.agents(), static_cast<double>(options_.now().us) / 1e6, out);
  if (options_.store_bytes) {
    out.Gauge("tautd_store_size_bytes", "Size of the store's files.",
              static_cast<double>(options_.store_bytes()));
  }
  if (options_.notifications) {
    const WebhookCounts sent = options_.notifications();
    out.Counter("tautd_notifications_delivered_total", "Notifications delivered to notify.url.",
                sent.delivered);
    out.Counter("tautd_notifications_dropped_total",
                "Notifications dropped: refused, retried too often, or too many.", sent.dropped);
    out.Counter("tautd_notification_retries_total", "Failed attempts that were retried.", sent.retries);
    out.Gauge("tautd_notifications_queued", "Notifications not yet delivered.",
              static_cast<double>(sent.queued));
  }
  if (options_.webhook) PutWebhook(options_.webhook(), out);
  if (options_.kubernetes) PutKubernetes(options_.kubernetes(), out);
  if (options_.process) {
    const ProcessFacts process = options_.process();
    out.Counter("process_cpu_seconds_total", "CPU time, user and system.", process.cpu_s);
    out.Gauge("process_resident_memory_bytes", "Resident memory.",
              static_cast<double>(process.resident_bytes));
    out.Gauge("process_virtual_memory_bytes", "Virtual memory.", static_cast<double>(process.virtual_bytes));
    out.Gauge("process_open_fds", "Open file descriptors.", static_cast<double>(process.open_fds));
    out.Gauge("process_max_fds", "Limit of open file descriptors.", static_cast<double>(process.max_fds));
  }
  out.Gauge("process_start_time_seconds", "Start time, Unix.", static_cast<double>(options_.started_s));
  out.Gauge("tautd_build_info", "1; the version is the label.", 1, {{"version", options_.version}});
  HttpResponse response = TextResponse(200, out.Take());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

}  // namespace taut::server
