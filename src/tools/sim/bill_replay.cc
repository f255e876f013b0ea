#include "tools/sim/bill_replay.h"

#include <algorithm>
#include <cmath>

#include "common/base/byte_units.h"
#include "common/model/window_sums.h"

namespace taut::tools {
namespace {

brain::UsageQuantities QuantitiesOf(const UsageSums& window, double reservation, Resource r) {
  const double unit = UnitOf(r).accounted;
  const auto amount = [unit](double value) { return std::clamp(value * unit, 0.0, 1e12); };
  const auto quantity = [&](double value) {
    return static_cast<uint64_t>(std::llround(amount(value) * static_cast<double>(kWindowSeconds)));
  };
  brain::UsageQuantities out;
  out.usage = quantity(window.usage);
  out.reservation = quantity(reservation);
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

std::optional<brain::UsageEntry> EntryOf(const JobDay& day, const JobWindow& window, const BilledJob& job,
                                         const LimitsInForce* limits) {
  brain::UsageEntry entry;
  entry.start_s = window.window.start_s();
  entry.end_s = entry.start_s + kWindowSeconds;
  entry.group = job.group;
  entry.job = day.job.value;
  entry.tier = job.tier;
  bool measured = false;
  for (const Resource r : kResources) {
    const auto limit = limits == nullptr ? std::nullopt : limits->At(day.job, r, window.window);
    const UsageSums use = SumUsage(day, window, r);
    if (use.tasks == 0) continue;
    measured = true;
    const double reservation = limit.has_value() ? *limit * static_cast<double>(use.tasks)
                                                 : OwnerLimitSum(window, r, use.tasks).value_or(use.usage);
    entry.of[static_cast<size_t>(r)] = QuantitiesOf(use, reservation, r);
  }
  return measured ? std::optional(entry) : std::nullopt;
}

absl::StatusOr<brain::Bill> BillTrace(DaySource& source, const brain::PriceSheet& sheet,
                                      std::span<const BilledJob> jobs, const BillTraceOptions& options) {
  const BillPeriod& period = options.period;
  absl::StatusOr<brain::Metering> metering = brain::Metering::Make(sheet, options.pool);
  if (!metering.ok()) return metering.status();
  for (const int32_t day : source.days()) {
    if (int64_t{day + 1} * kDaySeconds <= period.start_s || int64_t{day} * kDaySeconds >= period.end_s)
      continue;
    const absl::StatusOr<std::vector<JobDay>> days = source.LoadDay(day);
    if (!days.ok()) return days.status();
    for (const JobDay& job : *days) {
      for (const JobWindow& window : job.windows) {
        const int64_t start_s = window.window.start_s();
        if (start_s < period.start_s || start_s + kWindowSeconds > period.end_s) continue;
        std::optional<brain::UsageEntry> entry = EntryOf(job, window, jobs[job.job.value], options.limits);
        if (!entry.has_value() || (options.choose && !options.choose(*entry))) continue;
        if (absl::Status s = metering->Add(*entry); !s.ok()) return s;
        if (options.on_entry) options.on_entry(*entry);
      }
    }
  }
  return brain::MakeBill(sheet, options.pool, *std::move(metering), options.bill);
}

}  // namespace taut::tools
