// Analogs: a recommender that uses the fleet's history as its model. The job-days of the fleet that most
// resemble the job predict by how much the next day's peak may exceed the week's peak. The job's own days have a
// higher weight. The limit minimises tasks x bytes + price of an OOM-day x P(peak > limit), in absolute bytes: a
// generous limit is cheap for a small job and expensive for a big job or for many tasks. People set a target
// share of OOM-days, which determines the price.
//
// Each job has one decision per day, at a time of its own, and reactive raises between decisions. Until the fleet
// has enough history, a fallback recommends. docs/algorithms/vertical.md has all formulas and defaults.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/recommend/analog_decision.h"
#include "brain/recommend/analog_fleet.h"
#include "brain/recommend/job_days_ring.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// Parameters of one job.
struct AnalogJob {
  // Number of windows after midnight, 0 to 287, at which the job's day begins and the daily decision is due.
  int32_t day_start = 0;
  // Target share of OOM-days for this job alone; absent: the fleet's target share applies.
  std::optional<double> order;
  double price_factor = 1;  // cost of an overrun, as a factor of the fleet's price
};

// The recommender of one job and resource.
class AnalogsRecommender final : public Recommender {
 public:
  // `fleet` must outlive the object. `fallback` recommends until the fleet is ready and is then destroyed;
  // null means that the owner's limit stays.
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
  // A finished day of the job, kept until EndDay reports it to the fleet.
  struct EndedDay {
    int32_t day = INT32_MIN;  // ended day; INT32_MIN: no day to report
    float promised = -1;      // P(overrun) of the limit in force; < 0: no limit was in force
    bool overrun = false, warned = false, came_true = false;
  };

  int32_t DayOf(WindowId window) const;
  AnalogCase CaseFor(int32_t day) const;
  // Returns the input of the decision in force, computed from the days before the decision. REQUIRES: decided_.
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
  // The fallback of a new job in a fleet that is ready. Unused, unless Load restores a checkpoint into the
  // fallback. Destroyed when the first day begins.
  std::unique_ptr<Recommender> spare_;
  OomSettings oom_;
  AnalogJob job_;
  JobDaysRing ring_;
  DayAccumulator today_;
  uint32_t today_windows_ = 0, today_tasks_ = 0;  // windows with usage, and the sum of the windows' tasks
  float tasks_ = 1;                               // mean number of tasks of the last finished job-day
  int32_t job_day_ = INT32_MIN;                   // the current job-day; INT32_MIN before the first job-day
  EndedDay ended_;
  // The decision in force for decided_day_.
  AnalogChoice choice_;
  double kept_limit_ = -1;  // limit before the decision; < 0: none
  double price_ = 0;        // price of an OOM-day at the decision
  bool decided_ = false;    // true once choice_ was made
  int32_t decided_day_ = INT32_MIN;
  // Limit of the last reactive raise.
  double raised_ = 0;
  int32_t raised_until_ = INT32_MIN;  // the raise applies to windows before this window
  int32_t raised_from_ = INT32_MIN;
  float peak_since_raise_ = 0;
  bool raise_in_force_ = false;  // true if the last recommendation was the raise
  bool raised_after_overrun_ = false;
  bool last_over_ = false;  // true if the last usage was above the limit in force
  float last_usage_ = -1;
  bool overrun_today_ = false;
  // P(overrun) of the limit in force at the start of the day, after floors and bounds; < 0: not known yet.
  float promised_today_ = -1;
  int32_t warned_window_ = INT32_MIN;  // first window of the day with usage close to the limit
  bool warning_came_true_ = false;
  // Decayed counts of this job: warnings, promised and observed OOM-days, and the accumulated deviation from its
  // own target share.
  float warnings_ = 0, warnings_true_ = 0;
  float promised_ = 0, realised_ = 0, debt_ = 0;
};

}  // namespace taut::brain
