#include "brain/cell/cell_simulation.h"

#include <algorithm>
#include <utility>

#include "brain/cell/pending_reason.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int64_t kMsPerHour = 3'600'000;
constexpr uint32_t kTaskEnd = 0, kServiceEnd = 1;
constexpr uint64_t kAskEvery = 1 << 14;
constexpr size_t kPendingNamed = 3;

SchedulerOptions FromLimit(SchedulerOptions options) {
  options.counting = CellCounting::kFromLimit;
  return options;
}

// Returns a pseudo-random number in [0, 1) that depends only on the seed and the task (splitmix64). The run time
// of a task is therefore equal in every variant of a simulation.
double ShareOf(uint64_t seed, uint32_t task) {
  uint64_t x = seed + (uint64_t{task} + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1.0p-53;
}

}  // namespace

std::string_view Name(CellStepKind kind) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "submitted", "started", "finished", "evicted", "removed", "limit", "out", "back", "capacity"};
  return kNames[static_cast<size_t>(kind)];
}

absl::Status CheckCellSimulation(const CellSimulationOptions& o) {
  const auto bad = [](std::string_view what, auto value, std::string_view expected) {
    return absl::InvalidArgumentError(StrCat("invalid ", what, " ", value, ": expected ", expected));
  };
  if (o.end_ms <= 0 || o.end_ms > kMaxCellTime) return bad("end in ms", o.end_ms, "more than 0");
  if (o.warmup_ms < 0 || o.warmup_ms >= o.end_ms)
    return bad("warm-up in ms", o.warmup_ms, "0 to less than the end");
  for (const auto& [name, value] : {std::pair{"time between passes in ms", o.pass_every_ms},
                                    std::pair{"time to settle in ms", o.settle_after_ms},
                                    std::pair{"step of settling in ms", o.settle_step_ms},
                                    std::pair{"time between drains in ms", o.drain_every_ms}}) {
    if (value <= 0) return bad(name, value, "more than 0");
  }
  if (!(o.run_spread >= 0 && o.run_spread < 1))
    return bad("spread of runs", o.run_spread, "0 to less than 1");
  if (!(o.drain_share >= 0 && o.drain_share <= 1)) return bad("share to drain", o.drain_share, "0 to 1");
  return absl::OkStatus();
}

CellSimulation::CellSimulation(const CellModel& model, const CellWorkload& workload,
                               const CellSimulationOptions& options, CellSimulationHooks hooks)
    : model_(model),
      workload_(workload),
      options_(options),
      hooks_(std::move(hooks)),
      index_(model),
      scheduler_(index_, FromLimit(options.scheduler)),
      last_pass_(-options.pass_every_ms),
      jobs_(model.jobs.size()),
      since_(index_.tasks(), kNoEnd),
      machines_(model.machines.size()),
      capacity_(model.Capacity()) {
  if (hooks_.autoscaler != nullptr) limits_at_ = kCellWindowMs;
}

CellTotals CellSimulation::Run() {
  for (uint64_t i = 1; Step(); ++i) {
    if (i % kAskEvery != 0 || !hooks_.should_stop) continue;
    if (hooks_.should_stop(static_cast<double>(now_) / static_cast<double>(options_.end_ms))) {
      totals_.partial = true;
      break;
    }
  }
  return Finish();
}

CellSimulation::Source CellSimulation::Next(int64_t& time) const {
  Source source = Source::kNone;
  time = kNoEnd;
  const auto offer = [&](int64_t at, Source from) {
    // Only a strictly earlier time replaces the choice. If times are equal, the source that is offered first is
    // chosen, which determines the order of events of equal time (see the header).
    if (at >= time) return;
    time = at;
    source = from;
  };
  if (!ends_.empty()) offer(ends_.top().time_ms, Source::kEnd);
  for (const std::deque<Due>& step : settles_) {
    if (!step.empty()) offer(step.front().time_ms, Source::kSettle);
  }
  if (input_ < workload_.events.size()) offer(workload_.events[input_].time_ms, Source::kInput);
  offer(limits_at_, Source::kLimits);
  offer(drain_at_, Source::kDrain);
  offer(pass_at_, Source::kPass);
  return source;
}

bool CellSimulation::Step() {
  int64_t time = 0;
  const Source source = Next(time);
  if (source == Source::kNone || time > options_.end_ms) return false;
  AdvanceTo(time);
  switch (source) {
    case Source::kEnd:
      TakeEnd();
      break;
    case Source::kSettle:
      TakeSettle();
      break;
    case Source::kInput:
      TakeInput(workload_.events[input_++]);
      break;
    case Source::kLimits:
      TakeLimits();
      break;
    case Source::kDrain:
      TakeDrains();
      break;
    case Source::kPass:
      TakePass();
      break;
    case Source::kNone:
      break;
  }
  return true;
}

CellHour CellSimulation::Present() const {
  CellHour out;
  for (size_t r = 0; r < index_.resources(); ++r) {
    out.capacity[r] = static_cast<double>(capacity_[r]);
    for (size_t t = 0; t < kCellTiers; ++t) {
      const auto tier = static_cast<CellTier>(t);
      const auto limit = static_cast<double>(scheduler_.state().space().limits(tier)[r]);
      const auto reserved = static_cast<double>(scheduler_.state().space().reservations(tier)[r]);
      (IsProduction(tier) ? out.production_limit : out.other_limit)[r] += limit;
      (IsProduction(tier) ? out.production_reserved : out.other_reserved)[r] += reserved;
    }
  }
  out.running = static_cast<double>(running_);
  out.pending = static_cast<double>(scheduler_.pending());
  out.machines_out = machines_out_;
  return out;
}

void CellSimulation::AdvanceTo(int64_t time) {
  if (time == now_) return;
  const CellHour present = Present();
  const double whole = static_cast<double>(options_.end_ms - options_.warmup_ms);
  if (const int64_t from = std::max(now_, options_.warmup_ms); from < time) {
    totals_.mean.AddTimes(static_cast<double>(time - from) / whole, present);
    totals_.machine_hours_out += machines_out_ * static_cast<double>(time - from) / kMsPerHour;
  }
  // Amounts are constant between two events, so that one interval can be added to several hours.
  while (now_ < time) {
    const int64_t hour = now_ / kMsPerHour;
    const int64_t begin = hour * kMsPerHour, end = std::min(begin + kMsPerHour, options_.end_ms);
    const int64_t to = std::min(end, time);
    if (totals_.hours.size() <= static_cast<size_t>(hour))
      totals_.hours.resize(static_cast<size_t>(hour) + 1);
    totals_.hours[static_cast<size_t>(hour)].AddTimes(
        static_cast<double>(to - now_) / static_cast<double>(end - begin), present);
    now_ = to;
  }
}

int64_t CellSimulation::RunOf(uint32_t task, uint32_t job) const {
  const int64_t run = workload_.runs[job].run_ms;
  if (run == kNoEnd || options_.run_spread == 0 || model_.jobs[job].gang) return run;
  const double factor = 1 + options_.run_spread * (2 * ShareOf(options_.seed, task) - 1);
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(run) * factor));
}

void CellSimulation::TakeEnd() {
  const DueEvent due = ends_.top();
  ends_.Pop();
  if (due.kind == kServiceEnd) {
    if (jobs_[due.id].phase == Phase::kThere) EndJob(due.id, CellStepKind::kFinished);
    return;
  }
  const uint32_t task = due.id, job = index_.job_of(task);
  // An eviction does not remove the task's event from the heap. The event of an evicted task is stale, because
  // its time does not match the task's current start.
  if (scheduler_.state().machine_of(task) == kNowhere || since_[task] + RunOf(task, job) != now_) return;
  CountRun(task, job, false);
  scheduler_.Finish(task);
  --running_;
  ++tier(job).finished;
  Tell(CellStepKind::kFinished, task);
  if (--jobs_[job].left == 0) {
    jobs_[job].phase = Phase::kOver;
    ++tier(job).jobs_finished;
  }
  WantPass();
}

void CellSimulation::TakeSettle() {
  for (size_t step = 0; step < kSettleSteps; ++step) {
    if (settles_[step].empty() || settles_[step].front().time_ms != now_) continue;
    // Processes at most one entry per call. Entries of evicted tasks are stale, because their time does not
    // match the task's current start.
    const uint32_t task = settles_[step].front().id;
    settles_[step].pop_front();
    const int64_t after = options_.settle_after_ms + static_cast<int64_t>(step) * options_.settle_step_ms;
    if (scheduler_.state().machine_of(task) == kNowhere || since_[task] + after != now_) return;
    scheduler_.Settle(task, static_cast<uint8_t>(step + 1));
    ++totals_.events;
    if (step + 1 < kSettleSteps) settles_[step + 1].push_back({now_ + options_.settle_step_ms, task});
    WantPass();
    return;
  }
}

void CellSimulation::TakeInput(const CellEvent& event) {
  switch (event.kind) {
    case CellEventKind::kSubmit:
      Submit(event.id);
      break;
    case CellEventKind::kStop:
      if (jobs_[event.id].phase == Phase::kThere) EndJob(event.id, CellStepKind::kRemoved);
      break;
    case CellEventKind::kLimit:
      if (jobs_[event.id].phase == Phase::kThere) ChangeLimit(event.id, workload_.amounts[event.amounts]);
      break;
    case CellEventKind::kDrain:
    case CellEventKind::kFail:
      TakeOut(event.id, event.kind);
      break;
    case CellEventKind::kReturn:
      TakeBack(event.id);
      break;
    case CellEventKind::kCapacity:
      ChangeCapacity(event.id, workload_.amounts[event.amounts]);
      break;
  }
  WantPass();
}

void CellSimulation::Submit(uint32_t job) {
  jobs_[job] = {Phase::kThere, 0, model_.jobs[job].tasks, now_};
  CellTierTotals& totals = tier(job);
  ++totals.jobs;
  totals.tasks += model_.jobs[job].tasks;
  if (measured()) ++totals.measured_jobs;
  scheduler_.Submit(job);
  if (hooks_.autoscaler != nullptr) there_.push_back(job);
  Tell(CellStepKind::kSubmitted, job);
}

void CellSimulation::EndJob(uint32_t job, CellStepKind how) {
  CellTierTotals& totals = tier(job);
  (how == CellStepKind::kFinished ? totals.finished : totals.removed) += jobs_[job].left;
  if (how == CellStepKind::kFinished) ++totals.jobs_finished;
  jobs_[job].phase = Phase::kOver;
  for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1); ++t) {
    if (scheduler_.state().machine_of(t) == kNowhere) continue;
    CountRun(t, job, false);
    --running_;
  }
  // This call must follow CountRun, because CountRun reads the machines of the tasks.
  scheduler_.Stop(job);
  for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1); ++t) {
    if (!scheduler_.Finished(t)) Tell(how, t);
  }
  WantPass();
}

void CellSimulation::ChangeLimit(uint32_t job, const CellAmounts& limit) {
  CellAmounts reservation = model_.jobs[job].reservation;
  for (size_t r = 0; r < kMaxCellResources; ++r) reservation[r] = std::min(reservation[r], limit[r]);
  ++totals_.limit_changes;
  Tell(CellStepKind::kLimit, job);
  evicted_.clear();
  scheduler_.Resize(index_, job, limit, reservation, evicted_);
  TellEvicted(EvictionCause::kRaised);
}

void CellSimulation::TakeOut(uint32_t machine, CellEventKind kind) {
  if (machines_[machine] == Service::kIn) {
    scheduler_.SetInService(machine, false);
    for (size_t r = 0; r < index_.resources(); ++r)
      capacity_[r] -= scheduler_.state().space().capacity(r, machine);
    ++machines_out_;
    Tell(CellStepKind::kOut, machine);
    ++(kind == CellEventKind::kDrain ? totals_.machine_drains : totals_.machine_failures);
  }
  if (kind == CellEventKind::kFail) {
    // A drained machine goes down at the end of its notice. The cause of its last evictions is therefore the
    // drain, not a failure.
    EvictAll(machine,
             machines_[machine] == Service::kDraining ? EvictionCause::kDrained : EvictionCause::kFailed);
    std::erase(draining_, machine);
    machines_[machine] = Service::kDown;
    return;
  }
  machines_[machine] = Service::kDraining;
  draining_.push_back(machine);
  drain_at_ = now_;
}

void CellSimulation::TakeBack(uint32_t machine) {
  std::erase(draining_, machine);
  machines_[machine] = Service::kIn;
  scheduler_.SetInService(machine, true);
  for (size_t r = 0; r < index_.resources(); ++r)
    capacity_[r] += scheduler_.state().space().capacity(r, machine);
  --machines_out_;
  Tell(CellStepKind::kBack, machine);
}

void CellSimulation::ChangeCapacity(uint32_t machine, const CellAmounts& capacity) {
  const bool counts = machines_[machine] == Service::kIn;
  for (size_t r = 0; counts && r < index_.resources(); ++r)
    capacity_[r] += capacity[r] - scheduler_.state().space().capacity(r, machine);
  Tell(CellStepKind::kCapacity, machine);
  evicted_.clear();
  scheduler_.SetCapacity(machine, capacity, evicted_);
  TellEvicted(EvictionCause::kCapacity);
}

void CellSimulation::EvictAll(uint32_t machine, EvictionCause cause) {
  evicted_.clear();
  while (scheduler_.state().first_on(machine) != kNowhere)
    scheduler_.Evict(scheduler_.state().first_on(machine), evicted_);
  TellEvicted(cause);
}

void CellSimulation::TakeLimits() {
  limits_at_ = now_ + kCellWindowMs;
  // Jobs that ended are removed before the loop and not in EndJob: ChangeLimit in the loop may evict tasks but
  // never ends a job.
  std::erase_if(there_, [&](uint32_t job) { return jobs_[job].phase == Phase::kOver; });
  for (const uint32_t job : there_) {
    const uint32_t running = jobs_[job].left - scheduler_.pending(job);
    if (running == 0) continue;
    const CellAmounts limit = index_.class_of(job).limit;
    const CellAutoscaler::Decision decision = hooks_.autoscaler->Close(job, {now_, running, limit});
    if (decision.kills > 0) Kill(job, decision.kills);
    if (decision.limit.has_value() && *decision.limit != limit) ChangeLimit(job, *decision.limit);
  }
  WantPass();
}

void CellSimulation::Kill(uint32_t job, uint32_t kills) {
  evicted_.clear();
  for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1) && kills > 0; ++t) {
    if (scheduler_.state().machine_of(t) == kNowhere) continue;
    scheduler_.Evict(t, evicted_);
    --kills;
  }
  TellEvicted(EvictionCause::kOom);
}

void CellSimulation::TakeDrains() {
  drain_at_ = kNoEnd;
  evicted_.clear();
  bool left = false;
  for (const uint32_t machine : draining_) {
    for (uint32_t t = scheduler_.state().first_on(machine); t != kNowhere;) {
      const uint32_t job = index_.job_of(t), next = scheduler_.state().next_on(t);
      const bool gang = model_.jobs[job].gang;
      const double most = std::max(1.0, options_.drain_share * model_.jobs[job].tasks);
      if (scheduler_.pending(job) < most) {
        scheduler_.Evict(t, evicted_);
        // The eviction may have removed other tasks of the gang from this machine, possibly including `next`.
        t = gang ? scheduler_.state().first_on(machine) : next;
        continue;
      }
      left = true;
      t = next;
    }
  }
  if (left) drain_at_ = now_ + options_.drain_every_ms;
  TellEvicted(EvictionCause::kDrained);
  WantPass();
}

void CellSimulation::TakePass() {
  pass_at_ = kNoEnd;
  last_pass_ = now_;
  ++totals_.passes;
  const PassResult result = scheduler_.Pass();
  for (const CellMove& move : scheduler_.moves()) {
    if (move.machine == kNowhere) {
      Evicted(move.task, EvictionCause::kPreempted);
    } else {
      Started(move.task, move.machine);
    }
  }
  // Preempted tasks may preempt other tasks only in a later pass.
  if (result.preempted > 0) WantPass();
}

void CellSimulation::WantPass() {
  if (pass_at_ != kNoEnd || scheduler_.pending() == 0) return;
  pass_at_ = std::max(now_, last_pass_ + options_.pass_every_ms);
}

void CellSimulation::Started(uint32_t task, uint32_t machine) {
  const uint32_t job_number = index_.job_of(task);
  Job& job = jobs_[job_number];
  CellTierTotals& totals = tier(job_number);
  ++totals.starts;
  ++running_;
  const bool of_measured = job.submit_ms >= options_.warmup_ms;
  const auto waited = static_cast<float>(static_cast<double>(now_ - job.submit_ms) / 1000);
  const CellJobRun& run = workload_.runs[job_number];
  // With kNoEnd the task has never run, so that the delay counts from the submission.
  if (since_[task] == kNoEnd) {
    if (job.started++ == 0) {
      if (of_measured) totals.first_s.push_back(waited);
      if (run.kind == CellJobKind::kService && run.run_ms != kNoEnd)
        ends_.Push({now_ + run.run_ms, kServiceEnd, job_number});
    }
    if (job.started == model_.jobs[job_number].tasks && of_measured) totals.all_s.push_back(waited);
  } else if (since_[task] >= options_.warmup_ms) {
    totals.again_s.push_back(static_cast<float>(static_cast<double>(now_ - since_[task]) / 1000));
  }
  since_[task] = now_;
  if (run.kind == CellJobKind::kWork && run.run_ms != kNoEnd)
    ends_.Push({now_ + RunOf(task, job_number), kTaskEnd, task});
  // A short task ends before its first step. Omitting its entry keeps the queues small.
  if (options_.reclaim && (run.kind != CellJobKind::kWork || run.run_ms > options_.settle_after_ms))
    settles_[0].push_back({now_ + options_.settle_after_ms, task});
  Tell(CellStepKind::kStarted, task, machine);
}

void CellSimulation::CountRun(uint32_t task, uint32_t job, bool lost) {
  const int64_t from = std::max(since_[task], options_.warmup_ms);
  if (from >= now_) return;
  CellTierTotals& totals = tier(job);
  const double hours = static_cast<double>(now_ - from) / kMsPerHour;
  const double cpu =
      hours * static_cast<double>(index_.class_of(job).limit[0]) / model_.resources[0].per_unit;
  totals.task_hours += hours;
  totals.cpu_hours += cpu;
  if (!lost) return;
  totals.lost_task_hours += hours;
  totals.lost_cpu_hours += cpu;
}

void CellSimulation::Evicted(uint32_t task, EvictionCause cause) {
  const uint32_t job = index_.job_of(task);
  CountRun(task, job, workload_.runs[job].kind == CellJobKind::kWork);
  // This assignment must follow CountRun, because CountRun reads the time of the last start.
  since_[task] = now_;
  --running_;
  if (measured()) ++tier(job).evictions[static_cast<size_t>(cause)];
  Tell(CellStepKind::kEvicted, task, kNowhere, cause);
}

void CellSimulation::TellEvicted(EvictionCause cause) {
  for (const uint32_t task : evicted_) Evicted(task, cause);
}

CellTotals CellSimulation::Finish() {
  if (!totals_.partial) {
    AdvanceTo(options_.end_ms);
  } else if (now_ > options_.warmup_ms) {
    CellHour mean;
    mean.AddTimes(static_cast<double>(options_.end_ms - options_.warmup_ms) /
                      static_cast<double>(now_ - options_.warmup_ms),
                  totals_.mean);
    totals_.mean = mean;
  }
  for (uint32_t j = 0; j < jobs_.size(); ++j) {
    if (jobs_[j].phase != Phase::kThere) continue;
    tier(j).pending += scheduler_.pending(j);
    for (uint32_t t = index_.first_task(j); t < index_.first_task(j + 1); ++t) {
      if (scheduler_.state().machine_of(t) == kNowhere) continue;
      CountRun(t, j, false);
      ++tier(j).running;
    }
    if (scheduler_.pending(j) > 0) ++totals_.pending_jobs;
  }
  for (size_t t = kCellTiers; t-- > 0;) {
    for (uint32_t j = 0; j < jobs_.size() && totals_.pending.size() < kPendingNamed; ++j) {
      if (static_cast<size_t>(model_.jobs[j].tier) != t || scheduler_.pending(j) == 0) continue;
      totals_.pending.push_back(
          {model_.jobs[j].name, scheduler_.pending(j), ExplainPending(scheduler_.scores(), j).sentence});
    }
  }
  return std::move(totals_);
}

}  // namespace taut::brain
