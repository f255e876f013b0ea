#include "server/kubernetes/watch/replica_spread.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/strings.h"
#include "server/kubernetes/client/quantity.h"
#include "server/kubernetes/watch/workload_split.h"

namespace taut::server {
namespace {

constexpr double kMiBPerStep = 1024.0 * 1024;

void AddTo(const std::optional<double>& value, double decay, double& sum, double& weight, int& windows) {
  if (!value.has_value()) return;
  sum = sum * decay + *value;
  weight = weight * decay + 1;
  ++windows;
}

std::string ReadableAmount(Resource r, double amount) {
  return Quantity(r, r == Resource::kCpu ? amount : std::ceil(amount / kMiBPerStep) * kMiBPerStep);
}

}  // namespace

void ReplicaSpread::Observe(const std::string& job, const std::vector<ReplicaUse>& window) {
  if (window.size() < 2) return;
  const double decay = std::exp2(-1 / kHalfLifeWindows);
  const std::lock_guard lock(mutex_);
  Spread& spread = jobs_[job];
  spread.is_seen = true;
  for (auto& [pod, replica] : spread.replicas) replica.is_seen = false;
  for (const ReplicaUse& use : window) {
    Replica& replica = spread.replicas[use.pod];
    replica.is_seen = true;
    AddTo(use.used.cpu, decay, replica.cpu.sum, replica.cpu.weight, replica.cpu.windows);
    AddTo(use.used.memory, decay, replica.memory.sum, replica.memory.weight, replica.memory.windows);
  }
  // Forget replicas that were removed. A replica that returns later starts with a new average, because its role
  // may have changed.
  std::erase_if(spread.replicas, [](const auto& item) { return !item.second.is_seen; });
  const bool had_hint = !spread.hint.empty();
  Judge(spread);
  if (!had_hint && !spread.hint.empty()) new_.push_back(job);
}

void ReplicaSpread::Judge(Spread& spread) const {
  std::string hint;
  for (const Resource r : kPodResources) {
    const std::string *most = nullptr, *least = nullptr;
    double largest = 0, smallest = 0;
    for (const auto& [pod, replica] : spread.replicas) {
      const Average& average = r == Resource::kCpu ? replica.cpu : replica.memory;
      if (average.windows < kFewestWindows) continue;
      const double used = average.sum / average.weight;
      if (most == nullptr || used > largest) {
        most = &pod;
        largest = used;
      }
      if (least == nullptr || used < smallest) {
        least = &pod;
        smallest = used;
      }
    }
    bool& differs = spread.differs[static_cast<size_t>(r)];
    const double material = r == Resource::kCpu ? kMaterialCores : kMaterialBytes;
    differs = most != nullptr && most != least && largest - smallest > material &&
              largest > (differs ? kEnd : kBegin) * smallest;
    if (!differs) continue;
    StrAppend(&hint, hint.empty() ? "" : ", and ", *most, " uses ", ReadableAmount(r, largest), " of ",
              Name(r), " and ", *least, " ", ReadableAmount(r, smallest));
  }
  if (hint.empty()) {
    spread.hint.clear();
    return;
  }
  spread.hint =
      StrCat("Its replicas differ: on average of the last hours ", hint,
             ". All of them get what the largest one needs; ",
             splits_ == Splits::kNever ? "where tautd watches the cluster (kubernetes.kubeconfig), " : "",
             "the annotation ", kSplitAnnotation, ": ordinal of the StatefulSet gives each its own");
}

void ReplicaSpread::EndWindow() {
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [](const auto& item) { return !item.second.is_seen; });
  for (auto& [job, spread] : jobs_) spread.is_seen = false;
}

std::string ReplicaSpread::HintOf(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? "" : it->second.hint;
}

std::vector<std::string> ReplicaSpread::TakeNew() {
  const std::lock_guard lock(mutex_);
  return std::exchange(new_, {});
}

}  // namespace taut::server
