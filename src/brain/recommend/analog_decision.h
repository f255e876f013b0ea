// Arithmetic of one analog decision: computes a limit from a forecast and a price, and a price from a target
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

// Returns the forecast S = (O + w F) / (|O| + w). O is the distribution of the job's own days with total weight
// |O|, F is the fleet's forecast and w is `fleet_weight`.
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

// Returns the allowed limit that minimises tasks * limit + price * P(peak > limit). Returns yesterday's limit
// instead if its cost is at most the share settings.keep above the least cost. The cost counts the limit once
// per task and the OOM-day once per job. A limit is allowed if it is at least job.floor and its overrun chance
// is at most settings.MostChance(resource). `price` is in bytes (cores) x days per OOM-day.
AnalogChoice ChooseLimit(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double price,
                         const AnalogSettings& settings);

// Factor of the week's peak up to which a forecast can distinguish small chances.
inline constexpr double kOwnRoom = 1.5;
// Returns the limit for a job with its own target share: the least allowed limit with an overrun chance of at
// most `share`. If the owner's limit is known, the result is at most the higher of the owner's limit and
// kOwnRoom times the week's peak.
AnalogChoice ChooseForOrder(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double share,
                            const AnalogSettings& settings);

// The reason why a choice does not have the least cost: `what` is for people, `kind` for programs (see
// ReasonStep::kind).
struct AnalogBound {
  std::string_view kind;  // kind of the bound; "" if the choice has the least cost
  std::string what;
  double free_limit = 0;  // limit of least cost if the floor and the highest allowed chance are ignored
  double free_cost = 0;
};
// Returns the bound of `choice`, which ChooseLimit returned for the other arguments.
AnalogBound BoundOf(const AnalogChoice& choice, const AnalogCdf& cdf, const AnalogCase& job,
                    Resource resource, double price, const AnalogSettings& settings);

// Returns the price at which the mean overrun chance of the jobs equals `share`, by bisection on the logarithm
// of the price. The chances include kept limits, floors and price factors. If no price yields `share`, returns
// the nearest end of the range of prices. O(jobs * grid). REQUIRES: as many cdfs as jobs, at least one.
double SolvePrice(std::span<const AnalogCdf> cdfs, std::span<const AnalogCase> jobs, Resource resource,
                  double share, const AnalogSettings& settings);

}  // namespace taut::brain
