#include "brain/cell/cell_events.h"

#include <algorithm>
#include <array>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

bool IsOfJob(CellEventKind kind) { return kind <= CellEventKind::kLimit; }
bool HasAmounts(CellEventKind kind) {
  return kind == CellEventKind::kLimit || kind == CellEventKind::kCapacity;
}

std::string EventText(const CellModel& model, const CellEvent& e) {
  const std::string& name = IsOfJob(e.kind) ? model.jobs[e.id].name : model.machines[e.id].name;
  return fmt::format("{:.3f} s, {} of {}", static_cast<double>(e.time_ms) / 1000, Name(e.kind), name);
}

absl::Status CheckEvent(const CellModel& model, const CellWorkload& workload, const CellEvent& e) {
  const auto bad = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        StrCat("invalid event ", Name(e.kind), " at ", e.time_ms, " ms: ", what));
  };
  if (e.time_ms < 0 || e.time_ms > kMaxCellTime)
    return bad(StrCat("expected a time from 0 to ", kMaxCellTime, " ms"));
  const size_t most = IsOfJob(e.kind) ? model.jobs.size() : model.machines.size();
  if (e.id >= most) return bad(StrCat("no row ", e.id, " of ", most));
  if (!HasAmounts(e.kind)) return absl::OkStatus();
  if (e.amounts >= workload.amounts.size()) return bad("it has no amounts");
  return CheckAmounts(model, EventText(model, e), workload.amounts[e.amounts]);
}

// Tracks the phase of each job and machine event by event, in order of time.
class Sequence {
 public:
  Sequence(const CellModel& model, const CellWorkload& workload, CellFindings& findings)
      : model_(model),
        workload_(workload),
        findings_(findings),
        jobs_(model.jobs.size()),
        machines_(model.machines.size()) {
    for (const CellMachine& m : model.machines) {
      for (size_t r = 0; r < kMaxCellResources; ++r) largest_[r] = std::max(largest_[r], m.capacity[r]);
    }
  }

  // Returns false if the event must be removed.
  bool Take(const CellEvent& e) {
    const std::string_view cause = Cause(e);
    if (!cause.empty()) findings_.Add(cause, EventText(model_, e));
    return cause.empty();
  }

  void Finish() {
    for (size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j] == Job::kUnknown) findings_.Add("job that no event submits", model_.jobs[j].name);
    }
  }

 private:
  enum class Job : uint8_t { kUnknown, kThere, kStopped };
  enum class Machine : uint8_t { kUp, kDrained, kDown };

  // Returns the reason why the event must be removed; "" if the event is kept. Updates the phases.
  std::string_view Cause(const CellEvent& e) {
    if (HasAmounts(e.kind) && workload_.amounts[e.amounts] == CellAmounts{})
      return e.kind == CellEventKind::kLimit ? "event left out: a limit of nothing"
                                             : "event left out: a capacity of nothing";
    if (IsOfJob(e.kind)) return CauseOfJob(e, jobs_[e.id]);
    Machine& machine = machines_[e.id];
    switch (e.kind) {
      case CellEventKind::kDrain:
        if (machine != Machine::kUp) return "event left out: a drain of a machine that is out of service";
        machine = Machine::kDrained;
        return {};
      case CellEventKind::kFail:
        if (machine == Machine::kDown) return "event left out: a failure of a machine that is down";
        machine = Machine::kDown;
        return {};
      case CellEventKind::kReturn:
        if (machine == Machine::kUp) return "event left out: a return of a machine that is in service";
        machine = Machine::kUp;
        return {};
      default:
        return {};
    }
  }
  std::string_view CauseOfJob(const CellEvent& e, Job& job) {
    if (e.kind == CellEventKind::kSubmit) {
      if (job != Job::kUnknown) return "event left out: a job that was submitted before";
      job = Job::kThere;
    } else if (job == Job::kUnknown) {
      return e.kind == CellEventKind::kStop ? "event left out: an end without a start"
                                            : "event left out: a limit of a job that was not submitted";
    } else if (job == Job::kStopped) {
      return "event left out: the job had ended";
    } else if (e.kind == CellEventKind::kStop) {
      job = Job::kStopped;
    } else if (!FitsInto(workload_.amounts[e.amounts], largest_)) {
      findings_.Add("limit larger than any machine", EventText(model_, e));
    }
    return {};
  }

  const CellModel& model_;
  const CellWorkload& workload_;
  CellFindings& findings_;
  std::vector<Job> jobs_;
  std::vector<Machine> machines_;
  CellAmounts largest_ = {};
};

}  // namespace

std::string_view Name(CellEventKind kind) {
  static constexpr std::array<std::string_view, 7> kNames = {"submit", "stop",   "limit",   "drain",
                                                             "fail",   "return", "capacity"};
  return kNames[static_cast<size_t>(kind)];
}

void CellWorkload::Add(CellEvent event, const CellAmounts& with) {
  event.amounts = static_cast<uint32_t>(amounts.size());
  amounts.push_back(with);
  events.push_back(event);
}

absl::StatusOr<std::vector<CellFinding>> CheckCellWorkload(const CellModel& model, CellWorkload& workload) {
  if (workload.runs.size() != model.jobs.size())
    return absl::InvalidArgumentError(StrCat("invalid number of runs ", workload.runs.size(), ": expected ",
                                             model.jobs.size(), ", one for each job"));
  for (size_t j = 0; j < workload.runs.size(); ++j) {
    if (workload.runs[j].run_ms <= 0)
      return absl::InvalidArgumentError(StrCat("invalid run of job \"", model.jobs[j].name,
                                               "\": ", workload.runs[j].run_ms, " ms, expected more than 0"));
  }
  CellFindings findings;
  int64_t latest = 0;
  for (const CellEvent& e : workload.events) {
    if (absl::Status s = CheckEvent(model, workload, e); !s.ok()) return s;
    if (e.time_ms < latest) findings.Add("event out of order: sorted by time", EventText(model, e));
    latest = std::max(latest, e.time_ms);
  }
  std::ranges::stable_sort(workload.events, {}, &CellEvent::time_ms);
  Sequence sequence(model, workload, findings);
  std::erase_if(workload.events, [&](const CellEvent& e) { return !sequence.Take(e); });
  sequence.Finish();
  return findings.Take();
}

}  // namespace taut::brain
