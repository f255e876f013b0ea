#include "brain/cell/recorded_machines.h"

#include <algorithm>

namespace taut::brain {
namespace {

uint64_t KeyOf(JobId job, uint32_t task) { return uint64_t{job.value} << 32 | task; }

}  // namespace

uint32_t RecordedMachines::Number(std::string_view name) {
  const auto [at, added] = numbers_.try_emplace(std::string(name), static_cast<uint32_t>(machines_.size()));
  if (added) machines_.push_back({std::string(name), {}, {}});
  return at->second;
}

void RecordedMachines::AddEvent(uint32_t machine, const MachineEvent& event) {
  machines_[machine].events.push_back(event);
}

void RecordedMachines::Place(JobId job, uint32_t task, WindowId window, uint32_t machine) {
  Insert(stays_[KeyOf(job, task)], window.index, machine);
}

// The search begins at the end, because rows arrive mostly in order of time.
void RecordedMachines::Insert(Stays& stays, int32_t window, uint32_t machine) {
  size_t next = stays.size();
  while (next > 0 && stays[next - 1].first > window) --next;
  const auto at = [&](size_t i) { return stays.begin() + static_cast<std::ptrdiff_t>(i); };
  if (next > 0 && stays[next - 1].last >= window) {
    Stay& here = stays[next - 1];
    if (here.machine == machine) return;
    const Stay before = here;
    stays.erase(at(next - 1));
    --next;
    if (window < before.last) stays.insert(at(next), {window + 1, before.last, before.machine});
    stays.insert(at(next), {window, window, machine});
    if (before.first < window) stays.insert(at(next), {before.first, window - 1, before.machine});
    return;
  }
  const auto joins = [](int64_t from, int64_t to) { return to - from <= kLongestGap + 1; };
  const bool to_front = next > 0 && stays[next - 1].machine == machine && joins(stays[next - 1].last, window);
  const bool to_back =
      next < stays.size() && stays[next].machine == machine && joins(window, stays[next].first);
  if (to_front && to_back) {
    stays[next - 1].last = stays[next].last;
    stays.erase(at(next));
  } else if (to_front) {
    stays[next - 1].last = window;
  } else if (to_back) {
    stays[next].first = window;
  } else {
    stays.insert(at(next), {window, window, machine});
  }
}

void RecordedMachines::SettleEvents(const Odd& odd) {
  for (uint32_t m = 0; m < machines_.size(); ++m) {
    Machine& machine = machines_[m];
    std::ranges::stable_sort(machine.events, {}, &MachineEvent::time);
    MachineCapacity now;
    for (const MachineEvent& e : machine.events) {
      now.from = e.time;
      if (e.kind == MachineEventKind::kRemove) {
        if (!now.in_cell) odd("removal of a machine that is not in the cell", m, e);
        now.in_cell = false;
      } else {
        if (e.kind == MachineEventKind::kAdd && now.in_cell)
          odd("addition of a machine that is in the cell", m, e);
        if (e.kind == MachineEventKind::kUpdate && !now.in_cell)
          odd("update of a machine that is not in the cell", m, e);
        now.in_cell = true;
        now.cpu_cores = e.cpu_cores.value_or(now.cpu_cores);
        now.memory_bytes = e.memory_bytes.value_or(now.memory_bytes);
        if (now.cpu_cores <= 0 || now.memory_bytes <= 0) odd("machine without capacity", m, e);
      }
      // Only the last of several events of equal time applies.
      if (!machine.capacities.empty() && machine.capacities.back().from == now.from)
        machine.capacities.pop_back();
      machine.capacities.push_back(now);
    }
  }
}

const MachineCapacity* RecordedMachines::CapacityAt(uint32_t machine, Timestamp t) const {
  const std::vector<MachineCapacity>& all = machines_[machine].capacities;
  const auto after = std::ranges::upper_bound(all, t, {}, &MachineCapacity::from);
  return after == all.begin() ? nullptr : &*(after - 1);
}

double RecordedMachines::Largest(size_t resource) const {
  double largest = 0;
  for (const Machine& machine : machines_) {
    for (const MachineCapacity& c : machine.capacities) largest = std::max(largest, c.of(resource));
  }
  return largest;
}

const RecordedMachines::Stay* RecordedMachines::StayOf(JobId job, uint32_t task, WindowId window) const {
  const auto found = stays_.find(KeyOf(job, task));
  if (found == stays_.end()) return nullptr;
  const Stays& stays = found->second;
  const auto after = std::ranges::upper_bound(stays, window.index, {}, &Stay::first);
  if (after == stays.begin() || (after - 1)->last < window.index) return nullptr;
  return &*(after - 1);
}

}  // namespace taut::brain
