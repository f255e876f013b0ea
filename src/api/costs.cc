#include "api/costs.h"

#include <algorithm>
#include <map>

#include "base/strings.h"

namespace taut {
namespace {

constexpr uint64_t kPerUnitHour[] = {uint64_t{1000} * 3600, uint64_t{1024} * 3600};  // by Resource

double Price(Resource r, const Prices& prices) {
  return r == Resource::kCpu ? prices.core_hour : prices.gib_hour;
}

}  // namespace

double UnitHours(Resource r, uint64_t quantity) {
  return static_cast<double>(quantity) / static_cast<double>(kPerUnitHour[static_cast<size_t>(r)]);
}

Costs CostsOf(const AccountEntry& sums, const Prices& prices) {
  Costs out;
  for (const Resource r : kResources) {
    const AccountAmounts& a = sums.amounts(r);
    const double price = Price(r, prices);
    out.usage += price * UnitHours(r, a.usage);
    out.allocation += price * UnitHours(r, a.allocation);
    out.billed += price * UnitHours(r, a.billed);
    out.owner += price * UnitHours(r, a.owner);
    out.would_be += price * UnitHours(r, a.would_be);
  }
  return out;
}

absl::StatusOr<CostReport> ReadCosts(History& history, const FleetView& view, int64_t from_s, int64_t to_s,
                                     int32_t step_windows, StepJobs step_jobs) {
  const auto window_of = [](int64_t s) { return FloorDiv(s, kWindowSeconds); };
  // Days before that of the next window are summed up.
  const int64_t newest = view.window.has_value() ? view.window->index : window_of(to_s);
  const int64_t today = FloorDiv(newest + 1, kWindowsPerDay) * kWindowsPerDay;
  const auto align = [&](int64_t window) { return window < today ? kWindowsPerDay : kWindowsPerHour; };
  const int64_t from = window_of(from_s), to = window_of(to_s + kWindowSeconds - 1);
  const auto bounded = [](int64_t window) {
    return WindowId{static_cast<int32_t>(std::clamp<int64_t>(window, INT32_MIN / 2, INT32_MAX / 2))};
  };
  CostReport report;
  report.from = bounded(FloorDiv(from, align(from)) * align(from));
  report.to = std::max(report.from, bounded(-FloorDiv(-to, align(to)) * align(to)));
  absl::flat_hash_map<uint32_t, AccountEntry> jobs;
  std::map<int64_t, CostStep> steps;
  const absl::Status read = history.ReadAccount(
      report.from, report.to, [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
        const int64_t first = FloorDiv(span.first.index, int64_t{step_windows}) * step_windows;
        CostStep& step = steps[first];
        step.first = WindowId{static_cast<int32_t>(first)};
        for (const AccountEntry& e : entries) {
          jobs[e.job.value].Add(e);
          step.sums.Add(e);
          if (step_jobs == StepJobs::kInclude) step.jobs[e.job.value].Add(e);
        }
      });
  if (!read.ok()) return read;
  report.jobs.reserve(jobs.size());
  for (const auto& [id, sums] : jobs) report.jobs.push_back({JobId{id}, nullptr, sums});
  std::ranges::sort(report.jobs, {}, &CostJob::id);
  for (CostJob& job : report.jobs) {
    if (const JobView* known = view.Find(job.id); known != nullptr) {
      job.record = known->record;
    } else if (absl::StatusOr<JobRecord> gone = history.Job(job.id); gone.ok()) {
      job.record = std::make_shared<const JobRecord>(*std::move(gone));
    }
  }
  for (auto& [first, step] : steps) report.steps.push_back(std::move(step));
  return report;
}

std::optional<std::string> CostKeyOf(const CostJob& job, std::string_view by) {
  if (job.record == nullptr) return std::nullopt;
  if (by == kByJob) return job.record->name;
  for (const auto& [key, value] : job.record->labels) {
    if (key == by) return value;
  }
  return std::nullopt;
}

std::vector<CostGroup> CostsBy(const CostReport& report, std::string_view by, const Prices& prices) {
  std::map<std::optional<std::string>, CostGroup> groups;
  for (const CostJob& job : report.jobs) {
    std::optional<std::string> key = CostKeyOf(job, by);
    CostGroup& group = groups[key];
    group.value = std::move(key);
    ++group.jobs;
    group.sums.Add(job.sums);
  }
  std::vector<CostGroup> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  std::ranges::stable_sort(out, [&](const CostGroup& a, const CostGroup& b) {
    if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
    return CostsOf(a.sums, prices).billed > CostsOf(b.sums, prices).billed;
  });
  return out;
}

}  // namespace taut
