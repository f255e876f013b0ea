#include "server/kubernetes/act/vpa_writer.h"

#include <algorithm>
#include <set>

#include "common/base/strings.h"
#include "common/net/http.h"

namespace taut::server {

void VpaWriter::PutLocked(Vpa vpa) {
  const std::string key = KeyOf(vpa);
  if (vpa.recommender != options_.recommender) {
    entries_.erase(key);
    return;
  }
  // Tautline itself writes the status, so only a changed specification matters.
  entries_[key].vpa = std::move(vpa);
}

void VpaWriter::Replace(std::vector<Vpa> vpas) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> listed;
  for (Vpa& vpa : vpas) {
    listed.insert(KeyOf(vpa));
    PutLocked(std::move(vpa));
  }
  std::erase_if(entries_, [&listed](const auto& item) { return !listed.contains(item.first); });
}

void VpaWriter::Put(Vpa vpa) {
  const std::lock_guard lock(mutex_);
  PutLocked(std::move(vpa));
}

void VpaWriter::Remove(const Vpa& vpa) {
  const std::lock_guard lock(mutex_);
  entries_.erase(KeyOf(vpa));
}

VpaAdvice VpaWriter::AdviceOf(const Vpa& vpa) const {
  VpaAdvice out;
  const std::optional<WorkloadName> workload = VpaPods(vpa, cluster_->naming());
  if (!workload.has_value()) return out;
  const WorkloadName& pods = *workload;
  std::set<std::string> containers;
  const std::vector<PodPtr> all = cluster_->pods().OfAll(pods);
  out.largest_node = cluster_->nodes().LargestFor(all).amounts;
  for (const PodPtr& pod : all) {
    out.has_pods = true;
    for (const ContainerState& container : pod->containers) containers.insert(container.name);
  }
  const std::vector<std::string> groups = cluster_->pods().GroupsOf(pods);
  for (const std::string& container : containers) {
    ContainerAdvice advice{container, {}};
    // A VPA has one target for all pods of a workload, so use the largest amount of any group of pods.
    for (const std::string& group : groups) {
      WorkloadName of_job = pods;
      of_job.container = container;
      of_job.group = group;
      const Amounts of_group = options_.advice(of_job, SetsRequestsOnly(vpa, container));
      for (const Resource r : kPodResources) {
        std::optional<double>& most = advice.target.of(r);
        if (of_group.of(r).has_value()) most = std::max(most.value_or(0), *of_group.of(r));
      }
    }
    if (options_.owners != nullptr) LetStay(vpa, pods, advice, out);
    out.containers.push_back(std::move(advice));
  }
  return out;
}

void VpaWriter::LetStay(const Vpa& vpa, const WorkloadName& workload, ContainerAdvice& advice,
                        VpaAdvice& out) const {
  for (const Resource r : kPodResources) {
    std::optional<double>& target = advice.target.of(r);
    if (!target.has_value() || !Controls(vpa, advice.container, r)) continue;
    const std::string by = options_.owners->On(workload, advice.container, r).scaled_by;
    if (by.empty()) continue;
    target.reset();
    StrAppend(&out.stays, out.stays.empty() ? "" : "; ", "the ", Name(r), " request of container ",
              advice.container, " stays: ", by, " scales the workload by its use");
  }
}

void VpaWriter::Step(const std::function<bool()>& stopping) {
  if (options_.owners != nullptr && !options_.owners->KnowsHpas()) {
    const std::lock_guard lock(mutex_);
    last_error_ =
        "is put off until the HorizontalPodAutoscalers of the cluster are known: tautd has to list and watch "
        "them";
    return;
  }
  std::vector<std::pair<std::string, Entry>> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.assign(entries_.begin(), entries_.end());
  }
  for (auto& [key, entry] : entries) {
    if (stopping()) return;
    if (options_.steady_s() >= entry.not_before_s) Write(key, std::move(entry));
  }
}

void VpaWriter::Write(const std::string& key, Entry entry) {
  const double now_s = options_.steady_s();
  const VpaAdvice advice = AdviceOf(entry.vpa);
  const std::string same = VpaStatusPatch(entry.vpa, advice, "");
  if (same == entry.written && now_s < entry.due_s) return;
  const absl::Status status =
      options_.send(StrCat("/apis/autoscaling.k8s.io/v1/namespaces/", PercentEncode(entry.vpa.namespace_name),
                           "/verticalpodautoscalers/", PercentEncode(entry.vpa.name), "/status"),
                    VpaStatusPatch(entry.vpa, advice, options_.time()));
  const std::lock_guard lock(mutex_);
  ++(status.ok() ? written_ : failed_);
  last_error_ = status.ok() ? "" : StrCat(key, ": ", Message(status));
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  it->second.written = status.ok() ? same : "";
  it->second.due_s = now_s + options_.again_s;
  it->second.not_before_s = status.ok() ? 0 : now_s + options_.retry_s;
}

VpaWriter::Counts VpaWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), written_, failed_};
}

std::string VpaWriter::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace taut::server
