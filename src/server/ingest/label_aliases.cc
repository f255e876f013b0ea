#include "server/ingest/label_aliases.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace taut::server {
namespace {

constexpr std::string_view kExported = "exported_";

struct Alias {
  std::string_view sent, name;
  bool of_cadvisor_only = false;
};
constexpr std::array<Alias, 6> kAliases = {{{"pod_name", "pod", true},
                                            {"container_name", "container", true},
                                            {"k8s_namespace_name", "namespace"},
                                            {"k8s_pod_name", "pod"},
                                            {"k8s_container_name", "container"},
                                            {"k8s_cluster_name", "cluster"}}};

// Returns true for labels of a pod's series that may also be labels of a scrape target.
bool IsOfPod(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"namespace", "pod", "container", "node"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

std::span<const LabelView> WithAliases(std::span<const LabelView> labels, std::vector<LabelView>& scratch) {
  const std::string_view metric = LabelValue(labels, kMetricNameLabel);
  const bool cadvisor = metric.starts_with("container_");
  const bool scraped = cadvisor || metric.starts_with("kube_");
  bool changed = false;
  const auto set = [&](std::string_view name, std::string_view value) {
    if (!changed) scratch.assign(labels.begin(), labels.end());
    changed = true;
    const auto at = std::ranges::find(scratch, name, &LabelView::name);
    if (at != scratch.end()) {
      at->value = value;
    } else {
      scratch.push_back({name, value});
    }
  };
  for (const LabelView& label : labels) {
    if (scraped && label.name.starts_with(kExported)) {
      const std::string_view name = label.name.substr(kExported.size());
      if (IsOfPod(name)) set(name, label.value);
      continue;
    }
    for (const Alias& alias : kAliases) {
      if (label.name != alias.sent || (alias.of_cadvisor_only && !cadvisor)) continue;
      if (LabelValue(labels, alias.name).empty()) set(alias.name, label.value);
    }
  }
  return changed ? std::span<const LabelView>(scratch) : labels;
}

}  // namespace taut::server
