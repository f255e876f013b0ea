// Arithmetic of one boosted decision: computes a limit from a forecast and a price, and a price from a target
// share of harm. A decision applies to one period of some hours.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "brain/recommend/boosted_row.h"
#include "common/model/resource.h"

namespace taut::brain {

// Returns the grid of forecasts of a resource: ln((usage + E) / (M + E)), ascending.
std::span<const float> BoostedGrid(Resource resource);

// Limits and their harm, by point of the grid. Harm is P(peak of the period > limit) for resources that kill, and
// the mean usage above the limit, in cores, for resources that throttle.
struct BoostedForecast {
  std::array<double, kBoostedPoints> limits{}, harms{};

  // `chances` has, for each point x of the grid, P(peak of the period > x) for resources that kill, or the mean
  // share of windows above x for resources that throttle. Work above the job's ceiling does not count, because no
  // limit averts it and forecasts of rare usage err.
  BoostedForecast(std::span<const float> chances, const BoostedCase& job, Resource resource);
  // Returns the harm of any limit, interpolated linearly in the logarithm of the limit.
  double HarmOf(double limit) const;
};

struct BoostedChoice {
  double limit = 0;
  double harm = 0;
  double cost = 0;  // limit + weight * harm
};

// Returns the limit of the grid that minimises limit + weight * harm. The limit is within the job's floor and
// ceiling and its harm at most `most_harm`. If there is no such limit, returns the ceiling.
BoostedChoice ChooseBoosted(const BoostedForecast& forecast, const BoostedCase& job, double most_harm,
                            double weight);
// Returns the weight of a job's harm at a price of the fleet. The price of an OOM-day counts once per job and the
// limit once per task.
double BoostedWeight(const BoostedCase& job, Resource resource, double price);

// The jobs for which a price is solved.
class BoostedPanel {
 public:
  // REQUIRES: at least one job, as many forecasts as jobs. The jobs must outlive the panel.
  BoostedPanel(std::span<const BoostedCase> jobs, std::vector<BoostedForecast> forecasts, Resource resource,
               double most_harm);

  // Returns the harm of the jobs' best limits at a price: the mean chance of a period for resources that kill, the
  // share of the jobs' work for resources that throttle.
  double HarmAt(double price) const;
  // Returns the price at which HarmAt equals `harm`; the nearest end of the range of prices if there is none.
  double PriceFor(double harm) const;

 private:
  std::span<const BoostedCase> jobs_;
  std::vector<BoostedForecast> forecasts_;
  Resource resource_;
  double most_harm_;
  double size_ = 0;    // mean week's peak; 1 for resources that throttle
  double weight_ = 0;  // unit of harm
};

}  // namespace taut::brain
