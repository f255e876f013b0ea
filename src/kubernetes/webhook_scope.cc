#include "kubernetes/webhook_scope.h"

#include <algorithm>

#include "base/strings.h"
#include "simdjson.h"

namespace taut {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;
using Labels = std::vector<std::pair<std::string, std::string>>;

std::string_view Text(const element& at, std::string_view key) {
  std::string_view out;
  return at[key].get_string().get(out) == simdjson::SUCCESS ? out : std::string_view();
}

Labels ReadLabels(const element& at, std::string_view key) {
  Labels out;
  object labels;
  if (at[key].get_object().get(labels) != simdjson::SUCCESS) return out;
  for (const auto& field : labels) {
    std::string_view value;
    if (field.value.get_string().get(value) == simdjson::SUCCESS) out.emplace_back(field.key, value);
  }
  return out;
}

const std::string* Find(const Labels& labels, std::string_view key) {
  const auto it = std::ranges::find_if(labels, [key](const auto& label) { return label.first == key; });
  return it == labels.end() ? nullptr : &it->second;
}

bool Fits(const element& expression, const Labels& labels) {
  const std::string_view op = Text(expression, "operator");
  const std::string* const value = Find(labels, Text(expression, "key"));
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  bool is_one = false;
  array values;
  if (expression["values"].get_array().get(values) == simdjson::SUCCESS) {
    for (const element item : values) {
      std::string_view text;
      is_one |= value != nullptr && item.get_string().get(text) == simdjson::SUCCESS && text == *value;
    }
  }
  return op == "In" ? is_one : op == "NotIn" && !is_one;
}

// Without a selector everything is selected.
bool Selects(const element& webhook, std::string_view key, const Labels& labels) {
  element selector;
  if (webhook[key].get(selector) != simdjson::SUCCESS || selector.is_null()) return true;
  for (const auto& [name, value] : ReadLabels(selector, "matchLabels")) {
    const std::string* const found = Find(labels, name);
    if (found == nullptr || *found != value) return false;
  }
  array expressions;
  if (selector["matchExpressions"].get_array().get(expressions) != simdjson::SUCCESS) return true;
  return std::ranges::all_of(expressions, [&](const element& e) { return Fits(e, labels); });
}

absl::Status Check(const element& webhook, const Labels& namespace_labels, const Labels& pod_labels) {
  const auto refuse = [](std::string_view why) {
    return absl::FailedPreconditionError(StrCat("the webhook ", kPodWebhook, " ", why));
  };
  std::string_view bundle;
  if (webhook["clientConfig"]["caBundle"].get_string().get(bundle) != simdjson::SUCCESS || bundle.empty())
    return refuse("has no certificate of tautd yet");
  array conditions;
  if (webhook["matchConditions"].get_array().get(conditions) == simdjson::SUCCESS && conditions.size() > 0)
    return refuse("has matchConditions, of which tautd cannot tell what they select");
  if (!Selects(webhook, "namespaceSelector", namespace_labels))
    return refuse("is not asked about pods of this namespace (namespaceSelector)");
  if (!Selects(webhook, "objectSelector", pod_labels))
    return refuse("is not asked about pods with these labels (objectSelector)");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckWebhookScope(std::string_view configuration, std::string_view namespaces,
                               const std::vector<std::pair<std::string, std::string>>& pod_labels) {
  simdjson::dom::parser parser, of_namespaces;
  element root, list, metadata;
  if (parser.parse(configuration.data(), configuration.size()).get(root) != simdjson::SUCCESS ||
      of_namespaces.parse(namespaces.data(), namespaces.size()).get(list) != simdjson::SUCCESS)
    return absl::DataLossError("the API server's answer is not JSON");
  if (list.at_pointer("/items/0/metadata").get(metadata) != simdjson::SUCCESS)
    return absl::FailedPreconditionError("the pod's namespace is not there");
  array webhooks;
  if (root["webhooks"].get_array().get(webhooks) == simdjson::SUCCESS) {
    for (const element webhook : webhooks) {
      if (Text(webhook, "name") == kPodWebhook)
        return Check(webhook, ReadLabels(metadata, "labels"), pod_labels);
    }
  }
  return absl::FailedPreconditionError(
      StrCat("the MutatingWebhookConfiguration has no webhook ", kPodWebhook));
}

}  // namespace taut
