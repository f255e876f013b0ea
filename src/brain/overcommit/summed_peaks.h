// Peak predictors for machines that are put together: from what tasks that never shared a machine used in the same
// windows, added up. docs/algorithms/cell.md, "With each recommender's limits and each predictor's
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

// What was recorded of one task, one resource. Amounts are whole numbers of a unit.
struct TaskSeries16 {
  static constexpr uint16_t kNotMeasured = UINT16_MAX;
  std::span<const uint16_t> usage;  // by window, the newest last; at most the limit
};

// The tasks of a machine added up, one resource, in the same unit. A task with little history is in `cold` and
// `alone` only.
struct SummedTasks {
  // By window, the newest last: usage, and the limits of the tasks that were measured.
  std::span<const uint32_t> usage, limit;
  double warm = 0, cold = 0;      // limits
  std::span<const double> own;    // of SummedPeak::Own
  std::span<const double> alone;  // of SummedPeak::alone()
};

// One predictor, one resource. A task's usage counts as if it had been on the machine whenever it was measured,
// with the limit of now.
class SummedPeak {
 public:
  virtual ~SummedPeak() = default;

  // Windows that it looks back, up to the one that the last of SummedTasks is.
  virtual size_t windows(WindowId last) const = 0;
  // A task that was measured in fewer windows has little history.
  virtual double min_samples() const = 0;
  // Predictors whose predictions for each task alone it adds up.
  virtual std::vector<std::string> alone() const { return {}; }
  // What it adds up of each task's own series. `out` has own() numbers.
  virtual size_t own() const { return 0; }
  virtual void Own(WindowId /*last*/, const TaskSeries16& /*task*/, std::span<double> /*out*/) const {}

  // At most the sum of the limits; `last` is the window of the newest of the series. O(windows).
  virtual double Peak(WindowId last, const SummedTasks& tasks) const = 0;

  // Machines that are made of the tasks, as for PeakPredictor, for one that learns from a whole cell.
  virtual bool learns() const { return false; }
  virtual void Observe(WindowId /*window*/, uint32_t /*machine*/, const MachineWindow& /*load*/) {}
  virtual void EndWindow(WindowId /*window*/) {}
  // What it lacks to predict, as a sentence's end: "" if nothing.
  virtual std::string Lacks() const { return {}; }
};

// As NewPeakPredictor. InvalidArgument also for one that adds up tasks: it needs no whole machine.
absl::StatusOr<std::unique_ptr<SummedPeak>> NewSummedPeak(std::string_view spec, OvercommitSettings settings);

std::unique_ptr<SummedPeak> NewSummedNSigma(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachinePercentile(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedMachineMax(const OvercommitSettings& settings);
std::unique_ptr<SummedPeak> NewSummedPool(const OvercommitSettings& settings);
// The highest of the predictors, and of the sum over tasks of each of the predictors `alone`.
std::unique_ptr<SummedPeak> NewSummedMax(std::vector<std::unique_ptr<SummedPeak>> of,
                                         std::vector<std::string> alone);

}  // namespace taut::brain
