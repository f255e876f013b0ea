// Peak predictors for machines that are composed of recorded tasks that never shared a machine: the predictors add
// up the tasks' usage window by window. docs/algorithms/cell.md, "With each recommender's limits and each
// predictor's reservations".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/settings.h"

namespace taut::brain {

// The recorded usage of one task and resource, in integer units.
struct TaskSeries16 {
  static constexpr uint16_t kNotMeasured = UINT16_MAX;
  std::span<const uint16_t> usage;  // by window, the newest last; at most the limit
};

// Sums over the tasks of a machine, for one resource, in the units of TaskSeries16. A task with little history is
// only included in `cold` and `alone`.
struct SummedTasks {
  // By window, the newest last: usage, and the limits of the measured tasks.
  std::span<const uint32_t> usage, limit;
  double warm = 0, cold = 0;      // sums of limits: of tasks with enough history, and of tasks without
  std::span<const double> own;    // sums of SummedPeak::Own
  std::span<const double> alone;  // sums for SummedPeak::alone()
};

// A predictor for one resource. A task counts as if it had run on the machine in all its measured windows, with
// its current limit.
class SummedPeak {
 public:
  virtual ~SummedPeak() = default;

  // Returns the number of windows that the predictor uses, up to `last`, the newest window of SummedTasks.
  virtual size_t windows(WindowId last) const = 0;
  // Returns the number of windows below which a task has little history.
  virtual double min_samples() const = 0;
  // Returns the names of predictors whose predictions for single tasks this predictor adds up.
  virtual std::vector<std::string> alone() const { return {}; }
  // own() returns how many numbers per task the predictor requires as sums. Own() writes these own() numbers for a
  // task's series to `out`.
  virtual size_t own() const { return 0; }
  virtual void Own(WindowId /*last*/, const TaskSeries16& /*task*/, std::span<double> /*out*/) const {}

  // Returns the predicted peak, at most the sum of the limits. `last` is the newest window of the series.
  // O(windows).
  virtual double Peak(WindowId last, const SummedTasks& tasks) const = 0;

  // Returns true if the predictor learns from a whole cell. Observe and EndWindow must then be called as for a
  // PeakPredictor, with machines composed of the tasks.
  virtual bool learns() const { return false; }
  virtual void Observe(WindowId /*window*/, uint32_t /*machine*/, const MachineWindow& /*load*/) {}
  virtual void EndWindow(WindowId /*window*/) {}
  // Returns the data that is missing for predictions, as the end of a sentence; "" if no data is missing.
  virtual std::string Lacks() const { return {}; }
};

// Creates a predictor as NewPeakPredictor does. Returns InvalidArgument also for a predictor with
// PeakPredictorInfo::sums_tasks, which requires no whole machine.
absl::StatusOr<std::unique_ptr<SummedPeak>> NewSummedPeak(std::string_view spec, OvercommitSettings settings);

std::unique_ptr<SummedPeak> NewSummedNSigma(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachinePercentile(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachineMax(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedPool(const OvercommitSettings& settings);
// Predicts the highest of the predictors, and of the sums over tasks for each predictor in `alone`.
std::unique_ptr<SummedPeak> NewSummedMax(std::vector<std::unique_ptr<SummedPeak>> of,
                                         std::vector<std::string> alone);

}  // namespace taut::brain
