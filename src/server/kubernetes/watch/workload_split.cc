#include "server/kubernetes/watch/workload_split.h"

#include <charconv>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr std::string_view kDaemonSet = "DaemonSet", kStatefulSet = "StatefulSet";
constexpr std::string_view kSplitNone = "none", kSplitNode = "node", kSplitOrdinal = "ordinal";

}  // namespace

SplitBy SplitOf(std::string_view kind, std::string_view annotation, bool by_nodes) {
  if (kind == kDaemonSet && by_nodes && annotation != kSplitNone) return SplitBy::kNode;
  if (kind == kStatefulSet && annotation == kSplitOrdinal) return SplitBy::kOrdinal;
  return SplitBy::kNone;
}

std::string WrongSplit(std::string_view kind, std::string_view annotation, bool by_nodes) {
  if (annotation.empty() || annotation == kSplitNone) return "";
  const std::string what = StrCat("the annotation ", kSplitAnnotation, ": ", annotation, " has no effect: ");
  if (kind == kDaemonSet && annotation == kSplitNode)
    return by_nodes ? "" : StrCat(what, "kubernetes.node_group_label is not set");
  if (kind == kStatefulSet && annotation == kSplitOrdinal) return "";
  return StrCat(what, "expected none or ", kind == kDaemonSet ? kSplitNode : kSplitOrdinal, " for a ", kind);
}

std::string OrdinalGroup(std::string_view pod, std::string_view owner) {
  if (!pod.starts_with(owner) || !pod.substr(owner.size()).starts_with('-')) return "";
  const std::string_view digits = pod.substr(owner.size() + 1);
  int ordinal = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || ordinal < 0 || ordinal >= kMostOrdinals || StrCat(ordinal) != digits) return "";
  return std::string(digits);
}

}  // namespace taut::server
