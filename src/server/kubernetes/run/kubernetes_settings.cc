// KubernetesSource: settings of jobs from the cluster, in annotations and as ranges that LimitRanges and nodes
// allow. Changed settings are passed to the control plane, which also queries the settings before it decides for a
// new job.
#include <algorithm>
#include <array>
#include <iterator>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/run/kubernetes_source.h"
#include "server/kubernetes/watch/images.h"

namespace taut::server {
namespace {

constexpr std::array<KubernetesSource::WatchedKind, 5> kWatchedKinds = {{
    {"Namespace", "v1", "/api/v1/namespaces"},
    {"Deployment", "apps/v1", "/apis/apps/v1/deployments"},
    {"StatefulSet", "apps/v1", "/apis/apps/v1/statefulsets"},
    {"DaemonSet", "apps/v1", "/apis/apps/v1/daemonsets"},
    {"CronJob", "batch/v1", "/apis/batch/v1/cronjobs"},
}};

bool IsWatchedKind(std::string_view kind) {
  return std::ranges::any_of(kWatchedKinds, [kind](const KubernetesSource::WatchedKind& watched) {
    return KindInNames(watched.kind) == kind;
  });
}

// Returns the ratio of request to limit, above 0, in recommendations of the job. Returns 1 if a container has no
// request or no limit.
double RequestShare(const std::vector<PodPtr>& pods, const std::string& container, Resource r,
                    const Allocation& allocation) {
  for (const PodPtr& pod : pods) {
    const ContainerState* found = ResizedContainer(*pod, container);
    if (found == nullptr) continue;
    const double share = RequestShareOf(r, allocation, PlaceOf(*pod, *found, r));
    return share > 0 ? share : 1;
  }
  return 1;
}

std::vector<Label> SettingLabelsOf(const std::vector<Label>& labels) {
  std::vector<Label> out;
  std::ranges::copy_if(labels, std::back_inserter(out),
                       [](const Label& label) { return label.first.starts_with(kSettingLabel); });
  return out;
}

// Adds the opt-outs in the pods' labels and annotations.
void TakePodsMode(const std::vector<PodPtr>& pods, const std::string& container, std::vector<Label>& labels) {
  const std::string of_container = StrCat(container, ".", kModeLabel);
  for (const PodPtr& pod : pods) {
    for (const auto& [key, value] : pod->opt_outs) {
      if (key == kModeLabel || key == of_container) TakeSaferMode(kModeLabel, value, labels);
    }
  }
}

void PutLabel(const std::string& key, const std::string& value, std::vector<Label>& labels) {
  std::erase_if(labels, [&key](const Label& label) { return label.first == key; });
  if (value.empty()) return;
  const Label label{key, value};
  labels.insert(std::ranges::upper_bound(labels, label), label);
}

}  // namespace

std::span<const KubernetesSource::WatchedKind> KubernetesSource::WatchedKinds() { return kWatchedKinds; }

// Returns the allocation of the job with these settings.
Allocation KubernetesSource::AllocationWith(const JobRecord& record, const std::vector<Label>& settings,
                                            Resource resource) const {
  const std::optional<std::vector<Label>> labels = WithSettingLabels(settings, record.labels);
  if (!labels.has_value()) return AllocationOf(*control_, record.id, resource);
  Allocation out;
  control_->WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(record.id)) return;
    const brain::LiveJob& live = fleet.job(record.id);
    out = fleet.settings.rules.Resolve(record.name, *labels, live.overrides).allocation(resource);
  });
  return out;
}

// Adds the ranges that the cluster allows, which override annotations with the same name. The last known range
// applies until LimitRanges and nodes are known. The last known range also applies while the job has no pods,
// because the pods determine which nodes count.
void KubernetesSource::PutAllowed(const JobQuestion& job, const WorkloadName& workload,
                                  std::vector<Label>& labels) const {
  const std::vector<PodPtr> pods = cluster_.pods().Of(workload);
  const LargestNode largest = cluster_.nodes().LargestFor(pods);
  const bool is_known =
      namespace_rules_.Knows("LimitRange") && largest.amounts.memory.has_value() && !pods.empty();
  const std::vector<NamespaceRule> rules = namespace_rules_.Of(workload.namespace_name);
  const std::vector<Label> settings = labels;
  for (const Resource r : kPodResources) {
    const std::string key = StrCat(kSettingLabel, Name(r), ".allowed");
    std::string text;
    if (is_known) {
      const RecommendedAmount amount{
          .of_pods = workload.container.empty(),
          .is_request = job.of_request[IndexOf(r)],
          .share = RequestShare(pods, workload.container, r, AllocationWith(job.record, settings, r))};
      text = AllowedRangeText(r, AllowedBy(rules, largest, amount, r));
    } else if (const std::string* before = FindLabel(job.record.labels, key); before != nullptr) {
      text = *before;
    }
    PutLabel(key, text, labels);
  }
}

// Adds the version of the running pods, which overrides an annotation with the same name. The version is stored as
// a label, so that after a restart the running version does not count as new.
void KubernetesSource::PutVersion(const JobRecord& job, const WorkloadName& workload,
                                  std::vector<Label>& labels) const {
  const std::string key = StrCat(kSettingLabel, "version");
  JobVersion before;
  if (const std::string* text = FindLabel(job.labels, key); text != nullptr)
    before = ParseJobVersion(*text).value_or(JobVersion());
  const std::vector<std::string> versions = VersionsOf(cluster_.pods().Of(workload), workload);
  const JobVersion now = NextVersion(before, versions, options_.sample_time().seconds());
  PutLabel(key, now.name.empty() ? "" : JobVersionText(now), labels);
}

std::vector<Label> KubernetesSource::LabelsOf(const JobQuestion& job, const WorkloadName& workload) const {
  const bool read = options_.config.annotations;  // false: remove settings that came from annotations
  std::vector<Label> out = read ? steering_.Of(workload) : std::vector<Label>();
  // Keep the settings from before a restart until the objects of a custom kind are read. Otherwise a mode off
  // would be lost.
  if (read && !custom_owners_->IsSettled(workload.kind)) out = SettingLabelsOf(job.record.labels);
  if (read) TakePodsMode(cluster_.pods().Of(workload), workload.container, out);
  PutAllowed(job, workload, out);
  PutVersion(job.record, workload, out);
  return out;
}

uint64_t KubernetesSource::SteeringVersion() const {
  return steering_.version() + namespace_rules_.version();
}

// Passes on the settings of each job whose stored labels differ from its settings in the cluster.
void KubernetesSource::PassOnSteering() {
  const auto is_known = [this](const WatchedKind& kind) { return steering_.Knows(kind.kind); };
  if (options_.config.annotations && !std::ranges::all_of(kWatchedKinds, is_known)) return;
  // Read the version before the labels. A change during the loop then has a new version, and is passed on next
  // time.
  steered_ = SteeringVersion();
  const std::shared_ptr<const FleetView> view = control_->view();
  for (const JobView& job : view->jobs) {
    const std::optional<WorkloadName> workload = cluster_.naming().Of(job.record->workload());
    if (!workload.has_value()) continue;
    JobQuestion question{*job.record};
    for (const Resource r : kResources) question.of_request[IndexOf(r)] = job.of(r).of_request;
    std::vector<Label> wanted = LabelsOf(question, *workload);
    if (WithSettingLabels(wanted, job.record->labels).has_value())
      control_->ingest().jobs.SetSettingLabels(job.record->name, std::move(wanted));
  }
}

std::string KubernetesSource::AwaitedLists() const {
  if (!cluster_.synced()) return "pods";
  if (cluster_.nodes().size() == 0) return "nodes";
  if (!namespace_rules_.Knows("LimitRange")) return "LimitRanges";
  for (const WatchedKind& kind : kWatchedKinds) {
    if (options_.config.annotations && !steering_.Knows(kind.kind))
      return StrCat("annotations of ", kind.kind, "s");
  }
  return "";
}

std::string KubernetesSource::WhyUndecided() const {
  const std::string awaited = AwaitedLists();
  return awaited.empty() ? ""
                         : StrCat("no limit is decided before the first list of ", awaited, " has been read");
}

// Logs a change of the lists for which decisions wait. Called by PassOnPods(), like SayWhatIsRefused().
void KubernetesSource::SayWhatIsAwaited() {
  const std::string now = AwaitedLists();
  if (now == awaited_) return;
  if (now.empty()) {
    options_.log->Info("kubernetes: annotations, LimitRanges and nodes have been read: limits are decided");
  } else {
    options_.log->Info(StrCat("kubernetes: ", WhyUndecided()));
  }
  awaited_ = now;
}

std::vector<PodPtr> KubernetesSource::TakeChangedPods() {
  std::vector<PodPtr> pods = cluster_.changes().TakePods();
  for (const PodPtr& pod : pods) {
    if (!options_.config.annotations || pod->refused.empty() || pod->containers.empty()) continue;
    const WorkloadName workload = cluster_.pods().WorkloadOf(*pod);
    for (const std::string& sentence : pod->refused)
      steering_.NoteOfPods({workload.kind, workload.namespace_name, workload.name, sentence});
  }
  return pods;
}

// Reports labels and annotations without effect: as an Event of the workload, or in the log if there are no Events
// for the object.
void KubernetesSource::SayWhatIsRefused() {
  for (const Steering::Refused& refused : steering_.TakeRefused()) {
    const std::string kind = KindInNames(refused.kind);
    const bool has_events = IsWatchedKind(kind) || custom_owners_->IsListed(kind);
    if (events_ == nullptr || refused.namespace_name.empty() || kind == "namespace" || !has_events) {
      options_.log->Warn(StrCat("kubernetes: ", refused.kind, " ", refused.namespace_name,
                                refused.namespace_name.empty() ? "" : "/", refused.name, ": ",
                                refused.sentence));
    } else if (WhyNotChange().empty()) {
      events_->Add(RefusalEvent({refused.namespace_name, kind, refused.name, ""}, refused.sentence));
    }
  }
}

// Returns true if the watch has reported the object of the job's workload. A pod may arrive before its workload,
// because each kind has a watch of its own.
bool KubernetesSource::IsSeen(const JobRecord& job, const WorkloadName& workload) const {
  if (cluster_.pods().Of(workload, PodsThat::kHaveNotEnded).empty()) {
    // The series of a job may arrive before its pods. A job that had pods before keeps its settings.
    return !IsKnownKind(workload.kind) || !SettingLabelsOf(job.labels).empty();
  }
  if (!options_.config.annotations) return true;
  if (!workloads_.Find({"", "namespace", workload.namespace_name, ""}).has_value()) return false;
  if (IsWatchedKind(workload.kind)) return workloads_.Find(workload).has_value();
  if (IsKnownKind(workload.kind)) return true;
  if (!custom_owners_->IsSettled(workload.kind)) return false;
  if (!custom_owners_->IsListed(workload.kind) || workloads_.Find(workload).has_value()) return true;
  custom_owners_->ListSoon(workload.kind);
  return false;
}

JobAnswer KubernetesSource::SettingsOf(const JobQuestion& question) {
  const std::optional<WorkloadName> workload = cluster_.naming().Of(question.record.workload());
  const std::string& namespaces = options_.config.namespaces;
  if (!workload.has_value() || (!namespaces.empty() && !FitsPattern(workload->namespace_name, namespaces)))
    return {JobAnswer::State::kNotMine};
  if (!AwaitedLists().empty() || !IsSeen(question.record, *workload)) return {JobAnswer::State::kUnknown};
  return {JobAnswer::State::kKnown, LabelsOf(question, *workload)};
}

bool KubernetesSource::RequestStays(const Workload& job, Resource r) const {
  const std::optional<WorkloadName> workload = cluster_.naming().Of(job);
  return workload.has_value() && !field_owners_.On(*workload, workload->container, r).scaled_by.empty();
}

}  // namespace taut::server
