#include "server/kubernetes/admission/admission.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/client/quantity.h"
#include "server/kubernetes/watch/namespace_rules.h"

namespace taut::server {
namespace {

// Appends an operation to a JSON Patch. "add" also replaces an existing member.
void Add(std::string& patch, std::string_view path, std::string_view value) {
  StrAppend(&patch, patch.empty() ? "" : ",", R"({"op":"add","path":")", path, R"(","value":)", value, "}");
}

std::string PathOf(const ContainerState& container, std::string_view field, Resource resource) {
  if (container.of_pod(resource)) return StrCat("/spec/resources/", field);
  return StrCat("/spec/", container.is_sidecar ? "initContainers/" : "containers/", container.index,
                "/resources/", field);
}

void AddAmount(std::string& patch, const ContainerState& container, std::string_view field, Amounts& amounts,
               Resource resource, const std::optional<double>& wanted) {
  if (!wanted.has_value() || amounts.of(resource) == wanted) return;
  const std::string quantity = StrCat("\"", Quantity(resource, *wanted), "\"");
  // A patch must create the map before it can add a key to the map.
  const bool is_new = !amounts.cpu.has_value() && !amounts.memory.has_value();
  amounts.of(resource) = wanted;
  if (is_new) {
    Add(patch, PathOf(container, field, resource), StrCat("{\"", Name(resource), "\":", quantity, "}"));
  } else {
    Add(patch, StrCat(PathOf(container, field, resource), "/", Name(resource)), quantity);
  }
}

void AddAnnotation(std::string& patch, const PodReview& review) {
  const std::string value = JsonString(OwnersText(review.pod.containers, review.pod.admitted_by_us));
  if (!review.has_annotations) {
    return Add(patch, "/metadata/annotations", StrCat("{", JsonString(kOwnersAnnotation), ":", value, "}"));
  }
  std::string key(kOwnersAnnotation);
  key.replace(key.find('/'), 1, "~1");
  Add(patch, StrCat("/metadata/annotations/", key), value);
}

std::string Answer(const std::string& uid, const std::string& patch) {
  const std::string with = patch.empty() ? ""
                                         : StrCat(R"(,"patchType":"JSONPatch","patch":")",
                                                  absl::Base64Escape(StrCat("[", patch, "]")), "\"");
  return ReviewAnswer(uid, true, with);
}

// Bounds for a pod and its orders. A bound that `before` already exceeds is ignored.
struct PodRoom {
  const Pod& before;
  const Amounts& largest_node;
  std::span<const NamespaceRule> rules;
};

// Applies an order to `pod` and `patch`. An error leaves both unchanged.
absl::Status GiveAmount(const PodOrder& order, double amount, const PodRoom& room, Pod& pod,
                        std::string& patch) {
  Pod next = pod;
  const ContainerState* found = ResizedContainer(next, order.container);
  if (found == nullptr) return absl::NotFoundError("the pod has no such container");
  const auto plan = PlanResize(next, *found, {order.resource, amount, order.allocation, order.scaled_by},
                               room.largest_node);
  if (!plan.ok()) return plan.status();
  ContainerState& container = next.containers[static_cast<size_t>(found - next.containers.data())];
  std::string more = patch;
  AddAmount(more, container, "requests", container.requests, order.resource, plan->request);
  AddAmount(more, container, "limits", container.limits, order.resource, plan->limit);
  if (const std::string above = AboveNodes(room.before, next, room.largest_node, order.resource);
      !above.empty())
    return absl::FailedPreconditionError(above);
  if (const std::string broken = BrokenRule(room.before, next, room.rules); !broken.empty())
    return absl::FailedPreconditionError(broken);
  pod = std::move(next);
  patch = std::move(more);
  return absl::OkStatus();
}

absl::Status Give(const PodOrder& order, const PodRoom& room, Pod& pod, std::string& patch) {
  if (order.at_start.has_value() && GiveAmount(order, *order.at_start, room, pod, patch).ok())
    return absl::OkStatus();
  return GiveAmount(order, order.amount, room, pod, patch);
}

// Applies as much of an order as fits into the amounts that the pod's containers share (spec.resources). The
// amounts are set at creation, because a pod with shared amounts is not resized later.
void GiveWhatFits(const PodOrder& order, const PodRoom& room, Pod& pod, std::string& patch) {
  if (pod.pod_limits == Amounts() && pod.pod_requests == Amounts()) return;
  const ContainerState* const container = ResizedContainer(pod, order.container);
  if (container == nullptr) return;
  const std::optional<double> now =
      order.allocation.of_request() || !container->limits.of(order.resource).has_value()
          ? container->requests.of(order.resource)
          : container->limits.of(order.resource);
  if (!now.has_value()) return;
  const auto is_allowed = [&](double amount) {
    Pod next = pod;
    std::string unused;
    return GiveAmount(order, amount, room, next, unused).ok();
  };
  if (!is_allowed(*now)) return;
  const double most = FittingAmount(order.resource, *now, order.amount, is_allowed);
  (void)GiveAmount(order, most, room, pod, patch);
}

}  // namespace

std::string ReviewAnswer(std::string_view uid, bool allowed, std::string_view more) {
  return StrCat(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":)",
                JsonString(uid), R"(,"allowed":)", allowed ? "true" : "false", more, "}}");
}

std::string OwnersText(const std::vector<ContainerState>& containers, bool was_noted) {
  std::string out;
  for (const ContainerState& container : containers) {
    const Amounts& requests = was_noted ? container.owner_requests : container.requests;
    const Amounts& limits = was_noted ? container.owner_limits : container.limits;
    StrAppend(&out, out.empty() ? "" : ",", JsonString(container.name), R"(:{"requests":)",
              QuantitiesJson(requests.cpu, requests.memory), R"(,"limits":)",
              QuantitiesJson(limits.cpu, limits.memory), "}");
  }
  return StrCat("{", out, "}");
}

PodAdmission AdmitPod(const PodReview& review, std::span<const PodOrder> orders, const Amounts& largest_node,
                      std::span<const NamespaceRule> rules) {
  Pod pod = review.pod;  // pod with the orders applied so far
  std::string patch;
  const PodRoom room{review.pod, largest_node, rules};
  for (const PodOrder& order : orders) {
    if (!Give(order, room, pod, patch).ok()) GiveWhatFits(order, room, pod, patch);
  }
  if (!patch.empty()) AddAnnotation(patch, review);
  return {Answer(review.uid, patch), !patch.empty()};
}

std::string WhyNotGiven(const Pod& pod, std::string_view container, Resource resource,
                        std::span<const PodOrder> orders, const Amounts& largest_node,
                        std::span<const NamespaceRule> rules) {
  Pod before = pod;  // pod with the amounts of its template
  for (ContainerState& c : before.containers) {
    if (!c.knows_owner()) continue;
    c.requests = c.owner_requests;
    c.limits = c.owner_limits;
  }
  Pod next = before;
  std::string patch;
  std::string out = "nothing is set for all pods of its workload";
  // Apply all orders like AdmitPod(), because each order leaves less room for the next.
  for (const PodOrder& order : orders) {
    const absl::Status given = Give(order, {before, largest_node, rules}, next, patch);
    if (order.container == container && order.resource == resource)
      out = given.ok() ? "" : std::string(Message(given));
  }
  return out;
}

}  // namespace taut::server
