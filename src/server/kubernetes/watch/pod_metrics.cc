#include "server/kubernetes/watch/pod_metrics.h"

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/base/pattern.h"
#include "common/json/json_tree.h"
#include "server/kubernetes/client/quantity.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {
namespace {

constexpr int64_t kMostWindowMs = 3'600'000;

// Name and times of one PodMetrics item.
struct Item {
  std::string_view namespace_name, pod;
  int64_t begin_ms = 0, end_ms = 0;
};

bool ReadTimes(JsonNode item, int64_t now_ms, Item& out) {
  out.end_ms = now_ms;
  if (const std::string_view text = item.Text("timestamp"); !text.empty()) {
    absl::Time time;
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, std::string(text), &time, &error)) return false;
    out.end_ms = absl::ToUnixMillis(time);
  }
  absl::Duration window;
  if (!absl::ParseDuration(std::string(item.Text("window")), &window)) return false;
  const int64_t ms = absl::ToInt64Milliseconds(window);
  out.begin_ms = out.end_ms - ms;
  return ms >= 0 && ms <= kMostWindowMs;
}

// Parses an amount of CPU or memory; nullopt if it is invalid or negative.
std::optional<double> AmountOf(JsonNode usage, std::string_view key) {
  const std::optional<double> amount = ParseQuantity(usage.Text(key));
  return amount.has_value() && *amount >= 0 ? amount : std::nullopt;
}

// Reports the usage of one container to `to`. Returns false if the name is empty or an amount is invalid.
bool ReportContainer(const Item& item, JsonNode container, const Cluster& cluster, WorkloadIntake& to) {
  const std::string_view name = container.Text("name");
  const JsonNode usage = container["usage"];
  const std::optional<double> cpu = AmountOf(usage, "cpu"), memory = AmountOf(usage, "memory");
  if (name.empty() || !cpu.has_value() || !memory.has_value()) return false;
  const std::optional<WorkloadName> workload = cluster.pods().WorkloadOfPod(item.namespace_name, item.pod);
  if (!workload.has_value()) return true;  // ReportUsage() omits such pods, too
  const WorkloadPart part = PartOf(cluster.naming(), *workload, item.pod, name);
  to.Take(part, SeriesKind::kCpuCores, {*cpu, item.begin_ms});
  to.Take(part, SeriesKind::kMemoryBytes, {*memory, item.end_ms});
  return true;
}

}  // namespace

absl::StatusOr<size_t> ReportPodMetrics(std::string_view body, const Cluster& cluster,
                                        std::string_view namespaces, Timestamp now, WorkloadIntake& to) {
  JsonTree tree;
  if (absl::Status s = tree.Parse(body); !s.ok()) return s;
  if (!tree.root()["items"].is_array() && !tree.root()["items"].is_null())
    return absl::DataLossError("no PodMetricsList: it has no items");
  size_t damaged = 0;
  tree.root()["items"].ForEachItem([&](JsonNode node) {
    const JsonNode metadata = node["metadata"];
    Item item{.namespace_name = metadata.Text("namespace"), .pod = metadata.Text("name")};
    if (!namespaces.empty() && !FitsPattern(item.namespace_name, namespaces)) return;
    if (item.namespace_name.empty() || item.pod.empty() || !ReadTimes(node, now.us / 1000, item)) {
      ++damaged;
      return;
    }
    node["containers"].ForEachItem([&](JsonNode container) {
      if (cluster.containers().IsLeftOut(item.namespace_name, item.pod, container.Text("name"))) return;
      damaged += ReportContainer(item, container, cluster, to) ? 0 : 1;
    });
  });
  return damaged;
}

}  // namespace taut::server
