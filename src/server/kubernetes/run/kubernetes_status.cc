// What is recommended for all containers of a workload: the annotation tautline.dev/status, as KubernetesRun
// writes it, and the totals of a pod.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/run/kubernetes_run.h"

namespace taut::server {
namespace {

constexpr std::chrono::seconds kWriteStatus{2};

}  // namespace

absl::Status KubernetesRun::OpenStatus() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  status_client_ = *std::move(client);
  StatusWriter::Options options;
  options.of = [this](const WorkloadName& workload, bool reasons) { return StatusOf(workload, reasons); };
  options.send = [this](const std::string& path, const std::string& patch) {
    return status_client_->Patch(path, patch, kMergePatch).status();
  };
  options.retry_after_s = [this] { return static_cast<double>(status_client_->retry_after_s()); };
  options.steady_s = SteadySeconds;
  status_ = std::make_unique<StatusWriter>(std::move(options));
  return absl::OkStatus();
}

void KubernetesRun::WriteStatus() {
  KeepDoing(kWriteStatus, "writing the annotation tautline.dev/status of",
            [this](const std::function<bool()>& stopping) {
              if (cluster_.synced() && passed_on_ && WhyNotChange().empty()) status_->Step(stopping);
              return status_->last_error();
            });
}

std::optional<std::vector<ContainerStatus>> KubernetesRun::StatusOf(const WorkloadName& workload,
                                                                    bool reasons) const {
  std::vector<ContainerStatus> out;
  const std::string& namespaces = options_.config.namespaces;
  if (!namespaces.empty() && !FitsPattern(workload.namespace_name, namespaces)) return out;
  std::set<std::string> containers;  // of all pods: while a rollout is under way they may differ
  if (cluster_.naming().jobs == KubernetesJobs::kContainers) {
    for (const PodPtr& pod : cluster_.pods().OfAll(workload)) {
      for (const ContainerState& container : pod->containers) containers.insert(container.name);
    }
  } else {
    containers.insert("");
  }
  std::vector<std::string> groups = cluster_.pods().GroupsOf(workload);
  if (groups.empty()) groups.emplace_back();
  std::vector<WorkloadName> names;
  for (const std::string& container : containers) {
    for (const std::string& group : groups) {
      WorkloadName& name = names.emplace_back(workload);
      name.container = container;
      name.group = group;
    }
  }
  const std::shared_ptr<const FleetView> view = control_->view();
  bool any_off = false, any_recommended = false;
  for (const WorkloadName& name : names) {
    const std::optional<JobId> id = control_->Find(cluster_.naming().JobOf(name, name.container));
    const JobView* job = id.has_value() ? view->Find(*id) : nullptr;
    if (job == nullptr) continue;
    if (job->mode == Mode::kOff) {
      any_off = true;
      continue;
    }
    any_recommended |=
        std::ranges::any_of(kPodResources, [job](Resource r) { return job->of(r).would_be >= 0; });
    out.push_back(StatusOfJob(*job, name, reasons));
  }
  if (any_recommended) return out;
  // What was recommended for a container that is off now is not left standing beside others without a signal.
  if (any_off) return std::vector<ContainerStatus>();
  return std::nullopt;  // no pods now, or too little signal yet
}

ContainerStatus KubernetesRun::StatusOfJob(const JobView& job, const WorkloadName& workload,
                                           bool reasons) const {
  const std::string_view mark = workload.group.empty() ? "" : "@";
  ContainerStatus out{StrCat(workload.container, mark, workload.group), job.mode, {}, {}};
  const std::vector<PodPtr> pods = cluster_.pods().Of(workload);
  for (const Resource r : kPodResources) {
    const double amount = job.of(r).would_be;
    if (amount < 0) continue;
    Allocation allocation;
    bool on_trial = false;
    control_->Look(job.record->id, [&](const brain::LiveJob& live) {
      allocation = live.policy->allocation(r);
      on_trial = live.of(r).gate.trial.has_value();
    });
    ResourceStatus& of = out.of(r);
    of.amounts = RecommendedAmounts(pods, workload, r, amount, allocation);
    of.state = StateOf(job, r, on_trial);
    if (!reasons) continue;
    of.reason = r == Resource::kMemory && job.ooms > 0
                    ? StrCat(job.ooms, job.ooms == 1 ? " OOM kill" : " OOM kills", " in 7 days")
                    : ShortReason(control_->Explain(job.record->id, r).sentence);
  }
  return out;
}

// As the actuator would set them in the first pod that has the container; of whole pods with several containers
// the amount itself.
ContainerResources KubernetesRun::RecommendedAmounts(const std::vector<PodPtr>& pods,
                                                     const WorkloadName& workload, Resource r, double amount,
                                                     const Allocation& allocation) const {
  const double rounded = std::max(RoundedAmount(r, amount), SmallestAmount(r));
  for (const PodPtr& pod : pods) {
    const ContainerState* container = ResizedContainer(*pod, workload.container);
    if (container == nullptr) continue;
    AllocationPlace place = PlaceOf(*pod, *container, r);
    place.request_stays = !field_owners_.On(workload, workload.container, r).scaled_by.empty();
    return PlanAllocation(r, rounded, allocation, place);
  }
  if (allocation.of_request()) return {rounded, std::nullopt};
  return {std::nullopt, rounded};
}

// Of StatefulSets that are not split: whether their replicas differ.
void KubernetesRun::LookAtReplicas(const ClosedWindow& window) {
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

std::optional<PodTotals> KubernetesRun::PodTotalsOf(const Workload& job) const {
  const std::optional<WorkloadName> named = cluster_.naming().Of(job);
  if (!named.has_value() || named->container.empty()) return std::nullopt;
  const std::vector<PodPtr> pods = cluster_.pods().Of(*named);
  if (pods.empty()) return std::nullopt;
  const std::shared_ptr<const FleetView> view = control_->view();
  std::vector<PodPart> parts;
  for (const ContainerState& container : pods.front()->containers) {
    PodPart& part = parts.emplace_back();
    for (const Resource r : kPodResources)
      part.now[static_cast<size_t>(r)] = {container.requests.of(r), container.limits.of(r)};
    const std::optional<JobId> id = control_->Find(cluster_.naming().JobOf(*named, container.name));
    const JobView* of = id.has_value() ? view->Find(*id) : nullptr;
    if (of == nullptr || of->mode == Mode::kOff) continue;
    WorkloadName name = *named;
    name.container = container.name;
    const ContainerStatus status = StatusOfJob(*of, name, false);
    for (const Resource r : kPodResources) part.recommended[static_cast<size_t>(r)] = status.of(r).amounts;
  }
  return TotalsOf(parts);
}

}  // namespace taut::server
