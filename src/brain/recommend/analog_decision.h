// Arithmetic of one analog decision: computes a limit from a forecast and a price, and a price from an ordered
// share of OOM-days.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/recommend/analog_grid.h"
#include "brain/recommend/fleet_row.h"
#include "brain/recommend/settings.h"
#include "common/model/resource.h"

namespace taut::brain {

// Returns S = (O + w F) / (|O| + w): the fleet's forecast F mixed with the job's own days O.
AnalogCdf MixForecast(std::span<const float, AnalogGrid::kBins> fleet_shares, const OwnHistory& own,
                      double fleet_weight);

// Returns P(the job's next daily peak > limit).
double ChanceAbove(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double limit);

struct AnalogChoice {
  double limit = 0;
  double overrun_chance = 0;  // P(tomorrow's peak > limit)
  double cost = 0;            // limit + price / tasks * chance: the job's cost per task
  bool kept = false;          // true if the limit of yesterday was kept
};

// Returns the allowed limit that minimises tasks * limit + price * P(peak > limit), or yesterday's limit if it
// costs at most settings.keep more. The cost counts the limit once per task and the OOM-day once per job. A limit
// is allowed if it is at least job.floor and has a chance of at most settings.MostChance(resource). `price` is in
// bytes (cores) x days per OOM-day.
AnalogChoice ChooseLimit(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double price,
                         const AnalogSettings& settings);

// Returns the limit for a job with its own ordered share: the least allowed limit with a chance of at most
// `share`. If the owner's limit is known, the result is at most the higher of the owner's limit and kOwnRoom times
// the week's peak: above these limits a forecast cannot distinguish small chances.
inline constexpr double kOwnRoom = 1.5;
AnalogChoice ChooseForOrder(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double share,
                            const AnalogSettings& settings);

// The reason why a choice does not have the least cost, for people (`what`) and for programs (`kind`, see
// ReasonStep::kind).
struct AnalogBound {
  std::string_view kind;  // "" if the choice has the least cost
  std::string what;
  double free_limit = 0;  // limit of least cost without floor and highest chance
  double free_cost = 0;
};
// Returns the bound of `choice`, which ChooseLimit returned for the other arguments.
AnalogBound BoundOf(const AnalogChoice& choice, const AnalogCdf& cdf, const AnalogCase& job,
                    Resource resource, double price, const AnalogSettings& settings);

// Returns the price at which the mean chance over the jobs, with kept limits, floors and price factors, equals
// `share`, by bisection on the price's logarithm. If the mean chance equals `share` at no price, returns the
// nearest end of the range of prices. O(jobs * grid). REQUIRES: as many cdfs as jobs, at least one.
double SolvePrice(std::span<const AnalogCdf> cdfs, std::span<const AnalogCase> jobs, Resource resource,
                  double share, const AnalogSettings& settings);

}  // namespace taut::brain
