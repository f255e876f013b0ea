// Peak predictors for machines that are composed of recorded tasks which never shared a machine. The predictors
// add up the tasks' usage window by window. docs/algorithms/cell.md, "With each recommender's limits and each
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
  std::span<const uint16_t> usage;  // usage by window, the newest last; at most the limit
};

// Sums over the tasks of a machine, for one resource, in the units of TaskSeries16. A task with little history
// is included only in `cold` and `alone`.
struct SummedTasks {
  // Usage by window, and limits of the measured tasks by window; the newest window last.
  std::span<const uint32_t> usage, limit;
  double warm = 0, cold = 0;      // sums of the limits of tasks with enough and with little history
  std::span<const double> own;    // sums of the numbers that SummedPeak::Own writes
  std::span<const double> alone;  // predictions of SummedPeak::alone(), summed over the tasks
};

// A predictor for one resource. A task counts as if it had run on the machine in all of its measured windows,
// with its current limit.
class SummedPeak {
 public:
  virtual ~SummedPeak() = default;

  // Returns the number of windows that the predictor uses, up to `last`, the newest window of SummedTasks.
  virtual size_t windows(WindowId last) const = 0;
  // Returns the number of windows that a task needs to count as a task with enough history.
  virtual double min_samples() const = 0;
  // Returns the names of the predictors whose predictions for single tasks this predictor adds up.
  virtual std::vector<std::string> alone() const { return {}; }
  // own() returns the number of figures per task that the predictor requires as sums. Own() writes these figures
  // of one task to `out`.
  virtual size_t own() const { return 0; }
  virtual void Own(WindowId /*last*/, const TaskSeries16& /*task*/, std::span<double> /*out*/) const {}

  // Returns the predicted peak, at most the sum of the limits. `last` is the newest window of the series.
  // O(windows).
  virtual double Peak(WindowId last, const SummedTasks& tasks) const = 0;

  // Returns true if the predictor learns from a whole cell. Observe and EndWindow must then be called like the
  // functions of PeakPredictor with the same names, with machines composed of the tasks.
  virtual bool learns() const { return false; }
  virtual void Observe(WindowId /*window*/, uint32_t /*machine*/, const MachineWindow& /*load*/) {}
  virtual void EndWindow(WindowId /*window*/) {}
  // Returns the data that is missing for predictions, as the end of a sentence; "" if no data is missing.
  virtual std::string Lacks() const { return {}; }
};

// Creates a predictor from `spec` like NewPeakPredictor. Also returns InvalidArgument for a predictor with
// PeakPredictorInfo::sums_tasks, which does not need whole machines.
absl::StatusOr<std::unique_ptr<SummedPeak>> NewSummedPeak(std::string_view spec, OvercommitSettings settings);

std::unique_ptr<SummedPeak> NewSummedNSigma(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachinePercentile(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachineMax(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedPool(const OvercommitSettings& settings);
// Predicts the highest prediction of the predictors `of`, and of the predictors `alone` summed over the tasks.
std::unique_ptr<SummedPeak> NewSummedMax(std::vector<std::unique_ptr<SummedPeak>> of,
                                         std::vector<std::string> alone);

}  // namespace taut::brain
