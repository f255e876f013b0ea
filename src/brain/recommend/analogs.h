// Analogs: the fleet's own history as the model. For a job tonight, the job-days of the whole fleet that
// looked most like it say how far tomorrow's peak may rise above the week's; its own days count more. The
// limit is the one that minimises tasks x bytes + price of an OOM-day x P(peak > limit), in absolute bytes, so
// that a small job's generous limit is cheap and that of a big one, or of many tasks, is not. People order a
// share of OOM-days; the price follows.
//
// One decision a day, each job at a time of its own, and a reactive raise in between. Until the
// fleet has enough history a fallback recommends. docs/algorithms/vertical.md has every formula and default.
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
