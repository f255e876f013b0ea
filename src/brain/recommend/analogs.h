// Analogs: the fleet's own history as the model. For a job tonight, the job-days of the whole fleet that
// looked most like it say how far tomorrow's peak may rise above the week's; its own days count more. The
// limit is the one that minimises tasks x bytes + price of an OOM-day x P(peak > limit), in absolute bytes, so
// that a small job's generous limit is cheap and that of a big one, or of many tasks, is not. People order a
// share of OOM-days; the price follows.
//
// One decision a day, each job at a time of its own, and a reactive raise in between. Until the
// fleet has enough history a fallback recommends. docs/algorithms.md has every formula and default.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/recommend/analog_decision.h"
#include "brain/recommend/distribution_forest.h"
#include "brain/recommend/job_days_ring.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "common/base/random.h"

namespace taut::brain {

// What all jobs of a fleet share for one resource: a sample of history, the forest trained on it, and the
// price. Read-only but for CloseDay, which one thread calls between days.
class AnalogFleet {
 public:
  AnalogFleet(Resource resource, const AnalogSettings& settings);

  // Takes in the rows of the day that ended, in a fixed order of jobs; retrains and moves the price when due.
  void CloseDay(int32_t day, const FleetRows& rows);

  // False while the fleet is too young to forecast.
  bool ready() const { return !forest_.empty(); }
  const DistributionForest& forest() const { return forest_; }
  // Byte-days or core-days per OOM-day. Meaningful when ready().
  double price() const { return price_; }
  // Mean over the jobs of the last day of the owner's limit (the week's peak where there is none): the unit
  // that a limit change is priced in.
  double mean_limit() const { return mean_limit_; }
  // How often a usage that came close under its limit passed it soon after: what a reactive raise can avert.
  double warning_hazard() const { return (warnings_true_ + 1) / (warnings_ + 10); }
  Resource resource() const { return resource_; }
  const AnalogSettings& settings() const { return settings_; }
  uint64_t rows_seen() const { return rows_seen_; }
  AnalogCdf Forecast(const AnalogCase& job) const;

  // A fleet that forecasts as this one does, at the price that `share` of OOM-days would have had last
  // midnight. It keeps no history and cannot learn. Costs a copy of the forest and, for another share than
  // the ordered one, SolvePrice.
  AnalogFleet ForecasterFor(double share) const;

  // About 60 bytes a row of history and 5 a row and tree, before compression: some 30 MB for 100,000 rows.
  void Save(ByteWriter& out) const;
  // Takes what Save of a fleet of the same resource and settings wrote; DataLoss or InvalidArgument
  // otherwise, and nothing has changed.
  absl::Status Load(ByteReader& in);

 private:
  void Learn(const FleetRows& rows);
  void Judge(const FleetRows& rows);
  void MovePrice(const FleetRows& rows);
  double PriceFor(double share) const;
  double ordered_share() const;

  Resource resource_;
  AnalogSettings settings_;
  Rng rng_;
  std::vector<DistributionForest::Row> history_;  // a uniform sample of all rows seen (reservoir)
  uint64_t rows_seen_ = 0;
  uint64_t rows_at_training_ = 0;
  int32_t first_day_ = INT32_MAX;
  int32_t trained_day_ = INT32_MIN;
  DistributionForest forest_;
  double price_ = 0;
  double mean_limit_ = 0;
  int times_priced_ = 0;
  std::vector<AnalogCase> priced_jobs_;  // a sample of the jobs, as the price was last solved on
  // Calibration: decayed sums of promised and realised OOM-days, and the debt against the order.
  double promised_ = 0, realised_ = 0, debt_ = 0;
  double warnings_ = 0, warnings_true_ = 0;  // decayed like these
};

// What sets one job apart.
struct AnalogJob {
  // Its day begins, and its decision is due, this many windows after midnight: 0 to 287.
  int32_t day_start = 0;
  // The share of OOM-days ordered for this job by itself.
  std::optional<double> order;
  double price_factor = 1;  // what an overrun of it costs, of the fleet's price
};

class AnalogsRecommender final : public Recommender {
 public:
  // `fleet` must outlive it. `fallback` recommends until the fleet is ready, and is then released; null: the
  // owner's limit.
  AnalogsRecommender(const AnalogFleet& fleet, std::unique_ptr<Recommender> fallback, OomSettings oom,
                     AnalogJob job = AnalogJob());

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
  // A day of the job that is over, until the fleet asks for it.
  struct EndedDay {
    int32_t day = INT32_MIN;  // INT32_MIN: none
    float promised = -1;      // P(overrun) of the limit in force; < 0: there was none
    bool overrun = false, warned = false, came_true = false;
  };

  int32_t DayOf(WindowId window) const;
  AnalogCase CaseFor(int32_t day) const;
  // What the decision in force was made from: it follows from the days before. REQUIRES: decided_.
  AnalogCase DecidedCase() const;
  void Advance(int32_t day);
  void EndJobDay();
  void DecideFor(int32_t day);
  FleetRow RowOf(const EndedDay& ended) const;
  double OwnShare() const;
  double WarningHazard() const;
  bool ComesClose(double usage) const;
  void WatchWarning(const Signal& signal);
  void Raise(WindowId next);
  void RaiseAfterOverrun(WindowId next);
  void DropNeedlessRaise(WindowId next);
  void ExplainChoice(const AnalogCase& job, const AnalogCdf& cdf, Reason& reason) const;
  std::string RiskText(double chance) const;
  void SaveDay(ByteWriter& out) const;
  bool LoadDay(ByteReader& in);
  double base_limit() const { return choice_.limit; }
  int32_t DayEnd() const { return (job_day_ + 1) * kWindowsPerDay + job_.day_start; }

  const AnalogFleet* fleet_;
  std::unique_ptr<Recommender> fallback_;
  // Of a new job in a fleet that is ready: not in use, but a checkpoint to be loaded may need it. Released as
  // the first day begins.
  std::unique_ptr<Recommender> spare_;
  OomSettings oom_;
  AnalogJob job_;
  JobDaysRing ring_;
  DayAccumulator today_;
  uint32_t today_windows_ = 0, today_tasks_ = 0;  // windows with usage, and the tasks in all of them
  float tasks_ = 1;                               // mean of the job-day that ended last
  int32_t job_day_ = INT32_MIN;                   // the job's day that is open
  EndedDay ended_;
  // The decision in force for decided_day_.
  AnalogChoice choice_;
  double kept_limit_ = -1;  // the limit in force when it was made; < 0: none
  double price_ = 0;        // and the price then
  bool decided_ = false;    // has choice_ ever been made
  int32_t decided_day_ = INT32_MIN;
  // The reactive raise.
  double raised_ = 0;
  int32_t raised_until_ = INT32_MIN;  // windows before this one
  int32_t raised_from_ = INT32_MIN;
  float peak_since_raise_ = 0;
  bool raise_in_force_ = false;  // in the limit recommended last
  bool raised_after_overrun_ = false;
  bool last_over_ = false;  // the last usage was above the limit in force
  float last_usage_ = -1;
  bool overrun_today_ = false;
  // P(overrun) of the limit in force as the day began, floors and bounds included; < 0: not known yet.
  float promised_today_ = -1;
  int32_t warned_window_ =
      INT32_MIN;  // the first window of the day in which usage came close under the limit
  bool warning_came_true_ = false;
  // Decayed counts of this job's own: warnings, and promised and realised OOM-days with the debt against its
  // order.
  float warnings_ = 0, warnings_true_ = 0;
  float promised_ = 0, realised_ = 0, debt_ = 0;
};

}  // namespace taut::brain
