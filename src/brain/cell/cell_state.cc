#include "brain/cell/cell_state.h"

#include <algorithm>
#include <utility>

namespace taut::brain {

CellAmounts CellCounts::Settled(const CellClass& c, uint8_t steps) const {
  CellAmounts out = c.reservation;
  if (steps == kSettleSteps) return out;
  for (size_t r = 0; r < resources; ++r)
    out[r] = c.limit[r] - (c.limit[r] - c.reservation[r]) * steps / kSettleSteps;
  return out;
}

CellState::CellState(const CellIndex& index, std::span<const uint32_t> machines, CellCounting counting,
                     std::unique_ptr<MachineLoad> load)
    : index_(index),
      counts_{counting, index.resources()},
      model_machine_(machines.begin(), machines.end()),
      space_(index.resources(), machines.size()),
      machine_of_task_(index.tasks(), kNowhere),
      first_on_(machines.size(), kNowhere),
      next_(index.tasks(), kNowhere),
      previous_(index.tasks(), kNowhere),
      // The log stores a quarter as many changes as there are machines, because a cache that misses more changes
      // recomputes all scores anyway.
      changes_(std::max<size_t>(1, machines.size() / 4)),
      load_(std::move(load)) {
  if (counting == CellCounting::kFromLimit) settled_.resize(index.tasks());
  spread_.on_machine.resize(machines.size());
  for (uint32_t m = 0; m < machines.size(); ++m)
    space_.SetCapacity(m, index_.model().machines[model_machine_[m]].capacity);
}

void CellState::Change(uint32_t task, uint32_t machine, int64_t sign) {
  const uint32_t job = index_.job_of(task);
  const CellClass& c = index_.class_of(job);
  CellAmounts reserved = counted(task), limit = c.limit;
  for (size_t r = 0; r < counts_.resources; ++r) {
    reserved[r] *= sign;
    limit[r] *= sign;
  }
  space_.Add(index_.model().jobs[job].tier, machine, reserved, limit);
  changes_.Note(machine);
  if (load_ != nullptr) sign > 0 ? load_->Add(task, machine) : load_->Remove(task, machine);
  if (job != spread_.job) return;
  spread_.on_machine[machine] += static_cast<uint32_t>(sign);
  if (c.domains == UINT32_MAX) return;
  if (const uint32_t d = domain(c, machine); d != kNoDomain)
    spread_.in_domain[d] += static_cast<uint32_t>(sign);
}

void CellState::Settle(uint32_t task, uint8_t steps) {
  const uint32_t job = index_.job_of(task);
  CellAmounts change = counted(task);
  settled_[task] = steps;
  const CellAmounts now = counted(task);
  for (size_t r = 0; r < counts_.resources; ++r) change[r] = now[r] - change[r];
  space_.Add(index_.model().jobs[job].tier, machine_of_task_[task], change, {});
  changes_.Note(machine_of_task_[task]);
}

void CellState::SetInService(uint32_t machine, bool in_service) {
  if (in_service == space_.in_service(machine)) return;
  space_.SetInService(machine, in_service);
  changes_.Note(machine);
}

void CellState::SetCapacity(uint32_t machine, const CellAmounts& capacity) {
  space_.SetCapacity(machine, capacity);
  changes_.Note(machine);
}

void CellState::Place(uint32_t task, uint32_t machine, uint8_t settled) {
  if (!settled_.empty()) settled_[task] = settled;
  machine_of_task_[task] = machine;
  next_[task] = first_on_[machine];
  previous_[task] = kNowhere;
  if (next_[task] != kNowhere) previous_[next_[task]] = task;
  first_on_[machine] = task;
  // This call must follow the assignment of settled_, because Change adds the task's counted amounts.
  Change(task, machine, 1);
}

void CellState::Remove(uint32_t task) {
  const uint32_t machine = machine_of_task_[task];
  machine_of_task_[task] = kNowhere;
  (previous_[task] == kNowhere ? first_on_[machine] : next_[previous_[task]]) = next_[task];
  if (next_[task] != kNowhere) previous_[next_[task]] = previous_[task];
  Change(task, machine, -1);
}

void CellState::CountJob(uint32_t job) {
  if (job == spread_.job) return;
  const auto each = [this](uint32_t of, auto&& take) {
    for (uint32_t t = index_.first_task(of); t < index_.first_task(of + 1); ++t) {
      if (machine_of_task_[t] != kNowhere) take(machine_of_task_[t]);
    }
  };
  if (spread_.job != UINT32_MAX) each(spread_.job, [this](uint32_t m) { spread_.on_machine[m] = 0; });
  spread_.job = job;
  const CellClass& c = index_.class_of(job);
  if (c.domains != UINT32_MAX) spread_.in_domain.assign(index_.domains(c.domains).count, 0);
  each(job, [&](uint32_t m) {
    ++spread_.on_machine[m];
    if (c.domains == UINT32_MAX) return;
    if (const uint32_t d = domain(c, m); d != kNoDomain) ++spread_.in_domain[d];
  });
}

}  // namespace taut::brain
