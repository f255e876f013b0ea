#include "tools/sim/moments.h"

#include <algorithm>
#include <cmath>

namespace taut::tools {
namespace {

constexpr uint64_t kFewestValues = 100, kFewestPoints = 5;
constexpr uint64_t kPointsPerDecade = 20;
constexpr size_t kLastValues = 10;  // number of largest values that the fit excludes

double Quantile(std::span<const double> sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

double ShareGreater(std::span<const double> sorted, double value) {
  const auto greater = sorted.end() - std::ranges::upper_bound(sorted, value);
  return static_cast<double>(greater) / static_cast<double>(sorted.size());
}

size_t CountOfTop(size_t jobs, double share) {
  return std::max<size_t>(1, static_cast<size_t>(std::llround(share * static_cast<double>(jobs))));
}

double Sum(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
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

ParetoFit FitOf(std::span<const double> sorted) {
  ParetoFit fit;
  if (sorted.size() < kFewestValues) return fit;
  const double from = Quantile(sorted, 0.9), to = sorted[sorted.size() - 1 - kLastValues];
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

double Moments::variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_); }

double Moments::squared_coefficient() const { return mean_ == 0 ? 0 : variance() / (mean_ * mean_); }

SizeDistribution DistributionOf(std::vector<double> values) {
  SizeDistribution out;
  if (values.empty()) return out;
  std::ranges::sort(values);
  const size_t top = CountOfTop(values.size(), 0.01);
  const std::span<const double> sorted = values;
  for (const double v : sorted.first(sorted.size() - top)) out.others.Add(v);
  for (const double v : sorted.last(top)) out.largest.Add(v);
  Moments all = out.others;
  all.Merge(out.largest);
  out.jobs = all.count();
  out.total = Sum(sorted);
  out.mean = all.mean();
  out.variance = all.variance();
  out.squared_coefficient = all.squared_coefficient();
  out.median = Quantile(sorted, 0.5);
  out.p90 = Quantile(sorted, 0.9);
  out.p99 = Quantile(sorted, 0.99);
  out.p999 = Quantile(sorted, 0.999);
  out.max = sorted.back();
  if (out.total > 0) {
    out.top_1_percent = Sum(sorted.last(top)) / out.total;
    out.top_0_1_percent = Sum(sorted.last(CountOfTop(values.size(), 0.001))) / out.total;
  }
  out.pareto = FitOf(sorted);
  return out;
}

std::vector<TailPoint> TailOf(std::span<const double> sorted, uint64_t points) {
  std::vector<TailPoint> out;
  const auto first = std::ranges::upper_bound(sorted, 0.0);
  if (first == sorted.end() || points < 2) return out;
  const double low = *first, decades = std::log10(sorted.back() / low);
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
