// Peak predictors for machines that are put together from tasks that never shared a machine: they sum the
// usage of the same windows. docs/algorithms/cell.md, "With each recommender's limits and each predictor's
// reservations".
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

// Sums over the tasks of a machine, for one resource, in the same units. A task with little history is only
// included in `cold` and `alone`.
struct SummedTasks {
  // By window, the newest last: usage, and the limits of the measured tasks.
  std::span<const uint32_t> usage, limit;
  double warm = 0, cold = 0;      // sums of limits: with enough history, and without
  std::span<const double> own;    // sums of SummedPeak::Own
  std::span<const double> alone;  // sums for SummedPeak::alone()
};

// A predictor for one resource. A task's usage counts as if it had been on the machine whenever it was
// measured, with its current limit.
class SummedPeak {
 public:
  virtual ~SummedPeak() = default;

  // Number of windows that it uses, up to `last`, which is the newest of SummedTasks.
  virtual size_t windows(WindowId last) const = 0;
  // A task measured in fewer windows has little history.
  virtual double min_samples() const = 0;
  // Names of predictors whose predictions for each task alone it adds up.
  virtual std::vector<std::string> alone() const { return {}; }
  // Numbers per task that it needs as sums. Own() writes own() numbers for a task's series to `out`.
  virtual size_t own() const { return 0; }
  virtual void Own(WindowId /*last*/, const TaskSeries16& /*task*/, std::span<double> /*out*/) const {}

  // Returns the predicted peak, at most the sum of the limits. `last` is the newest window of the series.
  // O(windows).
  virtual double Peak(WindowId last, const SummedTasks& tasks) const = 0;

  // True if it learns from a whole cell; then Observe and EndWindow are called as for a PeakPredictor, with
  // machines made of the tasks.
  virtual bool learns() const { return false; }
  virtual void Observe(WindowId /*window*/, uint32_t /*machine*/, const MachineWindow& /*load*/) {}
  virtual void EndWindow(WindowId /*window*/) {}
  // Returns the data that is missing for predictions, as the end of a sentence; "" if none.
  virtual std::string Lacks() const { return {}; }
};

// Creates a predictor as NewPeakPredictor does. InvalidArgument also for a predictor that adds up tasks,
// which needs no whole machine.
absl::StatusOr<std::unique_ptr<SummedPeak>> NewSummedPeak(std::string_view spec, OvercommitSettings settings);

std::unique_ptr<SummedPeak> NewSummedNSigma(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachinePercentile(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachineMax(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedPool(const OvercommitSettings& settings);
// Predicts the highest of the predictors, and of the sums over tasks for each predictor in `alone`.
std::unique_ptr<SummedPeak> NewSummedMax(std::vector<std::unique_ptr<SummedPeak>> of,
                                         std::vector<std::string> alone);

}  // namespace taut::brain
