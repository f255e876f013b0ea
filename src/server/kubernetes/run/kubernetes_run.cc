#include "server/kubernetes/run/kubernetes_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "common/net/http.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/watch/images.h"
#include "server/kubernetes/watch/pod_metrics.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {
namespace {

constexpr std::string_view kInCluster = "in-cluster";
constexpr size_t kScrapers = 4;
constexpr std::chrono::minutes kAbsentRetry{5};  // of kinds that may be installed later
constexpr std::chrono::seconds kReadOwners{1}, kReadCustomOwners{2};
constexpr std::chrono::milliseconds kPassOn{500};  // an OOM kill waits no longer
constexpr int64_t kPassOnAllMicros = 60 * kMicrosPerSecond;
constexpr double kAwaitSplitsSeconds = 60;

std::vector<std::string> Environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

KubernetesRun::KubernetesRun(Options options)
    : options_(std::move(options)), cluster_(options_.naming, options_.config.node_group_label) {
  if (options_.config.annotations) cluster_.splits().Await();
}

absl::StatusOr<std::unique_ptr<ApiClient>> KubernetesRun::Client() const {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = ApiClient::Create(options_.access, {});
  if (client.ok()) return client;
  return absl::Status(client.status().code(), StrCat("kubernetes.kubeconfig: ", Message(client.status())));
}

absl::StatusOr<std::unique_ptr<KubernetesRun>> KubernetesRun::Create(Options options) {
  std::unique_ptr<KubernetesRun> run(new KubernetesRun(std::move(options)));
  Cluster* const cluster = &run->cluster_;
  absl::Status s = run->WatchPods();
  if (s.ok()) {
    s = run->Watch<Node>(
        {.path = "/api/v1/nodes", .list_accept = {}, .watch_accept = {}}, "nodes",
        {.replace = [cluster](std::vector<Node> nodes) { cluster->nodes().Replace(std::move(nodes)); },
         .put = [cluster](Node node) { cluster->nodes().Put(std::move(node)); },
         .remove = [cluster](const Node& node) { cluster->nodes().Remove(node); }});
  }
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
  for (size_t i = 0; s.ok() && i < kScrapers && run->options_.config.scrape_interval_s > 0; ++i) {
    absl::StatusOr<std::unique_ptr<ApiClient>> client = run->Client();
    s = client.status();
    if (s.ok()) run->scrapers_.push_back(*std::move(client));
  }
  if (!s.ok()) return s;
  return run;
}

absl::Status KubernetesRun::WatchPods() {
  return Watch<Pod>({.path = "/api/v1/pods", .list_accept = {}, .watch_accept = {}}, "pods",
                    {.replace =
                         [this](std::vector<Pod> pods) {
                           std::erase_if(pods, [this](const Pod& pod) { return !IsWanted(pod); });
                           if (quota_gate_ != nullptr) quota_gate_->Replace(pods);
                           cluster_.pods().Replace(std::move(pods));
                         },
                     .put =
                         [this](Pod pod) {
                           if (!IsWanted(pod)) return;
                           if (quota_gate_ != nullptr) quota_gate_->Put(pod);
                           cluster_.pods().Put(std::move(pod));
                         },
                     .remove =
                         [this](const Pod& pod) {
                           if (quota_gate_ != nullptr) quota_gate_->Remove(pod);
                           cluster_.pods().Remove(pod);
                         }});
}

absl::Status KubernetesRun::WatchMetadata(const std::string& path, ReflectorSink<OwnedObject> sink) {
  return Watch<OwnedObject>({.path = path,
                             .list_accept = std::string(kMetadataOnly),
                             .watch_accept = std::string(kMetadataOnlyWatch)},
                            path, std::move(sink));
}

// For annotations that are settings or Tautline's own, and for the UIDs that Events name.
absl::Status KubernetesRun::WatchWorkloads() {
  Steering* const steering = &steering_;
  WorkloadDirectory* const workloads = &workloads_;
  for (const WatchedKind& kind : WatchedKinds()) {
    const std::string name = kind.kind, version = kind.api_version;
    StatusWriter* const status = name == "Namespace" ? nullptr : status_.get();
    const bool may_split = options_.config.annotations && (name == "DaemonSet" || name == "StatefulSet");
    Cluster* const cluster = may_split ? &cluster_ : nullptr;
    const absl::Status s = WatchMetadata(kind.path, {.replace =
                                                         [=](const std::vector<OwnedObject>& all) {
                                                           steering->Replace(name, all);
                                                           workloads->Replace(name, version, all);
                                                           if (cluster != nullptr)
                                                             cluster->splits().Replace(name, all);
                                                           if (status != nullptr) status->Replace(name, all);
                                                         },
                                                     .put =
                                                         [=](const OwnedObject& object) {
                                                           steering->Put(name, object);
                                                           workloads->Put(name, version, object);
                                                           if (cluster != nullptr)
                                                             cluster->splits().Put(name, object);
                                                           if (status != nullptr) status->Put(name, object);
                                                         },
                                                     .remove =
                                                         [=](const OwnedObject& object) {
                                                           steering->Remove(name, object);
                                                           workloads->Remove(name, object);
                                                           if (cluster != nullptr)
                                                             cluster->splits().Remove(name, object);
                                                           if (status != nullptr)
                                                             status->Remove(name, object);
                                                         }});
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status KubernetesRun::WatchOwners(const std::string& kind, const std::string& path) {
  Cluster* const cluster = &cluster_;
  return WatchMetadata(
      path,
      {.replace = [cluster,
                   kind](const std::vector<OwnedObject>& all) { cluster->owners().Replace(kind, all); },
       .put = [cluster, kind](const OwnedObject& object) { cluster->owners().Put(kind, object); },
       .remove = [cluster, kind](const OwnedObject& object) { cluster->owners().Remove(kind, object); }});
}

absl::Status KubernetesRun::OpenOwners() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  owners_client_ = *std::move(client);
  OwnersReader::Options options;
  options.get = [this](const std::string& path) { return owners_client_->Get(path); };
  options.steady_s = SteadySeconds;
  owners_ = std::make_unique<OwnersReader>(std::move(options), &cluster_);
  return absl::OkStatus();
}

// As WatchWorkloads, of custom resources.
absl::Status KubernetesRun::OpenCustomOwners() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  custom_client_ = *std::move(client);
  CustomOwnersReader::Options options;
  options.get = [this](const std::string& path) { return custom_client_->Get(path); };
  options.list = [this](const std::string& path) { return custom_client_->Get(path, kMetadataOnly); };
  options.kinds = [this] { return cluster_.pods().OwnerKinds(); };
  options.take = [this](const FoundKind& kind, const std::vector<OwnedObject>& all) {
    steering_.Replace(kind.kind, all);
    workloads_.Replace(kind.kind, kind.api_version, all);
    if (status_ != nullptr && kind.can_patch) status_->ReplaceCustom(kind, all);
  };
  // What they said last holds: a refusal may pass, and mode off with it would be lost.
  options.forget = [this](const FoundKind& kind) {
    if (status_ != nullptr) status_->ReplaceCustom(kind, {});
  };
  options.steady_s = SteadySeconds;
  custom_owners_ = std::make_unique<CustomOwnersReader>(std::move(options));
  return absl::OkStatus();
}

void KubernetesRun::ReadCustomOwners() {
  KeepDoing(
      kReadCustomOwners,
      "custom resources that own pods cannot be listed (packaging/kubernetes/observe/custom_owners.yaml "
      "has the right; Helm: annotatedKinds):",
      [this](const std::function<bool()>& stopping) {
        if (cluster_.synced()) custom_owners_->Step(stopping);
        return custom_owners_->last_error();
      });
}

void KubernetesRun::ReadOwners() {
  KeepDoing(kReadOwners, "reading", [this](const std::function<bool()>& stopping) {
    if (cluster_.synced()) owners_->Step(stopping);
    return owners_->last_error();
  });
}

// What is left of a quota counts where pods are made: by the webhook, and of a template that the actuator sets.
absl::Status KubernetesRun::WatchQuotas() {
  return WatchNamespaceRules("ResourceQuota", "/api/v1/resourcequotas");
}

// What pods may have.
absl::Status KubernetesRun::WatchNamespaceRules(const std::string& kind, const std::string& path) {
  NamespaceRules* const rules = &namespace_rules_;
  return Watch<NamespaceRule>(
      {.path = path, .list_accept = {}, .watch_accept = {}}, StrCat(kind, "s"),
      {.replace = [rules, kind](std::vector<NamespaceRule> all) { rules->Replace(kind, std::move(all)); },
       .put = [rules, kind](NamespaceRule rule) { rules->Put(kind, std::move(rule)); },
       .remove = [rules, kind](const NamespaceRule& rule) { rules->Remove(kind, rule); }});
}

// For their status, if it is asked for, and for those of other recommenders.
absl::Status KubernetesRun::WatchVpas() {
  FieldOwners* const owners = &field_owners_;
  VpaWriter* const vpas = vpas_.get();
  return Watch<Vpa>({.path = "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers",
                     .list_accept = {},
                     .watch_accept = {},
                     .absent_retry = kAbsentRetry},
                    "VerticalPodAutoscalers",
                    {.replace =
                         [owners, vpas](std::vector<Vpa> all) {
                           owners->ReplaceVpas(all);
                           if (vpas != nullptr) vpas->Replace(std::move(all));
                         },
                     .put =
                         [owners, vpas](Vpa vpa) {
                           owners->PutVpa(vpa);
                           if (vpas != nullptr) vpas->Put(std::move(vpa));
                         },
                     .remove =
                         [owners, vpas](const Vpa& vpa) {
                           owners->RemoveVpa(vpa);
                           if (vpas != nullptr) vpas->Remove(vpa);
                         }});
}

absl::Status KubernetesRun::WatchHpas() {
  FieldOwners* const owners = &field_owners_;
  return Watch<Hpa>(
      {.path = "/apis/autoscaling/v2/horizontalpodautoscalers", .list_accept = {}, .watch_accept = {}},
      "HorizontalPodAutoscalers",
      {.replace = [owners](std::vector<Hpa> all) { owners->ReplaceHpas(std::move(all)); },
       .put = [owners](Hpa hpa) { owners->PutHpa(std::move(hpa)); },
       .remove = [owners](const Hpa& hpa) { owners->RemoveHpa(hpa); }});
}

absl::Status KubernetesRun::WatchScaledObjects() {
  FieldOwners* const owners = &field_owners_;
  return Watch<KedaScaledObject>(
      {.path = "/apis/keda.sh/v1alpha1/scaledobjects",
       .list_accept = {},
       .watch_accept = {},
       .absent_retry = kAbsentRetry},
      "ScaledObjects",
      {.replace =
           [owners](std::vector<KedaScaledObject> all) { owners->ReplaceScaledObjects(std::move(all)); },
       .put = [owners](KedaScaledObject object) { owners->PutScaledObject(std::move(object)); },
       .remove = [owners](const KedaScaledObject& object) { owners->RemoveScaledObject(object); }});
}

template <typename Object>
absl::Status KubernetesRun::Watch(ReflectorOptions reflector, const std::string& what,
                                  ReflectorSink<Object> sink) {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  const bool may_be_absent = reflector.absent_retry.count() > 0;
  reflector.seed = std::random_device()();
  auto made = std::make_shared<Reflector<Object>>(
      std::move(reflector), *std::move(client), std::move(sink),
      [this](std::chrono::milliseconds pause) { Wait(pause); },
      [this, what, may_be_absent](const absl::Status& status) {
        if (may_be_absent && absl::IsNotFound(status)) return NoteAbsent(what, status);
        Note(what, status);
      });
  runs_.push_back([made] { made->Run(); });
  stops_.push_back([made] { made->Stop(); });
  lists_.push_back([made] { return made->lists(); });
  return absl::OkStatus();
}

bool KubernetesRun::IsWanted(const Pod& pod) const {
  const std::string& namespaces = options_.config.namespaces;
  return namespaces.empty() || FitsPattern(pod.namespace_name, namespaces);
}

void KubernetesRun::Wait(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, pause, [this] { return stopping_; });
}

void KubernetesRun::Note(const std::string& what, const absl::Status& status) {
  if (!status.ok()) ++watch_failures_;
  const WatchLog::Line line = watch_log_.Note(what, status);
  if (line.text.empty()) return;
  options_.log->Say(line.is_warning ? LogLevel::kWarning : LogLevel::kInfo,
                    StrCat("kubernetes: ", line.text));
}

void KubernetesRun::NoteAbsent(const std::string& what, const absl::Status& status) const {
  options_.log->Warn(StrCat("kubernetes: this cluster has no ", what, " (", Message(status),
                            "); looked for again every ", kAbsentRetry.count(), " minutes"));
}

absl::Status KubernetesRun::Start(ControlPlane* control) {
  control_ = control;
  intake_ = std::make_unique<WorkloadFront>(control->ingest(), options_.now);
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

void KubernetesRun::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (const std::function<void()>& stop : stops_) stop();
  for (const std::unique_ptr<ApiClient>& scraper : scrapers_) scraper->Interrupt();
  if (owners_client_ != nullptr) owners_client_->Interrupt();
  if (custom_client_ != nullptr) custom_client_->Interrupt();
  if (vpa_client_ != nullptr) vpa_client_->Interrupt();
  if (quota_client_ != nullptr) quota_client_->Interrupt();
  if (event_client_ != nullptr) event_client_->Interrupt();
  if (status_client_ != nullptr) status_client_->Interrupt();
  if (admission_ != nullptr) admission_->Interrupt();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (admission_ != nullptr) admission_->Stop();
}

// Pods wait for what their groups depend on, but not for ever: tautd may lack the right to list it.
void KubernetesRun::LookAtSplits(std::optional<double>& pods_since) {
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

// Changed pods are passed on at once, all of them now and then: series without samples are forgotten.
void KubernetesRun::PassOnPods() {
  std::optional<Timestamp> all_passed_on;
  std::optional<double> pods_since;  // by the steady clock, that pods are known and their groups are not
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kPassOn, [this] { return stopping_; })) return;
    }
    const Timestamp time = options_.sample_time();
    LookAtSplits(pods_since);
    if (!cluster_.synced() || time.us <= 0) continue;  // no sample has set the time yet
    std::vector<PodPtr> changed = TakeChangedPods();
    if (actuator_ == nullptr) (void)cluster_.changes().TakeWorkloads();  // else its own
    // Also after the clock was set back.
    const bool pass_on_all = !all_passed_on.has_value() || time.us - all_passed_on->us >= kPassOnAllMicros ||
                             time < *all_passed_on;
    const bool starts = control_->ingest().windows.asks_for_starts();
    if (pass_on_all) {
      all_passed_on = time;
      ReportPods(cluster_, time, starts, *intake_);
      passed_on_ = true;
      std::erase_if(changed, [](const PodPtr& pod) { return !pod->is_ended; });  // some of these are gone
    }
    ReportPods(cluster_, changed, time, starts, *intake_);
    if (pass_on_all || steered_ != SteeringVersion()) PassOnSteering();
    SayWhatIsAwaited();
    SayWhatIsRefused();
  }
}

void KubernetesRun::Scrape() {
  const std::chrono::seconds interval(options_.config.scrape_interval_s);
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    // Owners first, so that no job gets a name that is only guessed; where samples set the time they come first.
    const bool ready = cluster_.synced() && (passed_on_ || options_.sample_time().us <= 0);
    if (ready && options_.config.usage == KubeletUsage::kMetricsApi) {
      NoteScrapes({"metrics.k8s.io"}, {ReadPodMetrics(*scrapers_.front())});
    } else if (ready) {
      ScrapeNodes(cluster_.nodes().Ready());
    }
    last_scrape_s_ = SecondsSince(begin);
    std::unique_lock lock(mutex_);
    const auto until = ready ? begin + interval : begin + std::chrono::milliseconds(200);
    if (wake_.wait_until(lock, until, [this] { return stopping_; })) return;
  }
}

void KubernetesRun::ScrapeNodes(const std::vector<std::string>& nodes) {
  std::atomic<size_t> next = 0;
  std::vector<absl::Status> results(nodes.size());
  std::vector<std::thread> workers;
  for (const std::unique_ptr<ApiClient>& client : scrapers_) {
    if (workers.size() >= nodes.size()) break;
    workers.emplace_back([this, &nodes, &next, &results, scraper = client.get()] {
      for (size_t i = next++; i < nodes.size(); i = next++) results[i] = ScrapeNode(*scraper, nodes[i]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  NoteScrapes(nodes, results);
}

absl::Status KubernetesRun::ScrapeNode(ApiClient& client, const std::string& node) {
  const bool is_resource = options_.config.usage == KubeletUsage::kResource;
  const absl::StatusOr<std::string> text = client.Get(
      StrCat("/api/v1/nodes/", PercentEncode(node), "/proxy/metrics/", is_resource ? "resource" : "cadvisor"),
      "text/plain");
  ++(text.ok() ? scrapes_ : scrape_failures_);
  if (!text.ok()) return text.status();
  if (!is_resource) kernel_limits_.Take(*text, SteadySeconds());
  const size_t damaged = ReportUsage(*text, cluster_, options_.config.namespaces, options_.now(), *intake_);
  if (damaged == 0) return absl::OkStatus();
  return absl::DataLossError(StrCat(damaged, " lines of its kubelet cannot be read"));
}

absl::Status KubernetesRun::ReadPodMetrics(ApiClient& client) {
  const absl::StatusOr<std::string> text = client.Get(std::string(kPodMetricsPath));
  ++(text.ok() ? scrapes_ : scrape_failures_);
  if (!text.ok()) return text.status();
  const absl::StatusOr<size_t> damaged =
      ReportPodMetrics(*text, cluster_, options_.config.namespaces, options_.now(), *intake_);
  if (!damaged.ok()) return damaged.status();
  if (*damaged == 0) return absl::OkStatus();
  return absl::DataLossError(StrCat(*damaged, " of its amounts cannot be read"));
}

// Logged when the number of nodes that fail, or what the first of them says, changes.
void KubernetesRun::NoteScrapes(const std::vector<std::string>& nodes,
                                const std::vector<absl::Status>& results) {
  size_t failed = 0, first = 0;
  for (size_t i = results.size(); i-- > 0;) {
    if (results[i].ok()) continue;
    ++failed;
    first = i;
  }
  const std::string error =
      failed == 0 ? ""
      : options_.config.usage == KubeletUsage::kMetricsApi
          ? StrCat("usage cannot be read of ", nodes[first], ": ", Message(results[first]))
          : StrCat("the usage of ", failed, " of ", nodes.size(), " nodes cannot be read; ", nodes[first],
                   ": ", Message(results[first]));
  const std::lock_guard lock(mutex_);
  if (stopping_ || error == scrape_error_) return;
  scrape_error_ = error;
  if (error.empty()) {
    options_.log->Info("kubernetes: usage is read again");
  } else {
    options_.log->Warn(StrCat("kubernetes: ", error));
  }
}

std::optional<TemplateContainer> KubernetesRun::ContainerOf(const Workload& job) const {
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

std::string KubernetesRun::NoticeOf(const Workload& job) const {
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

KubernetesFacts KubernetesRun::facts() const {
  KubernetesFacts out;
  out.synced = cluster_.synced();
  out.pods = cluster_.pods().size().value_or(0);
  out.nodes = cluster_.nodes().Ready().size();
  for (const std::function<uint64_t()>& lists : lists_) out.lists += lists();
  out.watch_failures = watch_failures_;
  out.scrapes = scrapes_;
  out.scrape_failures = scrape_failures_;
  out.last_scrape_s = last_scrape_s_;
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
    const AdmissionRun::Counts admissions = admission_->counts();
    out.pods_changed = admissions.changed;
    out.pods_unchanged = admissions.unchanged;
    out.refused_reviews = admissions.refused;
  }
  if (quota_gate_ != nullptr) {
    const QuotaGate::Counts reviews = quota_gate_->counts();
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
