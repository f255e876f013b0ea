// KubernetesActuator: orders that are set in a workload's template instead of its pods.
#include <algorithm>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"

namespace taut::server {
namespace {

constexpr std::string_view kSplitTemplate =
    "a template is that of all pods, and the pods of this workload are several jobs (tautline.dev/split): "
    "set "
    "in_template: false, or do not split it";
constexpr std::string_view kNoTrial =
    "a trial is of some pods, and a template is that of all: set mode auto, or in_template: false";

}  // namespace

TemplateSetter::Options KubernetesActuator::TemplateOptions() {
  TemplateSetter::Options out;
  out.unix_s = options_.unix_s;
  out.step_back_s = options_.step_back_s;
  out.refused_retry_s = options_.refused_retry_s;
  out.rules = options_.rules;
  out.largest_node = [this](const WorkloadName& workload) {
    WorkloadName whole = workload;
    whole.container.clear();
    return cluster_->nodes().LargestFor(cluster_->pods().Of(whole)).amounts;
  };
  out.why_not = [this] {
    std::string why = WhyNot();
    if (!why.empty()) might_ = false;
    return why;
  };
  return out;
}

// Applies all orders of the workload at once, because each apply starts a rollout and removes fields that it
// omits.
void KubernetesActuator::SetTemplate(const WorkloadName& workload, const std::string& name, Rolled& out) {
  struct Ordered {
    WorkloadName job;
    std::optional<double> amount;
  };
  std::map<StandingOrders::Key, Ordered> orders;
  {
    const std::lock_guard lock(mutex_);
    const auto keys = by_workload_.find(name);
    if (keys == by_workload_.end()) return;
    for (const StandingOrders::Key& key : keys->second) {
      const StandingOrders::Entry* entry = orders_.Find(key);
      if (entry != nullptr && entry->all.has_value())
        orders.emplace(key, Ordered{entry->workload, entry->all->value});
    }
  }
  std::vector<TemplateWish> wishes;
  for (const auto& [key, ordered] : orders) {
    // Call TermsOf() without the lock, because it calls another component, which takes a lock of its own.
    const std::optional<PodTerms> terms = TermsOf(key);
    const std::string& container_name = ordered.job.container;
    if (terms.has_value() && !terms->in_template) continue;
    if (!terms.has_value()) {
      // If the terms of one order are unknown, leave the whole template unchanged.
      out.results = {};
      out.results.again_in_s = options_.terms_s;
      out.results.of.assign(orders.size(), {TemplateSetter::Did::kWaits, "its settings are not known yet"});
      out.keys.clear();
      for (const auto& order : orders) out.keys.push_back(order.first);
      return;
    }
    const std::optional<double> held = terms->Held({0, ordered.amount}).value;
    TemplateWish wish{container_name, key.second.resource(), held, terms->allocation, terms->change_period_s};
    ContainerState container;
    container.name = container_name;
    FieldClaims claims = ClaimsOn(workload, container, wish.resource);
    wish.set_by = std::move(claims.set_by);
    wish.scaled_by = std::move(claims.scaled_by);
    wishes.push_back(std::move(wish));
    out.keys.push_back(key);
  }
  out.results = templates_setter_.Set(workload, wishes);
}

const KubernetesActuator::Rolled& KubernetesActuator::RolledOf(const WorkloadName& workload) {
  const std::string name = WorkloadKey(workload.namespace_name, workload.kind, workload.name);
  const auto [it, is_new] = rolled_.try_emplace(name);
  if (!is_new) return it->second;
  Rolled& out = it->second;
  SetTemplate(workload, name, out);
  const bool is_first = out.results.stepped_back && held_.insert(name).second;
  if (!out.results.stepped_back) held_.erase(name);
  if (!out.results.refused.ok()) out.until_s = RetryAt(out.results.refused);
  const std::lock_guard lock(mutex_);
  counts_.templates += out.results.was_set ? 1 : 0;
  counts_.failed += out.results.refused.ok() ? 0 : 1;
  counts_.stepped_back += is_first ? 1 : 0;
  return out;
}

void KubernetesActuator::RefuseTemplate(const Work& work, const std::vector<PodPtr>& pods) {
  std::map<uint64_t, Tally> tallies;
  for (const PodPtr& pod : pods) {
    const StandingOrder* order = work.entry.Of(pod->name);
    if (order == nullptr) continue;
    Tally& tally = tallies[order->decision];
    ++tally.pods;
    ++tally.problems;
    tally.text = kSplitTemplate;
  }
  ReportAll(work, tallies);
}

void KubernetesActuator::EnforceTemplate(const Work& work, const std::vector<PodPtr>& pods) {
  memory_.erase(work.key);
  if (!work.workload.group.empty() || cluster_->pods().IsSplit(work.workload))
    return RefuseTemplate(work, pods);
  const Rolled& rolled = RolledOf(work.workload);
  if (rolled.results.again_in_s > 0) Again(work.key, options_.steady_s() + rolled.results.again_in_s);
  if (rolled.until_s > 0) Again(work.key, rolled.until_s);
  const auto at = std::ranges::find(rolled.keys, work.key);
  // An order without a key in `rolled` applies only to the pods of a trial.
  const TemplateSetter::Result result =
      at == rolled.keys.end() ? TemplateSetter::Result{TemplateSetter::Did::kWaits, ""}
                              : rolled.results.of[static_cast<size_t>(at - rolled.keys.begin())];
  std::map<uint64_t, Tally> tallies;
  for (const PodPtr& pod : pods) {
    const StandingOrder* order = work.entry.Of(pod->name);
    if (order == nullptr) continue;
    const bool is_trial = work.entry.some.contains(pod->name);
    Tally& tally = tallies[order->decision];
    ++tally.pods;
    tally.done += !is_trial && result.did == TemplateSetter::Did::kDone ? 1 : 0;
    tally.problems += is_trial || result.did == TemplateSetter::Did::kFailed ? 1 : 0;
    tally.text = is_trial ? std::string(kNoTrial) : result.text;
  }
  if (work.terms.applies() || !work.entry.all.has_value() || !work.entry.all->value.has_value())
    ReportAll(work, tallies);
}

}  // namespace taut::server
