#include "server/kubernetes/act/kubernetes_actuator.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

constexpr double kForgetEverySeconds = 3600;
constexpr std::chrono::milliseconds kLook{100};  // the cluster's changes are looked at this often

// The first of several actuators gets what none claims.
OutcomeUpdate NotOurs(const TargetOrder& order, int64_t now_s) {
  OutcomeUpdate out;
  out.id = order.decision;
  out.outcome = Outcome::kDryRun;
  out.text =
      order.target.is_replicas()
          ? "not applied: kubernetes.scale is false, or the job is not a workload of kubernetes.namespaces"
          : "not applied: the job is not a workload of kubernetes.namespaces";
  out.time_s = now_s;
  return out;
}

// An API server before 1.33 answers this way (of a pod that is gone it says its name), and 1.33 of a lower
// memory limit.
bool HasNoResize(const absl::Status& status) {
  const std::string_view text = Message(status);
  return absl::IsNotFound(status)
             ? text.find("could not find the requested resource") != std::string_view::npos
             : text.find("memory limits cannot be decreased") != std::string_view::npos;
}

// What its owner wants, as far as the pod shows it.
std::optional<ContainerState> OwnersAmounts(const Pod& pod, const ContainerState& container) {
  if (!pod.owners_known || !container.knows_owner()) return std::nullopt;
  ContainerState out = container;
  out.requests = container.owner_requests;
  out.limits = container.owner_limits;
  return out;
}

// The owner's amounts are ordered, for all pods.
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
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kLook, [this] { return stopping_ || !due_.empty() || has_new_scale_; });
    has_new_scale_ = false;
    if (stopping_) return;
  }
}

void KubernetesActuator::Step() {
  if (!cluster_->synced()) return;  // what is missing then is not gone
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
    // Not under the lock: another part answers.
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

// An order that is set before they are known could move the replicas of an autoscaler.
std::string KubernetesActuator::WhyNot() const {
  if (std::string why = options_.why_not ? options_.why_not() : ""; !why.empty()) return why;
  const std::string missing = options_.owners == nullptr ? "" : options_.owners->NotListed();
  if (missing.empty()) return "";
  return StrCat("the ", missing, " of the cluster are not known yet: tautd has to list and watch them");
}

void KubernetesActuator::NoteWhetherItMay() {
  const bool may = WhyNot().empty();
  if (may && !might_) {
    memory_.clear();  // of before: another may have changed it by right
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
  // Not under the lock: another part answers. A job that is not known keeps what it had.
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

std::vector<PodOrder> KubernetesActuator::OrdersFor(const Pod& pod) const {
  std::vector<PodOrder> out;
  if (!WhyNot().empty()) return out;
  // Of which job it is may not be known yet.
  const bool may_be_split = pod.owner_kind == "DaemonSet" || pod.owner_kind == "StatefulSet";
  if (may_be_split && !cluster_->synced()) return out;
  const std::string workload = WorkloadKey(cluster_->pods().WorkloadOf(pod));
  const std::lock_guard lock(mutex_);
  const auto keys = by_workload_.find(workload);
  if (keys == by_workload_.end()) return out;
  for (const StandingOrders::Key& key : keys->second) {
    const StandingOrders::Entry* entry = orders_.Find(key);
    const auto terms = terms_.find(key);
    if (entry == nullptr || !entry->all.has_value() || terms == terms_.end()) continue;
    const WorkloadName& name = entry->workload;
    const std::optional<double> amount = terms->second.Held(*entry->all).value;
    // In the template it is what a new pod has.
    if (!amount.has_value() || terms->second.in_template) continue;
    const ContainerState* container = ResizedContainer(pod, name.container);
    if (container == nullptr) continue;
    FieldClaims claims = ClaimsOn(name, *container, key.second.resource());
    if (!claims.set_by.empty()) continue;
    PodOrder& order = out.emplace_back();
    order.container = name.container;
    order.resource = key.second.resource();
    order.amount = *amount;
    order.allocation = terms->second.allocation;
    order.scaled_by = std::move(claims.scaled_by);
    if (resizes_) order.at_start = StartupCores(terms->second, order.amount);
  }
  return out;
}

void KubernetesActuator::Forget() {
  forget_at_s_ = options_.steady_s() + kForgetEverySeconds;
  const std::lock_guard lock(mutex_);
  for (const StandingOrders::Key& key : orders_.WithoutPodsSince(options_.unix_s() - options_.forget_s)) {
    memory_.erase(key);
    again_.erase(key);
    Unindex(key);
    orders_.Erase(key);
  }
}

std::vector<KubernetesActuator::ScaleOrder> KubernetesActuator::TakeScales() {
  const double now_s = options_.steady_s();
  const std::lock_guard lock(mutex_);
  std::vector<ScaleOrder> out;
  for (auto it = scales_.begin(); it != scales_.end();) {
    const bool is_due = it->second.at_s <= now_s;
    if (is_due) out.push_back(std::move(it->second));
    it = is_due ? scales_.erase(it) : std::next(it);
  }
  return out;
}

void KubernetesActuator::Enforce(const Work& work) {
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
  // What the job's mode takes back says nothing of the decision, which a release follows.
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

KubernetesActuator::PodResult KubernetesActuator::NotPlanned(const Work& work, const Pod& pod,
                                                             const ContainerState& container,
                                                             const StandingOrder& order,
                                                             const FieldClaims& claims,
                                                             const absl::Status& why) {
  Again(work.key, RetryAt(why));
  PodResult out{MayPass(why) ? PodState::kWaiting : PodState::kProblem, std::string(Message(why)), {}};
  // Its node alone is too small.
  if (order.value.has_value() && absl::IsFailedPrecondition(why) &&
      PlanResize(pod, container, work.key.second.resource(), *order.value, work.terms.allocation,
                 cluster_->nodes().LargestFor(pod).amounts, claims.scaled_by)
          .ok()) {
    out.evict_after_s = EvictAfter(false);
  }
  return out;
}

KubernetesActuator::PodResult KubernetesActuator::EnforceInPlace(const Work& work, const Pod& pod,
                                                                 const StandingOrder& standing,
                                                                 PodMemory& memory) {
  const Resource resource = work.key.second.resource();
  const double now_s = options_.steady_s();
  const ContainerState* container = ResizedContainer(pod, work.workload.container);
  if (container == nullptr) {
    return {
        PodState::kProblem,
        StrCat("pod ", FullName(pod), " has ", pod.containers.size(),
               " containers: set ingest.kubernetes_jobs: containers, so that each has limits of its own")};
  }
  const FieldClaims claims = ClaimsOn(work.workload, *container, resource);
  if (!claims.set_by.empty()) {
    memory = PodMemory();  // what it sets is its right
    if (!standing.value.has_value()) return {PodState::kDone, ""};
    return {PodState::kProblem,
            StrCat("pod ", FullName(pod), ": ", claims.set_by, " sets the ", Name(resource), " of container ",
                   container->name,
                   "; set its updateMode to Off, or name the recommender tautline, to let Tautline set it")};
  }
  const StandingOrder order = OrderNow(work, pod, *container, standing, claims, memory);
  const absl::StatusOr<ContainerResources> wanted = Wanted(work, pod, *container, order, claims);
  if (!wanted.ok()) return NotPlanned(work, pod, *container, order, claims, wanted.status());
  if (SpecHas(*container, resource, *wanted)) {
    std::optional<PodResult> refused = WithdrawShrink(work, pod, *container, memory);
    if (!refused.has_value()) memory.Renew();
    memory.patched = *wanted;
    memory.amount = order.value;
    memory.standing = standing.value;
    memory.allocation = work.terms.allocation;
    memory.request_stayed = !claims.scaled_by.empty();
    memory.confirmed =
        !refused.has_value();  // what is withdrawn is not there next, and no other has changed it
    return refused.has_value() ? *std::move(refused) : Waiting(pod, *container, resource, *wanted);
  }
  if (std::string why = WhyNot(); !why.empty()) {
    memory.Renew();  // what another does meanwhile is its right
    might_ = false;
    return {PodState::kWaiting, std::move(why)};
  }
  // Ours was there, the order is the same, and it is there no more.
  const bool same_order = order.value.has_value()
                              ? memory.amount == order.value && memory.allocation == work.terms.allocation &&
                                    memory.request_stayed == !claims.scaled_by.empty()
                              : !memory.amount.has_value() && memory.patched == *wanted;
  if (memory.confirmed && same_order && memory.hold_until_s == 0) {
    memory.hold_until_s = now_s + options_.step_back_s;
    const std::lock_guard lock(mutex_);
    ++counts_.stepped_back;
  }
  if (!same_order) {
    // The end of a start is no new order: another's change stays.
    const bool same_standing = memory.startup != nullptr && memory.standing == standing.value &&
                               memory.allocation == work.terms.allocation;
    const double hold_until_s = same_standing ? memory.hold_until_s : 0;
    memory.Renew();
    memory.hold_until_s = hold_until_s;
  }
  memory.amount = order.value;
  memory.standing = standing.value;
  memory.allocation = work.terms.allocation;
  memory.request_stayed = !claims.scaled_by.empty();
  if (now_s < memory.hold_until_s) {
    Again(work.key, memory.hold_until_s);
    return {PodState::kProblem, StrCat("pod ", FullName(pod), ": another has changed the ", Name(resource),
                                       " limit or request that was set; it "
                                       "is left alone for ",
                                       std::lround(options_.step_back_s / 60), " minutes")};
  }
  if (std::optional<PodResult> waits = WaitToShrink(work, pod, *container, *wanted, memory))
    return *std::move(waits);
  const Startup* startup = memory.startup.get();
  const bool may_wait =
      order.value.has_value() && (startup == nullptr || (startup->is_young && !startup->given_up()));
  const int64_t grace_s = may_wait && Lowers(*container, resource, *wanted)
                              ? GraceLeft(pod, *container, work.terms.startup_grace_s)
                              : 0;
  if (grace_s > 0) {
    Again(work.key, now_s + static_cast<double>(grace_s));
    return {PodState::kWaiting, StrCat("pod ", FullName(pod), " starts: nothing is lowered for another ",
                                       grace_s, " s (startup_grace)")};
  }
  if (now_s < memory.retry_at_s) {
    Again(work.key, memory.retry_at_s);
    return {memory.problem.empty() ? PodState::kWaiting : PodState::kProblem, memory.problem,
            memory.cannot_resize ? EvictAfter(false) : std::nullopt};
  }
  const PodResult result = Patch(pod, *container, resource, *wanted, memory);
  if (memory.retry_at_s > 0) Again(work.key, memory.retry_at_s);
  return result;
}

int64_t KubernetesActuator::GraceLeft(const Pod& pod, const ContainerState& container,
                                      int64_t grace_s) const {
  const int64_t started_s = std::max(pod.started_s, container.started_s);
  if (started_s == 0) return 0;
  const int64_t age_s = std::max<int64_t>(0, options_.unix_s() - started_s);
  return std::max<int64_t>(0, grace_s - age_s);
}

absl::StatusOr<ContainerResources> KubernetesActuator::Wanted(const Work& work, const Pod& pod,
                                                              const ContainerState& container,
                                                              const StandingOrder& order,
                                                              const FieldClaims& claims) {
  const Resource resource = work.key.second.resource();
  if (order.value.has_value()) {
    const auto plan = [&](const std::optional<Amounts>& allocatable) {
      return PlanResize(pod, container, resource, *order.value, work.terms.allocation, allocatable,
                        claims.scaled_by);
    };
    // What is asked for and not yet seen counts: planned again from the old request, it is the same.
    absl::StatusOr<ContainerResources> here = plan(cluster_->nodes().Allocatable(pod.node));
    if (here.ok()) return here;
    // A new pod may have started with a limit above its node, which has room for its request.
    absl::StatusOr<ContainerResources> anywhere = plan(std::nullopt);
    return anywhere.ok() && SpecHas(container, resource, *anywhere) ? anywhere : here;
  }
  // A pod that was never resized has what its owner wants.
  if (!pod.resized_by_us) {
    return ContainerResources{container.requests.of(resource), container.limits.of(resource)};
  }
  const std::string key =
      StrCat(work.workload.namespace_name, "/", work.workload.kind, "/", work.workload.name);
  auto it = templates_.find(key);
  if (it == templates_.end()) {
    absl::StatusOr<std::vector<ContainerState>> containers = writer_->Template(work.workload);
    if (!containers.ok()) {
      // A kind of a custom resource, or no controller at all.
      const std::optional<ContainerState> owners =
          absl::IsInvalidArgument(containers.status()) ? OwnersAmounts(pod, container) : std::nullopt;
      if (owners.has_value()) return PlanRelease(pod, container, resource, *owners);
      return absl::Status(containers.status().code(),
                          StrCat("the owner's limit is not known: ", Message(containers.status())));
    }
    it = templates_.emplace(key, *std::move(containers)).first;
  }
  for (const ContainerState& in_template : it->second) {
    if (in_template.name != container.name) continue;
    const double noted = in_template.noted_limits.of(resource).value_or(0);
    if (noted > cluster_->nodes().LargestFor(pod).amounts.of(resource).value_or(noted)) {
      return absl::FailedPreconditionError(
          StrCat("the owner's limit is not known: the annotation ", kOwnersAnnotation, " of ", key, " says ",
                 Quantity(resource, noted), ", which is more than any node has"));
    }
    absl::StatusOr<ContainerResources> out = PlanRelease(pod, container, resource, in_template);
    if (out.ok() && out->limit.has_value() && resource == Resource::kMemory) *out->limit += PageMore(pod);
    return out;
  }
  return absl::FailedPreconditionError(
      StrCat("the owner's limit is not known: the template of ", key, " has no container ", container.name));
}

KubernetesActuator::PodResult KubernetesActuator::Waiting(const Pod& pod, const ContainerState& container,
                                                          Resource resource,
                                                          const ContainerResources& wanted) const {
  const auto with = [&](PodState state, std::string_view what, std::optional<double> evict_after_s = {}) {
    return PodResult{
        state,
        StrCat("pod ", FullName(pod), ": ", what, pod.resize_message.empty() ? "" : ": ", pod.resize_message),
        evict_after_s};
  };
  const bool runs = RunsWith(container, resource, wanted);  // then another resource of the pod is waited for
  switch (pod.resize) {
    case ResizeState::kDeferred:
      return with(PodState::kWaiting, "deferred by the kubelet", runs ? std::nullopt : EvictAfter(true));
    case ResizeState::kInfeasible:
      return with(PodState::kProblem, "infeasible on this node", runs ? std::nullopt : EvictAfter(false));
    case ResizeState::kError:
      return with(PodState::kProblem, "the kubelet failed to resize it");
    case ResizeState::kInProgress:
      return with(PodState::kWaiting, "the kubelet is resizing it");
    case ResizeState::kNone:
      break;
  }
  if (runs) return {PodState::kDone, ""};
  return {PodState::kWaiting, StrCat("pod ", FullName(pod), ": the kubelet has not taken it yet")};
}

// Of an error of the request that was made last.
double KubernetesActuator::RetryAt(const absl::Status& status) const {
  return options_.steady_s() +
         (MayPass(status) ? std::max(options_.retry_s, writer_->retry_after_s()) : options_.refused_retry_s);
}

KubernetesActuator::PodResult KubernetesActuator::Patch(const Pod& pod, const ContainerState& container,
                                                        Resource resource, const ContainerResources& wanted,
                                                        PodMemory& memory) {
  const double now_s = options_.steady_s();
  const absl::Status status = writer_->ResizePod(pod, ResizePatch(container, resource, wanted));
  {
    const std::lock_guard lock(mutex_);
    ++(status.ok() ? counts_.resizes : counts_.failed);
  }
  memory.patched = wanted;
  memory.problem.clear();
  memory.cannot_resize = HasNoResize(status);
  // A refusal of a lower memory limit says nothing of CPU.
  if (status.ok() || (memory.cannot_resize && absl::IsNotFound(status))) {
    const std::lock_guard lock(mutex_);
    resizes_ = status.ok();
  }
  if (status.ok()) {
    // Once it is seen, the pod changes and is looked at again; a patch that is never seen is sent again.
    memory.retry_at_s = now_s + options_.unseen_s;
    sent_[pod.uid].push_back({container.name, resource, wanted, memory.retry_at_s});
    return {PodState::kWaiting, StrCat("pod ", FullName(pod), ": the kubelet has not taken it yet")};
  }
  const std::string text = StrCat(
      "pod ", FullName(pod), ": ", Message(status),
      container.of_pod(resource) && !MayPass(status)
          ? "; resources of a whole pod (spec.resources) are resized by Kubernetes with the feature gate "
            "InPlacePodLevelResourcesVerticalScaling"
          : "");
  memory.retry_at_s = RetryAt(status);
  if (!MayPass(status)) memory.problem = text;
  return {MayPass(status) ? PodState::kWaiting : PodState::kProblem, text,
          memory.cannot_resize ? EvictAfter(false) : std::nullopt};
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
  // The owner's limits are back, and pods that are created later have them from their template.
  const bool released =
      IsReleased(*now) && work.entry.all.has_value() && now->all->decision == work.entry.all->decision;
  if (all_done && released) {
    Unindex(work.key);
    orders_.Erase(work.key);
    memory_.erase(work.key);
  }
}

void KubernetesActuator::Scale(ScaleOrder scale) {
  const absl::Status status = TryScale(scale.order);
  const double retry_at_s = RetryAt(status);
  OutcomeUpdate outcome;
  outcome.id = scale.order.decision;
  outcome.time_s = options_.unix_s();
  outcome.text = status.ok() ? "the workload's scale was set" : std::string(Message(status));
  const bool again = MayPass(status);
  outcome.outcome = status.ok() ? Outcome::kApplied : again ? Outcome::kPending : Outcome::kFailed;
  const std::lock_guard lock(mutex_);
  ++(status.ok() ? counts_.scales : counts_.failed);
  if (outcome.text != scale.last_text) outcomes_.push_back(outcome);
  // A newer order counts.
  if (again) {
    scales_.try_emplace(scale.order.job, ScaleOrder{scale.order, retry_at_s, std::move(outcome.text)});
  }
}

absl::Status KubernetesActuator::TryScale(const TargetOrder& order) {
  const std::optional<WorkloadName> workload = cluster_->naming().Of(order.workload);
  if (!workload.has_value())
    return absl::InvalidArgumentError("the job is none of a workload of the cluster");
  if (!order.value.has_value()) return absl::OkStatus();  // the number stays as it is
  if (const std::string why = WhyNot(); !why.empty()) return absl::AbortedError(why);
  if (!workload->group.empty() || cluster_->pods().IsSplit(*workload)) {
    return absl::FailedPreconditionError(
        "the pods of this workload are several jobs (tautline.dev/split): their number of replicas cannot be "
        "set "
        "by one of them");
  }
  if (!workload->container.empty()) {
    for (const PodPtr& pod : cluster_->pods().Of(*workload)) {
      if (pod->containers.size() > 1) {
        return absl::FailedPreconditionError(
            StrCat("pod ", FullName(*pod), " has ", pod->containers.size(),
                   " containers, and each is a job: their number of replicas cannot be set by one of them"));
      }
    }
  }
  if (options_.owners != nullptr && !options_.owners->KnowsScaledObjects()) {
    return absl::AbortedError(
        "the ScaledObjects of the cluster are not known yet: tautd has to list and watch them");
  }
  const std::string owner = options_.owners == nullptr ? "" : options_.owners->ReplicasOwner(*workload);
  if (!owner.empty()) {
    return absl::FailedPreconditionError(
        StrCat(owner, " sets the replicas of this workload; delete it to let Tautline set them"));
  }
  return writer_->Scale(*workload, std::llround(*order.value));
}

bool KubernetesActuator::Claims(const TargetOrder& order) const {
  if (order.target.is_replicas() && !options_.scale) return false;
  const std::optional<WorkloadName> workload = cluster_->naming().Of(order.workload);
  return workload.has_value() && IsOurs(*workload);
}

void KubernetesActuator::Index(const StandingOrders::Key& key) {
  by_workload_[WorkloadKey(orders_.Find(key)->workload)].insert(key);
  due_.insert(key);
  has_new_orders_ = true;
}

void KubernetesActuator::Unindex(const StandingOrders::Key& key) {
  const auto it = by_workload_.find(WorkloadKey(orders_.Find(key)->workload));
  if (it == by_workload_.end()) return;
  it->second.erase(key);
  if (it->second.empty()) by_workload_.erase(it);
}

void KubernetesActuator::Apply(std::span<const TargetOrder> orders, int64_t now_s) {
  {
    const std::lock_guard lock(mutex_);
    for (const TargetOrder& order : orders) {
      if (!Claims(order)) {
        if (!IsFinal(order.known)) outcomes_.push_back(NotOurs(order, now_s));
        continue;
      }
      if (order.target.is_replicas()) {
        // One that was carried out holds nothing: the number may be another's since.
        if (IsFinal(order.known)) continue;
        scales_.insert_or_assign(order.job, ScaleOrder{order, 0, ""});
        has_new_scale_ = true;
        continue;
      }
      orders_.Take(order, *cluster_->naming().Of(order.workload), now_s, outcomes_);
      Index({order.job, order.target});
    }
  }
  wake_.notify_all();
}

std::vector<OutcomeUpdate> KubernetesActuator::TakeOutcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

std::string KubernetesActuator::SaveState() const {
  const std::lock_guard lock(mutex_);
  std::string state;
  ByteWriter out(&state);
  orders_.Save(out);
  return state;
}

void KubernetesActuator::LoadState(std::string_view state) {
  ByteReader in(state);
  const ClusterNaming& naming = cluster_->naming();
  const std::lock_guard lock(mutex_);
  (void)orders_.Load(in, [&naming](std::string_view job) { return naming.OfStoredName(job); });
  for (const auto& [key, entry] : orders_.entries()) Index(key);
}

KubernetesActuatorCounts KubernetesActuator::counts() const {
  const std::lock_guard lock(mutex_);
  KubernetesActuatorCounts out = counts_;
  out.orders = orders_.entries().size();
  return out;
}

}  // namespace taut::server
