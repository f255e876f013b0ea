#include "server/kubernetes/run/kubernetes_component.h"

#include <functional>
#include <utility>

#include "common/net/clocks.h"

namespace taut::server {
namespace {

void PutWatching(const KubernetesFacts& facts, MetricsText& out) {
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
  out.Gauge("tautd_kubernetes_last_scrape_seconds", "Duration of the last reading of all nodes.",
            facts.last_scrape_s);
  if (facts.holds_lease.has_value()) {
    out.Gauge("tautd_kubernetes_lease_held",
              "1 while this tautd holds kubernetes.lease, and may change the cluster.",
              *facts.holds_lease ? 1 : 0);
  }
}

void PutWrites(const KubernetesFacts& facts, MetricsText& out) {
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
  constexpr std::string_view kVpas = "tautd_kubernetes_vpa_writes_total";
  constexpr std::string_view kVpasHelp = "Writes of a VerticalPodAutoscaler's status, by result.";
  out.Counter(kVpas, kVpasHelp, facts.vpa_writes, {{"result", "written"}});
  out.Counter(kVpas, kVpasHelp, facts.failed_vpa_writes, {{"result", "failed"}});
  constexpr std::string_view kQuotas = "tautd_kubernetes_quota_writes_total";
  constexpr std::string_view kQuotasHelp = "Writes of a namespace's ResourceQuota, by result.";
  out.Counter(kQuotas, kQuotasHelp, facts.quota_writes, {{"result", "written"}});
  out.Counter(kQuotas, kQuotasHelp, facts.failed_quota_writes, {{"result", "failed"}});
}

void PutReviews(const KubernetesFacts& facts, MetricsText& out) {
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
}

void PutChanges(const KubernetesFacts& facts, MetricsText& out) {
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
  out.Counter("tautd_kubernetes_stepped_back_total", "Pods whose limit another program has changed.",
              facts.stepped_back);
  out.Counter("tautd_kubernetes_startups_total",
              "Starts of containers that had a CPU limit of their own (cpu.startup_window).", facts.startups);
  out.Counter("tautd_kubernetes_low_pod_limits_total",
              "Pods whose cgroup had a lower memory limit than their containers run with.", facts.kernel_low);
  out.Gauge("tautd_kubernetes_orders", "Limits that are kept in force, one per job and resource.",
            static_cast<double>(facts.orders));
}

}  // namespace

absl::StatusOr<std::unique_ptr<KubernetesComponent>> KubernetesComponent::Open(const DaemonConfig& config,
                                                                               Parts parts,
                                                                               const DaemonContext& context) {
  if (config.kubernetes.kubeconfig.empty()) {
    if (!config.SetsThrough(ActuatorKind::kKubernetes)) return std::unique_ptr<KubernetesComponent>();
    return absl::InvalidArgumentError(
        "actuator.kind is kubernetes, but kubernetes.kubeconfig names no cluster");
  }
  absl::StatusOr<ClusterAccess> access = OpenClusterAccess(config.kubernetes);
  if (!access.ok()) return access.status();
  absl::StatusOr<std::unique_ptr<KubernetesSource>> run =
      KubernetesSource::Create({.config = config.kubernetes,
                                .access = *std::move(access),
                                .naming = {config.kubernetes.cluster, config.ingest.kubernetes_jobs},
                                .now = context.now,
                                .sample_time = context.cell_now,
                                .state_dir = context.state_dir,
                                .log = context.log});
  if (!run.ok()) return run.status();
  std::unique_ptr<KubernetesComponent> out(
      new KubernetesComponent({.sets_limits = config.SetsThrough(ActuatorKind::kKubernetes),
                               .resource_quotas = config.kubernetes.resource_quotas,
                               .forget_jobs_s = config.store.forget_jobs_days * kDaySeconds,
                               .job_labels = config.ingest.options.job_labels},
                              parts, context));
  out->run_ = *std::move(run);
  return out;
}

std::span<const std::string_view> KubernetesComponent::after() const {
  static constexpr std::string_view kAfter[] = {"quota", "budgets"};
  return kAfter;
}

absl::StatusOr<std::unique_ptr<Actuator>> KubernetesComponent::MakeActuator() {
  if (!options_.sets_limits) return nullptr;
  absl::StatusOr<std::unique_ptr<KubernetesActuator>> made =
      run_->MakeActuator(SteadySeconds, options_.forget_jobs_s);
  if (!made.ok()) return made.status();
  actuator_ = made->get();
  return *std::move(made);
}

absl::Status KubernetesComponent::HoldToQuota() {
  if (parts_.quota == nullptr) return absl::OkStatus();
  std::function<std::string(std::string_view)> why_held;
  if (parts_.budgets != nullptr) {
    why_held = [budgets = parts_.budgets](std::string_view group) { return budgets->WhyHeld(group); };
  }
  run_->HoldToQuota(parts_.quota->service(), options_.job_labels, std::move(why_held));
  if (!options_.resource_quotas) return absl::OkStatus();
  return run_->KeepQuotas([service = parts_.quota->service()] { return NamespaceQuotasOf(service->View()); });
}

absl::Status KubernetesComponent::Start() {
  if (absl::Status s = HoldToQuota(); !s.ok()) return s;
  if (absl::Status s = run_->Start(context_.control); !s.ok()) return s;
  if (actuator_ != nullptr) actuator_->Start();
  return absl::OkStatus();
}

void KubernetesComponent::Stop() {
  run_->Stop();
  if (actuator_ != nullptr) actuator_->Stop();
  // Release the lease last: no other tautd may hold the lease while this process may still write.
  run_->ReleaseLease();
}

KubernetesFacts KubernetesComponent::facts() const {
  KubernetesFacts facts = run_->facts();
  if (actuator_ == nullptr) return facts;
  const KubernetesActuatorCounts done = actuator_->counts();
  facts.resizes = done.resizes;
  facts.scales = done.scales;
  facts.templates = done.templates;
  facts.failed_changes = done.failed;
  facts.evictions = done.evicted;
  facts.refused_evictions = done.not_evicted;
  facts.stepped_back = done.stepped_back;
  facts.orders = done.orders;
  facts.startups = done.startups;
  facts.kernel_low = done.kernel_low;
  return facts;
}

void KubernetesComponent::Collect(MetricsText& out) const {
  const KubernetesFacts all = facts();
  PutWatching(all, out);
  PutWrites(all, out);
  PutReviews(all, out);
  PutChanges(all, out);
}

}  // namespace taut::server
