#include "server/control/tier_act_queue.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

// The parts of the key are unambiguous, because no name contains a line end.
std::string KeyOf(const TierAct& act) {
  return StrCat(act.at_us, "\n", Name(act.kind), "\n", act.machine, "\n", act.job, "\n", act.task);
}

}  // namespace

bool TierActQueue::Note(const TierAct& act) {
  std::string key = KeyOf(act);
  if (!known_.insert(key).second) return false;
  order_.push_back(std::move(key));
  if (order_.size() > kRemembered) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  return true;
}

absl::Status TierActQueue::Take(TierAct act) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting)
    return absl::UnavailableError(StrCat(waiting_.size(), " tier acts wait for the store, the maximum"));
  if (Note(act)) waiting_.push_back(std::move(act));
  return absl::OkStatus();
}

std::vector<TierAct> TierActQueue::TakeAll(int64_t latest_s) {
  const std::lock_guard lock(mutex_);
  for (TierAct& act : waiting_) act.time_s = std::min(act.time_s, latest_s);
  return std::exchange(waiting_, {});
}

void TierActQueue::Remember(std::span<const TierAct> stored) {
  const std::lock_guard lock(mutex_);
  for (auto act = stored.rbegin(); act != stored.rend(); ++act) (void)Note(*act);
}

}  // namespace taut::server
