#include "server/kubernetes/act/kubernetes_actuator.h"

#include <algorithm>
#include <chrono>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr double kForgetEverySeconds = 3600;
constexpr std::chrono::milliseconds kLook{100};  // interval at which changes of the cluster are checked

// Returns true if the order for all pods is to restore the owner's amounts.
bool IsReleased(const StandingOrders::Entry& entry) {
  return entry.all.has_value() && !entry.all->value.has_value() && entry.some.empty();
}

std::string PodsText(size_t pods) { return StrCat(pods, pods == 1 ? " pod" : " pods"); }

}  // namespace

StandingOrder PodTerms::Held(StandingOrder order) const {
  if (!order.value.has_value()) return order;
  if (!applies()) return {order.decision, std::nullopt};
  if (lower.has_value()) order.value = std::max(*order.value, *lower);
  if (upper.has_value()) order.value = std::min(*order.value, *upper);
  return order;
}

void KubernetesActuator::Start() {
  const std::lock_guard lock(mutex_);
  thread_ = std::thread([this] { Run(); });
}

void KubernetesActuator::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void KubernetesActuator::Run() {
  while (true) {
    Step();
    // Due work must not end the wait before the first sync, because Step() then does nothing.
    const bool may_work = cluster_->synced();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kLook, [&] { return stopping_ || (may_work && !due_.empty()) || has_new_scale_; });
    has_new_scale_ = false;
    if (stopping_) return;
  }
}

void KubernetesActuator::Step() {
  if (!cluster_->synced()) return;  // before the sync, a pod that is missing may still exist
  templates_.clear();
  std::erase_if(rolled_,
                [now_s = options_.steady_s()](const auto& one) { return one.second.until_s <= now_s; });
  NoteWhetherItMay();
  if (options_.steady_s() >= terms_at_s_) {
    NoteTerms();
    NoteStrays();
    NoteKernel();
    std::erase_if(sent_, [now_s = options_.steady_s()](const auto& of_pod) {
      return of_pod.second.empty() || of_pod.second.back().until_s <= now_s;
    });
  }
  WorkQueues queues;
  SortIn(TakeWork(), queues);
  while (std::optional<Work> work = queues.Next()) {
    // Call TermsOf() without the lock, because it calls another component, which takes a lock of its own.
    const std::optional<PodTerms> terms = TermsOf(work->key);
    if (!terms.has_value()) {
      Again(work->key, options_.steady_s() + options_.terms_s);
      continue;
    }
    work->terms = *terms;
    {
      const std::lock_guard lock(mutex_);
      terms_[work->key] = *terms;
    }
    Enforce(*work);
    bool has_orders = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      has_orders = has_new_orders_;
    }
    if (has_orders) SortIn(TakeWork(), queues);
  }
  for (ScaleOrder& scale : TakeScales()) Scale(std::move(scale));
  if (options_.steady_s() >= forget_at_s_) Forget();
}

// Also returns a reason until the autoscalers are listed, because an order must not change the replicas of an
// autoscaled workload.
std::string KubernetesActuator::WhyNot() const {
  if (std::string why = options_.why_not ? options_.why_not() : ""; !why.empty()) return why;
  const std::string missing = options_.owners == nullptr ? "" : options_.owners->NotListed();
  if (missing.empty()) return "";
  return StrCat("the ", missing, " of the cluster are not known yet: tautd has to list and watch them");
}

void KubernetesActuator::NoteWhetherItMay() {
  const bool may = WhyNot().empty();
  if (may && !might_) {
    memory_.clear();  // another tautd may have changed the pods meanwhile
    rolled_.clear();
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : orders_.entries()) due_.insert(key);
  }
  might_ = may;
}

void KubernetesActuator::NoteTerms() {
  terms_at_s_ = options_.steady_s() + options_.terms_s;
  std::vector<StandingOrders::Key> keys;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : orders_.entries()) keys.push_back(key);
  }
  // Call TermsOf() without the lock, because it calls another component, which takes a lock of its own. An unknown
  // job keeps its last terms.
  std::map<StandingOrders::Key, PodTerms> now;
  for (const StandingOrders::Key& key : keys) {
    if (const std::optional<PodTerms> terms = TermsOf(key); terms.has_value()) now.emplace(key, *terms);
  }
  const std::lock_guard lock(mutex_);
  for (const StandingOrders::Key& key : keys) {
    const auto before = terms_.find(key);
    const auto found = now.find(key);
    if (found == now.end()) {
      if (before != terms_.end()) now.emplace(*before);
    } else if ((before == terms_.end() || before->second != found->second) && orders_.Find(key) != nullptr) {
      due_.insert(key);
    }
  }
  terms_ = std::move(now);
}

void KubernetesActuator::NoteStrays() {
  std::map<StandingOrders::Key, WorkloadName> set;
  cluster_->pods().ForEach([&](const PodPtr& pod, const WorkloadName& workload) {
    if (!pod->resized_by_us || !pod->owners_known || pod->is_ended || low_.contains(pod->uid)) return;
    for (const ContainerState& c : pod->containers) {
      for (const Resource r : kPodResources) {
        if (SpecHas(c, r, {c.owner_requests.of(r), c.owner_limits.of(r)})) continue;
        const Workload job = cluster_->naming().IdentityOf(workload, c.name);
        WorkloadName of_job = workload;
        of_job.container = job.container;
        if (IsOurs(of_job)) set.emplace(StandingOrders::Key(job.JobName(), r), std::move(of_job));
      }
    }
  });
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(set, [this](const auto& item) { return orders_.Find(item.first) != nullptr; });
  }
  for (const auto& [key, workload] : set) {
    const std::optional<PodTerms> terms = TermsOf(key);
    if (!terms.has_value() || terms->mode != Mode::kOff) continue;
    const std::lock_guard lock(mutex_);
    if (orders_.Adopt(key, workload)) Index(key);
  }
}

void KubernetesActuator::Forget() {
  const double now_s = options_.steady_s();
  forget_at_s_ = now_s + kForgetEverySeconds;
  evictor_.Forget(now_s);
  // AsSent erases a patch once the watch shows the patch, but only while the pod exists.
  std::erase_if(sent_, [now_s](const auto& pod) {
    return std::ranges::all_of(pod.second, [now_s](const Sent& sent) { return sent.until_s < now_s; });
  });
  const std::lock_guard lock(mutex_);
  for (const StandingOrders::Key& key : orders_.WithoutPodsSince(options_.unix_s() - options_.forget_s)) {
    memory_.erase(key);
    again_.erase(key);
    Unindex(key);
    orders_.Erase(key);
  }
  std::erase_if(held_, [this](const std::string& workload) { return !by_workload_.contains(workload); });
}

void KubernetesActuator::Enforce(const Work& work) {
  // Keep the memory of existing pods only.
  std::map<std::string, PodMemory> before;
  before.swap(memory_[work.key]);
  std::map<std::string, PodMemory>& memory = memory_[work.key];
  std::map<uint64_t, Tally> tallies;
  const std::vector<PodPtr> pods = cluster_->pods().Of(work.workload);
  {
    const std::lock_guard lock(mutex_);
    orders_.NotePods(work.key, !pods.empty(), options_.unix_s());
  }
  if (work.terms.in_template) return EnforceTemplate(work, pods);
  for (const PodPtr& pod : pods) {
    const StandingOrder* order = work.entry.Of(pod->name);
    if (order == nullptr) continue;
    const auto known = before.find(pod->uid);
    PodMemory& m = memory[pod->uid];
    if (known != before.end()) m = std::move(known->second);
    const std::optional<Pod> sent = AsSent(work, *pod);
    const PodResult result =
        EnforcePod(work, sent.has_value() ? *sent : *pod, OnceMore(work, *pod, work.terms.Held(*order)), m);
    Tally& tally = tallies[order->decision];
    ++tally.pods;
    tally.done += result.state == PodState::kDone ? 1 : 0;
    tally.problems += result.state == PodState::kProblem ? 1 : 0;
    if (!result.text.empty() && tally.text.empty()) tally.text = result.text;
  }
  if (memory.empty()) memory_.erase(work.key);
  // If the mode of the job withdraws the order, report no outcome: a release follows.
  if (work.terms.applies() || IsReleased(work.entry)) ReportAll(work, tallies);
}

KubernetesActuator::PodResult KubernetesActuator::EnforcePod(const Work& work, const Pod& pod,
                                                             const StandingOrder& order, PodMemory& memory) {
  const std::optional<double> since_s = memory.blocked_since_s;
  std::string why_less;
  PodResult result = EnforceInPlace(work, pod, Fitting(work, pod, order, why_less), memory);
  if (!why_less.empty()) {
    Again(work.key, options_.steady_s() + options_.refused_retry_s);
    if (result.state == PodState::kDone) result.state = PodState::kProblem;
    result.text = StrCat(why_less, result.text.empty() ? "" : "; ", result.text);
  }
  if (memory.has_start_limit()) JudgeStartup(work, pod, memory, result);
  const auto low = low_.find(pod.uid);
  if (low != low_.end() && low->second.evict && work.key.second == Target(Resource::kMemory)) {
    result = {PodState::kProblem, low->second.text, EvictAfter(false)};
    if (result.evict_after_s.has_value()) result.evict_after_s = 0;
  }
  memory.blocked_since_s.reset();
  if (!result.evict_after_s.has_value() || !order.value.has_value()) return result;
  // The delay of the eviction starts now. The pod may be evicted after it has been blocked for evict_after_s.
  memory.blocked_since_s = since_s.value_or(options_.steady_s());
  return EvictIfDue(work, pod, std::move(result), *memory.blocked_since_s);
}

KubernetesActuator::PodResult KubernetesActuator::EvictIfDue(const Work& work, const Pod& pod,
                                                             PodResult result, double blocked_since_s) {
  const double now_s = options_.steady_s(), due_s = blocked_since_s + *result.evict_after_s;
  if (!WhyNot().empty()) return result;
  if (now_s < due_s) {
    Again(work.key, due_s);
    return result;
  }
  const auto why_not = [&]() -> std::string {
    if (!work.entry.some.empty())
      return "during a trial no pod is evicted, as the one that replaces it would not be in the trial";
    return WhyNotGiven(pod, work.workload.container, work.key.second.resource(), OrdersFor(pod),
                       cluster_->nodes().LargestFor(pod).amounts,
                       options_.rules ? options_.rules(pod.namespace_name) : std::vector<NamespaceRule>());
  };
  const Evictor::Result evicted = evictor_.Evict(work.workload, pod, why_not, now_s);
  if (evicted.again_at_s > 0) Again(work.key, evicted.again_at_s);
  const std::string why = result.text;
  StrAppend(&result.text, result.text.empty() ? "" : "; ", evicted.text);
  using Did = Evictor::Did;
  if (evicted.did == Did::kNothing) return result;
  result.state = evicted.did == Did::kFailed ? PodState::kProblem : PodState::kWaiting;
  if (evicted.did == Did::kEvicted) options_.eviction->evicted(work.workload, pod, why);
  const std::lock_guard lock(mutex_);
  counts_.evicted += evicted.did == Did::kEvicted ? 1 : 0;
  counts_.not_evicted += evicted.was_asked && evicted.did != Did::kEvicted ? 1 : 0;
  return result;
}

void KubernetesActuator::ReportAll(const Work& work, const std::map<uint64_t, Tally>& tallies) {
  const int64_t now_s = options_.unix_s();
  const std::lock_guard lock(mutex_);
  bool all_done = true;
  for (const auto& [decision, tally] : tallies) {
    const bool done = tally.done == tally.pods;
    all_done &= done;
    const Outcome outcome = tally.problems > 0 ? Outcome::kFailed
                            : done             ? Outcome::kApplied
                                               : Outcome::kPending;
    std::string text = done ? StrCat("set on ", PodsText(tally.pods))
                            : StrCat("set on ", tally.done, " of ", PodsText(tally.pods), "; ", tally.text);
    orders_.Report(work.key, decision, outcome, std::move(text), now_s, outcomes_);
  }
  const StandingOrders::Entry* now = orders_.Find(work.key);
  if (now == nullptr) return;
  if (tallies.empty()) {
    for (const auto& [decision, report] : StandingOrders::Entry(*now).reported) {
      if (report.first == Outcome::kPending) {
        orders_.Report(work.key, decision, Outcome::kPending, "the job has no pod now", now_s, outcomes_);
      }
    }
    return;
  }
  // The release is done: all pods have the owner's amounts, and new pods get these from the template.
  const bool released =
      IsReleased(*now) && work.entry.all.has_value() && now->all->decision == work.entry.all->decision;
  if (all_done && released) {
    Unindex(work.key);
    orders_.Erase(work.key);
    memory_.erase(work.key);
  }
}

KubernetesActuatorCounts KubernetesActuator::counts() const {
  const std::lock_guard lock(mutex_);
  KubernetesActuatorCounts out = counts_;
  out.orders = orders_.entries().size();
  return out;
}

}  // namespace taut::server
