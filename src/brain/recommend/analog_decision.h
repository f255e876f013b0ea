// From a forecast and a price to a limit: the arithmetic of one analog decision, and of the price that an
// ordered share of OOM-days asks for.
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

// S = (O + w F) / (|O| + w): the fleet's forecast with the job's own days mixed in.
AnalogCdf MixForecast(std::span<const float, AnalogGrid::kBins> fleet_shares, const OwnHistory& own,
                      double fleet_weight);

// P(the job's next peak > limit).
double ChanceAbove(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double limit);

struct AnalogChoice {
  double limit = 0;
  double overrun_chance = 0;  // P(tomorrow's peak > limit)
  double cost = 0;            // limit + price / tasks * chance: of the job, divided among its tasks
  bool kept = false;          // yesterday's limit
};

// The allowed limit that minimises tasks * limit + price * P(peak > limit), or yesterday's where that costs at
// most settings.keep more: every task has the limit, and the day over it is the job's. Allowed: at least
// job.floor, with a chance of at most settings.MostChance(resource).
// Price in bytes (cores) x days per OOM-day.
AnalogChoice ChooseLimit(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double price,
                         const AnalogSettings& settings);

// As ChooseLimit for a job with an order of its own: the least allowed limit whose chance is at most `share`, but
// not above the owner's limit, if there is one, and kOwnRoom times the highest peak of the week, whichever is
// more: beyond them a forecast cannot tell small chances apart.
inline constexpr double kOwnRoom = 1.5;
AnalogChoice ChooseForOrder(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double share,
                            const AnalogSettings& settings);

// What kept a choice from the least cost. In words and for programs (ReasonStep::kind).
struct AnalogBound {
  std::string_view kind;  // "" if nothing did
  std::string what;
  double free_limit = 0;  // the least-cost limit, had it been allowed
  double free_cost = 0;
};
// `choice` is what ChooseLimit returned for the same arguments.
AnalogBound BoundOf(const AnalogChoice& choice, const AnalogCdf& cdf, const AnalogCase& job,
                    Resource resource, double price, const AnalogSettings& settings);

// The price at which the mean chance over the jobs, with holds and floors and each at its factor of the price,
// comes to `share` (bisection on its logarithm). If no price does, the nearest end. REQUIRES: as many cdfs as
// jobs, at least one.
double SolvePrice(std::span<const AnalogCdf> cdfs, std::span<const AnalogCase> jobs, Resource resource,
                  double share, const AnalogSettings& settings);

}  // namespace taut::brain
