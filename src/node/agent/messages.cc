#include "node/agent/messages.h"

#include <algorithm>
#include <cmath>

#include "common/base/container_id.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

constexpr double kKernelPage = 4096;

}  // namespace

pb::TaskName NameMessage(const FoundTask& task) {
  pb::TaskName name;
  name.set_job(task.job);
  name.set_task(task.task);
  name.set_pod_container(task.pod_container);
  return name;
}

LabelMap LabelMessage(const FoundTask& task) {
  LabelMap labels;
  for (const auto& [key, value] : task.labels) labels[key] = value;
  return labels;
}

pb::Task TaskMessage(const AgentTask& task, bool managed) {
  pb::Task out;
  *out.mutable_name() = NameMessage(task.found);
  *out.mutable_labels() = LabelMessage(task.found);
  out.set_managed(managed);
  const std::string_view container = ContainerIdIn(task.found.identity);
  out.set_container_id(container.data(), container.size());
  if (task.owner.cpu_max_cores.has_value()) out.set_owner_cpu_cores(*task.owner.cpu_max_cores);
  if (task.owner.memory_max_bytes.has_value()) out.set_owner_memory_bytes(*task.owner.memory_max_bytes);
  const auto in_force = [&](Resource r) { return LimitInForce(task, r, LimitOf(task, r, task.in_force)); };
  const std::optional<double> cpu = in_force(Resource::kCpu), memory = in_force(Resource::kMemory);
  if (cpu.has_value()) out.set_cpu_cores(*cpu);
  if (memory.has_value()) out.set_memory_bytes(*memory);
  return out;
}

pb::TaskWindow WindowMessage(const AgentTask& task, const NodeWindow& window) {
  pb::TaskWindow out;
  *out.mutable_name() = NameMessage(task.found);
  *out.mutable_labels() = LabelMessage(task.found);
  const TaskWindow& f = window.figures;
  if (f.cpu_mean_cores >= 0) out.set_cpu_mean_cores(f.cpu_mean_cores);
  if (f.cpu_peak_cores >= 0) out.set_cpu_peak_cores(f.cpu_peak_cores);
  if (f.memory_mean_bytes >= 0) out.set_memory_mean_bytes(f.memory_mean_bytes);
  if (f.memory_peak_bytes >= 0) out.set_memory_peak_bytes(f.memory_peak_bytes);
  if (task.kernel_peak.has_value()) out.set_memory_kernel_peak_bytes(static_cast<float>(*task.kernel_peak));
  for (const BucketWeight& b : window.cpu_buckets) {
    out.add_cpu_buckets(b.bucket);
    out.add_cpu_seconds(b.weight);
  }
  if (task.owner.cpu_max_cores.has_value()) {
    out.set_owner_cpu_cores(static_cast<float>(*task.owner.cpu_max_cores));
  }
  if (task.owner.memory_max_bytes.has_value()) {
    out.set_owner_memory_bytes(static_cast<float>(*task.owner.memory_max_bytes));
  }
  if (window.cpu_periods.has_value()) out.set_cpu_periods(static_cast<uint32_t>(*window.cpu_periods));
  if (window.cpu_throttled_periods.has_value()) {
    const uint64_t throttled = std::min(*window.cpu_throttled_periods, window.cpu_periods.value_or(0));
    out.set_cpu_throttled_periods(static_cast<uint32_t>(throttled));
  }
  if (task.probe.has_value()) {
    const std::optional<double> needed = task.probe->needed(task.probe_read.at_us);
    if (needed.has_value()) out.set_memory_needed_bytes(static_cast<float>(*needed));
  }
  if (f.memory_needed_bytes >= 0) out.set_memory_needed_peak_bytes(f.memory_needed_bytes);
  const int64_t begin_us = window.window.start_s() * kMicrosPerSecond;
  const auto limit = [&](Resource r) {
    // The mover stores the task's own limit, before the kernel's rounding.
    return static_cast<float>(LimitInForce(task, r, task.of(r).mover.current()).value_or(0));
  };
  out.set_cpu_limit_cores(limit(Resource::kCpu));
  out.set_memory_limit_bytes(limit(Resource::kMemory));
  out.set_cpu_limit_steady(task.of(Resource::kCpu).limit_since.us <= begin_us);
  out.set_memory_limit_steady(task.of(Resource::kMemory).limit_since.us <= begin_us);
  return out;
}

bool SameLimit(LimitKind kind, std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  const bool cpu = kind == LimitKind::kCpuMax || kind == LimitKind::kCpuWeight;
  const double least = !cpu ? kKernelPage : kind == LimitKind::kCpuMax ? 0.01 : 0.05;
  return std::abs(*a - *b) <= std::max(least, 1e-3 * std::max(*a, *b));
}

bool IsOurs(LimitKind kind, const LedgerValue& value, std::optional<double> holds) {
  return (value.set.has_value() && SameLimit(kind, holds, *value.set)) ||
         (value.next.has_value() && SameLimit(kind, holds, *value.next));
}

}  // namespace taut::node
