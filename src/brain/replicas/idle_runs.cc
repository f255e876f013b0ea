#include "brain/replicas/idle_runs.h"

#include <algorithm>
#include <cmath>

namespace taut::brain {
namespace {

// Memory of the durations, in tasks relative to the recent number of tasks.
constexpr double kMemory = 30;
// A new job's durations have this weight. Their distribution makes a job wait for about the price of a start.
constexpr double kFirstWeight = 3, kFirstShort = 0.85, kFirstShortSteps = 8;
constexpr double kLeastWeight = 1e-6;  // least weight of a bin, which keeps the sums positive
constexpr double kRecentSteps = 10, kFallen = 0.98, kHigh = 1, kVeryHigh = 1.5;
constexpr float kMostWeight = 1e9;  // bound of a stored weight

double StepsOf(size_t bin) { return std::exp2(static_cast<double>(bin) / 2); }

}  // namespace

IdleRuns::IdleRuns() {
  Durations first{};
  const auto is_short = [](size_t bin) { return StepsOf(bin) < kFirstShortSteps * 1.01; };
  size_t short_bins = 0;
  while (is_short(short_bins)) ++short_bins;
  for (size_t b = 0; b < kBins; ++b) {
    const double share = is_short(b) ? kFirstShort / static_cast<double>(short_bins)
                                     : (1 - kFirstShort) / static_cast<double>(kBins - short_bins);
    first[b] = static_cast<float>(kFirstWeight * share);
  }
  durations_.fill(first);
}

void IdleRuns::End(const Run& run, int tasks, int64_t step) {
  Durations& durations = durations_[run.situation];
  const double weight = std::min(tasks / std::max(1.0, recent_), kMemory / 2);
  const double bin = 2 * std::log2(std::max<double>(1, static_cast<double>(step - run.since)));
  for (float& d : durations) d = static_cast<float>(std::max(kLeastWeight, d * (1 - weight / kMemory)));
  durations[static_cast<size_t>(std::clamp(std::round(bin), 0.0, kBins - 1.0))] += static_cast<float>(weight);
}

void IdleRuns::DropOldest() {
  std::move(runs_.begin() + 1, runs_.begin() + static_cast<ptrdiff_t>(size_), runs_.begin());
  --size_;
}

void IdleRuns::Observe(int64_t step, int wanted, double usual) {
  if (recent_ == 0) {
    recent_ = std::max(wanted, 1);
    wanted_ = wanted;
  }
  while (size_ > 0 && static_cast<double>(step - runs_[0].since) >= StepsOf(kBins - 1)) {
    End(runs_[0], runs_[0].top - (size_ > 1 ? runs_[1].top : wanted_), step);
    DropOldest();
  }
  for (int low = wanted_; size_ > 0 && low < wanted;) {
    const Run& lowest = runs_[size_ - 1];
    End(lowest, std::min(lowest.top, wanted) - low, step);
    low = lowest.top;
    if (low <= wanted) --size_;
  }
  if (wanted < wanted_) {
    if (size_ == kMostRuns) {
      runs_[1].top = runs_[0].top;
      DropOldest();
    }
    const double level = wanted_ / std::max(1.0, usual);
    const int range = level > kVeryHigh ? 2 : level > kHigh ? 1 : 0;
    runs_[size_++] = {step, wanted_, static_cast<uint8_t>(2 * range + (wanted_ < kFallen * recent_ ? 1 : 0))};
  }
  wanted_ = wanted;
  step_ = step;
  recent_ += (std::max(wanted, 1) - recent_) / kRecentSteps;
}

double IdleRuns::StepsToKeep(size_t situation, double price) const {
  const Durations& durations = durations_[situation];
  double waited = 0, rest = 0, keep = 0;
  for (const float d : durations) rest += d;
  double least = price * rest;  // every task stops at once and starts again
  for (size_t b = 0; b < kBins; ++b) {
    waited += durations[b] * StepsOf(b);
    rest -= durations[b];
    const double cost = waited + rest * (StepsOf(b) + price);
    if (cost >= least) continue;
    least = cost;
    keep = StepsOf(b) * std::exp2(0.25);  // the boundary between two bins
  }
  return keep;
}

int IdleRuns::Keep(int current, double price) const {
  // The tasks above all runs have not been wanted for a long time, so these tasks stop.
  int keep = std::min(current, size_ > 0 ? runs_[0].top : wanted_);
  for (size_t i = 0; i < size_; ++i) {
    const Run& run = runs_[i];
    const int low = i + 1 < size_ ? runs_[i + 1].top : wanted_;
    if (low >= keep) continue;
    if (static_cast<double>(step_ - run.since) + 1 < StepsToKeep(run.situation, price)) break;
    keep = low;
  }
  return std::max(keep, std::min(current, wanted_));
}

void IdleRuns::Save(ByteWriter& out) const {
  for (const Durations& durations : durations_) {
    for (const float d : durations) out.Put(d);
  }
  out.PutVarint(size_);
  for (size_t i = 0; i < size_; ++i) {
    out.Put(runs_[i].since);
    out.Put(runs_[i].top);
    out.Put(runs_[i].situation);
  }
  out.Put(step_);
  out.Put(wanted_);
  out.Put(recent_);
}

void IdleRuns::Load(StoredValues& in) {
  for (Durations& durations : durations_)
    in.Fill(std::span<float>(durations), static_cast<float>(kLeastWeight), kMostWeight);
  size_ = static_cast<uint8_t>(in.Size(kMostRuns));
  for (size_t i = 0; i < size_; ++i) {
    runs_[i] = {in.Step(), in.Count(), in.Within<uint8_t>(0, kSituations - 1)};
    in.Require(i == 0 || (runs_[i].top < runs_[i - 1].top && runs_[i].since >= runs_[i - 1].since));
  }
  step_ = in.Step();
  wanted_ = in.Count();
  in.Require(size_ == 0 || (runs_[size_ - 1].top > wanted_ && runs_[size_ - 1].since <= step_));
  recent_ = in.Amount();
}

}  // namespace taut::brain
