#include "brain/recommend/boosted_decision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "brain/recommend/job_days_ring.h"

namespace taut::brain {
namespace {

// Segments of the grid: points of equal distance up to `end`, finest near the week's peak, where most limits are.
struct Segment {
  double end;
  int points;
};
struct GridShape {
  double start;
  Segment segments[3];
};
constexpr GridShape kGridOfKills{-1.6, {{0, 26}, {0.6, 22}, {3, 15}}},
    kGridOfThrottling{-5, {{-1.2, 19}, {0.6, 32}, {2, 12}}};

struct GridTable {
  std::array<float, kBoostedPoints> points{};
  std::array<double, kBoostedPoints> factors{};  // exp of the points

  explicit GridTable(const GridShape& shape) {
    size_t k = 0;
    double start = shape.start;
    points[k++] = static_cast<float>(start);
    for (const Segment& s : shape.segments) {
      for (int i = 1; i <= s.points; ++i)
        points[k++] = static_cast<float>(start + (s.end - start) * i / s.points);
      start = s.end;
    }
    for (size_t i = 0; i < factors.size(); ++i) factors[i] = std::exp(double{points[i]});
  }
};

const GridTable& GridTableOf(Resource resource) {
  static const GridTable kills(kGridOfKills), throttling(kGridOfThrottling);
  return ThrottlesAtLimit(resource) ? throttling : kills;
}

}  // namespace

std::span<const float> BoostedGrid(Resource resource) { return GridTableOf(resource).points; }

BoostedForecast::BoostedForecast(std::span<const float> chances, const BoostedCase& job, Resource resource) {
  const double level = AnalogLevel(resource), base = job.week_peak + level;
  const double least = UnitOf(resource).small_amount;
  const std::array<double, kBoostedPoints>& factors = GridTableOf(resource).factors;
  for (size_t k = 0; k < limits.size(); ++k) limits[k] = std::max(base * factors[k] - level, least);
  if (!ThrottlesAtLimit(resource)) {
    std::ranges::copy(chances, harms.begin());
    return;
  }
  harms.back() = 0;
  for (size_t k = limits.size() - 1; k > 0; --k) {
    const double mean_share = (double{chances[k]} + double{chances[k - 1]}) / 2;
    harms[k - 1] = harms[k] + mean_share * (limits[k] - limits[k - 1]);
  }
  const double above = HarmOf(job.ceiling);
  for (double& harm : harms) harm = std::max(0.0, harm - above);
}

double BoostedForecast::HarmOf(double limit) const {
  const auto above = std::ranges::upper_bound(limits, limit) - limits.begin();
  if (above == 0) return harms.front();
  const auto k = static_cast<size_t>(above);
  if (k == limits.size()) return harms.back();
  const double part = std::log(limit / limits[k - 1]) / std::log(limits[k] / limits[k - 1]);
  return harms[k - 1] + part * (harms[k] - harms[k - 1]);
}

BoostedChoice ChooseBoosted(const BoostedForecast& forecast, const BoostedCase& job, double most_harm,
                            double weight) {
  constexpr double kRounding = 1e-6;  // forecasts are computed from floats
  BoostedChoice best;
  best.cost = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < forecast.limits.size(); ++k) {
    const double limit = forecast.limits[k], harm = forecast.harms[k];
    if (limit > job.ceiling) break;
    if (limit < job.floor || harm > most_harm + kRounding) continue;
    const double cost = limit + weight * harm;
    if (cost < best.cost) best = {limit, harm, cost};
  }
  if (std::isfinite(best.cost)) return best;
  const double limit = std::max(job.ceiling, job.floor), harm = forecast.HarmOf(limit);
  return {limit, harm, limit + weight * harm};
}

double BoostedWeight(const BoostedCase& job, Resource resource, double price) {
  return price * job.price_factor / (ThrottlesAtLimit(resource) ? 1 : job.tasks);
}

BoostedPanel::BoostedPanel(std::span<const BoostedCase> jobs, std::vector<BoostedForecast> forecasts,
                           Resource resource, double most_harm)
    : jobs_(jobs), forecasts_(std::move(forecasts)), resource_(resource), most_harm_(most_harm) {
  double work = 0;
  for (const BoostedCase& job : jobs) {
    size_ += job.week_peak / static_cast<double>(jobs.size());
    work += job.tasks * job.use;
  }
  const bool throttles = ThrottlesAtLimit(resource);
  weight_ = throttles ? work : static_cast<double>(jobs.size());
  size_ = throttles ? 1 : std::max(size_, AnalogLevel(resource));
}

double BoostedPanel::HarmAt(double price) const {
  double harm = 0;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const double weight = BoostedWeight(jobs_[i], resource_, price);
    const BoostedChoice choice = ChooseBoosted(forecasts_[i], jobs_[i], most_harm_, weight);
    harm += ThrottlesAtLimit(resource_) ? jobs_[i].tasks * choice.harm : choice.harm;
  }
  return weight_ > 0 ? harm / weight_ : 0;
}

double BoostedPanel::PriceFor(double harm) const {
  double low = std::log(1e-3 * size_), high = std::log(1e7 * size_);
  constexpr int kSteps = 30;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (HarmAt(std::exp(middle)) > harm ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace taut::brain
