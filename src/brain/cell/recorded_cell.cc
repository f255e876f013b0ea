#include "brain/cell/recorded_cell.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

int64_t Milliseconds(int64_t us) { return std::clamp<int64_t>(us / 1000, 0, kMaxCellTime); }

int64_t Amount(double value) {
  return static_cast<int64_t>(std::clamp(std::ceil(value), 0.0, static_cast<double>(kMaxCellAmount)));
}
CellAmounts AmountsOf(double cpu_cores, double memory_bytes) {
  CellAmounts out = {};
  out[kCellCpu] = Amount(cpu_cores * 1000);
  out[kCellMemory] = Amount(memory_bytes);
  return out;
}
CellAmounts AmountsOf(const MachineCapacity& c) { return AmountsOf(c.cpu_cores, c.memory_bytes); }

bool IsService(const RecordedJob& job) { return job.is_alloc_set || IsProduction(job.tier); }

CellJobRun RecordedRunOf(const RecordedJob& job, const JobSpan& span) {
  CellJobRun run;
  run.kind = IsService(job) ? CellJobKind::kService : CellJobKind::kWork;
  const bool whole = span.start_us >= 0 && span.end_us > span.start_us;
  if (!IsService(job) && span.runs > 0) {
    run.run_ms = Milliseconds(static_cast<int64_t>(span.run_us / static_cast<double>(span.runs)));
  } else if (whole) {
    run.run_ms = Milliseconds(span.end_us - span.start_us);
  }
  run.run_ms = std::max<int64_t>(run.run_ms, 1);
  return run;
}

// Returns the row number of each machine or job by name. CheckCell changes row numbers when it removes rows.
template <typename Row>
absl::flat_hash_map<std::string_view, uint32_t> RowsByName(const std::vector<Row>& rows) {
  absl::flat_hash_map<std::string_view, uint32_t> out;
  for (uint32_t i = 0; i < rows.size(); ++i) out[rows[i].name] = i;
  return out;
}

// Returns the first known capacity of a machine; zeros if no capacity is known.
CellAmounts FirstCapacity(std::span<const MachineCapacity> all) {
  for (const MachineCapacity& c : all) {
    if (c.in_cell && (c.cpu_cores > 0 || c.memory_bytes > 0)) return AmountsOf(c);
  }
  return {};
}

void AddMachineEvents(std::span<const MachineCapacity> all, uint32_t row, const CellAmounts& first,
                      CellWorkload& out) {
  bool in = true;
  CellAmounts amounts = first;
  // The machine is down until its first event, unless the first event is from before the trace.
  std::vector<std::pair<int64_t, MachineCapacity>> steps;
  if (!all.empty() && all.front().from.us > 0) steps.push_back({0, MachineCapacity{}});
  for (const MachineCapacity& c : all) steps.push_back({Milliseconds(c.from.us), c});
  for (const auto& [time, c] : steps) {
    if (in != c.in_cell)
      out.events.push_back({time, c.in_cell ? CellEventKind::kReturn : CellEventKind::kFail, row, 0});
    in = c.in_cell;
    const CellAmounts now = AmountsOf(c);
    if (!in || now == amounts || now == CellAmounts{}) continue;
    out.Add({time, CellEventKind::kCapacity, row, 0}, now);
    amounts = now;
  }
}

void AddJobEvents(const RecordedJob& job, const JobSpan& span, uint32_t row, CellWorkload& out) {
  const int64_t came = std::max<int64_t>(span.submit_us, 0);
  out.runs[row] = RecordedRunOf(job, span);
  out.events.push_back({Milliseconds(came), CellEventKind::kSubmit, row, 0});
  for (const JobSpan::Change& c : span.changes) {
    if (c.time_us > came)
      out.Add({Milliseconds(c.time_us), CellEventKind::kLimit, row, 0},
              AmountsOf(c.cpu_cores, c.memory_bytes));
  }
  if (span.end_us >= 0 && span.start_us < 0)
    out.events.push_back({Milliseconds(std::max(span.end_us, came)), CellEventKind::kStop, row, 0});
}

// Calls fn(job, from, until) with the time interval in which each job is present.
template <typename Fn>
void ForEachStay(const CellWorkload& workload, const Fn& fn) {
  std::vector<int64_t> from(workload.runs.size(), -1), until(workload.runs.size(), kNoEnd);
  for (const CellEvent& e : workload.events) {
    if (e.kind == CellEventKind::kStop) until[e.id] = std::min(until[e.id], e.time_ms);
    if (e.kind != CellEventKind::kSubmit) continue;
    from[e.id] = e.time_ms;
    const int64_t run = workload.runs[e.id].run_ms;
    until[e.id] = run == kNoEnd ? kNoEnd : e.time_ms + run;
  }
  for (uint32_t j = 0; j < from.size(); ++j) {
    if (from[j] >= 0) fn(j, from[j], until[j]);
  }
}

}  // namespace

absl::StatusOr<TimedModel> MakeRecordedCell(const std::vector<RecordedJob>& jobs,
                                            std::span<const JobSpan> spans,
                                            const RecordedMachines& machines) {
  TimedModel out;
  CellFindings left_out;
  out.model.resources = CpuAndMemory();
  for (uint32_t m = 0; m < machines.size(); ++m)
    out.model.machines.push_back({machines.name(m), FirstCapacity(machines.capacities(m)), {}});
  for (size_t j = 0; j < jobs.size(); ++j) {
    const RecordedJob& from = jobs[j];
    const JobSpan& span = spans[j];
    if (span.tasks == 0 && span.submit_us < 0) continue;
    CellJob job;
    job.name = from.name;
    job.user = from.user;
    job.tier = from.tier;
    job.tasks = span.tasks;
    job.limit = job.reservation = AmountsOf(span.cpu_cores, span.memory_bytes);
    job.max_per_machine = from.max_per_machine;
    if (from.in_alloc_set) {
      left_out.Add("job left out: it is in an alloc set, which is placed", job.name);
    } else if (span.tasks == 0) {
      left_out.Add("job left out: no event of a task", job.name);
    } else if (job.limit == CellAmounts{}) {
      left_out.Add("job left out: it asks for nothing", job.name);
    } else {
      out.model.jobs.push_back(std::move(job));
    }
  }
  absl::StatusOr<std::vector<CellFinding>> found = CheckCell(out.model);
  if (!found.ok()) return found.status();
  out.findings = left_out.Take();
  for (CellFinding& f : *found) out.findings.push_back(std::move(f));
  const auto machine_rows = RowsByName(out.model.machines), job_rows = RowsByName(out.model.jobs);
  out.workload.runs.resize(out.model.jobs.size());
  for (uint32_t m = 0; m < machines.size(); ++m) {
    if (const auto row = machine_rows.find(machines.name(m)); row != machine_rows.end())
      AddMachineEvents(machines.capacities(m), row->second, out.model.machines[row->second].capacity,
                       out.workload);
  }
  for (size_t j = 0; j < jobs.size(); ++j) {
    const auto row = job_rows.find(jobs[j].name);
    if (row != job_rows.end()) AddJobEvents(jobs[j], spans[j], row->second, out.workload);
  }
  std::ranges::stable_sort(out.workload.events, {}, &CellEvent::time_ms);
  return out;
}

CellModel CellAt(const CellModel& model, const CellWorkload& workload, int64_t time_ms) {
  CellModel out;
  out.resources = model.resources;
  out.names = model.names;
  std::vector<CellAmounts> limit(model.jobs.size()), capacity(model.machines.size());
  std::vector<uint8_t> there(model.jobs.size()), down(model.machines.size());
  for (size_t j = 0; j < limit.size(); ++j) limit[j] = model.jobs[j].limit;
  for (size_t m = 0; m < capacity.size(); ++m) capacity[m] = model.machines[m].capacity;
  for (const CellEvent& e : workload.events) {
    if (e.time_ms > time_ms) continue;
    if (e.kind == CellEventKind::kLimit) limit[e.id] = workload.amounts[e.amounts];
    if (e.kind == CellEventKind::kCapacity) capacity[e.id] = workload.amounts[e.amounts];
    if (e.kind == CellEventKind::kFail || e.kind == CellEventKind::kDrain) down[e.id] = 1;
    if (e.kind == CellEventKind::kReturn) down[e.id] = 0;
  }
  ForEachStay(workload, [&](uint32_t j, int64_t from, int64_t until) {
    there[j] = from <= time_ms && time_ms < until;
  });
  for (size_t m = 0; m < model.machines.size(); ++m) {
    if (down[m] != 0) continue;
    out.machines.push_back(model.machines[m]);
    out.machines.back().capacity = capacity[m];
  }
  for (size_t j = 0; j < model.jobs.size(); ++j) {
    if (there[j] == 0) continue;
    CellJob job = model.jobs[j];
    job.limit = limit[j];
    for (size_t r = 0; r < kMaxCellResources; ++r)
      job.reservation[r] = std::min(job.reservation[r], job.limit[r]);
    // A reservation that equals the job's limit must equal the changed limit, too.
    if (model.jobs[j].reservation == model.jobs[j].limit) job.reservation = job.limit;
    out.jobs.push_back(std::move(job));
  }
  return out;
}

int64_t FullestTime(const CellModel& model, const CellWorkload& workload) {
  std::map<int64_t, double> change;
  ForEachStay(workload, [&](uint32_t j, int64_t from, int64_t until) {
    const double asked = static_cast<double>(model.jobs[j].limit[kCellCpu]) * model.jobs[j].tasks;
    change[from] += asked;
    if (until != kNoEnd) change[until] -= asked;
  });
  double sum = 0, most = -1;
  int64_t at = 0;
  for (const auto& [time, by] : change) {
    sum += by;
    if (sum > most * (1 + 1e-12)) {
      most = sum;
      at = time;
    }
  }
  return at;
}

}  // namespace taut::brain
