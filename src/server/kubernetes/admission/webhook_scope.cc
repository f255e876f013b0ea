#include "server/kubernetes/admission/webhook_scope.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels ReadLabels(JsonNode labels) {
  Labels out;
  labels.ForEachField([&out](std::string_view key, JsonNode value) {
    if (value.text().has_value()) out.emplace_back(key, *value.text());
  });
  return out;
}

const std::string* Find(const Labels& labels, std::string_view key) {
  const auto it = std::ranges::find_if(labels, [key](const auto& label) { return label.first == key; });
  return it == labels.end() ? nullptr : &it->second;
}

bool Fits(JsonNode expression, const Labels& labels) {
  const std::string_view op = expression.Text("operator");
  const std::string* const value = Find(labels, expression.Text("key"));
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  bool is_one = false;
  expression["values"].ForEachItem(
      [&](JsonNode item) { is_one |= value != nullptr && item.text() == std::string_view(*value); });
  return op == "In" ? is_one : op == "NotIn" && !is_one;
}

// Returns true if the labels match the selector. A missing selector matches all labels.
bool Selects(JsonNode selector, const Labels& labels) {
  bool selects = true;
  selector["matchLabels"].ForEachField([&](std::string_view key, JsonNode wanted) {
    const std::string* const value = Find(labels, key);
    selects &= value != nullptr && (!wanted.text().has_value() || *wanted.text() == *value);
  });
  selector["matchExpressions"].ForEachItem(
      [&](JsonNode expression) { selects = selects && Fits(expression, labels); });
  return selects;
}

absl::Status Check(JsonNode webhook, const Labels& namespace_labels, const Labels& pod_labels) {
  const auto refuse = [](std::string_view why) {
    return absl::FailedPreconditionError(StrCat("the webhook ", kPodWebhook, " ", why));
  };
  if (webhook["clientConfig"].Text("caBundle").empty()) return refuse("has no certificate of tautd yet");
  bool has_conditions = false;
  webhook["matchConditions"].ForEachItem([&has_conditions](JsonNode) { has_conditions = true; });
  if (has_conditions) return refuse("has matchConditions, of which tautd cannot tell what they select");
  if (!Selects(webhook["namespaceSelector"], namespace_labels))
    return refuse("is not asked about pods of this namespace (namespaceSelector)");
  if (!Selects(webhook["objectSelector"], pod_labels))
    return refuse("is not asked about pods with these labels (objectSelector)");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckWebhookScope(std::string_view configuration, std::string_view namespaces,
                               const std::vector<std::pair<std::string, std::string>>& pod_labels) {
  JsonTree of_webhooks, of_namespaces;
  if (!of_webhooks.Parse(configuration).ok() || !of_namespaces.Parse(namespaces).ok())
    return absl::DataLossError("the API server's answer is not JSON");
  JsonNode metadata, webhook;
  of_namespaces.root()["items"].ForEachItem([&metadata](JsonNode item) {
    if (!metadata) metadata = item["metadata"];
  });
  if (!metadata) return absl::FailedPreconditionError("the pod's namespace is not there");
  of_webhooks.root()["webhooks"].ForEachItem([&webhook](JsonNode item) {
    if (!webhook && item.Text("name") == kPodWebhook) webhook = item;
  });
  if (webhook) return Check(webhook, ReadLabels(metadata["labels"]), pod_labels);
  return absl::FailedPreconditionError(
      StrCat("the MutatingWebhookConfiguration has no webhook ", kPodWebhook));
}

}  // namespace taut::server
