#include "server/kubernetes/watch/pod_series.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "common/base/name_template.h"
#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "server/ingest/oom_watch.h"
#include "server/ingest/series_text.h"

namespace taut::server {
namespace {

class PodSeries {
 public:
  PodSeries(const ClusterNaming& naming, Timestamp now, bool starts, OneSampleFn fn)
      : cluster_(naming.cluster), now_ms_(now.us / 1000), starts_(starts), fn_(fn) {}

  void Add(const Pod& pod) { pod.is_ended ? Ended(pod) : All(pod); }

  void All(const Pod& pod) {
    Owners(pod);
    Labels(pod);
    for (const std::string& container : pod.left_out) {
      BeginContainer("kube_pod_init_container_info", pod, container);
      End(1);
    }
    for (const auto& [container, killed_s] : pod.left_out_kills) End(pod, container, kOomKilled, killed_s);
    for (const ContainerState& container : pod.containers) Container(pod, container);
  }

  // A pod that has ended or is gone: of a kill of a short while ago that may be news.
  void Ended(const Pod& pod) {
    if (now_ms_ - LastOomKill(pod) * 1000 > OomWatch::kNewsMs) return;
    Owners(pod);
    for (const std::string& container : pod.left_out) {
      BeginContainer("kube_pod_init_container_info", pod, container);
      End(1);
    }
    for (const auto& [container, killed_s] : pod.left_out_kills) End(pod, container, kOomKilled, killed_s);
    for (const ContainerState& c : pod.containers) {
      if (c.was_oom_killed()) End(pod, c.name, c.last_reason, c.ended_s);
    }
  }

  void Owners(const std::string& kind, const OwnedObject& object) {
    const bool is_replica_set = kind == "ReplicaSet";
    Begin(is_replica_set ? "kube_replicaset_owner" : "kube_job_owner", object.namespace_name);
    Add(is_replica_set ? "replicaset" : "job_name", object.name);
    AddOwner(object.owner_kind, object.owner_name);
    End(1);
    if (is_replica_set || object.program.empty()) return;
    Begin("kube_job_labels", object.namespace_name);
    Add("job_name", object.name);
    Add(kProgramLabel, object.program);
    End(1);
  }

 private:
  void Owners(const Pod& pod) {
    Begin("kube_pod_owner", pod.namespace_name);
    Add("pod", pod.name);
    const std::string owner = OwnerOf(pod), regrouped = StrCat(pod.regrouped);
    AddOwner(pod.owner_kind, owner);
    // A series of its own, so that a group that it had before counts again.
    if (pod.regrouped > 0) Add("regrouped", regrouped);
    End(1);
  }

  void Labels(const Pod& pod) {
    if (pod.labels.empty() && pod.program.empty()) return;
    Begin("kube_pod_labels", pod.namespace_name);
    Add("pod", pod.name);
    if (!pod.program.empty()) Add(kProgramLabel, pod.program);
    names_.clear();
    names_.reserve(pod.labels.size());
    for (const auto& [key, value] : pod.labels) {
      const std::string& name = names_.emplace_back(StrCat("label_", LabelInMetrics(key)));
      if (name != kProgramLabel) Add(name, value);
    }
    End(1);
  }

  void Container(const Pod& pod, const ContainerState& container) {
    if (container.is_sidecar) {
      BeginContainer("kube_pod_init_container_info", pod, container.name);
      Add("restart_policy", "Always");
      End(1);
    }
    // What the whole pod may use is what any of its containers may.
    Amounts limits = container.owner_limits;
    for (const Resource r : kPodResources) {
      if (!limits.of(r).has_value() && !container.limits.of(r).has_value())
        limits.of(r) = pod.pod_limits.of(r);
    }
    Resources("kube_pod_container_resource_limits", pod, container, limits);
    Resources("kube_pod_container_resource_requests", pod, container, container.owner_requests);
    if (!container.last_reason.empty()) {
      // Before the rest: what was said of this moment earlier may be that it waited.
      BeginContainer("kube_pod_container_status_waiting", pod, container.name);
      End(container.running ? 0 : 1);
      End(pod, container.name, container.last_reason, container.ended_s);
    }
    BeginContainer("kube_pod_container_status_restarts_total", pod, container.name);
    End(static_cast<double>(container.restarts));
    if (starts_ && container.running && container.started_s > 0) {
      BeginContainer("kube_pod_container_state_started", pod, container.name);
      End(static_cast<double>(container.started_s));
    }
  }

  // Why and when a container ended last. The reason comes first: a date or a restart without it says nothing.
  void End(const Pod& pod, std::string_view container, std::string_view reason, int64_t ended_s) {
    const auto say = [&](std::string_view why, double value) {
      BeginContainer("kube_pod_container_status_last_terminated_reason", pod, container);
      Add("reason", why);
      End(value);
    };
    // An end of a moment ago may have had it.
    if (reason != kOomKilled) say(kOomKilled, 0);
    say(reason, 1);
    if (ended_s <= 0) return;
    BeginContainer("kube_pod_container_status_last_terminated_timestamp", pod, container);
    End(static_cast<double>(ended_s));
  }

  void Begin(std::string_view metric, std::string_view namespace_name) {
    labels_.clear();
    Add(kMetricNameLabel, metric);
    if (!cluster_.empty()) Add("cluster", cluster_);
    Add("namespace", namespace_name);
  }
  void BeginContainer(std::string_view metric, const Pod& pod, std::string_view container) {
    Begin(metric, pod.namespace_name);
    Add("pod", pod.name);
    Add("container", container);
  }
  void Add(std::string_view name, std::string_view value) { labels_.push_back({name, value}); }
  void AddOwner(std::string_view kind, std::string_view name) {
    Add("owner_kind", kind.empty() ? "<none>" : kind);
    Add("owner_name", kind.empty() ? "<none>" : name);
    Add("owner_is_controller", kind.empty() ? "<none>" : "true");
  }
  void Resources(std::string_view metric, const Pod& pod, const ContainerState& container,
                 const Amounts& amounts) {
    const auto add = [&](std::string_view resource, const std::optional<double>& amount) {
      if (!amount.has_value()) return;
      BeginContainer(metric, pod, container.name);
      Add("resource", resource);
      End(*amount);
    };
    add("cpu", amounts.cpu);
    add("memory", amounts.memory);
  }
  void End(double value) {
    std::sort(labels_.begin(), labels_.end(),
              [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
    fn_(labels_, value, now_ms_);
  }

  const std::string& cluster_;
  const int64_t now_ms_;
  const bool starts_;
  OneSampleFn fn_;
  std::vector<LabelView> labels_;
  std::vector<std::string> names_;
};

bool IsWanted(std::string_view metric) {
  constexpr std::array<std::string_view, 6> kWanted = {"container_cpu_usage_seconds_total",
                                                       "container_memory_working_set_bytes",
                                                       "container_oom_events_total",
                                                       "container_cpu_cfs_periods_total",
                                                       "container_cpu_cfs_throttled_periods_total",
                                                       "container_memory_max_usage_bytes"};
  return std::find(kWanted.begin(), kWanted.end(), metric) != kWanted.end();
}

// "value" or "value timestamp".
bool ParseSample(std::string_view text, double& value, int64_t& timestamp_ms) {
  text = StripSpace(text);
  const size_t blank = std::min(text.find(' '), text.size());
  const std::optional<double> number = ParseDouble(text.substr(0, blank));
  if (!number.has_value()) return false;
  value = *number;
  const std::string_view time = StripSpace(text.substr(blank));
  if (time.empty()) return true;
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), timestamp_ms);
  return error == std::errc() && end == time.data() + time.size();
}

// The end of the labels: a brace outside quotes. npos: none.
size_t EndOfLabels(std::string_view line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == '}' && !quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool TakeLine(std::string_view line, const Cluster& cluster, std::string_view namespaces, int64_t now_ms,
              OneSampleFn fn) {
  const size_t end = EndOfLabels(line);
  if (end == std::string_view::npos) return false;
  const absl::StatusOr<LabelList> parsed = ParseSeriesText(line.substr(0, end + 1));
  double value = 0;
  int64_t timestamp_ms = now_ms;
  if (!parsed.ok() || !ParseSample(line.substr(end + 1), value, timestamp_ms)) return false;
  std::vector<LabelView> labels;
  labels.reserve(parsed->size() + 1);
  for (const auto& [name, text] : *parsed) labels.push_back({name, text});
  const std::string_view container = LabelValue(labels, "container"),
                         namespace_name = LabelValue(labels, "namespace");
  if (container.empty() || container == "POD") return true;
  if (!namespaces.empty() && !FitsPattern(namespace_name, namespaces)) return true;
  if (cluster.IsLeftOut(namespace_name, LabelValue(labels, "pod"), container)) return true;
  if (const std::string& name = cluster.naming().cluster; !name.empty()) {
    std::erase_if(labels, [](const LabelView& label) { return label.name == "cluster"; });
    labels.push_back({"cluster", name});
    std::sort(labels.begin(), labels.end(),
              [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  }
  fn(labels, value, timestamp_ms);
  return true;
}

}  // namespace

std::string LabelInMetrics(std::string_view key) {
  std::string out(key);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return out;
}

void ForEachPodSeries(const ClusterNaming& naming, std::span<const PodPtr> pods, Timestamp now, bool starts,
                      OneSampleFn fn) {
  PodSeries series(naming, now, starts, fn);
  for (const PodPtr& pod : pods) series.Add(*pod);
}

void ForEachPodSeries(const Cluster& cluster, Timestamp now, bool starts, OneSampleFn fn) {
  PodSeries series(cluster.naming(), now, starts, fn);
  cluster.ForEachOwned(
      [&](const std::string& kind, const OwnedObject& object) { series.Owners(kind, object); });
  cluster.ForEachPod([&](const PodPtr& pod) { series.Add(*pod); });
}

size_t ForEachUsageSeries(std::string_view text, const Cluster& cluster, std::string_view namespaces,
                          Timestamp now, OneSampleFn fn) {
  size_t damaged = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t brace = line.find('{');
    if (brace == std::string_view::npos || !IsWanted(line.substr(0, brace))) continue;
    damaged += TakeLine(line, cluster, namespaces, now.us / 1000, fn) ? 0 : 1;
  }
  return damaged;
}

}  // namespace taut::server
