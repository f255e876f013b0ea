// The boosted recommender: limits that move within the day. Every few hours a forest of boosted trees, trained on
// the past of the whole fleet, forecasts the job's usage until the next decision. The best limit minimises bytes
// (cores) plus the price of harm times its expected amount. Harm is an OOM of memory, or throttled work of CPU.
// People set a target share of harm, which determines the price.
//
// The limit in force stays while keeping it is cheap: it changes when its regret, the sum of what it has cost more
// than the best limits, exceeds the price of a change. Usage above the limit raises the limit at once. Until the
// fleet has enough history, a fallback recommends. docs/algorithms/vertical.md has all formulas and defaults.
#pragma once

#include <memory>
#include <optional>

#include "brain/recommend/boosted_fleet.h"
#include "brain/recommend/boosted_history.h"
#include "brain/recommend/cut_usage.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// Parameters of one job.
struct BoostedJob {
  uint64_t key = 0;  // hash of the job's name: it spreads decisions over time and draws lessons
  // Target share of harm for this job alone; absent: the fleet's target share applies.
  std::optional<double> order = {};
  double price_factor = 1;  // cost of an overrun, as a factor of the fleet's price
};

// The recommender of one job and resource. About 2.5 KB.
class BoostedRecommender final : public Recommender {
 public:
  // `fleet` must outlive the object. `fallback` recommends until the first decision and is then destroyed.
  BoostedRecommender(const BoostedFleet& fleet, std::unique_ptr<Recommender> fallback, OomSettings oom,
                     BoostedJob job = BoostedJob());

  void StartDay(int32_t day) override;
  void EndDay(int32_t day, FleetRows& rows) override;
  void Observe(const Signal& signal) override;
  void ObserveOom(const OomEvent& event) override;
  std::optional<double> Recommend(WindowId next) override;
  std::optional<double> OverrunChance(double limit) const override;
  void UpdateRisk(double limit, LimitRisk& risk) const override;
  void Explain(Reason& reason) const override;
  std::unique_ptr<Recommender> Clone() const override;
  size_t state_bytes() const override;
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;

 private:
  enum class Move : uint8_t { kNone, kFirst, kKept, kFall, kRise, kHarmBound, kWarning, kOverrun };
  static constexpr int32_t kNever = INT32_MIN;

  struct Decision {
    int32_t period = kNever;  // period of the last decision, or of the last input; kNever: none
    int32_t hour = 0;         // the job's hour at the decision
    BoostedCase input;
    BoostedChoice best;
    double harm = 0;    // harm of the limit in force, at the decision
    double regret = 0;  // before the decision
  };
  // Sums of the current day, which EndDay reports to the fleet.
  struct Day {
    bool counts = false;  // true if the job had a decision when the day began
    double calm = 1;      // resources that kill: chance of a day without harm at the limits in force
    double promised = 0;  // resources that throttle: forecast work above the limits in force
    double over = 0, used = 0;
    bool overrun = false;
  };

  // The job's own clock: hours begin at a window that depends on the job's key.
  int32_t HourOf(WindowId window) const;
  int32_t PeriodOf(WindowId window) const;
  double NeedOf(const Signal& signal) const;
  void CountWork(const Signal& signal, double in_force);
  bool ReadHistory(int32_t hour);
  void Decide(WindowId next);
  void DecideEarly(WindowId next);
  void ChooseFor(const BoostedForecast& forecast);
  void FinishLesson();
  void BeginLesson();
  void AddOutcome(double need);
  double OwnMostHarm() const;
  int period_hours() const { return fleet_->settings().hours(fleet_->resource()); }
  // Converts hours of a mean job's limit to the unit of regret: bytes (cores) times periods.
  double RegretOf(double hours) const { return hours / period_hours() * fleet_->mean_limit(); }
  double OwnWeight() const;
  void MoveTo(double limit, Move move);
  // Returns true if a higher limit is worth its change, given the regret of one decision.
  bool IsWorthRaise(double regret) const {
    return decision_.input.tasks * regret > RegretOf(fleet_->settings().rise_hours(fleet_->resource()));
  }
  void RaiseAfterOverrun();
  double DayChance(double harm) const;
  void ExplainDecision(Reason& reason, double limit) const;

  const BoostedFleet* fleet_;
  std::unique_ptr<Recommender> fallback_;
  OomSettings oom_;
  BoostedJob job_;
  BoostedHistory history_;
  Decision decision_;
  Move move_ = Move::kNone;
  double limit_ = -1;      // limit in force before floors and bounds; < 0: none
  double move_from_ = -1;  // limit before the last move
  double regret_ = 0;      // of the limit in force since its last change
  float tasks_ = 1;        // number of tasks of the last window
  float last_usage_ = -1;
  float seen_usage_ = -1;     // highest usage that was known at the last forecast
  float after_overrun_ = -1;  // limit that the last usage above the limit asks for; < 0: none
  CutRun cuts_;
  Day day_;
  // Lessons of the day that can enter the fleet's sample, and the unfinished lesson of the current period.
  std::vector<BoostedLesson> lessons_;
  std::vector<int32_t> periods_;
  uint32_t finished_ = 0;
  std::optional<BoostedLesson> open_;
  double open_peak_ = 0;     // week's peak at the start of the unfinished lesson
  int32_t period_ = kNever;  // the current period
  // Decayed sums of this job: promised and observed harm, and its unit.
  float promised_ = 0, realised_ = 0, weight_ = 0;
};

}  // namespace taut::brain
