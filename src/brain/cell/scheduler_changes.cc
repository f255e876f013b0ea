// Changes of a cell between passes (ends, evictions, new amounts and capacities), and the record of classes for
// which no machine had room.
#include <algorithm>

#include "brain/cell/preemption.h"
#include "brain/cell/scheduler.h"

namespace taut::brain {

void CellScheduler::Finish(uint32_t task) {
  if (finished_.empty()) finished_.resize(index_.tasks());
  finished_[task] = 1;
  state_.Remove(task);
}

void CellScheduler::Evict(uint32_t task, std::vector<uint32_t>& evicted) {
  const uint32_t job = index_.job_of(task);
  const bool gang = index_.model().jobs[job].gang;
  const uint32_t first = gang ? index_.first_task(job) : task;
  const uint32_t end = gang ? index_.first_task(job + 1) : task + 1;
  for (uint32_t t = first; t < end; ++t) {
    if (state_.machine_of(t) == kNowhere) continue;
    BackToQueue(t);
    evicted.push_back(t);
  }
}

void CellScheduler::SetCapacity(uint32_t machine, const CellAmounts& capacity,
                                std::vector<uint32_t>& evicted) {
  state_.SetCapacity(machine, capacity);
  CellAmounts missing = {};
  for (size_t r = 0; r < index_.resources(); ++r) missing[r] = -state_.space().free(r, machine);
  for (const uint32_t t : VictimsOn(state_, machine, missing, CellTier::kMonitoring)) {
    if (state_.machine_of(t) != kNowhere) Evict(t, evicted);
  }
  const auto over = [&] {
    for (size_t r = 0; r < index_.resources(); ++r) {
      if (state_.space().production_free(r, machine) < 0) return true;
    }
    return false;
  };
  // The limits of production alone may still exceed the capacity. Tasks of the lower of production's two tiers
  // are evicted first, and within a tier the newest tasks.
  for (const CellTier tier : {CellTier::kProduction, CellTier::kMonitoring}) {
    for (uint32_t t = state_.first_on(machine); t != kNowhere && over();) {
      const uint32_t next = state_.next_on(t);
      const CellJob& job = index_.model().jobs[index_.job_of(t)];
      if (job.tier == tier) Evict(t, evicted);
      // The gang's other tasks may have left this machine with `t`, possibly including `next`.
      t = job.tier == tier && job.gang ? state_.first_on(machine) : next;
    }
  }
}

bool CellScheduler::KeepsMachine(uint32_t task, uint32_t machine, uint8_t settled,
                                 std::vector<uint32_t>& evicted) {
  const uint32_t job = index_.job_of(task);
  const CellClass& c = index_.class_of(job);
  CellAmounts missing = {};
  const CellAmounts counted = state_.counts().Settled(c, settled);
  for (size_t r = 0; r < index_.resources(); ++r) {
    if (c.production && c.limit[r] > state_.space().production_free(r, machine)) return false;
    missing[r] = counted[r] - state_.space().free(r, machine);
  }
  if (std::ranges::all_of(missing, [](int64_t m) { return m <= 0; })) return true;
  CellTier top = CellTier::kFree;
  if (!options_.preempt || !TierBelow(index_.model().jobs[job].tier, top)) return false;
  const std::vector<uint32_t> victims = VictimsOn(state_, machine, missing, top);
  for (const uint32_t v : victims) {
    if (state_.machine_of(v) != kNowhere) Evict(v, evicted);
  }
  return !victims.empty();
}

void CellScheduler::Resize(CellIndex& index, uint32_t job, const CellAmounts& limit,
                           const CellAmounts& reservation, std::vector<uint32_t>& evicted) {
  struct Placed {
    uint32_t task, machine;
    uint8_t settled;
  };
  std::vector<Placed> placed;
  // All tasks are removed before the class changes, because Remove subtracts the amounts of the current class.
  for (uint32_t t = index.first_task(job); t < index.first_task(job + 1); ++t) {
    const uint32_t machine = state_.machine_of(t);
    if (machine == kNowhere) continue;
    placed.push_back({t, machine, state_.settled(t)});
    state_.Remove(t);
  }
  index.SetAmounts(job, limit, reservation);
  const bool gang = index.model().jobs[job].gang;
  size_t kept = 0;
  for (; kept < placed.size(); ++kept) {
    const Placed& p = placed[kept];
    if (KeepsMachine(p.task, p.machine, p.settled, evicted)) {
      state_.Place(p.task, p.machine, p.settled);
      continue;
    }
    if (gang) break;
    BackToQueue(p.task);
    evicted.push_back(p.task);
  }
  if (kept == placed.size()) return;
  // Only a gang reaches this point. A gang leaves its machines as a whole, including tasks that KeepsMachine
  // accepted.
  for (const Placed& p : placed) {
    BackToQueue(p.task);
    evicted.push_back(p.task);
  }
}

uint64_t& CellScheduler::NoRoomSince(uint32_t job) {
  if (no_room_.size() < index_.classes()) no_room_.resize(index_.classes());
  return no_room_[index_.class_number(job)];
}

uint64_t& CellScheduler::NoVictimsSince(uint32_t job) {
  if (no_victims_.size() < index_.classes() * kCellTiers) no_victims_.resize(index_.classes() * kCellTiers);
  return no_victims_[index_.class_number(job) * kCellTiers +
                     static_cast<size_t>(index_.model().jobs[job].tier)];
}

template <typename Feasible>
bool CellScheduler::StillNone(const CellClass& c, uint64_t known, const Feasible& feasible) {
  const uint64_t now = state_.changes().count();
  // A task that leaves a domain makes room on all machines of the domain, but the log of changes contains only one
  // of these machines.
  if (!options_.equivalence_classes || known == 0 || c.domains != UINT32_MAX ||
      now + 1 - known > state_.changes().window())
    return false;
  for (uint64_t i = known - 1; i < now; ++i) {
    if (feasible(state_.changes().at(i))) return false;
  }
  return true;
}

bool CellScheduler::StillFull(uint32_t job, const CellClass& c) {
  uint64_t& known = NoRoomSince(job);
  if (!StillNone(c, known, [&](uint32_t m) { return scores_.IsFeasible(c, m); })) return false;
  known = state_.changes().count() + 1;
  return true;
}

bool CellScheduler::StillNoVictims(uint32_t job, const CellClass& c) {
  CellTier top = CellTier::kFree;
  if (!TierBelow(index_.model().jobs[job].tier, top)) return true;
  uint64_t& known = NoVictimsSince(job);
  if (!StillNone(c, known, [&](uint32_t m) { return CouldPreempt(scores_, m, c, top); })) return false;
  known = state_.changes().count() + 1;
  return true;
}

}  // namespace taut::brain
