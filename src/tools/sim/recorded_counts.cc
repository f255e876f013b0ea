#include "tools/sim/recorded_counts.h"

#include <string_view>
#include <utility>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr double kCapacityRounding = 1e-6;

}  // namespace

const brain::MachineCapacity* RecordedCounts::Capacity(uint32_t machine, int32_t window) const {
  const brain::MachineCapacity* c =
      machines_.CapacityAt(machine, Timestamp::FromSeconds(int64_t{window} * kWindowSeconds));
  return c != nullptr && c->in_cell && c->of(static_cast<size_t>(resource_)) > 0 ? c : nullptr;
}

void RecordedCounts::Count(uint32_t m, int32_t window, std::span<const brain::TaskLoad> tasks,
                           const brain::MachineWindow& sums) {
  for (const brain::TaskLoad& t : tasks) {
    if (largest_ > 0 && t.limit > largest_ * (1 + kCapacityRounding) && too_large_.insert(t.task).second)
      findings_.Add(
          "task with a limit above the capacity of any machine",
          fmt::format("task {} of job {} on machine {}: {}", t.task & UINT32_MAX,
                      source_.jobs()[t.task >> 32].name, machines_.name(m), Amounts(t.limit, largest_)));
    tasks_.insert(t.task);
  }
  ++use_.machine_windows;
  const brain::MachineCapacity* c = Capacity(m, window);
  if (c == nullptr) {
    ++use_.without_capacity;
    CountMissing(m, window);
    return;
  }
  const double capacity = c->of(static_cast<size_t>(resource_));
  use_.capacity += capacity;
  use_.limit += sums.limit;
  use_.usage += sums.usage;
  if (sums.usage <= capacity * (1 + kCapacityRounding)) return;
  // If the capacity was lowered in this window, the change explains usage above the capacity. Otherwise the
  // records contradict each other.
  const brain::MachineCapacity* before = Capacity(m, window - 1);
  const bool lowered = before != nullptr && before->of(static_cast<size_t>(resource_)) > capacity;
  findings_.Add(
      lowered ? "capacity lowered below what is in use" : "machine-window with more usage than capacity",
      fmt::format("machine {} at {} s: {}", machines_.name(m), int64_t{window} * kWindowSeconds,
                  Amounts(sums.usage, capacity)));
}

// Counts a machine-window with tasks but without a known capacity, by its cause.
void RecordedCounts::CountMissing(uint32_t m, int32_t window) {
  const int64_t time_s = int64_t{window} * kWindowSeconds;
  const brain::MachineCapacity* c = machines_.CapacityAt(m, Timestamp::FromSeconds(time_s));
  std::string_view cause = "machine-window of a machine that is not in the table of machines";
  if (machines_.listed(m)) cause = "machine-window before the machine was added";
  if (c != nullptr) cause = "machine-window after the machine was removed";
  if (c != nullptr && c->in_cell) cause = "machine-window of a machine without capacity";
  findings_.Add(cause, fmt::format("machine {} at {} s", machines_.name(m), time_s));
}

std::string RecordedCounts::Amounts(double used, double of) const {
  return fmt::format("{:.4g} of {:.4g} {}", used, of, UnitName(resource_));
}

absl::StatusOr<RecordedUse> RecordedCounts::Take(const MachineDays& days, bool whole) {
  use_.task_windows = days.task_windows;
  use_.without_machine = days.without_machine;
  use_.without_limit = days.without_limit;
  use_.moves = days.moves;
  use_.findings = findings_.Take();
  for (uint32_t m = 0; m < machines_.size(); ++m) use_.machines.push_back(machines_.name(m));
  if (use_.task_windows == 0 && whole) {
    return absl::InvalidArgumentError(fmt::format(
        "no usage of {} on recorded machines: {} task-windows without a machine, {} without an owner's "
        "limit; expected a trace whose usage names its machines, with limits",
        Name(resource_), use_.without_machine, use_.without_limit));
  }
  return std::move(use_);
}

}  // namespace taut::tools
