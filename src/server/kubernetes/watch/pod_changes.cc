#include "server/kubernetes/watch/pod_changes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace taut::server {
namespace {

constexpr size_t kMostGone = 10'000;

}  // namespace

void PodChanges::NotePod(const std::string& key, PodPtr pod) {
  const std::lock_guard lock(mutex_);
  pods_.insert_or_assign(key, std::move(pod));
}

void PodChanges::NoteGone(const std::string& key, PodPtr killed) {
  const std::lock_guard lock(mutex_);
  pods_.erase(key);
  if (killed != nullptr && gone_killed_.size() < kMostGone) gone_killed_.push_back(std::move(killed));
}

void PodChanges::NoteWorkload(const std::string& workload) {
  const std::lock_guard lock(mutex_);
  workloads_.insert(workload);
}

void PodChanges::NoteUnknownOwner(PodController controller) {
  const std::lock_guard lock(mutex_);
  unknown_owners_.insert(std::move(controller));
}

std::vector<std::string> PodChanges::TakeWorkloads() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out(workloads_.begin(), workloads_.end());
  workloads_.clear();
  std::ranges::sort(out);
  return out;
}

std::vector<PodPtr> PodChanges::TakePods() {
  const std::lock_guard lock(mutex_);
  std::vector<PodPtr> out;
  out.reserve(pods_.size() + gone_killed_.size());
  for (auto& [key, pod] : pods_) out.push_back(std::move(pod));
  pods_.clear();
  std::ranges::move(gone_killed_, std::back_inserter(out));
  gone_killed_.clear();
  return out;
}

std::vector<PodController> PodChanges::TakeUnknownOwners() {
  const std::lock_guard lock(mutex_);
  std::vector<PodController> out(unknown_owners_.begin(), unknown_owners_.end());
  unknown_owners_.clear();
  return out;
}

}  // namespace taut::server
