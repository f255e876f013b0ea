#include "server/kubernetes/run/workload_advice.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/act/vpa_writer.h"

namespace taut::server {

Allocation AllocationOf(const ControlPlane& control, JobId job, Resource resource) {
  Allocation out;
  control.Look(job, [&](const brain::LiveJob& live) { out = live.policy->allocation(resource); });
  return out;
}

std::vector<WorkloadName> WorkloadAdvice::JobsOf(const WorkloadName& workload) const {
  std::set<std::string> containers;  // containers of all pods, which may differ during a rollout
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
  return names;
}

std::optional<std::vector<ContainerStatus>> WorkloadAdvice::StatusOf(const WorkloadName& workload,
                                                                     bool reasons) const {
  std::vector<ContainerStatus> out;
  if (!namespaces_.empty() && !FitsPattern(workload.namespace_name, namespaces_)) return out;
  const std::shared_ptr<const FleetView> view = control_.view();
  bool any_off = false, any_recommended = false;
  for (const WorkloadName& name : JobsOf(workload)) {
    const std::optional<JobId> id = control_.Find(cluster_.naming().JobOf(name, name.container));
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
  // An empty list removes the annotation. Otherwise the annotation would keep the recommendation for a container
  // whose mode is now off, until there is a signal for the other containers.
  if (any_off) return std::vector<ContainerStatus>();
  return std::nullopt;  // there are no pods now, or the signal is too short
}

ContainerStatus WorkloadAdvice::StatusOfJob(const JobView& job, const WorkloadName& workload,
                                            bool reasons) const {
  const std::string_view mark = workload.group.empty() ? "" : "@";
  ContainerStatus out{StrCat(workload.container, mark, workload.group), job.mode, {}, {}};
  const std::vector<PodPtr> pods = cluster_.pods().Of(workload);
  for (const Resource r : kPodResources) {
    const double amount = job.of(r).would_be;
    if (amount < 0) continue;
    Allocation allocation;
    bool on_trial = false;
    control_.Look(job.record->id, [&](const brain::LiveJob& live) {
      allocation = live.policy->allocation(r);
      on_trial = live.of(r).gate.trial.has_value();
    });
    ResourceStatus& of = out.of(r);
    of.amounts = RecommendedAmounts(pods, workload, r, amount, allocation);
    of.state = StateOf(job, r, on_trial);
    if (!reasons) continue;
    of.reason = r == Resource::kMemory && job.ooms > 0
                    ? StrCat(job.ooms, job.ooms == 1 ? " OOM kill" : " OOM kills", " in 7 days")
                    : ShortReason(control_.Explain(job.record->id, r).sentence);
  }
  return out;
}

// Returns the amounts that the actuator would set in the first pod with the container. Returns `amount` itself for
// whole pods with several containers.
ContainerResources WorkloadAdvice::RecommendedAmounts(const std::vector<PodPtr>& pods,
                                                      const WorkloadName& workload, Resource r, double amount,
                                                      const Allocation& allocation) const {
  const double rounded = std::max(RoundedAmount(r, amount), SmallestAmount(r));
  for (const PodPtr& pod : pods) {
    const ContainerState* container = ResizedContainer(*pod, workload.container);
    if (container == nullptr) continue;
    AllocationPlace place = PlaceOf(*pod, *container, r);
    place.request_stays = !owners_.On(workload, workload.container, r).scaled_by.empty();
    return PlanAllocation(r, rounded, allocation, place);
  }
  if (allocation.of_request()) return {rounded, std::nullopt};
  return {std::nullopt, rounded};
}

std::optional<PodTotals> WorkloadAdvice::PodTotalsOf(const Workload& job) const {
  const std::optional<WorkloadName> named = cluster_.naming().Of(job);
  if (!named.has_value() || named->container.empty()) return std::nullopt;
  const std::vector<PodPtr> pods = cluster_.pods().Of(*named);
  if (pods.empty()) return std::nullopt;
  const std::shared_ptr<const FleetView> view = control_.view();
  std::vector<PodPart> parts;
  for (const ContainerState& container : pods.front()->containers) {
    PodPart& part = parts.emplace_back();
    for (const Resource r : kPodResources)
      part.now[static_cast<size_t>(r)] = {container.requests.of(r), container.limits.of(r)};
    const std::optional<JobId> id = control_.Find(cluster_.naming().JobOf(*named, container.name));
    const JobView* of = id.has_value() ? view->Find(*id) : nullptr;
    if (of == nullptr || of->mode == Mode::kOff) continue;
    WorkloadName name = *named;
    name.container = container.name;
    const ContainerStatus status = StatusOfJob(*of, name, false);
    for (const Resource r : kPodResources) part.recommended[static_cast<size_t>(r)] = status.of(r).amounts;
  }
  return TotalsOf(parts);
}

Amounts WorkloadAdvice::RequestsOf(const WorkloadName& container, bool requests_only) const {
  Amounts out;
  const std::optional<JobId> id = control_.Find(cluster_.naming().JobOf(container, container.container));
  if (!id.has_value()) return out;
  const std::shared_ptr<const FleetView> view = control_.view();
  const JobView* found = view->Find(*id);
  if (found == nullptr) return out;
  const std::vector<PodPtr> pods = cluster_.pods().Of(container);
  const auto request = [&](Resource r) -> std::optional<double> {
    const float amount = found->of(r).would_be;
    if (amount < 0) return std::nullopt;
    return VpaTarget(amount, pods, container.container, r, AllocationOf(control_, *id, r), requests_only);
  };
  out.cpu = request(Resource::kCpu);
  out.memory = request(Resource::kMemory);
  return out;
}

}  // namespace taut::server
