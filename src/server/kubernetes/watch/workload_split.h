// Splits the pods of one workload into several jobs, because the pods need different amounts. Pods of a DaemonSet
// are split by the group of their node, and pods of a StatefulSet by their ordinal. No I/O.
//
// The group is a part of the job's workload (Workload::group) and of the job's name:
// "logging/daemonset/fluentd@large/app", "shop/statefulset/db@0/app". The name of the job of pods without a group
// has no group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taut::server {

// Annotation by which users split a workload: none, node (DaemonSet) or ordinal (StatefulSet).
inline constexpr std::string_view kSplitAnnotation = "tautline.dev/split";

enum class SplitBy : uint8_t { kNone, kNode, kOrdinal };
// Smallest ordinal of a pod without a group.
inline constexpr int kMostOrdinals = 32;

// Returns the rule by which a workload of this kind, such as "DaemonSet", is split. `annotation` is the value of
// the annotation; "" if there is none. `by_nodes` is true if nodes have groups. DaemonSets are then split unless
// their annotation is none.
SplitBy SplitOf(std::string_view kind, std::string_view annotation, bool by_nodes);
// Returns the error in the annotation, as text for users; "" if there is none.
std::string WrongSplit(std::string_view kind, std::string_view annotation, bool by_nodes);
// Returns the group of a StatefulSet's pod, which is its ordinal: "12" for pod "db-12" of the StatefulSet "db".
// Returns "" if the pod has no group.
std::string OrdinalGroup(std::string_view pod, std::string_view owner);

}  // namespace taut::server
