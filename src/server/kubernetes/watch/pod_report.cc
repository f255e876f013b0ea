#include "server/kubernetes/watch/pod_report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include "common/base/container_id.h"
#include "common/base/name_template.h"
#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "server/ingest/oom_watch.h"
#include "server/ingest/series_text.h"

namespace taut::server {
namespace {

std::string ScopeOf(const ClusterNaming& naming, std::string_view namespace_name) {
  return StrCat(naming.cluster, naming.cluster.empty() ? "" : "/", namespace_name);
}

// Kinds whose controller keeps a number of pods that run at the same time. Pods of other kinds end by themselves,
// or run once per node.
constexpr std::array<std::string_view, 4> kScaledKinds = {"deployment", "statefulset", "replicaset",
                                                          "replicationcontroller"};

class PodReport {
 public:
  PodReport(const Cluster& cluster, Timestamp now, bool starts, WorkloadIntake& to)
      : cluster_(cluster), naming_(cluster.naming()), now_ms_(now.us / 1000), starts_(starts), to_(to) {}

  void Add(const Pod& pod) {
    // Report only a recent OOM kill of an ended pod.
    if (pod.is_ended && now_ms_ - LastOomKill(pod) * 1000 > OomWatch::kNewsMs) return;
    workload_ = cluster_.pods().WorkloadOf(pod);
    Facts(pod);
    for (const auto& [container, killed_s] : pod.left_out_kills) End(PartOf(pod, container), true, killed_s);
    for (const ContainerState& c : pod.containers) {
      if (!pod.is_ended) {
        Container(pod, c);
      } else if (c.was_oom_killed()) {
        End(PartOf(pod, c.name), true, c.ended_s);
      }
    }
  }

  // Counts the pod for Replicas(), unless it has ended or is being deleted.
  void Count(const Pod& pod, const WorkloadName& workload) {
    if (pod.is_ended || pod.is_deleted ||
        std::ranges::find(kScaledKinds, workload.kind) == kScaledKinds.end())
      return;
    const bool by_pod = naming_.jobs == KubernetesJobs::kPods;
    for (const ContainerState& c : pod.containers) {
      const auto [at, is_new] =
          counted_.try_emplace(StrCat(WorkloadKey(workload), "/", by_pod ? "" : c.name));
      if (is_new) at->second.job = naming_.IdentityOf(workload, c.name);
      ++at->second.pods;
      at->second.ready += pod.is_ready ? 1 : 0;
      if (by_pod) break;
    }
  }

  // Reports the number of pods and of ready pods of each job with counted pods.
  void Replicas() {
    for (const auto& [key, counted] : counted_) {
      const WorkloadPart job{.job = counted.job};
      Put(job, SeriesKind::kReplicas, static_cast<double>(counted.pods));
      Put(job, SeriesKind::kReplicasReady, static_cast<double>(counted.ready));
    }
  }

  void Owner(const std::string& kind, const OwnedObject& object) {
    const std::string about = StrCat(ScopeOf(naming_, object.namespace_name), "/", kind, "/", object.name);
    Say({.kind = SeriesKind::kOwner,
         .about = about,
         .says = OwnerText(object.owner_kind, object.owner_name)});
    if (kind != "Job" || object.program.empty()) return;
    Say({.kind = SeriesKind::kOwner,
         .about = OwnerTable::ProgramKey(about),
         .says = OwnerTable::ProgramText(object.program)});
  }

 private:
  WorkloadPart PartOf(const Pod& pod, std::string_view container) const {
    return server::PartOf(naming_, workload_, pod.name, container);
  }
  void Say(const WorkloadFact& fact) { to_.Take(fact, now_ms_); }
  void Put(const WorkloadPart& part, SeriesKind kind, double value) {
    to_.Take(part, kind, {value, now_ms_});
  }
  void Put(const WorkloadPart& part, SeriesKind kind, const std::optional<double>& value) {
    if (value.has_value()) Put(part, kind, *value);
  }

  void Facts(const Pod& pod) {
    const std::string about = StrCat(ScopeOf(naming_, pod.namespace_name), "/Pod/", pod.name);
    // Each change of the group is a fact with a version of its own. Without the version, a return to an earlier
    // group would count as an old report.
    Say({.kind = SeriesKind::kOwner,
         .about = about,
         .says = OwnerText(pod.owner_kind, pod.owner_name),
         .group = pod.group,
         .version = pod.regrouped});
    if (!pod.is_ended && (!pod.labels.empty() || !pod.program.empty())) {
      WorkloadFact fact{.kind = SeriesKind::kPodLabels, .about = about, .says = pod.program};
      for (const auto& [key, value] : pod.labels) fact.labels.emplace_back(LabelInMetrics(key), value);
      Say(fact);
    }
    for (const std::string& container : pod.left_out)
      Say({.kind = SeriesKind::kInitContainer, .about = about, .says = container});
  }

  void Container(const Pod& pod, const ContainerState& container) {
    const WorkloadPart part = PartOf(pod, container.name);
    // A container without a limit of its own is bounded only by the pod's limit.
    Amounts limits = container.owner_limits;
    for (const Resource r : kPodResources) {
      if (!limits.of(r).has_value() && !container.limits.of(r).has_value())
        limits.of(r) = pod.pod_limits.of(r);
    }
    Put(part, SeriesKind::kCpuLimitCores, limits.cpu);
    Put(part, SeriesKind::kMemoryLimitBytes, limits.memory);
    Put(part, SeriesKind::kCpuRequestCores, container.owner_requests.cpu);
    Put(part, SeriesKind::kMemoryRequestBytes, container.owner_requests.memory);
    if (!container.last_reason.empty()) {
      // Report kWaiting before the termination, so that End() is not compared with a previous report in which the
      // container waits.
      Put(part, SeriesKind::kWaiting, container.running ? 0 : 1);
      End(part, container.was_oom_killed(), container.ended_s);
    }
    Put(part, SeriesKind::kRestartsTotal, static_cast<double>(container.restarts));
    if (starts_ && container.running && container.started_s > 0)
      Put(part, SeriesKind::kStartTime, static_cast<double>(container.started_s));
  }

  // Reports the reason and the time of a container's last termination. The reason is first, because a time or a
  // restart has no meaning without a reason.
  void End(const WorkloadPart& part, bool was_killed, int64_t ended_s) {
    Put(part, SeriesKind::kOomReason, was_killed ? 1 : 0);
    if (ended_s > 0) Put(part, SeriesKind::kLastEnded, static_cast<double>(ended_s));
  }

  const Cluster& cluster_;
  const ClusterNaming& naming_;
  const int64_t now_ms_;
  const bool starts_;
  WorkloadIntake& to_;
  WorkloadName workload_;  // workload of the last pod passed to Add()
  struct Counted {
    Workload job;
    int pods = 0, ready = 0;
  };
  std::map<std::string, Counted> counted_;  // numbers of pods by workload and container
};

constexpr std::array<std::pair<std::string_view, SeriesKind>, 6> kUsage = {{
    {"container_cpu_usage_seconds_total", SeriesKind::kCpuSecondsTotal},
    {"container_memory_working_set_bytes", SeriesKind::kMemoryBytes},
    {"container_oom_events_total", SeriesKind::kOomTotal},
    {"container_cpu_cfs_periods_total", SeriesKind::kCpuPeriodsTotal},
    {"container_cpu_cfs_throttled_periods_total", SeriesKind::kCpuThrottledPeriodsTotal},
    {"container_memory_max_usage_bytes", SeriesKind::kMemoryPeak},
}};

// Parses "value" or "value timestamp". Leaves `timestamp_ms` unchanged if there is no timestamp.
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

// Returns the position of the brace that ends the labels, the first one outside quotes; npos if there is none.
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

// Returns false if the line is invalid, and true if it was reported or is not needed.
bool TakeLine(std::string_view line, SeriesKind kind, const Cluster& cluster, std::string_view namespaces,
              int64_t now_ms, WorkloadIntake& to) {
  const size_t end = EndOfLabels(line);
  if (end == std::string_view::npos) return false;
  const absl::StatusOr<LabelList> parsed = ParseSeriesText(line.substr(0, end + 1));
  RemoteSample sample{.timestamp_ms = now_ms};
  if (!parsed.ok() || !ParseSample(line.substr(end + 1), sample.value, sample.timestamp_ms)) return false;
  const auto label = [&parsed](std::string_view name) -> std::string_view {
    const auto it = std::ranges::find_if(*parsed, [name](const auto& l) { return l.first == name; });
    return it == parsed->end() ? std::string_view() : std::string_view(it->second);
  };
  const std::string_view container = label("container"), namespace_name = label("namespace"),
                         pod = label("pod"), cpu = label("cpu");
  if (container.empty() || container == "POD" || namespace_name.empty() || pod.empty()) return true;
  // Skip the series of single CPUs, which old kernels report in addition to the sum.
  if (!cpu.empty() && cpu != "total") return true;
  if (!namespaces.empty() && !FitsPattern(namespace_name, namespaces)) return true;
  if (cluster.containers().IsLeftOut(namespace_name, pod, container)) return true;
  // The workload of a pod that the API server has not listed, or has removed, could only be guessed. A wrong guess
  // would create a job.
  const std::optional<WorkloadName> workload = cluster.pods().WorkloadOfPod(namespace_name, pod);
  if (!workload.has_value()) return true;
  to.Take(PartOf(cluster.naming(), *workload, pod, container, ContainerIdIn(label("id"))), kind, sample);
  return true;
}

}  // namespace

std::string LabelInMetrics(std::string_view key) {
  std::string out(key);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return out;
}

WorkloadPart PartOf(const ClusterNaming& naming, const WorkloadName& workload, std::string_view pod,
                    std::string_view container, std::string_view container_id) {
  return {.job = naming.IdentityOf(workload, container),
          .task = std::string(pod),
          // If tasks are containers, a task has no parts, like the same container measured by an agent.
          .part = std::string(naming.jobs == KubernetesJobs::kPods ? container : ""),
          .pod = StrCat(ScopeOf(naming, workload.namespace_name), "/Pod/", pod),
          .container_id = std::string(container_id),
          .labels = {}};
}

void ReportPods(const Cluster& cluster, std::span<const PodPtr> pods, Timestamp now, bool starts,
                WorkloadIntake& to) {
  PodReport report(cluster, now, starts, to);
  for (const PodPtr& pod : pods) report.Add(*pod);
}

void ReportPods(const Cluster& cluster, Timestamp now, bool starts, WorkloadIntake& to) {
  PodReport report(cluster, now, starts, to);
  cluster.owners().ForEach(
      [&](const std::string& kind, const OwnedObject& object) { report.Owner(kind, object); });
  cluster.pods().ForEach([&](const PodPtr& pod, const WorkloadName& workload) {
    report.Add(*pod);
    report.Count(*pod, workload);
  });
  report.Replicas();
}

size_t ReportUsage(std::string_view text, const Cluster& cluster, std::string_view namespaces, Timestamp now,
                   WorkloadIntake& to) {
  size_t damaged = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t brace = line.find('{');
    if (brace == std::string_view::npos) continue;
    const auto* const kind =
        std::ranges::find(kUsage, line.substr(0, brace), &decltype(kUsage)::value_type::first);
    if (kind == kUsage.end()) continue;
    damaged += TakeLine(line, kind->second, cluster, namespaces, now.us / 1000, to) ? 0 : 1;
  }
  return damaged;
}

}  // namespace taut::server
