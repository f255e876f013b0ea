#include "server/agents/actuator_set.h"

#include <algorithm>
#include <optional>

#include "common/base/bytes.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

// First byte of the state of several actuators. The state of a single actuator is stored without this byte.
constexpr uint8_t kSeveral = 0xFF;
constexpr size_t kConflictsRemembered = 10'000;
constexpr size_t kReplacedRemembered = 10'000;

}  // namespace

void ActuatorSet::Add(std::string key, std::unique_ptr<Actuator> actuator) {
  name_ = StrCat(name_, members_.empty() ? "" : ", ", actuator->name());
  members_.push_back({std::move(key), std::move(actuator)});
}

bool ActuatorSet::Claims(const TargetOrder& order) const {
  for (const Member& m : members_) {
    if (m.actuator->Claims(order)) return true;
  }
  return false;
}

size_t ActuatorSet::Claimant(const TargetOrder& order) {
  std::optional<size_t> first;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].actuator->Claims(order)) continue;
    if (!first.has_value()) {
      first = i;
      continue;
    }
    if (conflicts_seen_.size() >= kConflictsRemembered ||
        !conflicts_seen_.emplace(order.job, order.target, i).second)
      continue;
    conflicts_.push_back(StrCat("job ", order.job, " is claimed by the actuators ",
                                members_[*first].actuator->name(), " and ", members_[i].actuator->name(),
                                "; ", members_[*first].actuator->name(), " sets its ",
                                Describe(order.target)));
  }
  return first.value_or(0);
}

// Keeps latest_ from growing as jobs disappear. An order with a final outcome needs no entry, because it
// cannot be superseded.
void ActuatorSet::ForgetClosed() {
  absl::erase_if(latest_, [this](const auto& entry) { return !open_.contains(entry.second.decision); });
  most_latest_ = std::max(most_latest_, 2 * latest_.size());
}

size_t ActuatorSet::Route(const TargetOrder& order, int64_t now_s) {
  if (latest_.size() >= most_latest_) ForgetClosed();
  Latest& latest = latest_[{order.job, order.target}];
  // A decision that is extended to more tasks stays with its actuator.
  if (latest.decision == order.decision) return latest.member;
  const size_t member = Claimant(order);
  const bool was_open = open_.erase(latest.decision) > 0;
  // An actuator reports by itself when it replaces its own order. Orders to different members may overtake each
  // other: without replaced_, a late outcome of the old order would be mistaken for the outcome of the new order.
  if (latest.decision != 0 && latest.member != member) {
    if (was_open) {
      superseded_.push_back(
          {latest.decision, Outcome::kSuperseded, StrCat("replaced by decision ", order.decision), now_s});
    }
    if (replaced_.size() >= kReplacedRemembered) replaced_.erase(replaced_.begin());
    replaced_.insert(latest.decision);
  }
  latest = {member, order.decision};
  if (!IsFinal(order.known)) open_.insert(order.decision);
  return member;
}

// The members' Apply is called without the lock, because an actuator may need a long time.
void ActuatorSet::Apply(std::span<const TargetOrder> orders, int64_t now_s) {
  if (members_.size() == 1) return members_[0].actuator->Apply(orders, now_s);
  std::vector<std::vector<TargetOrder>> of_members(members_.size());
  {
    const std::lock_guard lock(mutex_);
    for (const TargetOrder& order : orders) of_members[Route(order, now_s)].push_back(order);
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!of_members[i].empty()) members_[i].actuator->Apply(of_members[i], now_s);
  }
}

std::vector<OutcomeUpdate> ActuatorSet::TakeOutcomes() {
  if (members_.size() == 1) return members_[0].actuator->TakeOutcomes();
  std::vector<OutcomeUpdate> out;
  const std::lock_guard lock(mutex_);
  for (const Member& m : members_) {
    for (OutcomeUpdate& update : m.actuator->TakeOutcomes()) {
      if (replaced_.contains(update.id)) continue;
      if (update.outcome != Outcome::kPending) open_.erase(update.id);
      out.push_back(std::move(update));
    }
  }
  for (OutcomeUpdate& update : superseded_) out.push_back(std::move(update));
  superseded_.clear();
  return out;
}

std::string ActuatorSet::SaveState() const {
  if (members_.size() == 1) return members_[0].actuator->SaveState();
  std::string state;
  ByteWriter out(&state);
  out.Put(kSeveral);
  for (const Member& m : members_) {
    out.PutString(m.key);
    out.PutString(m.actuator->SaveState());
  }
  return state;
}

void ActuatorSet::LoadState(std::string_view state) {
  if (state.empty() || members_.empty()) return;
  if (static_cast<uint8_t>(state[0]) != kSeveral) return members_[0].actuator->LoadState(state);
  ByteReader in(state.substr(1));
  while (!in.failed() && in.remaining() > 0) {
    const std::string_view key = in.GetString();
    const std::string_view bytes = in.GetString();
    if (in.failed()) return;
    for (const Member& m : members_) {
      if (m.key == key) m.actuator->LoadState(bytes);
    }
  }
}

size_t ActuatorSet::remembered() {
  const std::lock_guard lock(mutex_);
  return latest_.size();
}

std::vector<std::string> ActuatorSet::TakeConflicts() {
  const std::lock_guard lock(mutex_);
  return std::exchange(conflicts_, {});
}

}  // namespace taut::server
