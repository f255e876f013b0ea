#include "server/kubernetes/act/evictor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using Did = Evictor::Did;

constexpr std::array<std::string_view, 3> kReplacing = {"ReplicaSet", "StatefulSet", "ReplicationController"};
constexpr size_t kFewestReady = 2;

std::string PodText(const Pod& pod) { return StrCat("pod ", FullName(pod)); }

// Returns the reason why the pod must never be evicted; "" if its controller creates a replacement that can run on
// another node.
std::string WhyNever(const Pod& pod) {
  if (pod.is_static) return "it is a static pod";
  if (pod.owner_kind.empty()) return "it has no controller that would replace it";
  if (std::ranges::find(kReplacing, pod.owner_kind) == kReplacing.end())
    return StrCat("its controller is a ", pod.owner_kind,
                  ", and only pods of a ReplicaSet or a StatefulSet are");
  return "";
}

// Returns the name of the PodDisruptionBudget in a message such as "The disruption budget web needs 2 healthy pods
// and has 2 currently".
std::string_view BudgetIn(std::string_view message) {
  constexpr std::string_view kBefore = "disruption budget ";
  const size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = message.substr(at + kBefore.size());
  return rest.substr(0, rest.find(' '));
}

// Returns a result with a text if the workload has too few pods or if another of its pods is not ready. Otherwise
// the text is "".
Evictor::Result WhyNotNow(const std::vector<PodPtr>& pods, const Pod& pod) {
  size_t ready = 0, alive = 0;
  const Pod* missing = nullptr;
  for (const PodPtr& other : pods) {
    alive += other->is_deleted ? 0 : 1;
    ready += !other->is_deleted && other->is_ready ? 1 : 0;
    if (other->uid != pod.uid && (other->is_deleted || !other->is_ready)) missing = other.get();
  }
  if (alive < kFewestReady || (missing == nullptr && ready < kFewestReady))
    return {Did::kNothing, "not evicted: its workload has fewer than 2 ready pods", 0};
  if (missing == nullptr) return {};
  return {Did::kWaits,
          StrCat("evicted once ", PodText(*missing), missing->is_deleted ? " has ended" : " is ready"), 0};
}

}  // namespace

Evictor::Result Evictor::LookForReplacement(State& state, const std::vector<PodPtr>& pods, const Pod& pod,
                                            double now_s) {
  if (pod.uid == state.evicted_uid && now_s < state.evicted_at_s + options_.replaced_s) return state.last;
  const Pod* next = nullptr;
  bool given = false;
  for (const PodPtr& other : pods) {
    if (state.before.contains(other->uid)) continue;
    if (!other->is_ready && !other->is_deleted) {
      return {Did::kWaits,
              StrCat("evicted once ", PodText(*other), ", which came after ", state.evicted, ", is ready"),
              0};
    }
    next = other.get();
    given |= other->admitted_by_us;
  }
  const double until_s = state.evicted_at_s + options_.replaced_s;
  if (next == nullptr && now_s < until_s)
    return {Did::kWaits, StrCat("evicted once the pod that replaces ", state.evicted, " is ready"), until_s};
  // The next pod may be evicted if no replacement appeared in time, or if a replacement has the set amounts.
  // Without the set amounts, stop all evictions of the workload, because further evictions would not help.
  const std::string evicted = std::exchange(state.evicted, "");
  if (next == nullptr || given) return {Did::kEvicted, "", 0};
  state.last = {Did::kNothing,
                StrCat("not evicted: ", PodText(*next), ", which replaced ", evicted,
                       ", did not get what is set from the webhook; no pod of the workload is evicted for ",
                       std::lround(options_.not_given_s / 3600), " hours"),
                now_s + options_.not_given_s};
  return state.last;
}

Evictor::Result Evictor::Refused(State& state, const Pod& pod, const absl::Status& status,
                                 double now_s) const {
  const double pause_s =
      std::min(options_.first_retry_s * std::exp2(std::min(state.refusals, 16)), options_.most_retry_s);
  const double again_at_s =
      now_s + (MayPass(status) ? std::max(pause_s, writer_->retry_after_s()) : options_.refused_retry_s);
  ++state.refusals;
  if (absl::IsResourceExhausted(status)) {
    return {Did::kRefused,
            StrCat("the eviction of ", PodText(pod), " is refused by PodDisruptionBudget ",
                   BudgetIn(Message(status)), " (", Message(status), "), and tried again"),
            again_at_s};
  }
  return {MayPass(status) ? Did::kRefused : Did::kFailed,
          StrCat("the eviction of ", PodText(pod), " failed: ", Message(status)), again_at_s};
}

Evictor::Result Evictor::Evict(const WorkloadName& workload, const Pod& pod,
                               absl::FunctionRef<std::string()> why_not, double now_s) {
  if (const std::string why = WhyNever(pod); !why.empty())
    return {Did::kNothing, StrCat("not evicted: ", why), 0};
  WorkloadName whole = workload;
  whole.container.clear();
  const std::vector<PodPtr> pods = cluster_->pods().OfAll(whole, PodsThat::kHaveNotEnded);
  const std::string key = WorkloadKey(workload.namespace_name, workload.kind, workload.name);
  if (const auto it = states_.find(key); it != states_.end()) {
    State& state = it->second;
    if (!state.evicted.empty()) {
      Result result = LookForReplacement(state, pods, pod, now_s);
      if (result.did != Did::kEvicted) return result;
      states_.erase(it);
    } else if (now_s < state.last.again_at_s) {
      return state.last;
    }
  }
  // First check the conditions known from the watch, then the conditions that require requests to the API server.
  if (Result result = WhyNotNow(pods, pod); !result.text.empty()) return result;
  if (const std::string why = why_not(); !why.empty())
    return {Did::kNothing, StrCat("not evicted: ", why), 0};
  State& state = states_[key];
  absl::Status status = writer_->CheckReviewed(pod);
  if (!status.ok()) {
    state.last = {MayPass(status) ? Did::kWaits : Did::kNothing, StrCat("not evicted: ", Message(status)),
                  now_s + (MayPass(status) ? options_.first_retry_s : options_.refused_retry_s)};
    return state.last;
  }
  status = writer_->Evict(pod);
  if (!status.ok()) {
    state.last = Refused(state, pod, status, now_s);
    Result out = state.last;
    out.was_asked = true;
    return out;
  }
  // From now on, the state of the replacement determines the result. Compare UIDs, because a StatefulSet reuses
  // names.
  state = {};
  state.evicted = PodText(pod);
  state.evicted_uid = pod.uid;
  for (const PodPtr& other : pods) state.before.insert(other->uid);
  state.evicted_at_s = now_s;
  state.last = {Did::kWaits, "evicting it, so that the pod that replaces it starts with what is set",
                now_s + options_.replaced_s};
  return {Did::kEvicted, state.last.text, state.last.again_at_s, true};
}

void Evictor::Forget(double now_s) {
  std::erase_if(states_, [&](const auto& entry) {
    return now_s >= entry.second.last.again_at_s + options_.not_given_s;
  });
}

}  // namespace taut::server
