// The interface of vertical scaling: it receives the usage of one job and resource, and returns a limit with
// its reason.
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

// A limit from an external recommender, valid for windows up to and including `until`.
struct ExternalLimit {
  WindowId until;
  double limit = 0;  // external limit in cores or bytes; >= 0
  std::string why;   // explanation for people; may be empty
};

// The size of a job's tasks, if their number follows the job's load.
struct TaskSize {
  std::optional<double> limit;  // CPU cores per task; absent: the owner's limit
  double load = 0;              // load of a busy task, in the unit of the job's load; 0: unknown
};

// One object per job and resource. Not thread-safe. Distinct objects are independent: a shared fleet model changes
// only between days.
class Recommender {
 public:
  virtual ~Recommender() = default;

  // Adds a closed window. Windows ascend; a skipped window was not measured.
  virtual void Observe(const Signal& signal) = 0;
  // Adds an OOM kill in the last observed window or in the current window.
  virtual void ObserveOom(const OomEvent& event) = 0;
  // Stores a limit of an external recommender. The default ignores the limit.
  virtual void TakeExternal(const ExternalLimit& limit);
  // Returns the limit without an external recommender, given the limit `recommended` of the last Recommend(). The
  // default returns `recommended`.
  virtual std::optional<double> OwnLimit(std::optional<double> recommended) const;
  // Sets the size of the job's tasks for later calls of Recommend. The default ignores the size.
  virtual void TakeTaskSize(const TaskSize& size);
  // Returns the limit that is to be in force from the start of window `next`; absent while there is too little
  // history, so that the owner's limit stays. Called once per window after Observe, and again for an unchanged
  // `next` after ObserveOom, TakeExternal or Load.
  virtual std::optional<double> Recommend(WindowId next) = 0;
  // Returns a provisional limit for window `next` while there is too little history for Recommend. Returns
  // nullopt if the recommender requires no history or nothing was measured. The default implementation returns
  // nullopt.
  virtual std::optional<ProvisionalLimit> Provisional(WindowId next) const;
  // Begins a day. Call before the day's windows, after the fleet models have learnt from the day before. The
  // default implementation does nothing.
  virtual void StartDay(int32_t day);
  // Ends a day after its last window and appends the job's rows for the fleet model. The default implementation
  // does nothing.
  virtual void EndDay(int32_t day, FleetRows& rows);
  // Returns the chance that a day's usage exceeds `limit`, by the recommender's own forecast; nullopt without a
  // forecast, which is the default. Recommenders learn from this chance; front ends show the chance of
  // UpdateRisk.
  virtual std::optional<double> OverrunChance(double limit) const;
  // Updates `risk` to the current risk of `limit`, for display. Keeps an earlier result that is still valid. The
  // default implementation sets no forecast and no days.
  virtual void UpdateRisk(double limit, LimitRisk& risk) const;
  // Returns the risk of `limit` that UpdateRisk computes.
  LimitRisk RiskOf(double limit) const;
  // Appends the explanation of the last Recommend to `reason`, which may already have content.
  virtual void Explain(Reason& reason) const = 0;

  // Returns a copy with equal state, for a new run of the job.
  virtual std::unique_ptr<Recommender> Clone() const = 0;
  // Returns the bytes of the object and its heap memory.
  virtual size_t state_bytes() const = 0;
  // Save appends the state. Load restores the state of an equally configured recommender. After DataLoss or
  // InvalidArgument the object must not be used.
  virtual void Save(ByteWriter& out) const = 0;
  virtual absl::Status Load(ByteReader& in) = 0;
};

}  // namespace taut::brain
