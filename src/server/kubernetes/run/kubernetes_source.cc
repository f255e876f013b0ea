#include "server/kubernetes/run/kubernetes_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/watch/images.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {
namespace {

constexpr std::string_view kInCluster = "in-cluster";
constexpr size_t kScrapers = 4;
// Pause between reports of pods, which delays reports of OOM kills.
constexpr std::chrono::milliseconds kPassOn{500};
constexpr int64_t kPassOnAllMicros = 60 * kMicrosPerSecond;
constexpr double kAwaitSplitsSeconds = 60;

std::vector<std::string> Environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

}  // namespace

absl::StatusOr<ClusterAccess> OpenClusterAccess(const KubernetesConfig& config) {
  absl::StatusOr<ClusterAccess> access = config.kubeconfig == kInCluster
                                             ? InClusterAccess([](const char* name) {
                                                 const char* value = std::getenv(name);
                                                 return std::string(value == nullptr ? "" : value);
                                               })
                                             : ReadKubeconfig(config.kubeconfig);
  absl::Status status = access.status();
  if (status.ok()) status = OpenCredentials(*access, Environment(), WallNow);
  if (status.ok()) return access;
  return absl::Status(status.code(), StrCat("kubernetes.kubeconfig: ", Message(status)));
}

KubernetesSource::KubernetesSource(Options options)
    : options_(std::move(options)), cluster_(options_.naming, options_.config.node_group_label) {
  if (options_.config.annotations) cluster_.splits().Await();
}

absl::StatusOr<std::unique_ptr<ApiClient>> KubernetesSource::Client() const {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = ApiClient::Create(options_.access, {});
  if (client.ok()) return client;
  return absl::Status(client.status().code(), StrCat("kubernetes.kubeconfig: ", Message(client.status())));
}

absl::Status KubernetesSource::OpenUsage() {
  std::vector<std::unique_ptr<ApiClient>> clients;
  for (size_t i = 0; i < kScrapers; ++i) {
    absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
    if (!client.ok()) return client.status();
    clients.push_back(*std::move(client));
  }
  usage_ = std::make_unique<UsageReader>(UsageReader::Options{.usage = options_.config.usage,
                                                              .namespaces = options_.config.namespaces,
                                                              .now = options_.now,
                                                              .steady_s = SteadySeconds,
                                                              .log = options_.log},
                                         cluster_, kernel_limits_, std::move(clients));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KubernetesSource>> KubernetesSource::Create(Options options) {
  std::unique_ptr<KubernetesSource> run(new KubernetesSource(std::move(options)));
  absl::Status s = run->WatchPods();
  if (s.ok()) s = run->WatchNodes();
  if (s.ok()) s = run->WatchOwners("ReplicaSet", "/apis/apps/v1/replicasets");
  if (s.ok()) s = run->WatchOwners("Job", "/apis/batch/v1/jobs");
  if (s.ok()) s = run->OpenOwners();
  if (s.ok()) s = run->WatchHpas();
  const KubernetesConfig& config = run->options_.config;
  if (s.ok() && config.status_annotations) s = run->OpenStatus();
  const bool watches = config.annotations || config.events || config.status_annotations;
  if (s.ok() && watches) s = run->WatchWorkloads();
  if (s.ok() && watches) s = run->OpenCustomOwners();
  if (s.ok() && run->options_.config.events) s = run->OpenEvents();
  if (s.ok() && run->options_.config.vpa) s = run->OpenVpas();
  if (s.ok() && run->options_.config.vpa) s = run->WatchVpas();
  if (s.ok()) s = run->WatchNamespaceRules("LimitRange", "/api/v1/limitranges");
  if (s.ok()) s = run->OpenLease();
  if (s.ok() && config.scrape_interval_s > 0) s = run->OpenUsage();
  if (!s.ok()) return s;
  return run;
}

void KubernetesSource::Wait(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, pause, [this] { return stopping_; });
}

absl::Status KubernetesSource::Start(ControlPlane* control) {
  control_ = control;
  advice_ = std::make_unique<WorkloadAdvice>(cluster_, field_owners_, *control, options_.config.namespaces);
  intake_ = std::make_unique<LiveWorkloadIntake>(control->ingest(), options_.now);
  if (!options_.config.admission.listen.empty()) {
    if (absl::Status s = OpenAdmission(); !s.ok()) return s;
    threads_.emplace_back([this] { KeepAdmission(); });
  }
  for (const std::function<void()>& run : runs_) threads_.emplace_back(run);
  threads_.emplace_back([this] { PassOnPods(); });
  threads_.emplace_back([this] { ReadOwners(); });
  if (custom_owners_ != nullptr) threads_.emplace_back([this] { ReadCustomOwners(); });
  if (options_.config.scrape_interval_s > 0) threads_.emplace_back([this] { Scrape(); });
  if (lease_ != nullptr) threads_.emplace_back([this] { KeepLease(); });
  if (vpas_ != nullptr) threads_.emplace_back([this] { WriteVpas(); });
  if (quotas_ != nullptr) threads_.emplace_back([this] { WriteQuotas(); });
  if (status_ != nullptr) threads_.emplace_back([this] { WriteStatus(); });
  control->OnTick([this](const TickEvents& events) {
    if (!events.past && events.window != nullptr) LookAtReplicas(*events.window);
  });
  if (events_ == nullptr) return absl::OkStatus();
  control->OnTick([this](const TickEvents& events) {
    if (!events.past) Say(events.decisions, events.outcomes);
  });
  threads_.emplace_back([this] { WriteEvents(); });
  return absl::OkStatus();
}

void KubernetesSource::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (const std::function<void()>& stop : stops_) stop();
  if (usage_ != nullptr) usage_->Interrupt();
  if (owners_client_ != nullptr) owners_client_->Interrupt();
  if (custom_client_ != nullptr) custom_client_->Interrupt();
  if (vpa_client_ != nullptr) vpa_client_->Interrupt();
  if (quota_client_ != nullptr) quota_client_->Interrupt();
  if (event_client_ != nullptr) event_client_->Interrupt();
  if (status_client_ != nullptr) status_client_->Interrupt();
  if (admission_ != nullptr) admission_->Interrupt();
  // The requests of these threads were interrupted above; otherwise the joins would last as long as the requests'
  // timeouts. The lease's request has a short timeout.
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (admission_ != nullptr) admission_->Stop();
}

// Delays the pods until the lists that determine their groups have arrived. The delay is at most
// kAwaitSplitsSeconds, because tautd may not be allowed to list these objects.
void KubernetesSource::LookAtSplits(std::optional<double>& pods_since) {
  if (cluster_.synced()) {
    const size_t left_out = cluster_.nodes().num_groups_left_out();
    if (left_out == groups_left_out_) return;
    groups_left_out_ = left_out;
    if (left_out == 0) return;
    options_.log->Warn(StrCat("kubernetes: kubernetes.node_group_label ", options_.config.node_group_label,
                              " has ", left_out, " values more than the ", NodeTable::kMostGroups,
                              " that can be groups: the nodes with these have no group"));
    return;
  }
  if (!cluster_.pods().size().has_value()) return;
  if (!pods_since.has_value()) pods_since = SteadySeconds();
  if (SteadySeconds() - *pods_since < kAwaitSplitsSeconds) return;
  cluster_.AwaitNothing();
  options_.log->Warn("kubernetes: DaemonSets, StatefulSets or nodes cannot be listed: no workload is split");
}

// Passes changed pods on at once, and all pods every minute, because ingest deletes series without samples.
void KubernetesSource::PassOnPods() {
  std::optional<Timestamp> all_passed_on;
  // Steady time since which the pods are listed, but not their groups.
  std::optional<double> pods_since;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kPassOn, [this] { return stopping_; })) return;
    }
    const Timestamp time = options_.sample_time();
    LookAtSplits(pods_since);
    if (!cluster_.synced() || time.us <= 0) continue;  // no sample has set the time so far
    std::vector<PodPtr> changed = TakeChangedPods();
    // with an actuator, the actuator reads the changes
    if (actuator_ == nullptr) (void)cluster_.changes().TakeWorkloads();
    // A clock that was set back must not stop the full reports.
    const bool pass_on_all = !all_passed_on.has_value() || time.us - all_passed_on->us >= kPassOnAllMicros ||
                             time < *all_passed_on;
    const bool starts = control_->ingest().windows.asks_for_starts();
    if (pass_on_all) {
      all_passed_on = time;
      ReportPods(cluster_, time, starts, *intake_);
      passed_on_ = true;
      // The full report contains all existing pods, so pass on only ended pods in addition.
      std::erase_if(changed, [](const PodPtr& pod) { return !pod->is_ended; });
    }
    ReportPods(cluster_, changed, time, starts, *intake_);
    if (pass_on_all || steered_ != SteeringVersion()) PassOnSteering();
    SayWhatIsAwaited();
    SayWhatIsRefused();
  }
}

void KubernetesSource::Scrape() {
  const std::chrono::seconds interval(options_.config.scrape_interval_s);
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    // Pass the owners of pods on before reading usage. Otherwise the name of a job would be a guess. If samples
    // set the time, owners cannot be passed on before the first sample.
    const bool ready = cluster_.synced() && (passed_on_ || options_.sample_time().us <= 0);
    if (ready) usage_->Read(*intake_);
    std::unique_lock lock(mutex_);
    const auto until = ready ? begin + interval : begin + std::chrono::milliseconds(200);
    if (wake_.wait_until(lock, until, [this] { return stopping_; })) return;
  }
}

std::optional<TemplateContainer> KubernetesSource::ContainerOf(const Workload& job) const {
  const std::optional<WorkloadName> workload = cluster_.naming().Of(job);
  if (!workload.has_value()) return std::nullopt;
  for (const PodPtr& pod : cluster_.pods().Of(*workload)) {
    const ContainerState* found = ResizedContainer(*pod, workload->container);
    if (found == nullptr) continue;
    TemplateContainer out = InTemplate(*pod, *found);
    for (const Resource r : kPodResources)
      out.scaled_by[static_cast<size_t>(r)] = field_owners_.On(*workload, found->name, r).scaled_by;
    return out;
  }
  return std::nullopt;
}

std::string KubernetesSource::NoticeOf(const Workload& job) const {
  const std::optional<WorkloadName> workload = cluster_.naming().Of(job);
  if (!workload.has_value()) return "";
  const WorkloadName of_no_group{workload->namespace_name, workload->kind, workload->name, ""};
  std::string out = MixedImages(cluster_.pods().Of(of_no_group, PodsThat::kAreThere), *workload);
  if (const std::string wrong = cluster_.splits().WrongOf(*workload); !wrong.empty())
    StrAppend(&out, out.empty() ? "" : "; ", wrong);
  if (const std::string hint = replica_spread_.HintOf(job.JobName()); !hint.empty())
    StrAppend(&out, out.empty() ? "" : "; ", hint);
  const std::string paused = field_owners_.PausedScaling(*workload);
  const std::optional<JobId> id = paused.empty() ? std::nullopt : control_->Find(job.JobName());
  bool scales = false;
  if (id.has_value())
    control_->Look(*id, [&](const brain::LiveJob& live) { scales = live.replicas != nullptr; });
  if (scales) StrAppend(&out, out.empty() ? "" : "; ", "its number of replicas stays: ", paused, " holds it");
  return out;
}

// Compares the replicas of each StatefulSet that is not split, to detect differences in usage.
void KubernetesSource::LookAtReplicas(const ClosedWindow& window) {
  const std::shared_ptr<const FleetView> view = control_->view();
  std::map<std::string, WorkloadName> observed;
  for (const JobWindowData& data : window.jobs) {
    if (data.window.num_tasks < 2) continue;
    const JobView* job = view->Find(data.job);
    const std::optional<WorkloadName> workload =
        job == nullptr ? std::nullopt : cluster_.naming().Of(job->record->workload());
    if (!workload.has_value() || workload->kind != "statefulset") continue;
    std::vector<PlacedTask> tasks;
    for (const PodPtr& pod : cluster_.pods().Of(*workload)) {
      tasks.emplace_back().job = job->record->name;
      tasks.back().task = pod->name;
    }
    std::vector<PlacedTask*> pointers;
    for (PlacedTask& task : tasks) pointers.push_back(&task);
    control_->FindNumbers(pointers);
    const auto windows = std::span(window.tasks).subspan(data.window.first_task, data.window.num_tasks);
    std::vector<ReplicaUse> uses;
    for (const PlacedTask& task : tasks) {
      if (!task.number.has_value()) continue;
      const auto it = std::ranges::lower_bound(windows, task.number->task, {}, &TaskWindow::task);
      if (it == windows.end() || it->task != task.number->task) continue;
      ReplicaUse& use = uses.emplace_back();
      use.pod = task.task;
      if (it->cpu_mean_cores >= 0) use.used.cpu = it->cpu_mean_cores;
      if (it->memory_peak_bytes >= 0) use.used.memory = it->memory_peak_bytes;
    }
    replica_spread_.Observe(job->record->name, uses);
    observed.emplace(job->record->name, *workload);
  }
  replica_spread_.EndWindow();
  for (const std::string& name : replica_spread_.TakeNew()) {
    const std::string hint = replica_spread_.HintOf(name);
    if (events_ != nullptr && !hint.empty() && WhyNotChange().empty())
      events_->Add({observed[name], "ReplicasDiffer", hint, false});
  }
}

std::optional<PodTotals> KubernetesSource::PodTotalsOf(const Workload& job) const {
  return advice_->PodTotalsOf(job);
}

KubernetesFacts KubernetesSource::facts() const {
  KubernetesFacts out;
  out.synced = cluster_.synced();
  out.pods = cluster_.pods().size().value_or(0);
  out.nodes = cluster_.nodes().Ready().size();
  for (const std::function<uint64_t()>& lists : lists_) out.lists += lists();
  out.watch_failures = watch_failures_;
  if (usage_ != nullptr) {
    const UsageReader::Counts usage = usage_->counts();
    out.scrapes = usage.read;
    out.scrape_failures = usage.failed;
    out.last_scrape_s = usage.last_s;
  }
  if (lease_ != nullptr) out.holds_lease = lease_->held();
  if (events_ != nullptr) {
    const EventWriter::Counts events = events_->counts();
    out.events = events.written;
    out.failed_events = events.failed;
    out.dropped_events = events.dropped;
  }
  if (status_ != nullptr) {
    const StatusWriter::Counts status = status_->counts();
    out.status_writes = status.written;
    out.failed_status_writes = status.failed;
  }
  if (admission_ != nullptr) {
    const PodWebhookServer::Counts admissions = admission_->counts();
    out.pods_changed = admissions.changed;
    out.pods_unchanged = admissions.unchanged;
    out.refused_reviews = admissions.refused;
  }
  if (quota_gate_ != nullptr) {
    const PodQuotaReviewer::Counts reviews = quota_gate_->counts();
    out.quota_fitting = reviews.fitting;
    out.quota_warned = reviews.warned;
    out.quota_refused = reviews.refused;
    out.quota_not_covered = reviews.not_covered;
    out.quota_held = reviews.held;
    out.quota_unknown = reviews.unknown;
  }
  if (quotas_ != nullptr) {
    const QuotaWriter::Counts quotas = quotas_->counts();
    out.quota_namespaces = quotas.namespaces;
    out.quota_writes = quotas.written;
    out.failed_quota_writes = quotas.failed;
  }
  if (vpas_ != nullptr) {
    const VpaWriter::Counts vpas = vpas_->counts();
    out.vpas = vpas.vpas;
    out.vpa_writes = vpas.written;
    out.failed_vpa_writes = vpas.failed;
  }
  return out;
}

}  // namespace taut::server
