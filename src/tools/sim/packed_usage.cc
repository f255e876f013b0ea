#include "tools/sim/packed_usage.h"

#include <algorithm>
#include <tuple>

namespace taut::tools {
namespace {

constexpr double kOverRounding = 1e-9;

// Usage of a recorded task in one window.
struct Used {
  WindowId window;
  uint32_t number = 0;
  PerResource<float> amount = {};  // amount by resource; negative: not measured
};

}  // namespace

void PackedUsage::Add(const PackedUsage& other) {
  machine_hours += other.machine_hours;
  over_any += other.over_any;
  for (size_t r = 0; r < over.size(); ++r) over[r] += other.over[r];
}

size_t PackedMachines::Add(const brain::CellModel& model, const brain::TrialPacking& packing) {
  Packing out;
  for (const uint32_t m : packing.machines) {
    PerResource<double> capacity = AllOf(-1.0);
    for (const Resource r : kResources) {
      if (CellRowOf(r) < model.resources.size())
        capacity[static_cast<size_t>(r)] =
            static_cast<double>(model.machines[m].capacity[CellRowOf(r)]) / CellUnitsOf(r);
    }
    out.capacity.push_back(capacity);
  }
  // Recorded task, machine and job of each placed task of the cell.
  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> on;
  uint32_t task = 0;
  for (uint32_t j = 0; j < model.jobs.size(); ++j) {
    const brain::CellJob& job = model.jobs[j];
    const RecordedTasks::Range range = recorded_.Of(job.name);
    for (uint32_t i = 0; i < job.tasks; ++i, ++task) {
      if (range.count > 0 && packing.machine_of_task[task] != brain::kNowhere)
        on.emplace_back(range.first + i % range.count, packing.machine_of_task[task], j);
    }
  }
  std::ranges::sort(on);
  out.first.assign(recorded_.size() + 1, 0);
  for (const auto& [number, machine, job] : on) {
    ++out.first[number + 1];
    Packing::Place& place = out.places.emplace_back();
    place.machine = machine;
    for (const Resource r : kResources)
      place.limit[static_cast<size_t>(r)] =
          static_cast<float>(static_cast<double>(model.jobs[job].limit[CellRowOf(r)]) / CellUnitsOf(r));
  }
  for (size_t i = 1; i < out.first.size(); ++i) out.first[i] += out.first[i - 1];
  packings_.push_back(std::move(out));
  return packings_.size() - 1;
}

// Counts the machine-hours of one packing, hour by hour.
class PackedMachines::Meter {
 public:
  explicit Meter(const Packing& packing)
      : packing_(packing), used_(packing.capacity.size()), state_(packing.capacity.size()) {}

  // Adds all tasks of one window.
  void Take(std::span<const Used> window) {
    for (const Used& u : window) {
      for (uint32_t i = packing_.first[u.number]; i < packing_.first[u.number + 1]; ++i) {
        const Packing::Place& place = packing_.places[i];
        const uint32_t m = place.machine;
        if (!used_[m].touched) touched_.push_back(m);
        used_[m].touched = true;
        for (size_t r = 0; r < kNumResources; ++r)
          used_[m].amount[r] += std::clamp(u.amount[r], 0.0F, place.limit[r]);
      }
    }
    for (const uint32_t m : touched_) {
      Hour& hour = state_[m];
      if (!hour.seen) hours_.push_back(m);
      hour.seen = true;
      for (size_t r = 0; r < kNumResources; ++r) {
        const double capacity = packing_.capacity[m][r];
        hour.over[r] = hour.over[r] || (capacity >= 0 && used_[m].amount[r] > capacity * (1 + kOverRounding));
      }
      used_[m] = {};
    }
    touched_.clear();
  }
  void EndHour() {
    for (const uint32_t m : hours_) {
      const Hour& hour = state_[m];
      ++result_.machine_hours;
      for (size_t r = 0; r < kNumResources; ++r) result_.over[r] += hour.over[r] ? 1 : 0;
      result_.over_any += hour.over[0] || hour.over[1] ? 1 : 0;
      state_[m] = {};
    }
    hours_.clear();
  }
  const PackedUsage& result() const { return result_; }

 private:
  struct Now {
    bool touched = false;
    PerResource<double> amount = {};
  };
  struct Hour {
    bool seen = false;
    PerResource<bool> over = {};
  };
  const Packing& packing_;
  std::vector<Now> used_;    // sums of the current window, by machine
  std::vector<Hour> state_;  // state in the current hour, by machine
  std::vector<uint32_t> touched_, hours_;
  PackedUsage result_;
};

absl::StatusOr<std::vector<PackedUsage>> PackedMachines::Measure(
    DaySource& source, WindowId from, WindowId to, const std::function<bool()>& should_stop) const {
  std::vector<Meter> meters;
  for (const Packing& packing : packings_) meters.emplace_back(packing);
  std::vector<Used> used;
  int64_t hour = 0;  // hours since `from`
  for (const int32_t day : source.days()) {
    if ((day + 1) * kWindowsPerDay <= from.index || day * kWindowsPerDay >= to.index) continue;
    if (should_stop && should_stop()) return absl::CancelledError("interrupted: there is no result");
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    used.clear();
    for (const JobDay& job : *jobs) {
      for (const JobWindow& w : job.windows) {
        if (w.window < from || w.window >= to) continue;
        for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
          const TaskWindow& t = job.tasks[i];
          const uint32_t number = recorded_.NumberOf(job.job, t.task);
          if (number != RecordedTasks::kNone && (t.cpu_mean_cores >= 0 || t.memory_peak_bytes >= 0))
            used.push_back({w.window, number, {t.cpu_mean_cores, t.memory_peak_bytes}});
        }
      }
    }
    std::ranges::stable_sort(used, {}, &Used::window);
    for (size_t i = 0, end = 0; i < used.size(); i = end) {
      while (end < used.size() && used[end].window == used[i].window) ++end;
      const int64_t now = (used[i].window.index - from.index) / kWindowsPerHour;
      for (Meter& meter : meters) {
        if (now != hour) meter.EndHour();
        meter.Take(std::span(used).subspan(i, end - i));
      }
      hour = now;
    }
  }
  std::vector<PackedUsage> out;
  for (Meter& meter : meters) {
    meter.EndHour();
    out.push_back(meter.result());
  }
  return out;
}

}  // namespace taut::tools
