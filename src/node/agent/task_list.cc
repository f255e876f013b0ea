#include "node/agent/task_list.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "node/agent/agent_task.h"
#include "node/agent/cpu_weight.h"

namespace taut::node {
namespace {

constexpr int kWeightOfUnmanaged = 100;  // the kernel's default weight of a group

template <typename... Cells>
std::string Line(const Cells&... cells) {
  return fmt::format("{:<32} {:<36} {:>7} {:>10} {:>10} {:<7} {:<10} {}\n", cells...);
}

std::string MemoryText(std::optional<double> bytes) { return bytes.has_value() ? BytesText(*bytes) : "-"; }
std::string CoresText(std::optional<double> cores) {
  return cores.has_value() ? fmt::format("{:.3g}", *cores) : "-";
}

// If the limit of a group above the task is lower, lowers `own` to this limit and adds the group's path to `from`.
void LowerTo(std::optional<double>& own, const GroupAbove* group, std::optional<double> least,
             std::vector<std::string_view>& from) {
  if (group == nullptr || !least.has_value() || own.value_or(*least + 1) <= *least) return;
  own = least;
  if (std::find(from.begin(), from.end(), group->path) == from.end()) from.push_back(group->path);
}

}  // namespace

std::string TaskListHead() {
  return Line("job", "task", "cpu max", "memory max", "in use", "managed", "tier", "limited by");
}

std::string TaskListLine(TaskFinder& finder, const FoundTask& task, const TaskRule& rule,
                         const TierOptions& tiers, bool may_change) {
  const absl::StatusOr<std::unique_ptr<TaskGroup>> group = finder.Open(task);
  TaskReading reading;
  TaskLimits limits;
  std::vector<GroupAbove> above;
  if (group.ok()) {
    (void)(*group)->Read(ReadDepth::kUsage, reading);
    if (const auto read = (*group)->ReadLimits(); read.ok()) limits = *read;
    above = (*group)->ReadAbove();
  }
  std::vector<std::string_view> from;
  const GroupAbove *cpu = LeastAbove(above, Resource::kCpu), *memory = LeastAbove(above, Resource::kMemory);
  if (cpu != nullptr) LowerTo(limits.cpu_max_cores, cpu, cpu->cpu_max_cores, from);
  if (memory != nullptr) LowerTo(limits.memory_max_bytes, memory, memory->memory_max_bytes, from);
  std::string limited_by;
  for (const std::string_view path : from)
    StrAppend(&limited_by, limited_by.empty() ? "" : ", ", Printable(path));
  return Line(task.job, task.task, CoresText(limits.cpu_max_cores), MemoryText(limits.memory_max_bytes),
              MemoryText(UsageIn(reading)), rule.manage && may_change ? "yes" : "no",
              Name(TierOf(tiers, task, rule).tier), limited_by.empty() ? "-" : limited_by);
}

std::string WeightsLine(const TierOptions& tiers, bool has_shares) {
  std::vector<std::pair<int, std::string_view>> weights = {{kWeightOfUnmanaged, "unmanaged groups"}};
  for (size_t i = kTiers; i-- > 0;) {
    if (tiers.cpu_weight[i] > 0) weights.emplace_back(tiers.cpu_weight[i], Name(static_cast<Tier>(i)));
  }
  if (weights.size() == 1) return "";
  std::stable_sort(weights.begin(), weights.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [weight, name] : weights) {
    StrAppend(&text, text.empty() ? "cpu weights: " : ", ", name, " ", weight);
    if (has_shares) StrAppend(&text, " (cpu.shares ", SharesOfTierWeight(weight), ")");
  }
  return text + "\n";
}

}  // namespace taut::node
