// Matches labels against mapping rules.
#include "server/ingest/mapping_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/base/name_template.h"
#include "common/base/pattern.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/model/signal_name.h"

namespace taut::server {
namespace {

constexpr std::array<std::pair<SeriesKind, std::string_view>, 25> kKinds = {{
    {SeriesKind::kCpuSecondsTotal, "cpu_seconds_total"},
    {SeriesKind::kCpuCores, "cpu_cores"},
    {SeriesKind::kMemoryBytes, "memory_bytes"},
    {SeriesKind::kCpuLimitCores, "cpu_limit_cores"},
    {SeriesKind::kMemoryLimitBytes, "memory_limit_bytes"},
    {SeriesKind::kOomTotal, "oom_total"},
    {SeriesKind::kOwner, "owner"},
    {SeriesKind::kTaskWindow, "task_window"},
    {SeriesKind::kRestartsTotal, "restarts_total"},
    {SeriesKind::kOomReason, "oom_reason"},
    {SeriesKind::kOomEnded, "oom_ended"},
    {SeriesKind::kInitContainer, "init_container"},
    {SeriesKind::kPodLabels, "pod_labels"},
    {SeriesKind::kCpuRequestCores, "cpu_request_cores"},
    {SeriesKind::kMemoryRequestBytes, "memory_request_bytes"},
    {SeriesKind::kLoad, "load"},
    {SeriesKind::kLoadTotal, "load_total"},
    {SeriesKind::kCpuPeriodsTotal, "cpu_periods_total"},
    {SeriesKind::kCpuThrottledPeriodsTotal, "cpu_throttled_periods_total"},
    {SeriesKind::kReplicas, "replicas"},
    {SeriesKind::kReplicasReady, "replicas_ready"},
    {SeriesKind::kStartTime, "start_time"},
    {SeriesKind::kLastEnded, "last_ended"},
    {SeriesKind::kMemoryPeak, "memory_peak"},
    {SeriesKind::kWaiting, "waiting"},
}};

constexpr size_t kMostSignals = 1000;

}  // namespace

std::string_view Name(SeriesKind kind) { return kKinds[static_cast<size_t>(kind)].second; }

absl::StatusOr<SeriesKind> ParseSeriesKind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [kind, its_name] : kKinds) {
    if (kind == SeriesKind::kTaskWindow) continue;
    if (its_name == name) return kind;
    names.push_back(its_name);
  }
  return UnknownName("kind", name, OneOf(names));
}

std::vector<std::string> SignalsOf(std::span<const MappingRule> rules) {
  std::vector<std::string> out;
  for (const MappingRule& rule : rules) {
    if (!rule.signal.empty()) out.push_back(rule.signal);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

absl::StatusOr<MappingRules> MappingRules::Compile(std::vector<MappingRule> rules) {
  MappingRules out;
  out.signals_ = SignalsOf(rules);
  if (out.signals_.size() > kMostSignals) {
    return absl::InvalidArgumentError(
        StrCat("mapping rules name ", out.signals_.size(), " signals: expected at most ", kMostSignals));
  }
  for (const MappingRule& rule : rules) {
    const auto bad = [&rule](std::string_view what) {
      return absl::InvalidArgumentError(StrCat("mapping rule '", rule.name, "': ", what));
    };
    if (rule.metric.empty()) return bad("no metric");
    if (rule.job.empty() || rule.task.empty()) return bad("job and task are required");
    if (!std::isfinite(rule.scale) || rule.scale == 0) return bad("scale must be a number other than 0");
    for (const LabelMatch& match : rule.match) {
      if (match.label.empty()) return bad("a match without a label");
    }
    absl::StatusOr<NameTemplate> job = NameTemplate::Parse(rule.job);
    if (!job.ok()) return bad(StrCat("job: ", Message(job.status())));
    absl::StatusOr<NameTemplate> task = NameTemplate::Parse(rule.task);
    if (!task.ok()) return bad(StrCat("task: ", Message(task.status())));
    absl::StatusOr<NameTemplate> part = NameTemplate::Parse(rule.part);
    if (!part.ok()) return bad(StrCat("part: ", Message(part.status())));
    if (task->uses_owner() || part->uses_owner()) return bad("{owner} is only allowed in job");
    uint16_t signal = 0;
    if (!rule.signal.empty()) {
      if (!IsLoad(rule.kind)) return bad("signal is only allowed with kind load or load_total");
      if (absl::Status s = CheckSignalName(rule.signal); !s.ok()) return bad(Message(s));
      signal = static_cast<uint16_t>(std::ranges::find(out.signals_, rule.signal) - out.signals_.begin() + 1);
    }
    const bool has_cell = rule.job.starts_with(kCellOfJob);
    const std::string with_cell = StrCat(has_cell ? "" : kCellOfJob, rule.job);
    const bool has_container = with_cell == kContainerJob;
    const bool in_kubernetes = has_container || with_cell == kPodJob;
    out.compiled_.push_back({*std::move(job), *std::move(task), *std::move(part), signal,
                             in_kubernetes                  ? Source::kKubernetes
                             : rule.source == kDockerSource ? Source::kDocker
                                                            : Source::kSeries,
                             in_kubernetes, has_cell, has_container});
  }
  out.rules_ = std::move(rules);
  return out;
}

std::string PodScope(std::span<const LabelView> labels) {
  static const NameTemplate kScope = *NameTemplate::Parse("{cluster/}{namespace}");
  return kScope.Render(labels).value_or("");
}

std::optional<Mapping> MappingRules::Match(
    std::span<const LabelView> labels,
    absl::FunctionRef<TopOwner(std::string_view scope, std::string_view pod)> owner) const {
  const std::string_view metric = LabelValue(labels, kMetricNameLabel);
  std::optional<TopOwner> found;
  const auto owner_of_pod = [&](std::string_view placeholder) {
    if (!found.has_value()) found = owner(PodScope(labels), LabelValue(labels, "pod"));
    return placeholder == "owner" ? Workload{.name = found->name, .group = found->group}.NameWithGroup()
                                  : found->kind;
  };
  for (size_t i = 0; i < rules_.size(); ++i) {
    const MappingRule& rule = rules_[i];
    if (!FitsPattern(metric, rule.metric)) continue;
    bool fits = true;
    for (const LabelMatch& m : rule.match) {
      fits = fits && FitsPattern(LabelValue(labels, m.label), m.pattern) != m.negate;
    }
    if (!fits) continue;
    const Compiled& compiled = compiled_[i];
    std::optional<std::string> job = compiled.job.Render(labels, owner_of_pod);
    std::optional<std::string> task = compiled.task.Render(labels, owner_of_pod);
    if (!job.has_value() || !task.has_value()) continue;
    std::optional<std::string> part = compiled.part.Render(labels, owner_of_pod);
    WorkloadParts workload(IsFact(rule.kind) ? Source::kUnknown : compiled.source);
    if (compiled.in_kubernetes && workload.known()) {
      const std::string_view container = compiled.has_container ? LabelValue(labels, "container") : "";
      workload = {compiled.source,
                  {compiled.has_cell ? LabelValue(labels, "cluster").size() : 0,
                   LabelValue(labels, "namespace").size(), found->kind.size(), found->group.size(),
                   container.size()}};
    }
    return Mapping{.rule = i,
                   .kind = rule.kind,
                   .job = *std::move(job),
                   .task = *std::move(task),
                   .part = std::move(part).value_or(""),
                   .workload = workload,
                   .uses_owner = compiled.job.uses_owner(),
                   .scale = rule.scale,
                   .signal = compiled.signal,
                   .whole_machine = rule.whole_machine};
  }
  return std::nullopt;
}

std::string MappingRules::WhyNot(size_t index, std::span<const LabelView> labels) const {
  const MappingRule& rule = rules_[index];
  const std::string_view metric = LabelValue(labels, kMetricNameLabel);
  if (!FitsPattern(metric, rule.metric)) return StrCat("the metric is '", metric, "', not ", rule.metric);
  for (const LabelMatch& m : rule.match) {
    const std::string_view value = LabelValue(labels, m.label);
    if (FitsPattern(value, m.pattern) == m.negate) {
      return StrCat("label ", m.label, " is '", value, "' and must ", m.negate ? "not " : "", "be '",
                    m.pattern, "'");
    }
  }
  const auto some_owner = [](std::string_view) { return std::string("owner"); };
  if (!compiled_[index].job.Render(labels, some_owner))
    return StrCat("job '", rule.job, "': a label is empty");
  if (!compiled_[index].task.Render(labels, some_owner))
    return StrCat("task '", rule.task, "': a label is empty");
  return "";
}

}  // namespace taut::server
