#include "server/store/pass_rules.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::server {
namespace {

template <typename Records>
absl::Status CheckIds(const Records& records, uint64_t last, std::string_view what) {
  for (const auto& record : records) {
    if (record.id <= last) {
      return absl::InvalidArgumentError(
          StrCat(what, " ", record.id, " follows ", last, "; numbers must ascend"));
    }
    last = record.id;
  }
  return absl::OkStatus();
}

absl::Status CheckWindow(const ClosedWindow& w) {
  for (size_t i = 0; i < w.jobs.size(); ++i) {
    const JobWindow& job = w.jobs[i].window;
    if (i > 0 && w.jobs[i].job <= w.jobs[i - 1].job) {
      return absl::InvalidArgumentError(
          StrCat("window ", w.window.index, ": its jobs are not in ascending order"));
    }
    if (uint64_t{job.first_task} + job.num_tasks > w.tasks.size() ||
        uint64_t{job.first_bucket} + job.num_buckets > w.cpu_buckets.size() ||
        uint64_t{job.first_signal} + job.num_signals > w.signals.size()) {
      return absl::InvalidArgumentError(
          StrCat("window ", w.window.index, ": job ", w.jobs[i].job.value, " points past the window's end"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPass(const PassRecord& pass, const PassEnds& ends) {
  if (pass.window != nullptr) {
    if (ends.window && pass.window->window <= *ends.window) {
      return absl::AlreadyExistsError(StrCat("window ", pass.window->window.index,
                                             " is not later than the last stored one, ", ends.window->index));
    }
    const absl::Status window = CheckWindow(*pass.window);
    if (!window.ok()) return window;
  }
  int64_t last_job = ends.job ? int64_t{*ends.job} : -1;
  for (const JobRecord& job : pass.new_jobs) {
    if (job.id.value <= last_job) {
      return absl::InvalidArgumentError(
          StrCat("job ", job.id.value, " follows ", last_job, "; numbers must ascend"));
    }
    last_job = job.id.value;
  }
  const absl::Status decisions = CheckIds(pass.decisions, ends.decision, "decision");
  return decisions.ok() ? CheckIds(pass.settings, ends.setting, "setting") : decisions;
}

PassEnds EndsAfter(const PassRecord& pass, PassEnds ends) {
  if (pass.window != nullptr) ends.window = pass.window->window;
  if (!pass.new_jobs.empty()) ends.job = std::max(ends.job.value_or(0), pass.new_jobs.back().id.value);
  if (!pass.decisions.empty()) ends.decision = pass.decisions.back().id;
  if (!pass.settings.empty()) ends.setting = pass.settings.back().id;
  return ends;
}

}  // namespace taut::server
