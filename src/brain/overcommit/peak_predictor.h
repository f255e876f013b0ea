// Predicts the peak of the joint usage of all tasks of a machine within the coming horizon, for one resource.
//
// A predictor serves all machines of a cell. Windows must ascend, and each machine is observed at most once per
// window. A prediction uses only the windows that were observed before the prediction.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/model/reason.h"

namespace taut::brain {

// One task of a machine in one window.
struct TaskLoad {
  uint64_t task = 0;
  float usage = -1;  // usage in the window; negative if not measured
  float limit = 0;   // the owner's limit; higher usage counts as the limit

  bool measured() const { return usage >= 0; }
  float capped() const { return usage < limit ? usage : limit; }
};

// A machine in one window: its tasks, ascending by task, and sums over the tasks.
struct MachineWindow {
  std::span<const TaskLoad> tasks;
  double limit = 0;           // sum of the limits of all tasks
  double measured_limit = 0;  // sum of the limits of measured tasks
  double usage = 0;           // sum of the usage of measured tasks

  // Returns false if less than half of the sum of limits belongs to measured tasks. Predictors treat such a window
  // as a window without a measurement of the machine.
  bool measured() const { return measured_limit > 0 && measured_limit >= limit / 2; }
};
// Returns `tasks` with their sums. `tasks` must outlive the result.
MachineWindow Sum(std::span<const TaskLoad> tasks);

// Not thread-safe.
class PeakPredictor {
 public:
  virtual ~PeakPredictor() = default;

  // Adds a machine's window. `machine` indexes a table, so the numbers of machines should be dense.
  virtual void Observe(WindowId window, uint32_t machine, const MachineWindow& load) = 0;
  // Ends a window. Call after every machine was observed in the window.
  virtual void EndWindow(WindowId /*window*/) {}
  // Returns the predicted peak of the tasks in the machine's last window, at most the sum of their limits.
  // Returns 0 for a machine that was never observed. The result is constant until the next Observe or EndWindow.
  virtual double Predict(uint32_t machine) const = 0;
  // Sets the recommender, the sentence and the facts of `reason`.
  virtual void Explain(uint32_t machine, Reason& reason) const = 0;
};

// A predictor whose state survives a restart of the program.
class DurablePredictor : public PeakPredictor {
 public:
  // Explains the prediction like Explain, with amounts formatted by `text`.
  virtual void ExplainIn(uint32_t machine, absl::FunctionRef<std::string(double)> text,
                         Reason& reason) const = 0;
  // Returns true if the prediction uses observations, false if it is only a share of the limits.
  virtual bool Learnt(uint32_t machine) const = 0;
  // Clears the state of a machine, so that another machine can have this number. REQUIRES: the machine was not
  // observed within the horizon.
  virtual void Forget(uint32_t machine) = 0;

  // Appends the state, which a predictor with equal settings can load; the target share may differ.
  virtual void Save(ByteWriter& out) const = 0;
  // Restores the state of a new predictor. On error the predictor stays new. Returns DataLoss for bytes that
  // Save cannot have written, FailedPrecondition for other settings, Unimplemented for another version.
  virtual absl::Status Load(ByteReader& in) = 0;
};

}  // namespace taut::brain
