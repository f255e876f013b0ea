// Pods of one workload that are jobs apart, since they need different amounts: those of a DaemonSet by the group
// of their node, those of a StatefulSet by their ordinal. No I/O.
//
// The group stands in the job's name: "logging/daemonset/fluentd@large/app", "shop/statefulset/db@0/app". Pods of
// no group are the job without one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taut::server {

// By what people say how a workload is split: none, node (DaemonSet) or ordinal (StatefulSet).
inline constexpr std::string_view kSplitAnnotation = "tautline.dev/split";

enum class SplitBy : uint8_t { kNone, kNode, kOrdinal };
// Ordinals from this on are of no group.
inline constexpr int kMostOrdinals = 32;

// How a workload of this kind ("DaemonSet") is split where its annotation has this value ("": it has none).
// `by_nodes`: nodes have groups, and DaemonSets are split unless they say otherwise.
SplitBy SplitOf(std::string_view kind, std::string_view annotation, bool by_nodes);
// What is wrong with the annotation, for people. "": nothing.
std::string WrongSplit(std::string_view kind, std::string_view annotation, bool by_nodes);
// Of the pod "db-12" of the StatefulSet "db" it is "12"; "": it is of no group.
std::string OrdinalGroup(std::string_view pod, std::string_view owner);

}  // namespace taut::server
