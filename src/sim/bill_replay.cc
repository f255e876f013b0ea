#include "sim/bill_replay.h"

#include <algorithm>
#include <cmath>

#include "base/byte_units.h"

namespace taut {
namespace {

constexpr double kMillicores = 1000;

// Sums over the tasks of a window, in cores or bytes.
struct WindowUse {
  double usage = 0, peak = 0, reservation = 0;
  bool measured = false;
};

WindowUse UseOf(const JobDay& day, const JobWindow& window, Resource r, std::optional<double> limit) {
  const bool is_cpu = r == Resource::kCpu;
  WindowUse out;
  size_t tasks = 0;
  for (uint32_t i = 0; i < window.num_tasks; ++i) {
    const TaskWindow& task = day.tasks[window.first_task + i];
    const float mean = is_cpu ? task.cpu_mean_cores : task.memory_mean_bytes;
    if (mean < 0) continue;
    const float peak = is_cpu ? task.cpu_peak_cores : task.memory_peak_bytes;
    out.usage += mean;
    out.peak += std::max(mean, peak);
    ++tasks;
  }
  out.measured = tasks > 0;
  const float sum = is_cpu ? window.cpu_limit_sum_cores : window.memory_limit_sum_bytes;
  const float each = is_cpu ? window.cpu_limit_cores : window.memory_limit_bytes;
  if (limit.has_value()) {
    out.reservation = *limit * static_cast<double>(tasks);
  } else if (sum >= 0) {
    out.reservation = sum;
  } else {
    out.reservation = each >= 0 ? each * static_cast<double>(tasks) : out.usage;
  }
  return out;
}

UsageQuantities QuantitiesOf(const WindowUse& window, Resource r) {
  const double unit = r == Resource::kCpu ? kMillicores : 1 / kMiB;
  const auto amount = [unit](double value) { return std::clamp(value * unit, 0.0, 1e12); };
  const auto quantity = [&](double value) {
    return static_cast<uint64_t>(std::llround(amount(value) * static_cast<double>(kWindowSeconds)));
  };
  UsageQuantities out;
  out.usage = quantity(window.usage);
  out.reservation = quantity(window.reservation);
  out.request = out.reservation;
  out.peak = static_cast<uint64_t>(std::llround(amount(window.peak)));
  return out;
}

}  // namespace

void LimitsInForce::Add(const LimitChange& change) {
  auto& jobs = changes_[static_cast<size_t>(change.resource)];
  if (change.job.value >= jobs.size()) jobs.resize(size_t{change.job.value} + 1);
  jobs[change.job.value].push_back({change.from, change.limit});
}

std::optional<double> LimitsInForce::At(JobId job, Resource r, WindowId window) const {
  const auto& jobs = changes_[static_cast<size_t>(r)];
  if (job.value >= jobs.size()) return std::nullopt;
  const std::vector<Change>& changes = jobs[job.value];
  const auto after = std::ranges::upper_bound(changes, window, {}, &Change::from);
  return after == changes.begin() ? std::nullopt : std::prev(after)->limit;
}

absl::StatusOr<Bill> BillTrace(DaySource& source, const PriceSheet& sheet, std::span<const BilledJob> jobs,
                               const BillTraceOptions& options) {
  const BillPeriod& period = options.period;
  absl::StatusOr<Metering> metering = Metering::Make(sheet, options.pool);
  if (!metering.ok()) return metering.status();
  for (const int32_t day : source.days()) {
    if (int64_t{day + 1} * kDaySeconds <= period.start_s || int64_t{day} * kDaySeconds >= period.end_s)
      continue;
    const absl::StatusOr<std::vector<JobDay>> days = source.LoadDay(day);
    if (!days.ok()) return days.status();
    for (const JobDay& job : *days) {
      for (const JobWindow& window : job.windows) {
        UsageEntry entry;
        entry.start_s = window.window.start_s();
        entry.end_s = entry.start_s + kWindowSeconds;
        if (entry.start_s < period.start_s || entry.end_s > period.end_s) continue;
        entry.group = jobs[job.job.value].group;
        entry.job = job.job.value;
        entry.tier = jobs[job.job.value].tier;
        bool measured = false;
        for (const Resource r : kResources) {
          const auto limit =
              options.limits == nullptr ? std::nullopt : options.limits->At(job.job, r, window.window);
          const WindowUse use = UseOf(job, window, r, limit);
          measured |= use.measured;
          if (use.measured) entry.of[static_cast<size_t>(r)] = QuantitiesOf(use, r);
        }
        if (!measured) continue;
        if (absl::Status s = metering->Add(entry); !s.ok()) return s;
        if (options.on_entry) options.on_entry(entry);
      }
    }
  }
  return MakeBill(sheet, options.pool, *std::move(metering), options.bill);
}

}  // namespace taut
