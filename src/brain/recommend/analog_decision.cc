#include "brain/recommend/analog_decision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "brain/recommend/job_days_ring.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Tolerance added to the maximum chance, because forecasts are computed from floats.
constexpr double kRounding = 1e-6;

}  // namespace

AnalogCdf MixForecast(std::span<const float, AnalogGrid::kBins> fleet_shares, const OwnHistory& own,
                      double fleet_weight) {
  double mass = fleet_weight;
  float shares[AnalogGrid::kBins];
  for (size_t k = 0; k < AnalogGrid::kBins; ++k)
    shares[k] = static_cast<float>(fleet_weight) * fleet_shares[k];
  for (size_t i = 0; i < own.size; ++i) {
    shares[own.bin[i]] += own.weight[i];
    mass += own.weight[i];
  }
  AnalogCdf cdf;
  double sum = 0;
  for (size_t k = 0; k < AnalogGrid::kEdges; ++k) {
    sum += shares[k];
    cdf.at[k] = static_cast<float>(sum / mass);
  }
  return cdf;
}

double ChanceAbove(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double limit) {
  const double level = AnalogLevel(resource);
  return cdf.Exceedance(std::log((limit + level) / (job.week_peak + level)));
}

AnalogChoice ChooseLimit(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double price,
                         const AnalogSettings& settings) {
  const AnalogGrid& grid = AnalogGrid::Get();
  const double level = AnalogLevel(resource);
  const double base = job.week_peak + level;
  const double most_chance = settings.MostChance(resource) + kRounding;
  // The price of an OOM-day counts once per job, the limit once per task: dividing the price by the number of
  // tasks yields the same optimum.
  price /= job.tasks;
  AnalogChoice best;
  best.cost = std::numeric_limits<double>::infinity();
  for (int k = 0; k < AnalogGrid::kEdges; ++k) {
    const double limit = base * grid.Factor(k) - level;
    const double chance = 1 - static_cast<double>(cdf.at[static_cast<size_t>(k)]);
    if (limit < job.floor || chance > most_chance) continue;
    const double cost = limit + price * chance;
    if (cost < best.cost) best = {limit, chance, cost, false};
  }
  if (!std::isfinite(best.cost)) {
    const double chance = 1 - static_cast<double>(cdf.at.back());
    best = {base * grid.Factor(AnalogGrid::kEdges - 1) - level, chance, 0, false};
    best.cost = best.limit + price * chance;
  }
  const double kept = job.kept_limit;
  if (kept < 0 || kept < std::min(job.floor, best.limit)) return best;
  const double chance = ChanceAbove(cdf, job, resource, kept);
  const double cost = kept + price * chance;
  if (chance > most_chance || cost > best.cost * (1 + settings.keep)) return best;
  return {kept, chance, cost, true};
}

AnalogChoice ChooseForOrder(const AnalogCdf& cdf, const AnalogCase& job, Resource resource, double share,
                            const AnalogSettings& settings) {
  AnalogSettings own = settings;
  own.max_overrun_chance = share;
  const AnalogChoice choice = ChooseLimit(cdf, job, resource, /*price=*/0, own);
  if (job.owner_limit < 0) return choice;
  const double most = std::max({job.owner_limit, kOwnRoom * job.week_peak, job.floor});
  if (choice.limit <= most) return choice;
  return {most, ChanceAbove(cdf, job, resource, most), most, most == job.kept_limit};
}

AnalogBound BoundOf(const AnalogChoice& choice, const AnalogCdf& cdf, const AnalogCase& job,
                    Resource resource, double price, const AnalogSettings& settings) {
  const double most_chance = settings.MostChance(resource);
  AnalogSettings free_settings = settings;
  free_settings.max_overrun_chance = 1;
  AnalogCase free_job = job;
  free_job.floor = 0;
  free_job.kept_limit = -1;
  const AnalogChoice best = ChooseLimit(cdf, free_job, resource, price, free_settings);
  AnalogBound bound;
  bound.free_limit = best.limit;
  bound.free_cost = best.cost;
  constexpr double kSame = 1.0001;
  if (choice.kept || std::max(best.limit, choice.limit) <= std::min(best.limit, choice.limit) * kSame)
    return bound;
  if (best.limit < job.floor && best.overrun_chance <= most_chance) {
    bound.kind = "median";
    bound.what = "not below the median usage of the last day";
  } else {
    bound.kind = "most_chance";
    bound.what = fmt::format("a chance of at most {:.2g} %", 100 * most_chance);
  }
  return bound;
}

double SolvePrice(std::span<const AnalogCdf> cdfs, std::span<const AnalogCase> jobs, Resource resource,
                  double share, const AnalogSettings& settings) {
  double size = 0;
  for (const AnalogCase& j : jobs) size += j.owner_limit >= 0 ? j.owner_limit : j.week_peak;
  size = std::max(size / static_cast<double>(jobs.size()), AnalogLevel(resource));
  double low = std::log(1e-12 * size);
  double high = std::log(1e4 * size);
  constexpr int kSteps = 30;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    const double price = std::exp(middle);
    double chance = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const double its_price = jobs[i].price_factor * price;
      chance += ChooseLimit(cdfs[i], jobs[i], resource, its_price, settings).overrun_chance;
    }
    (chance / static_cast<double>(jobs.size()) > share ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace taut::brain
