// Explains recommendations of analogs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "brain/recommend/analogs.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Returns the reason why the fleet has no forecast yet.
std::string NotReady(const AnalogFleet& fleet) {
  const AnalogSettings& settings = fleet.settings();
  if (fleet.ready()) return "This job is too young to forecast";
  if (fleet.rows_seen() < static_cast<uint64_t>(settings.min_rows)) {
    return fmt::format(
        "The fleet is too small to forecast from yet: it has {} of the {} days of jobs that are needed",
        fleet.rows_seen(), settings.min_rows);
  }
  return fmt::format("The fleet is too young to forecast from: it has less than {} days", settings.min_days);
}

// Returns a sentence if a job's own days are too few to judge its target share. With 3 expected OOM-days, 1 job in
// 20 has none (e^-3), so fewer do not tell a kept target from a smaller share.
std::string TooFewDays(double order, uint32_t days, std::string_view day) {
  constexpr double kLeastExpected = 3;
  if (order * days >= kLeastExpected) return "";
  return fmt::format(
      " At this order {:.2g} {}s are expected in {} days: the job alone cannot show whether the order is kept; "
      "the forecast rests on the fleet.",
      order * days, day, days);
}

}  // namespace

void AnalogsRecommender::Explain(Reason& reason) const {
  const Resource resource = fleet_->resource();
  const std::string unit(UnitName(resource));
  if (!decided_) {
    if (fallback_ != nullptr) fallback_->Explain(reason);
    reason.recommender = "analogs";
    reason.sentence = fallback_ != nullptr && !reason.sentence.empty()
                          ? NotReady(*fleet_) + "; its stand-in says: " + reason.sentence
                          : "Nothing is known of the job or the fleet yet, so the owner's limit stays.";
    return;
  }
  reason.recommender = "analogs";
  const double level = AnalogLevel(resource);
  const AnalogCase job = DecidedCase();
  const AnalogCdf cdf = fleet_->Forecast(job);
  // All figures refer to the limit after its last step.
  const double own = raise_in_force_ ? raised_ : choice_.limit;
  const double limit = reason.limit.value_or(own);
  const double cut = std::log((limit + level) / (job.week_peak + level));
  reason.limit = limit;
  const std::vector<float> similar = fleet_->forest().SimilarOutcomes(job.features);
  if (!reason.chance.has_value()) reason.SetRisk(RiskOf(limit));
  const auto above = std::count_if(similar.begin(), similar.end(), [&](float y) { return y > cut + 1e-9; });
  const bool throttles = ThrottlesAtLimit(resource);
  const std::string_view day = throttles ? "throttled day" : "OOM-day", a = throttles ? "a" : "an";
  reason.sentence = fmt::format(
      "Of {} similar job-days in the fleet, {} peaked above this limit; of the job's own last {}, {}. The "
      "forecast chance of a day over it is {}{}.",
      similar.size(), above, reason.days, reason.days_over, RiskText(*reason.chance),
      choice_.kept && limit == choice_.limit ? "; the limit before was close enough to the best to stay"
                                             : "");
  if (job_.order.has_value()) reason.sentence += TooFewDays(*job_.order, reason.days, day);
  reason.facts.push_back({"highest peak of the last 7 days", job.week_peak, unit});
  reason.facts.push_back(
      {fmt::format("price of {} {}", a, day), price_, StrCat(UnitOf(resource).one, "-days")});
  if (job.tasks > 1) reason.facts.push_back({"tasks, mean of the last day", job.tasks, ""});
  reason.facts.push_back({fmt::format("chance of {} {}", a, day), 100 * *reason.chance, "%"});
  const AnalogSettings& s = fleet_->settings();
  if (job_.order.has_value()) {
    reason.facts.push_back({fmt::format("{}s ordered for this job", day), 100 * *job_.order, "%"});
  } else {
    reason.facts.push_back({fmt::format("{}s ordered, over all jobs", day), 100 * s.order(resource), "%"});
    reason.facts.push_back({"highest chance allowed for a job", 100 * s.MostChance(resource), "%"});
  }
  reason.facts.push_back({"job-days behind the forecast", static_cast<double>(fleet_->forest().rows()), ""});
  reason.why = fmt::format("{} of 7 days is {}, {} chance of a day above",
                           throttles ? "highest 5-minute mean" : "highest peak",
                           FormatAmount(resource, job.week_peak), FormatChance(*reason.chance));
  ExplainChoice(job, cdf, reason);
  if (raise_in_force_) {
    const std::string what = raised_after_overrun_ ? "usage was above the limit"
                                                   : fmt::format("usage came within {:.2g} % of the limit",
                                                                 100 * (1 - s.raise_at));
    reason.why = StrCat(what, "; raised until the next daily decision");
    reason.steps.push_back({reason.why, choice_.limit, raised_, "raise"});
  }
}

std::string AnalogsRecommender::RiskText(double chance) const {
  const AnalogSettings& s = fleet_->settings();
  const Resource resource = fleet_->resource();
  if (job_.order.has_value())
    return fmt::format("{} ({:.2g} % ordered for this job)", FormatChance(chance), 100 * *job_.order);
  return fmt::format("{} ({:.2g} % ordered over all jobs, at most {:.2g} % for one)", FormatChance(chance),
                     100 * s.order(resource), 100 * s.MostChance(resource));
}

// Adds the compared limits, and the steps from the least cost to the daily decision.
void AnalogsRecommender::ExplainChoice(const AnalogCase& job, const AnalogCdf& cdf, Reason& reason) const {
  const Resource resource = fleet_->resource();
  const double level = AnalogLevel(resource);
  const AnalogSettings& s = fleet_->settings();
  const bool own = job_.order.has_value();
  const double price = own ? 0 : price_ / job.tasks;
  const double most = own ? OwnShare() : s.MostChance(resource);
  reason.cost_unit = UnitName(resource);
  const std::string detail = own             ? "limit"
                             : job.tasks > 1 ? "limit + price / tasks x chance"
                                             : "limit + price x chance";
  for (double chance : {0.5, 0.2, 0.1, 0.05, 0.03, 0.01}) {
    AnalogChoice c;
    for (int k = 0; k < AnalogGrid::kEdges; ++k) {
      c.limit = (job.week_peak + level) * AnalogGrid::Get().Factor(k) - level;
      c.overrun_chance = 1 - static_cast<double>(cdf.at[static_cast<size_t>(k)]);
      if (c.overrun_chance <= chance) break;
    }
    // If the forecast has a step, several chances have equal limits: only the last of these chances is listed.
    if (!reason.candidates.empty() && reason.candidates.back().limit == c.limit) reason.candidates.pop_back();
    reason.candidates.push_back({fmt::format("limit with a {:g} % chance", 100 * chance), c.limit,
                                 c.limit + price * c.overrun_chance, detail, false});
  }
  std::string name = own ? "least limit at the job's order" : "least cost";
  if (choice_.kept) {
    name = "the limit before, kept";
    reason.steps.push_back({name, 0, choice_.limit, "kept"});
  } else if (own) {
    AnalogCase unbounded = job;
    unbounded.owner_limit = -1;
    unbounded.kept_limit = -1;
    const double free_limit = ChooseForOrder(cdf, unbounded, resource, most, s).limit;
    reason.steps.push_back({name, 0, std::max(free_limit, choice_.limit)});
    if (choice_.limit < free_limit) {
      name = fmt::format("not above the owner's limit or {:g} times the week's peak", kOwnRoom);
      reason.steps.push_back({name, free_limit, choice_.limit, "upper_bound"});
    }
  } else if (const AnalogBound bound = BoundOf(choice_, cdf, job, resource, price_, s); bound.kind.empty()) {
    reason.steps.push_back({name, 0, choice_.limit});
  } else {
    reason.candidates.push_back({"least cost", bound.free_limit, bound.free_cost, detail, false});
    reason.steps.push_back({"least-cost limit", 0, bound.free_limit});
    reason.steps.push_back({bound.what, bound.free_limit, choice_.limit, std::string(bound.kind)});
    name = fmt::format("least cost allowed: {}", bound.what);
  }
  reason.candidates.push_back({name, choice_.limit, choice_.cost, detail, true});
}

}  // namespace taut::brain
