#include "server/kubernetes/watch/namespace_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/strings.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

struct RequestAndLimit {
  std::optional<double> request, limit;
};

RequestAndLimit OfContainer(const ContainerState& container, Resource resource) {
  return {container.requests.of(resource), container.limits.of(resource)};
}

// Returns the sums of requests and limits over the containers; absent if no container has the amount.
RequestAndLimit SumOf(const Pod& pod, Resource resource) {
  RequestAndLimit sum;
  for (const ContainerState& container : pod.containers) {
    const RequestAndLimit one = OfContainer(container, resource);
    if (one.request.has_value()) sum.request = sum.request.value_or(0) + *one.request;
    if (one.limit.has_value()) sum.limit = sum.limit.value_or(0) + *one.limit;
  }
  return sum;
}

// Returns the sum of the containers' amounts that count against the pod's limit. A container without a limit is
// bounded only by the pod's limit, so its request counts.
double SharedOf(const Pod& pod, Resource resource) {
  double sum = 0;
  for (const ContainerState& container : pod.containers) {
    const RequestAndLimit one = OfContainer(container, resource);
    sum += one.limit.has_value() ? *one.limit : one.request.value_or(0);
  }
  return sum;
}

bool Above(const std::optional<double>& value, const std::optional<double>& most) {
  return value.has_value() && most.has_value() && *value > *most * (1 + 1e-9);
}

// Returns the violation of a LimitRange as text for users; "" if the amounts are within the range.
std::string Broken(const RequestAndLimit& now, const AmountRange& range, Resource resource) {
  const std::optional<double> least = range.min.of(resource), most = range.max.of(resource),
                              ratio = range.max_limit_request_ratio.of(resource);
  if (Above(now.limit, most)) return StrCat("limit above ", Quantity(resource, *most));
  if (Above(now.request, most)) return StrCat("request above ", Quantity(resource, *most));
  if (Above(least, now.request)) return StrCat("request below ", Quantity(resource, *least));
  if (Above(least, now.limit)) return StrCat("limit below ", Quantity(resource, *least));
  if (now.request.has_value() && now.limit.has_value() && ratio.has_value() &&
      *now.limit > *ratio * *now.request * (1 + 1e-9)) {
    return StrCat("limit above ", *ratio, " times the request");
  }
  return "";
}

std::string BrokenOf(const Pod& before, const Pod& after, const NamespaceRule& rule, Resource resource) {
  for (size_t i = 0; i < after.containers.size() && i < before.containers.size(); ++i) {
    const std::string what = Broken(OfContainer(after.containers[i], resource), rule.container, resource);
    if (!what.empty() &&
        Broken(OfContainer(before.containers[i], resource), rule.container, resource).empty()) {
      return StrCat("of container ", after.containers[i].name, ": ", what);
    }
  }
  const RequestAndLimit was = SumOf(before, resource), now = SumOf(after, resource);
  const std::string what = Broken(now, rule.pod, resource);
  if (!what.empty() && Broken(was, rule.pod, resource).empty()) return StrCat("of the pod: ", what);
  // The used amount of a quota excludes the new pod, so the whole amount of the pod must fit into the remaining
  // amount.
  if (Above(now.request, rule.requests_left.of(resource)) && Above(now.request, was.request))
    return "of the pod: request above what is left";
  if (Above(now.limit, rule.limits_left.of(resource)) && Above(now.limit, was.limit))
    return "of the pod: limit above what is left";
  return "";
}

}  // namespace

AllowedRange AllowedBy(std::span<const NamespaceRule> rules, const LargestNode& largest,
                       const RecommendedAmount& amount, Resource resource) {
  // Factors from the recommended amount to the request and to the limit. The request is never above the limit, so
  // the minimum of a LimitRange applies to the request, and its maximum to the limit.
  const double of_request = amount.is_request ? 1 : amount.share;
  const double of_limit = amount.is_request ? 1 / amount.share : 1;
  AllowedRange out;
  if (const std::optional<double> most = largest.amounts.of(resource); most.has_value()) {
    out.upper = most;  // Kubernetes also rejects an in-place resize above the node's size
    out.upper_by = largest.ByText(resource);
  }
  for (const NamespaceRule& rule : rules) {
    const AmountRange& range = amount.of_pods ? rule.pod : rule.container;
    const std::optional<double> least = range.min.of(resource), most = range.max.of(resource);
    if (most.has_value() && *most / of_limit < out.upper.value_or(INFINITY)) {
      out.upper = *most / of_limit;
      out.upper_by = StrCat("LimitRange ", rule.name);
    }
    if (least.has_value() && *least / of_request > out.lower.value_or(0)) {
      out.lower = *least / of_request;
      out.lower_by = StrCat("LimitRange ", rule.name);
    }
  }
  // The lower bound exceeds the upper bound if a LimitRange requires more than any node has. Then raise the upper
  // bound, because the API server rejects pods below the LimitRange.
  if (out.lower.has_value() && out.upper.has_value() && *out.lower > *out.upper) out.upper = out.lower;
  return out;
}

std::string AbovePod(const Pod& before, const Pod& after) {
  for (const Resource r : kPodResources) {
    // A container with the amounts of the whole pod is the pod's only container, so its amounts equal the pod's.
    if (std::ranges::any_of(after.containers, [r](const ContainerState& c) { return c.of_pod(r); })) continue;
    const std::optional<double>&most_requests = after.pod_requests.of(r), most = after.pod_limits.of(r);
    const RequestAndLimit was = SumOf(before, r), now = SumOf(after, r);
    if (Above(now.request, most_requests) && Above(now.request, was.request.value_or(0))) {
      return StrCat("the ", Name(r), " requests of its containers together above ",
                    Quantity(r, *most_requests), ", the request of the whole pod (spec.resources)");
    }
    const double had = SharedOf(before, r), shared = SharedOf(after, r);
    if (Above(shared, most) && Above(shared, had)) {
      return StrCat("the ", Name(r), " limits of its containers together above ", Quantity(r, *most),
                    ", the limit of the whole pod (spec.resources)");
    }
  }
  return "";
}

std::string BrokenRule(const Pod& before, const Pod& after, std::span<const NamespaceRule> rules) {
  if (std::string above = AbovePod(before, after); !above.empty()) return above;
  for (const NamespaceRule& rule : rules) {
    for (const Resource r : kPodResources) {
      const std::string what = BrokenOf(before, after, rule, r);
      if (!what.empty()) return StrCat(rule.namespace_name, "/", rule.name, ": ", Name(r), " ", what);
    }
  }
  return "";
}

std::string AboveNodes(const Pod& before, const Pod& after, const Amounts& largest_node, Resource resource) {
  const std::optional<double> most = largest_node.of(resource), was = SumOf(before, resource).request,
                              now = SumOf(after, resource).request;
  if (!Above(now, most) || !Above(now, was.value_or(0))) return "";
  return StrCat("the containers of a new pod would request ", Quantity(resource, *now), " of ",
                Name(resource), " together, more than any node that it may run on has (",
                Quantity(resource, *most), ")");
}

void NamespaceRules::Replace(const std::string& kind, std::vector<NamespaceRule> all) {
  const std::string prefix = StrCat(kind, "/");
  const std::lock_guard lock(mutex_);
  Note(kind);
  known_.insert(kind);
  for (auto& [name, rules] : rules_)
    std::erase_if(rules, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  std::erase_if(rules_, [](const auto& entry) { return entry.second.empty(); });
  for (NamespaceRule& rule : all) {
    const std::string key = prefix + rule.name;
    rules_[rule.namespace_name].insert_or_assign(key, std::move(rule));
  }
}

void NamespaceRules::Put(const std::string& kind, NamespaceRule rule) {
  const std::lock_guard lock(mutex_);
  Note(kind);
  const std::string key = StrCat(kind, "/", rule.name);
  rules_[rule.namespace_name].insert_or_assign(key, std::move(rule));
}

void NamespaceRules::Remove(const std::string& kind, const NamespaceRule& rule) {
  const std::lock_guard lock(mutex_);
  Note(kind);
  const auto found = rules_.find(rule.namespace_name);
  if (found == rules_.end()) return;
  found->second.erase(StrCat(kind, "/", rule.name));
  if (found->second.empty()) rules_.erase(found);
}

// Counts changes of LimitRanges only. The used amount of a quota changes with every pod, but no recommendation
// depends on it. Each counted change causes all settings to be passed on again.
void NamespaceRules::Note(const std::string& kind) { version_ += kind == "LimitRange" ? 1 : 0; }

uint64_t NamespaceRules::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

bool NamespaceRules::Knows(const std::string& kind) const {
  const std::lock_guard lock(mutex_);
  return known_.contains(kind);
}

std::vector<NamespaceRule> NamespaceRules::Of(const std::string& namespace_name) const {
  const std::lock_guard lock(mutex_);
  std::vector<NamespaceRule> out;
  const auto found = rules_.find(namespace_name);
  if (found == rules_.end()) return out;
  for (const auto& [key, rule] : found->second) out.push_back(rule);
  return out;
}

}  // namespace taut::server
