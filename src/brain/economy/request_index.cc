#include "brain/economy/request_index.h"

namespace taut::brain {

void RequestIndex::File(const QuotaRequest& request) {
  const bool counted = queued_.contains(request.id) || open_.contains(request.id);
  if (counted != (request.state != RequestState::kEnded)) {
    const auto of_group = of_group_.try_emplace(request.asked.group).first;
    of_group->second += counted ? -1 : 1;
    if (of_group->second == 0) of_group_.erase(of_group);
  }
  const auto put = [&](auto& set, const auto& value, bool in) {
    if (in) {
      set.insert(value);
    } else {
      set.erase(value);
    }
  };
  put(queued_, request.id, request.state == RequestState::kQueued);
  put(open_, request.id, request.open());
  put(ended_, request.id, request.state == RequestState::kEnded);
  if (request.asked.duration_s.has_value()) {
    const Timestamp from = request.admitted_at.value_or(request.since);
    put(ends_, std::pair(Timestamp{from.us + *request.asked.duration_s * kMicrosPerSecond}, request.id),
        request.open());
  }
  if (request.job.empty()) return;
  if (request.state != RequestState::kEnded) {
    by_job_[request.asked.group][request.job] = request.id;
  } else if (For(request.asked.group, request.job) == request.id) {
    const auto of_group = by_job_.find(request.asked.group);
    of_group->second.erase(request.job);
    if (of_group->second.empty()) by_job_.erase(of_group);
  }
}

size_t RequestIndex::CountOf(std::string_view group) const {
  const auto found = of_group_.find(group);
  return found == of_group_.end() ? 0 : found->second;
}

uint64_t RequestIndex::For(std::string_view group, std::string_view job) const {
  const auto of_group = by_job_.find(group);
  if (job.empty() || of_group == by_job_.end()) return 0;
  const auto found = of_group->second.find(job);
  return found == of_group->second.end() ? 0 : found->second;
}

}  // namespace taut::brain
