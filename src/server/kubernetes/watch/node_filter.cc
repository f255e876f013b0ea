#include "server/kubernetes/watch/node_filter.h"

#include <algorithm>
#include <charconv>

#include "common/base/strings.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

using Operator = NodeRequirement::Operator;

constexpr std::string_view kNameField = "metadata.name";

bool IsOfTheCluster(std::string_view key) {
  return key.starts_with("node.kubernetes.io/") || key.starts_with("node.cloudprovider.kubernetes.io/");
}

Operator OperatorOf(std::string_view name) {
  if (name == "In") return Operator::kIn;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  if (name == "Gt") return Operator::kGt;
  if (name == "Lt") return Operator::kLt;
  return Operator::kNever;
}

void ReadRequirements(JsonNode list, bool is_field, NodeTerm& out) {
  list.ForEachItem([&](JsonNode at) {
    NodeRequirement& requirement = out.emplace_back();
    requirement.key = at.Text("key");
    requirement.op = OperatorOf(at.Text("operator"));
    requirement.is_field = is_field;
    at["values"].ForEachItem([&](JsonNode value) {
      if (const auto text = value.text(); text.has_value()) requirement.values.emplace_back(*text);
    });
    std::sort(requirement.values.begin(), requirement.values.end());
  });
}

bool IsName(const NodeRequirement& requirement) {
  return requirement.is_field && requirement.key == kNameField && requirement.op == Operator::kIn &&
         requirement.values.size() == 1;
}

// Returns the node that every term names, and removes it from the terms. If the terms name no node or several
// nodes, returns "" and leaves the terms unchanged.
std::string TakePinned(std::vector<NodeTerm>& terms) {
  std::string out;
  for (const NodeTerm& term : terms) {
    const auto name = std::ranges::find_if(term, IsName);
    if (name == term.end() || (!out.empty() && out != name->values.front())) return "";
    out = name->values.front();
  }
  for (NodeTerm& term : terms) std::erase_if(term, IsName);
  return out;
}

void ReadTolerations(JsonNode list, std::vector<Toleration>& out) {
  list.ForEachItem([&out](JsonNode at) {
    const std::string_view key = at.Text("key");
    // Skip tolerations of the cluster's own taints, which nearly all pods have. ReadNode() omits these taints.
    if (IsOfTheCluster(key)) return;
    Toleration& toleration = out.emplace_back();
    toleration.key = key;
    toleration.exists = at.Text("operator") == "Exists";
    if (!toleration.exists) toleration.value = at.Text("value");
    toleration.effect = at.Text("effect");
  });
}

std::string_view NameOf(Operator op) {
  switch (op) {
    case Operator::kIn:
      return " in ";
    case Operator::kNotIn:
      return " not in ";
    case Operator::kExists:
      return " exists";
    case Operator::kDoesNotExist:
      return " does not exist";
    case Operator::kGt:
      return " > ";
    case Operator::kLt:
      return " < ";
    case Operator::kNever:
      break;
  }
  return " by an unknown operator ";
}

std::string TextOf(const NodeRequirement& requirement) {
  std::string values;
  for (const std::string& value : requirement.values)
    StrAppend(&values, values.empty() ? "" : ", ", value.empty() ? "\"\"" : value);
  const bool is_list = requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
  return StrCat(requirement.key, NameOf(requirement.op), is_list ? StrCat("(", values, ")") : values);
}

std::string WhereOf(const NodeFilter& filter) {
  std::string out;
  for (const auto& [key, value] : filter.selector)
    StrAppend(&out, out.empty() ? "nodeSelector " : ", ", key, "=", value);
  if (!filter.terms.has_value()) return out;
  std::string affinity;
  for (const NodeTerm& term : *filter.terms) {
    StrAppend(&affinity, affinity.empty() ? "" : " or ");
    std::string text;
    for (const NodeRequirement& requirement : term)
      StrAppend(&text, text.empty() ? "" : ", ", TextOf(requirement));
    StrAppend(&affinity, text.empty() ? "nothing" : text);
  }
  return StrCat(out, out.empty() ? "" : " and ", "node affinity ", affinity.empty() ? "nothing" : affinity);
}

std::string KeyOf(const NodeFilter& filter) {
  std::string out = filter.where;
  for (const Toleration& toleration : filter.tolerations) {
    StrAppend(&out, "; ", toleration.key, toleration.exists ? " exists" : StrCat("=", toleration.value), ":",
              toleration.effect);
  }
  return out;
}

std::optional<int64_t> WholeOf(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool Compares(const std::string& value, const NodeRequirement& requirement) {
  if (requirement.values.size() != 1) return false;
  const std::optional<int64_t> has = WholeOf(value), bound = WholeOf(requirement.values.front());
  if (!has.has_value() || !bound.has_value()) return false;
  return requirement.op == Operator::kGt ? *has > *bound : *has < *bound;
}

const std::string* LabelOf(const Node& node, std::string_view key) {
  for (const auto& [name, value] : node.labels) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Meets(const Node& node, const NodeRequirement& requirement) {
  const std::string* value = nullptr;
  if (!requirement.is_field) {
    value = LabelOf(node, requirement.key);
  } else if (requirement.key == kNameField) {
    value = &node.name;
  } else {
    return false;
  }
  const auto is_one = [&] {
    return std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return value != nullptr && is_one();
    case Operator::kNotIn:
      return value == nullptr || !is_one();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGt:
    case Operator::kLt:
      return value != nullptr && Compares(*value, requirement);
    case Operator::kNever:
      break;
  }
  return false;
}

bool MeetsTerm(const Node& node, const NodeTerm& term) {
  return !term.empty() &&
         std::ranges::all_of(term, [&node](const NodeRequirement& r) { return Meets(node, r); });
}

bool ToleratesOne(const Toleration& toleration, const NodeTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  if (toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

}  // namespace

std::shared_ptr<const NodeFilter> ReadNodeFilter(JsonNode pod_spec, std::string& pinned_node) {
  NodeFilter out;
  pod_spec["nodeSelector"].ForEachField([&out](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) out.selector.emplace_back(key, *text);
  });
  std::sort(out.selector.begin(), out.selector.end());
  const JsonNode required =
      pod_spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.is_object()) {
    out.terms.emplace();
    required["nodeSelectorTerms"].ForEachItem([&out](JsonNode at) {
      NodeTerm& term = out.terms->emplace_back();
      ReadRequirements(at["matchExpressions"], false, term);
      ReadRequirements(at["matchFields"], true, term);
    });
    pinned_node = TakePinned(*out.terms);
    // A term that named only the node is empty now and allows every node, so the other terms have no effect.
    const bool is_rest_empty =
        std::ranges::any_of(*out.terms, [](const NodeTerm& term) { return term.empty(); });
    if (!pinned_node.empty() && is_rest_empty) out.terms.reset();
  }
  ReadTolerations(pod_spec["tolerations"], out.tolerations);
  if (out.selector.empty() && !out.terms.has_value() && out.tolerations.empty()) return nullptr;
  out.where = WhereOf(out);
  out.key = KeyOf(out);
  return std::make_shared<const NodeFilter>(std::move(out));
}

bool ReadNode(JsonNode at, Node& node) {
  const JsonNode metadata = at["metadata"], status = at["status"];
  if (!metadata) return false;
  node.name = metadata.Text("name");
  metadata["labels"].ForEachField([&node](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) node.labels.emplace_back(key, *text);
  });
  at["spec"]["taints"].ForEachItem([&node](JsonNode taint) {
    const std::string_view effect = taint.Text("effect"), key = taint.Text("key");
    if (IsOfTheCluster(key) || (effect != "NoSchedule" && effect != "NoExecute")) return;
    node.taints.push_back({std::string(key), std::string(taint.Text("value")), std::string(effect)});
  });
  const JsonNode allocatable = status["allocatable"];
  const auto amount = [&](std::string_view key) -> std::optional<double> {
    const JsonNode value = allocatable[key];
    const std::optional<std::string_view> text = value.text();
    return text.has_value() ? ParseQuantity(*text) : value.number();
  };
  node.allocatable = {amount("cpu"), amount("memory")};
  status["conditions"].ForEachItem([&](JsonNode condition) {
    if (condition.Text("type") == "Ready") node.is_ready = condition.Text("status") == "True";
  });
  return true;
}

bool Selects(const NodeFilter* filter, const Node& node) {
  if (filter == nullptr) return true;
  for (const auto& [key, value] : filter->selector) {
    const std::string* has = LabelOf(node, key);
    if (has == nullptr || *has != value) return false;
  }
  if (!filter->terms.has_value()) return true;
  return std::ranges::any_of(*filter->terms, [&node](const NodeTerm& term) { return MeetsTerm(node, term); });
}

bool Tolerates(const NodeFilter* filter, const Node& node) {
  return std::ranges::all_of(node.taints, [filter](const NodeTaint& taint) {
    return filter != nullptr &&
           std::ranges::any_of(filter->tolerations, [&taint](const Toleration& toleration) {
             return ToleratesOne(toleration, taint);
           });
  });
}

}  // namespace taut::server
