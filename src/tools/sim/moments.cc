#include "tools/sim/moments.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace taut::tools {
namespace {

constexpr uint64_t kFewestValues = 100, kFewestPoints = 5;
constexpr uint64_t kPointsPerDecade = 20;
constexpr size_t kLastValues = 10;  // number of largest values that the fit excludes

// Returns the number of jobs that the first `values` values represent.
double JobsOf(const SortedValues& sorted, size_t values) {
  if (values >= sorted.sampled) return static_cast<double>(sorted.represented + values - sorted.sampled);
  return static_cast<double>(sorted.represented) * static_cast<double>(values) /
         static_cast<double>(sorted.sampled);
}

// Returns the number of the first values that represent `jobs` jobs.
size_t ValuesOf(const SortedValues& sorted, uint64_t jobs) {
  if (jobs >= sorted.represented) return sorted.sampled + jobs - sorted.represented;
  return static_cast<size_t>(std::ceil(static_cast<double>(jobs) / static_cast<double>(sorted.represented) *
                                       static_cast<double>(sorted.sampled)));
}

double Quantile(const SortedValues& sorted, double share) {
  const auto rank = static_cast<uint64_t>(std::ceil(share * static_cast<double>(sorted.jobs())));
  return sorted.values[ValuesOf(sorted, std::clamp<uint64_t>(rank, 1, sorted.jobs())) - 1];
}

double ShareGreater(const SortedValues& sorted, double value) {
  const auto first = std::ranges::upper_bound(sorted.values, value) - sorted.values.begin();
  const auto jobs = static_cast<double>(sorted.jobs());
  return (jobs - JobsOf(sorted, static_cast<size_t>(first))) / jobs;
}

// Returns the number of values without those of the largest `share` of the jobs, of which there is at least one.
size_t WithoutTop(const SortedValues& sorted, double share) {
  const auto top = std::llround(share * static_cast<double>(sorted.jobs()));
  return ValuesOf(sorted, sorted.jobs() - std::max<uint64_t>(1, static_cast<uint64_t>(top)));
}

// Returns the sum over the jobs that values from the number `first` on represent.
double SumFrom(const SortedValues& sorted, size_t first) {
  double of_sample = 0, sum = 0;
  for (size_t i = first; i < sorted.sampled; ++i) of_sample += sorted.values[i];
  for (size_t i = std::max(first, sorted.sampled); i < sorted.values.size(); ++i) sum += sorted.values[i];
  if (of_sample == 0) return sum;
  return sum + of_sample * static_cast<double>(sorted.represented) / static_cast<double>(sorted.sampled);
}

Moments MomentsBefore(const SortedValues& sorted, size_t end) {
  Moments of_sample, out;
  const size_t sampled = std::min(end, sorted.sampled);
  for (size_t i = 0; i < sampled; ++i) of_sample.Add(sorted.values[i]);
  for (size_t i = sampled; i < end; ++i) out.Add(sorted.values[i]);
  if (sampled == 0) return out;
  of_sample.StandFor(static_cast<uint64_t>(std::llround(JobsOf(sorted, sampled))));
  of_sample.Merge(out);
  return of_sample;
}

// Least-squares line of log10(share) against log10(value).
struct Line {
  double slope = 0, r_squared = 0;
};
Line LineThrough(std::span<const TailPoint> points) {
  const auto n = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (const TailPoint& p : points) {
    const double a = std::log10(p.value), b = std::log10(p.share);
    x += a, y += b, xx += a * a, xy += a * b, yy += b * b;
  }
  const double var_x = xx - x * x / n, var_y = yy - y * y / n, covariance = xy - x * y / n;
  if (var_x <= 0 || var_y <= 0) return {};
  return {covariance / var_x, covariance * covariance / (var_x * var_y)};
}

ParetoFit FitOf(const SortedValues& sorted) {
  ParetoFit fit;
  if (sorted.values.size() < kFewestValues) return fit;
  const double from = Quantile(sorted, 0.9), to = sorted.values[sorted.values.size() - 1 - kLastValues];
  if (!(from > 0) || to < 10 * from) return fit;
  const double decades = std::log10(to / from);
  const auto steps = static_cast<uint64_t>(std::ceil(decades * static_cast<double>(kPointsPerDecade)));
  std::vector<TailPoint> points;
  for (uint64_t i = 0; i <= steps; ++i) {
    const double value = from * std::pow(10, decades * static_cast<double>(i) / static_cast<double>(steps));
    const double share = ShareGreater(sorted, value);
    if (share > 0) points.push_back({value, share});
  }
  if (points.size() < kFewestPoints) return fit;
  const Line line = LineThrough(points);
  return {-line.slope, line.r_squared, from, to, points.size()};
}

}  // namespace

void Moments::Add(double value) {
  ++count_;
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(count_);
  // Welford's update. A difference of sums of squares would lose most digits if values are far from 0.
  squares_ += distance * (value - mean_);
}

void Moments::Merge(const Moments& other) {
  if (other.count_ == 0) return;
  const auto mine = static_cast<double>(count_), theirs = static_cast<double>(other.count_);
  const double all = mine + theirs, distance = other.mean_ - mean_;
  mean_ += distance * theirs / all;
  squares_ += other.squares_ + distance * distance * mine * theirs / all;
  count_ += other.count_;
}

void Moments::StandFor(uint64_t count) {
  squares_ *= static_cast<double>(count) / static_cast<double>(count_);
  count_ = count;
}

double Moments::variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_); }

double Moments::squared_coefficient() const { return mean_ == 0 ? 0 : variance() / (mean_ * mean_); }

SizeDistribution DistributionOf(const SortedValues& sorted, double total, double variance) {
  SizeDistribution out;
  if (sorted.values.empty()) return out;
  out.jobs = sorted.jobs();
  out.total = total;
  out.mean = total / static_cast<double>(out.jobs);
  out.variance = variance;
  out.squared_coefficient = out.mean == 0 ? 0 : variance / (out.mean * out.mean);
  out.median = Quantile(sorted, 0.5);
  out.p90 = Quantile(sorted, 0.9);
  out.p99 = Quantile(sorted, 0.99);
  out.p999 = Quantile(sorted, 0.999);
  out.max = sorted.values.back();
  if (total > 0) {
    out.top_1_percent = std::min(1.0, SumFrom(sorted, WithoutTop(sorted, 0.01)) / total);
    out.top_0_1_percent = std::min(1.0, SumFrom(sorted, WithoutTop(sorted, 0.001)) / total);
  }
  out.pareto = FitOf(sorted);
  out.others = MomentsBefore(sorted, WithoutTop(sorted, 0.01));
  return out;
}

std::vector<TailPoint> TailOf(const SortedValues& sorted, uint64_t points) {
  std::vector<TailPoint> out;
  const auto first = std::ranges::upper_bound(sorted.values, 0.0);
  if (first == sorted.values.end() || points < 2) return out;
  const double low = *first, decades = std::log10(sorted.values.back() / low);
  for (uint64_t i = 0; i < points; ++i) {
    const double value =
        low * std::pow(10, decades * static_cast<double>(i) / static_cast<double>(points - 1));
    const double share = ShareGreater(sorted, value);
    if (share > 0) out.push_back({value, share});
  }
  return out;
}

double MeanWait(double utilisation, double squared_coefficient) {
  return utilisation / (1 - utilisation) * (squared_coefficient + 1) / 2;
}

}  // namespace taut::tools
