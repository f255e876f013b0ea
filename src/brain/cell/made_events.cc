#include "brain/cell/made_events.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "common/base/random.h"

namespace taut::brain {
namespace {

constexpr double kSecondMs = 1000, kMinuteMs = 60 * kSecondMs, kHourMs = 60 * kMinuteMs,
                 kDayMs = 24 * kHourMs;
constexpr double kLeastRunMs = 10 * kSecondMs;

double RunMs(const MadeCellEventsOptions& o, Rng& rng) {
  return std::clamp(o.run_median_s * kSecondMs * std::exp(o.run_sigma * rng.Normal()), kLeastRunMs,
                    std::max(kLeastRunMs, o.run_most_h * kHourMs));
}

double MeanRunMs(const MadeCellEventsOptions& o) {
  constexpr int kDraws = 20'000;
  Rng rng(o.cell.seed);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += RunMs(o, rng);
  return sum / kDraws;
}

class EventMaker {
 public:
  explicit EventMaker(const MadeCellEventsOptions& options)
      : o_(options), rng_(Rng(options.cell.seed).Fork(1)), end_ms_(options.days * kDayMs) {}

  MadeCellEvents Make() {
    MadeCellOptions cell = o_.cell;
    cell.other_times = end_ms_ / MeanRunMs(o_);
    out_.model = MakeCell(cell);
    for (uint32_t j = 0; j < out_.model.jobs.size(); ++j) AddJob(j);
    // Maintenance visits machines in random order, because neighbouring machines in a fresh cell run tasks of
    // one job.
    std::vector<uint32_t> turns(out_.model.machines.size());
    std::iota(turns.begin(), turns.end(), 0U);
    for (size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[rng_.Below(i)]);
    for (uint32_t m = 0; m < turns.size(); ++m) AddMachine(m, turns[m]);
    std::ranges::stable_sort(out_.workload.events, {}, &CellEvent::time_ms);
    return std::move(out_);
  }

 private:
  void Add(CellEventKind kind, double ms, uint32_t id) {
    out_.workload.events.push_back({static_cast<int64_t>(ms), kind, id, 0});
  }

  void AddJob(uint32_t j) {
    double submit = Arrival(), run = RunMs(o_, rng_);
    CellJobRun end{static_cast<int64_t>(run), CellJobKind::kWork};
    if (IsProduction(out_.model.jobs[j].tier)) {
      const bool stands = rng_.Uniform() < o_.standing;
      run = stands ? end_ms_ : o_.service_median_h * kHourMs * std::exp(o_.service_sigma * rng_.Normal());
      end = {stands ? kNoEnd : std::max<int64_t>(1, static_cast<int64_t>(run)), CellJobKind::kService};
      if (stands) submit = 0;
    }
    out_.workload.runs.push_back(end);
    Add(CellEventKind::kSubmit, submit, j);
    AddLimits(j, submit, std::min(end_ms_, submit + run));
  }

  double Arrival() {
    for (;;) {
      const double at = end_ms_ * rng_.Uniform();
      const double rate = 1 + o_.daily_cycle * std::sin(2 * std::numbers::pi * at / kDayMs);
      if (rng_.Uniform() * (1 + o_.daily_cycle) < rate) return at;
    }
  }

  void AddLimits(uint32_t j, double submit, double end) {
    double at = rng_.Uniform() < o_.known ? submit : submit + kDayMs * rng_.Uniform(0.5, 1.5);
    for (; at<end; at += o_.changes_a_day> 0 ? Exponential(kDayMs / o_.changes_a_day) : end) {
      const CellJob& job = out_.model.jobs[j];
      CellAmounts limit = {};
      const double factor = (1 + o_.margin) * std::exp(o_.change_sigma * rng_.Normal());
      for (size_t r = 0; r < kMaxCellResources; ++r) {
        const auto reserved = static_cast<double>(job.reservation[r]);
        // No limit exceeds the owner's limit, because a larger limit may fit no machine.
        limit[r] = std::clamp(static_cast<int64_t>(reserved * factor), job.reservation[r], job.limit[r]);
      }
      out_.workload.Add({static_cast<int64_t>(at), CellEventKind::kLimit, j, 0}, limit);
    }
  }

  double Exponential(double mean) { return -mean * std::log(1 - rng_.Uniform()); }

  void AddMachine(uint32_t m, uint32_t place) {
    std::vector<std::pair<double, double>> down;  // times of failures and returns, ascending
    for (double at = 0; o_.failure_days > 0;) {
      at += Exponential(o_.failure_days * kDayMs);
      if (at >= end_ms_) break;
      const double back = at + std::max(kMinuteMs, Exponential(o_.repair_h * kHourMs));
      down.emplace_back(at, back);
      Add(CellEventKind::kFail, at, m);
      Add(CellEventKind::kReturn, back, m);
      at = back + kMinuteMs;
    }
    if (o_.maintenance_days <= 0) return;
    const double every = o_.maintenance_days * kDayMs;
    const double turn = (place + 0.5) / static_cast<double>(out_.model.machines.size());
    for (double at = turn * every; at < end_ms_; at += every) {
      const double off = at + o_.notice_min * kMinuteMs, back = off + o_.maintenance_min * kMinuteMs;
      // A machine that is down at the time of its maintenance, or fails during it, skips this maintenance.
      if (std::ranges::any_of(down, [&](const auto& d) { return d.first <= back && d.second >= at; }))
        continue;
      Add(CellEventKind::kDrain, at, m);
      Add(CellEventKind::kFail, off, m);
      Add(CellEventKind::kReturn, back, m);
    }
  }

  const MadeCellEventsOptions o_;
  Rng rng_;
  const double end_ms_;
  MadeCellEvents out_;
};

}  // namespace

double MadeTasks(const MadeCellEventsOptions& options) {
  return options.cell.machines * options.cell.tasks_per_machine *
         std::max(1.0, options.days * kDayMs / MeanRunMs(options));
}

MadeCellEvents MakeCellEvents(const MadeCellEventsOptions& options) { return EventMaker(options).Make(); }

}  // namespace taut::brain
