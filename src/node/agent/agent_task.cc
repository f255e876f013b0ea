#include "node/agent/agent_task.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "node/agent/cpu_weight.h"

namespace taut::node {
namespace {

constexpr double kSoftRoom = 1.1;  // memory.max as a multiple of memory.high
constexpr double kSharesACore = 1024;
constexpr double kSameWeight = 0.01;
constexpr double kLeastQuotaCores = 0.01;  // the kernel rejects a quota below 1 ms a period

constexpr int64_t kSameOomUs = 2'000'000;  // reports from both sources within this time count as one kill

}  // namespace

bool OomTally::IsRecent(const std::optional<int64_t>& at_us, int64_t now_us) const {
  return at_us.has_value() && now_us - *at_us < kSameOomUs;
}

void OomTally::Begin(int64_t now_us) {
  counted_us_.reset();
  event_us_.reset();
  began_us_ = now_us;
}

uint64_t OomTally::Counted(uint64_t kills, int64_t now_us) {
  counted_us_ = now_us;
  event_us_.reset();
  return kills;
}

uint64_t OomTally::Event(bool has_counter, int64_t now_us) {
  if (has_counter) {
    // The counter already contains this kill: the event is a duplicate.
    if (!IsRecent(counted_us_, now_us)) event_us_ = now_us;
    return 0;
  }
  if (IsRecent(counted_us_, now_us)) return 0;
  counted_us_ = now_us;
  return 1;
}

uint64_t OomTally::Unexplained(int64_t now_us) {
  // An event right after a start, without a new count, reports the kill that ended the previous run.
  const bool of_last_start = event_us_.has_value() && end_is_open_ && IsRecent(began_us_, now_us);
  event_us_.reset();
  if (!of_last_start) return 0;
  end_is_open_ = false;
  return 1;
}

uint64_t OomTally::End(int64_t now_us) {
  const bool told = IsRecent(event_us_, now_us);
  // If neither source has reported a kill at the end of this run, a later event may still report a kill.
  end_is_open_ = !told && !IsRecent(counted_us_, now_us);
  counted_us_.reset();
  event_us_.reset();
  return told ? 1 : 0;
}

uint64_t OomTally::LateEvent() { return std::exchange(end_is_open_, false) ? 1 : 0; }

AgentTask::AgentTask(FoundTask task, const TaskRule& its_rule, std::unique_ptr<TaskGroup> its_group,
                     const MeterOptions& meter_options, const MoverOptions& mover_options)
    : found(std::move(task)), rule(&its_rule), group(std::move(its_group)), meter(meter_options) {
  for (const Resource r : kResources) lanes.emplace_back(LimitMover(r, mover_options));
}

void AgentTask::NotePeak(std::optional<double> memory, int64_t now_us, int64_t span_us) {
  if (now_us - peak_since_us >= span_us) {
    peak_before = peak;
    peak = 0;
    peak_since_us = now_us;
  }
  peak = std::max(peak, memory.value_or(0));
}

std::optional<double> AgentTask::recent_peak() const {
  // Two adjacent spans: right after a new span begins, the peak of the previous span is still used.
  const double both = std::max(peak, peak_before);
  return both > 0 ? std::optional(both) : std::nullopt;
}

void PutNeeded(AgentTask& task, std::span<NodeWindow> closed) {
  if (closed.empty() || !task.probe.has_value()) return;
  const std::optional<double> most = task.probe->TakeMostNeeded(task.probe_read.at_us);
  if (most.has_value()) closed.front().figures.memory_needed_bytes = static_cast<float>(*most);
}

LimitWrites WritesFor(const TaskRule& rule, Resource r, std::optional<double> limit,
                      std::optional<double> current) {
  if (r == Resource::kCpu) {
    if (rule.cpu == CpuStyle::kNone) return {};
    if (rule.cpu == CpuStyle::kHard) {
      if (limit.has_value()) limit = std::max(*limit, kLeastQuotaCores);
      return {{LimitKind::kCpuMax, limit}};
    }
    return limit.has_value() ? LimitWrites{{LimitKind::kCpuWeight, WeightOfCores(*limit)}} : LimitWrites{};
  }
  if (rule.memory == MemoryStyle::kNone) return {};
  if (rule.memory == MemoryStyle::kHard) return {{LimitKind::kMemoryMax, limit}};
  const std::optional<double> max = limit.has_value() ? std::optional(*limit * kSoftRoom) : std::nullopt;
  // memory.high must never be above memory.max: otherwise tasks are killed without being slowed down first.
  const bool down = limit.has_value() && (!current.has_value() || *limit < *current);
  LimitWrites writes = {{LimitKind::kMemoryMax, max}, {LimitKind::kMemoryHigh, limit}};
  if (down) std::swap(writes[0], writes[1]);
  return writes;
}

double HighBeside(double max) { return max / kSoftRoom; }

bool MayBeWritten(absl::StatusCode code) {
  return code != absl::StatusCode::kInvalidArgument && code != absl::StatusCode::kUnimplemented &&
         code != absl::StatusCode::kPermissionDenied && code != absl::StatusCode::kResourceExhausted;
}

LimitWrites WritesForOwner(const TaskRule& rule, Resource r, const TaskLimits& owner) {
  LimitWrites writes;
  for (auto [kind, value] : WritesFor(rule, r, 1.0, std::nullopt)) writes.emplace_back(kind, owner.of(kind));
  return writes;
}

std::optional<double> OwnersMemory(const TaskRule& rule, const TaskLimits& owner) {
  const std::optional<double>& max = owner.memory_max_bytes;
  if (rule.memory == MemoryStyle::kSoft && max.has_value())
    return std::min(HighBeside(*max), owner.memory_high_bytes.value_or(*max));
  return LimitOf(rule, Resource::kMemory, owner);
}

std::optional<double> LimitOf(const TaskRule& rule, Resource r, const TaskLimits& limits) {
  if (r == Resource::kMemory) {
    const bool soft = rule.memory == MemoryStyle::kSoft && limits.memory_high_bytes.has_value();
    return soft ? limits.memory_high_bytes : limits.memory_max_bytes;
  }
  if (rule.cpu == CpuStyle::kSoft && limits.cpu_weight.has_value()) return CoresOfWeight(*limits.cpu_weight);
  return limits.cpu_max_cores;
}

const GroupAbove* LeastAbove(std::span<const GroupAbove> above, Resource r) {
  const auto limit = r == Resource::kCpu ? &GroupAbove::cpu_max_cores : &GroupAbove::memory_max_bytes;
  const GroupAbove* least = nullptr;
  for (const GroupAbove& group : above) {
    if ((group.*limit).has_value() && (least == nullptr || *(group.*limit) < *(least->*limit)))
      least = &group;
  }
  return least;
}

std::optional<double> LimitInForce(const AgentTask& task, Resource r, std::optional<double> own) {
  const bool is_weight = r == Resource::kCpu && task.rule->cpu == CpuStyle::kSoft;
  const GroupAbove* least = is_weight ? nullptr : LeastAbove(task.above, r);
  if (least == nullptr) return own;
  const double above = r == Resource::kCpu ? *least->cpu_max_cores : *least->memory_max_bytes;
  return std::min(own.value_or(above), above);
}

std::string AboveText(const AgentTask& task, Resource r, std::optional<double> own) {
  const std::optional<double> in_force = LimitInForce(task, r, own);
  if (in_force == own) return "";
  return StrCat("cgroup ", LeastAbove(task.above, r)->path, " above the task allows only ",
                FormatAmount(r, *in_force));
}

std::optional<double> LimitOf(const AgentTask& task, Resource r, const TaskLimits& limits) {
  if (r != Resource::kCpu || task.rule->cpu != CpuStyle::kSoft || !limits.cpu_weight.has_value())
    return LimitOf(*task.rule, r, limits);
  TaskLimits own = limits;
  const std::optional<double> of_all = task.group->Rounded(LimitKind::kCpuWeight, std::nullopt);
  if (of_all.has_value() && std::abs(*of_all - *own.cpu_weight) < kSameWeight) own.cpu_weight.reset();
  return LimitOf(*task.rule, r, own);
}

std::string WhyNotAdded(const AgentTask& task, Resource r) {
  const bool is_weight = r == Resource::kCpu && task.rule->cpu == CpuStyle::kSoft;
  const bool has = r == Resource::kCpu
                       ? task.owner.cpu_max_cores.has_value()
                       : task.owner.memory_max_bytes.has_value() || task.owner.memory_high_bytes.has_value();
  if (task.rule->add_limits || is_weight || has) return "";
  return StrCat("its owner has set no ", Name(r), " limit, and the agent adds none (add_limits: false)");
}

std::optional<double> Bounded(const TaskRule& rule, Resource r, std::optional<double> limit) {
  if (!limit.has_value()) return limit;
  const std::optional<double>& lower = r == Resource::kCpu ? rule.cpu_lower : rule.memory_lower;
  const std::optional<double>& upper = r == Resource::kCpu ? rule.cpu_upper : rule.memory_upper;
  double value = std::max(*limit, lower.value_or(0));
  if (upper.has_value()) value = std::min(value, *upper);
  return value;
}

double WeightOfCores(double cores) {
  return std::floor(WeightOfShares(static_cast<uint64_t>(std::llround(std::max(cores, 0.0) * kSharesACore))));
}

double CoresOfWeight(double weight) { return static_cast<double>(SharesOfWeight(weight)) / kSharesACore; }

}  // namespace taut::node
