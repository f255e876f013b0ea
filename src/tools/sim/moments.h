// Distribution of a quantity over jobs: moments, quantiles, and the share of the largest values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace taut::tools {

// Moments of values in one pass over the values. Two Moments can be merged (Chan et al., "Updating formulae",
// 1979).
class Moments {
 public:
  void Add(double value);
  void Merge(const Moments& other);
  // Makes the values a sample of `count` values, with the same mean and variance. REQUIRES: there is a value.
  void StandFor(uint64_t count);
  uint64_t count() const { return count_; }
  double mean() const { return mean_; }  // mean; 0 without values
  double variance() const;               // variance of the population; 0 for fewer than 2 values
  double squared_coefficient() const;    // variance / mean^2; 0 if the mean is 0

 private:
  uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;  // squares_: sum of squared distances from the mean
};

// A line fitted to log10 of the complementary distribution function against log10 of the value. The slope for a
// Pareto distribution is -alpha.
struct ParetoFit {
  double alpha = 0;
  double r_squared = 0;     // goodness of fit in [0, 1]
  double from = 0, to = 0;  // range of the fitted values
  uint64_t points = 0;      // number of fitted points, equally spaced in log10(value)
};

struct SizeDistribution {
  uint64_t jobs = 0;
  double total = 0, mean = 0, variance = 0, squared_coefficient = 0;
  double median = 0, p90 = 0, p99 = 0, p999 = 0, max = 0;
  // Share of the total that belongs to the largest 1 % and 0.1 % of the jobs, in [0, 1].
  double top_1_percent = 0, top_0_1_percent = 0;
  ParetoFit pareto;  // fitted line; `points` is 0 if there are too few values
  Moments others;    // moments without the largest 1 % of the values (at least one value)
};

// One value per job, ascending. If there are too many jobs, the smaller values are a sample.
struct SortedValues {
  std::vector<double> values;
  size_t sampled = 0;        // the first `sampled` values represent `represented` jobs, ...
  uint64_t represented = 0;  // ... and each other value represents one job

  uint64_t jobs() const { return represented + values.size() - sampled; }
};

// Returns the distribution of the values, which are >= 0. `total` and `variance` are those of all jobs. Quantiles
// use the nearest rank. The Pareto line is fitted to the largest 10 % of the values, without the 10 largest. The
// fit requires 100 values, and a factor of 10 between the smallest and the largest fitted value. O(n).
SizeDistribution DistributionOf(const SortedValues& sorted, double total, double variance);

// A point of the complementary distribution function: the share of the values above `value`.
struct TailPoint {
  double value = 0, share = 0;
};
// Returns the complementary distribution function at `points` values > 0, ascending and equally spaced on a log
// scale, without points whose share is 0.
std::vector<TailPoint> TailOf(const SortedValues& sorted, uint64_t points);

// Returns the mean waiting time in an M/G/1 queue, in mean service times (Pollaczek-Khinchine): rho / (1 - rho) *
// (C^2 + 1) / 2. REQUIRES: 0 <= rho < 1.
double MeanWait(double utilisation, double squared_coefficient);

}  // namespace taut::tools
