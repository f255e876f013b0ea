// Predicts the joint usage of all tasks of a machine, of one resource: its peak within the coming horizon.
//
// A predictor serves all machines of a cell. Windows ascend, and each machine is observed at most once per
// window. A prediction uses only the windows observed before it.
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
  float usage = -1;  // negative: not measured
  float limit = 0;   // the owner's limit; usage above it counts as the limit

  bool measured() const { return usage >= 0; }
  float capped() const { return usage < limit ? usage : limit; }
};

// A machine in one window: its tasks in ascending order, and their sums.
struct MachineWindow {
  std::span<const TaskLoad> tasks;
  double limit = 0;           // sum over all tasks
  double measured_limit = 0;  // sum over measured tasks
  double usage = 0;           // sum over measured tasks

  // False if less than half of the limits belong to measured tasks: such a window shows nothing about the
  // machine.
  bool measured() const { return measured_limit > 0 && measured_limit >= limit / 2; }
};
// Sums up the tasks, which must outlive the result.
MachineWindow Sum(std::span<const TaskLoad> tasks);

// Not thread-safe.
class PeakPredictor {
 public:
  virtual ~PeakPredictor() = default;

  // Adds a machine's window. The number of a machine indexes tables, so that numbers should be dense.
  virtual void Observe(WindowId window, uint32_t machine, const MachineWindow& load) = 0;
  // Ends a window, after every machine was observed in it.
  virtual void EndWindow(WindowId /*window*/) {}
  // Returns the predicted peak of the tasks in the machine's last window. At most the sum of their limits; 0
  // for a machine that was never observed. Unchanged until the next Observe or EndWindow.
  virtual double Predict(uint32_t machine) const = 0;
  // Sets recommender, sentence and facts of the prediction in `reason`.
  virtual void Explain(uint32_t machine, Reason& reason) const = 0;
};

// A predictor whose state survives a restart of the program.
class DurablePredictor : public PeakPredictor {
 public:
  // Explains the prediction, with amounts formatted by `text`.
  virtual void ExplainIn(uint32_t machine, absl::FunctionRef<std::string(double)> text,
                         Reason& reason) const = 0;
  // Returns true if the prediction uses observations; false if it is the limits or a share of them.
  virtual bool Learnt(uint32_t machine) const = 0;
  // Clears the state of a machine, whose number is given to another one. REQUIRES: it was not observed within
  // the horizon.
  virtual void Forget(uint32_t machine) = 0;

  // Saves the state, for a predictor with the same settings except the ordered share.
  virtual void Save(ByteWriter& out) const = 0;
  // Restores the state of a new predictor. On error it stays new: DataLoss for bytes that Save cannot have
  // written, FailedPrecondition for other settings, Unimplemented for another version.
  virtual absl::Status Load(ByteReader& in) = 0;
};

}  // namespace taut::brain
