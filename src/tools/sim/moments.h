// Distribution of a quantity over jobs: moments, quantiles, and the share of the largest values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::tools {

// Moments of values that are added one by one, in one pass. Two Moments can be merged (Chan et al., "Updating
// formulae", 1979).
class Moments {
 public:
  void Add(double value);
  void Merge(const Moments& other);
  uint64_t count() const { return count_; }
  double mean() const { return mean_; }  // 0 without values
  double variance() const;               // population variance; 0 below 2 values
  double squared_coefficient() const;    // C^2 = variance / mean^2; 0 if the mean is 0

 private:
  uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;  // squares_: sum of the squared distances from the mean
};

// A straight line fitted to log10 of the complementary distribution over log10 of the value. For a Pareto
// distribution its slope is -alpha.
struct ParetoFit {
  double alpha = 0;
  double r_squared = 0;     // goodness of fit, [0, 1]
  double from = 0, to = 0;  // range of the fitted values
  uint64_t points = 0;      // number of fitted points, equally spaced on the logarithm
};

struct SizeDistribution {
  uint64_t jobs = 0;
  double total = 0, mean = 0, variance = 0, squared_coefficient = 0;
  double median = 0, p90 = 0, p99 = 0, p999 = 0, max = 0;
  // Share of the largest 1 % and 0.1 % of the jobs in the total, [0, 1].
  double top_1_percent = 0, top_0_1_percent = 0;
  ParetoFit pareto;  // points: 0 if there are too few values
  // Moments of the 1 % of jobs with the largest values (at least one job), and of all other jobs.
  Moments largest, others;
};

// Returns the distribution of values >= 0, in any order. Quantiles use the nearest rank. The line is fitted to
// the largest 10 % of the values, without the last 10 values, which are too few for a distribution. It needs
// 100 values and a range of a factor of 10 in the fitted part. O(n log n).
SizeDistribution DistributionOf(std::vector<double> values);

// A point of the complementary distribution: the share of the values that are greater than `value`.
struct TailPoint {
  double value = 0, share = 0;
};
// Returns the tail at `points` values > 0, ascending and equally spaced on a logarithmic scale. Points with
// share 0 are left out. REQUIRES: `sorted` ascends.
std::vector<TailPoint> TailOf(std::span<const double> sorted, uint64_t points);

// Returns the mean wait in a queue with one server and Poisson arrivals, in mean service times
// (Pollaczek-Khinchine): rho / (1 - rho) * (C^2 + 1) / 2. REQUIRES: 0 <= rho < 1.
double MeanWait(double utilisation, double squared_coefficient);

}  // namespace taut::tools
