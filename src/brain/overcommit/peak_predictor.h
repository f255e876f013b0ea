// What all tasks of a machine will use at once, of one resource, within the coming horizon.
//
// A predictor serves all machines of a cell. Windows ascend; within a window each machine is observed at most
// once. What a prediction knows are the windows observed before it.
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
  float limit = 0;   // the owner's; usage above it counts as the limit

  bool measured() const { return usage >= 0; }
  float capped() const { return usage < limit ? usage : limit; }
};

// A machine in one window: its tasks, ascending by task, and their sums.
struct MachineWindow {
  std::span<const TaskLoad> tasks;
  double limit = 0;           // of all tasks
  double measured_limit = 0;  // of those that were measured
  double usage = 0;           // of those that were measured

  // A window in which tasks with less than half of the limits were measured says nothing of the machine.
  bool measured() const { return measured_limit > 0 && measured_limit >= limit / 2; }
};
MachineWindow Sum(std::span<const TaskLoad> tasks);

class PeakPredictor {
 public:
  virtual ~PeakPredictor() = default;

  virtual void Observe(WindowId window, uint32_t machine, const MachineWindow& load) = 0;
  // Once every machine was observed in this window.
  virtual void EndWindow(WindowId /*window*/) {}
  // The peak of the tasks of the machine's last window; at most the sum of their limits, and 0 for a machine
  // never observed. The same until the next Observe.
  virtual double Predict(uint32_t machine) const = 0;
  // Sets recommender, sentence and facts of the prediction.
  virtual void Explain(uint32_t machine, Reason& reason) const = 0;
};

// A predictor whose state outlives a restart of the program.
class DurablePredictor : public PeakPredictor {
 public:
  // As Explain, with amounts as `text` writes them.
  virtual void ExplainIn(uint32_t machine, absl::FunctionRef<std::string(double)> text,
                         Reason& reason) const = 0;
  // Whether the prediction rests on what was observed; else it is the limits, or a share of them.
  virtual bool Learnt(uint32_t machine) const = 0;
  // The number is given to another machine. REQUIRES: it was not observed within the horizon.
  virtual void Forget(uint32_t machine) = 0;

  // The same settings, or all but the ordered share, on the other side.
  virtual void Save(ByteWriter& out) const = 0;
  // Into a new predictor; not OK: it knows nothing still. DataLoss for bytes that Save cannot have written,
  // FailedPrecondition for those of other settings.
  virtual absl::Status Load(ByteReader& in) = 0;
};

}  // namespace taut::brain
