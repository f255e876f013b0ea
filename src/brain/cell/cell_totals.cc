#include "brain/cell/cell_totals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace taut::brain {

std::string_view Name(EvictionCause cause) {
  static constexpr std::array<std::string_view, kEvictionCauses> kNames = {"preempted", "failed",   "drained",
                                                                           "raised",    "capacity", "oom"};
  return kNames[static_cast<size_t>(cause)];
}

void CellTierTotals::Add(const CellTierTotals& other) {
  for (const auto field : {&CellTierTotals::jobs, &CellTierTotals::jobs_finished, &CellTierTotals::tasks,
                           &CellTierTotals::finished, &CellTierTotals::removed, &CellTierTotals::running,
                           &CellTierTotals::pending, &CellTierTotals::starts, &CellTierTotals::measured_jobs})
    this->*field += other.*field;
  for (const auto field : {&CellTierTotals::task_hours, &CellTierTotals::lost_task_hours,
                           &CellTierTotals::cpu_hours, &CellTierTotals::lost_cpu_hours})
    this->*field += other.*field;
  for (const auto field : {&CellTierTotals::first_s, &CellTierTotals::all_s, &CellTierTotals::again_s})
    (this->*field).insert((this->*field).end(), (other.*field).begin(), (other.*field).end());
  for (size_t c = 0; c < kEvictionCauses; ++c) evictions[c] += other.evictions[c];
}

uint64_t CellTierTotals::all_evictions() const {
  return std::accumulate(evictions.begin(), evictions.end(), uint64_t{0});
}

double CellTierTotals::evictions_per_week(std::optional<EvictionCause> cause) const {
  const uint64_t count = cause.has_value() ? evictions[static_cast<size_t>(*cause)] : all_evictions();
  return task_hours > 0 ? static_cast<double>(count) / (task_hours / (24 * 7)) : 0;
}

void CellHour::AddTimes(double factor, const CellHour& other) {
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    capacity[r] += factor * other.capacity[r];
    production_limit[r] += factor * other.production_limit[r];
    other_limit[r] += factor * other.other_limit[r];
    production_reserved[r] += factor * other.production_reserved[r];
    other_reserved[r] += factor * other.other_reserved[r];
  }
  running += factor * other.running;
  pending += factor * other.pending;
  machines_out += factor * other.machines_out;
}

std::optional<double> DelayQuantile(std::span<float> values, uint64_t of, double q) {
  if (of == 0) return std::nullopt;
  const auto rank = static_cast<uint64_t>(std::max(1.0, std::ceil(q * static_cast<double>(of))));
  if (rank > values.size()) return std::nullopt;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<DelayPoint> DelayCdf(std::span<float> values, uint64_t of) {
  std::vector<DelayPoint> out;
  if (values.empty() || of == 0) return out;
  std::ranges::sort(values);
  for (int step = 0;; ++step) {
    const double seconds = 0.1 * std::pow(10, step / 8.0);
    const auto up_to = std::ranges::upper_bound(values, static_cast<float>(seconds)) - values.begin();
    out.push_back({seconds, static_cast<double>(up_to) / static_cast<double>(of)});
    if (up_to == static_cast<std::ptrdiff_t>(values.size())) return out;
  }
}

}  // namespace taut::brain
