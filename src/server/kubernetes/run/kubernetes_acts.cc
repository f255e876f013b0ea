// KubernetesSource: writes limits (through the actuator), VPAs, quotas, statuses, Events and the lease to the
// cluster.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/base/utc_text.h"
#include "common/net/clocks.h"
#include "server/kubernetes/run/kubernetes_source.h"

namespace taut::server {
namespace {

constexpr std::chrono::seconds kWriteVpas{5}, kWriteQuotas{5}, kWriteEvents{1}, kKeepAdmission{1},
    kWriteStatus{2};
constexpr std::chrono::seconds kRenewLease{2}, kLeaseTimeout{3};

// Returns the seconds of a clock that also advances while the machine is suspended, because another process may
// acquire the lease in that time.
double BootSeconds() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Returns a unique identity of this process. The host's name does not suffice: in a pod it is the pod's name,
// which is unique only within a namespace.
std::string LeaseIdentity() {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  std::random_device random;
  return StrCat(host, "_", random());
}

}  // namespace

absl::StatusOr<std::unique_ptr<KubernetesActuator>> KubernetesSource::MakeActuator(
    std::function<double()> steady_s, int64_t forget_s) {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  const KubernetesConfig& config = options_.config;
  KubernetesActuator::Options options;
  options.namespaces = config.namespaces;
  options.scale = config.scale;
  options.forget_s = forget_s;
  if (lease_ != nullptr) options.why_not = [this] { return WhyNotChange(); };
  options.terms = [this](const std::string& job, Resource resource) {
    std::optional<PodTerms> out;
    const std::optional<JobId> id = control_->Find(job);
    if (id.has_value())
      control_->Look(*id, [&](const brain::LiveJob& live) {
        out = PodTerms{live.policy->allocation(resource), brain::StartupGraceSeconds(*live.policy, resource),
                       live.policy->in_template, live.policy->change_period_s};
        const brain::BoundSettings bounds = live.policy->AllowedBounds(resource);
        out->mode = live.policy->mode;
        out->lower = bounds.lower;
        out->upper = bounds.upper;
        if (resource != Resource::kCpu) return;
        out->startup_window_s = std::llround(live.policy->startup_window_s);
        if (const std::optional<brain::StartBoost> boost = live.BoostNow(); boost.has_value())
          out->startup_cores = boost->cores;
      });
    return out;
  };
  options.unix_s = [now = options_.now] { return now().seconds(); };
  options.steady_s = std::move(steady_s);
  options.owners = &field_owners_;
  options.rules = [this](const std::string& name) { return namespace_rules_.Of(name); };
  if (config.usage == KubeletUsage::kCadvisor) options.kernel = &kernel_limits_;
  options.kernel_low = [this](const WorkloadName& workload, const Pod& pod, const std::string& text) {
    options_.log->Act(
        LogLevel::kInfo, "pod_limit_differs",
        {{"pod", FullName(pod)}, {"workload", StrCat(workload.kind, "/", workload.name)}, {"what", text}});
    if (events_ != nullptr) events_->Add(LowLimitEvent(workload, text));
  };
  if (config.fallback == ResizeFallback::kEvict) {
    KubernetesActuator::Eviction eviction;
    eviction.deferred_s = static_cast<double>(config.evict_after_s);
    eviction.blocked_s = std::min(eviction.blocked_s, eviction.deferred_s);
    eviction.evicted = [this](const WorkloadName& workload, const Pod& pod, const std::string& why) {
      SayEvicted(workload, pod, why);
    };
    options.eviction = std::move(eviction);
  }
  if (absl::Status s = options_.config.vpa ? absl::OkStatus() : WatchVpas(); !s.ok()) return s;
  if (absl::Status s = WatchQuotas(); !s.ok()) return s;
  if (absl::Status s = config.scale ? WatchScaledObjects() : absl::OkStatus(); !s.ok()) return s;
  auto made = std::make_unique<KubernetesActuator>(
      std::move(options), &cluster_,
      std::make_unique<ApiWriter>(*std::move(client), config.admission.configuration));
  actuator_ = made.get();
  return made;
}

absl::Status KubernetesSource::OpenAdmission() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  PodWebhookServer::Options options;
  options.config = options_.config.admission;
  options.certificate_file = StrCat(options_.state_dir, "/admission.pem");
  options.now = options_.now;
  if (actuator_ != nullptr) {
    options.admit = [this](const PodReview& review) {
      return AdmitPod(review, actuator_->OrdersFor(review.pod),
                      cluster_.nodes().LargestFor(review.pod).amounts,
                      namespace_rules_.Of(review.pod.namespace_name));
    };
  }
  if (quota_gate_ != nullptr)
    options.quota = [this](const PodReview& review) { return quota_gate_->Answer(review); };
  absl::StatusOr<std::unique_ptr<PodWebhookServer>> run =
      PodWebhookServer::Start(std::move(options), *std::move(client));
  if (!run.ok()) return run.status();
  admission_ = *std::move(run);
  return absl::OkStatus();
}

void KubernetesSource::KeepAdmission() {
  KeepDoing(kKeepAdmission, "webhooks:", [this](const std::function<bool()>& /*stopping*/) {
    const std::string certificate = admission_->Keep();
    return certificate.empty() ? "" : StrCat("writing their certificate: ", certificate);
  });
}

void KubernetesSource::HoldToQuota(QuotaService* service, std::vector<std::string> job_labels,
                                   std::function<std::string(std::string_view group)> why_held) {
  if (options_.config.admission.quota == QuotaWebhook::kOff) return;
  PodQuotaReviewer::Options options;
  options.refuse = options_.config.admission.quota == QuotaWebhook::kRefuse;
  options.service = service;
  options.cluster = &cluster_;
  options.job_labels = std::move(job_labels);
  options.is_watched = [this](const Pod& pod) { return IsWanted(pod); };
  options.steady_s = SteadySeconds;
  options.held = options_.config.admission.held;
  options.why_held = std::move(why_held);
  quota_gate_ = std::make_unique<PodQuotaReviewer>(std::move(options));
}

absl::Status KubernetesSource::OpenVpas() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  vpa_client_ = *std::move(client);
  VpaWriter::Options options;
  options.advice = [this](const WorkloadName& container, bool requests_only) {
    return advice_->RequestsOf(container, requests_only);
  };
  options.owners = &field_owners_;
  options.send = [this](const std::string& path, const std::string& patch) {
    return vpa_client_->Patch(StrCat(path, "?fieldManager=", kFieldManager), patch, kMergePatch).status();
  };
  options.time = [this] { return UtcText(options_.now().seconds()); };
  options.steady_s = SteadySeconds;
  vpas_ = std::make_unique<VpaWriter>(std::move(options), &cluster_);
  return absl::OkStatus();
}

absl::Status KubernetesSource::KeepQuotas(
    std::function<std::optional<std::vector<NamespaceQuota>>()> quotas) {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  quota_client_ = *std::move(client);
  wanted_quotas_ = std::move(quotas);
  QuotaWriter::Options options;
  options.apply = [this](const std::string& path, const std::string& body) {
    return quota_client_->Patch(StrCat(path, "?force=true&fieldManager=", kFieldManager), body, kApplyPatch)
        .status();
  };
  options.existing = [this]() -> absl::StatusOr<std::vector<std::string>> {
    const absl::StatusOr<std::string> list = quota_client_->Get(QuotaWriter::ListPath());
    if (!list.ok()) return list.status();
    return QuotaWriter::NamespacesOf(*list);
  };
  options.steady_s = SteadySeconds;
  quotas_ = std::make_unique<QuotaWriter>(std::move(options));
  return absl::OkStatus();
}

void KubernetesSource::WriteQuotas() {
  KeepDoing(kWriteQuotas, "writing ResourceQuotas:", [this](const std::function<bool()>& stopping) {
    const auto wanted = wanted_quotas_();
    if (!WhyNotChange().empty()) {
      quotas_->Pause();
      return std::string();
    }
    if (wanted.has_value()) quotas_->Step(*wanted, stopping);
    return quotas_->last_error();
  });
}

absl::Status KubernetesSource::OpenLease() {
  const auto name = LeaseName(options_.config.lease);
  if (!name.has_value()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<ApiClient>> client =
      ApiClient::Create(options_.access, {.timeout = kLeaseTimeout});
  if (!client.ok()) return client.status();
  LeaseKeeper::Options options;
  options.identity = LeaseIdentity();
  options.steady_s = BootSeconds;
  options.time = [this] {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(options_.now().us),
                            absl::UTCTimeZone());
  };
  lease_ = std::make_unique<LeaseKeeper>(
      std::move(options), std::make_unique<ApiLeaseStore>(*std::move(client), name->first, name->second));
  return absl::OkStatus();
}

absl::Status KubernetesSource::OpenStatus() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  status_client_ = *std::move(client);
  StatusWriter::Options options;
  options.of = [this](const WorkloadName& workload, bool reasons) {
    return advice_->StatusOf(workload, reasons);
  };
  options.send = [this](const std::string& path, const std::string& patch) {
    return status_client_->Patch(path, patch, kMergePatch).status();
  };
  options.retry_after_s = [this] { return static_cast<double>(status_client_->retry_after_s()); };
  options.steady_s = SteadySeconds;
  status_ = std::make_unique<StatusWriter>(std::move(options));
  return absl::OkStatus();
}

void KubernetesSource::WriteStatus() {
  KeepDoing(kWriteStatus, "writing the annotation tautline.dev/status of",
            [this](const std::function<bool()>& stopping) {
              if (cluster_.synced() && passed_on_ && WhyNotChange().empty()) status_->Step(stopping);
              return status_->last_error();
            });
}

absl::Status KubernetesSource::OpenEvents() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  event_client_ = *std::move(client);
  EventWriter::Options options;
  options.send = [this](const std::string& collection, const std::string& body) {
    return event_client_->Create(collection, body).status();
  };
  options.time = [this] { return UtcText(options_.now().seconds()); };
  options.steady_s = SteadySeconds;
  events_ = std::make_unique<EventWriter>(std::move(options), &workloads_);
  return absl::OkStatus();
}

void KubernetesSource::Say(std::span<const Decision> decisions, std::span<const OutcomeUpdate> outcomes) {
  std::vector<Decision> said;
  const auto add = [&said](std::optional<Decision> decision) {
    if (decision.has_value()) said.push_back(*std::move(decision));
  };
  for (const Decision& decision : decisions) add(decision_events_.Note(decision));
  for (const OutcomeUpdate& outcome : outcomes) add(decision_events_.Note(outcome));
  if (!WhyNotChange().empty()) return;  // the tautd that holds the lease writes the Events
  for (const Decision& decision : said) {
    Workload job;
    control_->Look(decision.job, [&job](const brain::LiveJob& live) { job = live.record->workload(); });
    const std::optional<WorkloadName> workload = cluster_.naming().Of(job);
    if (workload.has_value()) events_->Add(EventOf(decision, *workload));
  }
}

void KubernetesSource::SayEvicted(const WorkloadName& workload, const Pod& pod, const std::string& why) {
  options_.log->Act(
      LogLevel::kInfo, "pod_evicted",
      {{"pod", FullName(pod)}, {"workload", StrCat(workload.kind, "/", workload.name)}, {"why", why}});
  if (events_ != nullptr) events_->Add(EvictionEvent(workload, pod, why));
}

void KubernetesSource::WriteEvents() {
  KeepDoing(kWriteEvents, "writing Events:", [this](const std::function<bool()>& stopping) {
    events_->Step(stopping);
    return events_->last_error();
  });
}

// Calls `step` in a loop, with `pause` between the calls, until the source stops. Logs the error that `step`
// returns whenever this error changes.
void KubernetesSource::KeepDoing(
    std::chrono::seconds pause, std::string_view what,
    const std::function<std::string(const std::function<bool()>& stopping)>& step) {
  const std::function<bool()> stopping = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  std::string said;
  while (true) {
    Wait(pause);
    if (stopping()) return;
    const std::string error = step(stopping);
    if (error == said || stopping()) continue;
    said = error;
    if (!error.empty()) options_.log->Warn(StrCat("kubernetes: ", what, " ", error));
  }
}

std::string KubernetesSource::WhyNotChange() const {
  if (lease_ == nullptr || lease_->held()) return "";
  const std::string holder = lease_->holder();
  return StrCat("this tautd does not hold the lease ", options_.config.lease,
                holder.empty() ? "" : StrCat(": ", holder, " holds it"));
}

void KubernetesSource::KeepLease() {
  std::string error;
  bool was_held = false;
  while (true) {
    const absl::Status status = lease_->Step();
    const std::string now = status.ok() ? "" : std::string(Message(status));
    if (now != error && !now.empty())
      options_.log->Warn(StrCat("kubernetes: lease ", options_.config.lease, ": ", now));
    error = now;
    if (lease_->held() != was_held) {
      was_held = !was_held;
      if (was_held) {
        options_.log->Info(StrCat("kubernetes: this tautd holds the lease ", options_.config.lease));
      } else {
        options_.log->Warn(StrCat("kubernetes: ", WhyNotChange(), "; it changes nothing"));
      }
    }
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kRenewLease, [this] { return stopping_; })) return;
  }
}

void KubernetesSource::ReleaseLease() {
  if (lease_ != nullptr) lease_->Release();
}

void KubernetesSource::WriteVpas() {
  KeepDoing(kWriteVpas, "writing the status of VerticalPodAutoscaler",
            [this](const std::function<bool()>& stopping) {
              if (cluster_.synced() && WhyNotChange().empty()) vpas_->Step(stopping);
              return vpas_->last_error();
            });
}

}  // namespace taut::server
