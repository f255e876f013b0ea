// The seam of vertical scaling: usage of one job and resource in, a limit with its reason out.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "brain/recommend/fleet_row.h"
#include "brain/recommend/provisional.h"
#include "common/base/bytes.h"
#include "common/model/limit_risk.h"
#include "common/model/reason.h"
#include "common/model/signal.h"

namespace taut::brain {

// A limit that an external recommender has answered; holds for windows up to and including `until`.
struct ExternalLimit {
  WindowId until;
  double limit = 0;  // >= 0
  std::string why;   // for people; may be ""
};

// How large the tasks of a job are whose number follows its load.
struct TaskSize {
  std::optional<double> limit;  // CPU cores of a task; absent: the owner's
  double load = 0;              // that a busy task carries, in the unit of the job's load; 0: not known
};

// One object a job and resource. Not thread-safe; distinct objects are independent (those that share a fleet
// model only read it between two of its updates).
class Recommender {
 public:
  virtual ~Recommender() = default;

  // Takes in a closed window. Windows come in ascending order; gaps are allowed and mean "not measured".
  virtual void Observe(const Signal& signal) = 0;
  // Takes in an OOM of the window observed last or of the one now open.
  virtual void ObserveOom(const OomEvent& event) = 0;
  // Takes in an answer of an external recommender. By default nothing.
  virtual void TakeExternal(const ExternalLimit& limit);
  // Takes in the size of the job's tasks, for the next Recommend and later ones. By default nothing.
  virtual void TakeTaskSize(const TaskSize& size);
  // The limit to be in force from the start of window `next` on. Absent while there is too little signal: the
  // owner's limit stays. Called once a window, after Observe, and again for the same `next` after
  // ObserveOom, TakeExternal or Load.
  virtual std::optional<double> Recommend(WindowId next) = 0;
  // Returns a provisional limit for window `next` while there is too little history for Recommend. Absent if the
  // recommender needs no history, or nothing was measured; the default is absent.
  virtual std::optional<ProvisionalLimit> Provisional(WindowId next) const;
  // A day begins (windows of `day` follow), and the fleet models are as the day before left them. By default
  // nothing.
  virtual void StartDay(int32_t day);
  // The day's last window has been observed; appends what it teaches the fleet. By default nothing.
  virtual void EndDay(int32_t day, FleetRows& rows);
  // The chance that a day's usage goes above `limit`, by the recommender's own forecast of the day; absent
  // where it makes none. By default absent. What recommenders learn from; what is shown is the risk.
  virtual std::optional<double> OverrunChance(double limit) const;
  // Brings `risk` to that of `limit` as of now: what every face shows of the limit. An answer of before that
  // still holds stays as it is. By default no forecast and no days.
  virtual void UpdateRisk(double limit, LimitRisk& risk) const;
  LimitRisk RiskOf(double limit) const;
  // Describes how the last Recommend came about; appends to what is in `reason` already.
  virtual void Explain(Reason& reason) const = 0;

  // A copy with the same state, to start a new run of the same program from.
  virtual std::unique_ptr<Recommender> Clone() const = 0;
  // Object and heap.
  virtual size_t state_bytes() const = 0;
  // Load takes what Save of an equally configured recommender wrote; DataLoss or InvalidArgument otherwise.
  virtual void Save(ByteWriter& out) const = 0;
  virtual absl::Status Load(ByteReader& in) = 0;
};

}  // namespace taut::brain
