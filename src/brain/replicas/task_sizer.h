// The size of one live job's tasks, from what it measures; decided once a day.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "brain/replicas/settings.h"
#include "brain/replicas/task_sizing.h"
#include "common/base/bytes.h"
#include "common/base/decayed_line.h"
#include "common/base/time.h"
#include "common/model/reason.h"
#include "common/model/signal.h"

namespace taut::brain {

class TaskSizer {
 public:
  // `utilization`: that the replica policy fills, see SizingInput.
  TaskSizer(const SizingSettings& settings, const ReplicaBounds& bounds, double utilization);

  // Windows in ascending order. `size`: CPU limit of each task, cores; absent: not known.
  void ObserveCpu(const Signal& cpu, std::optional<double> size);
  // Also of windows whose CPU is yet to be observed.
  void ObserveMemory(const Signal& memory, std::optional<double> limit_bytes);
  // After ObserveCpu of a window, of a policy that forecasts the load: the tasks that it asks for, at its
  // ordered risk, of `size` cores each. So the sizes are counted with as much spare as the risk asks for.
  void ObserveOrder(int tasks, double size);
  // Decides when the next hour begins, not a day after the last time.
  void WeighAnew() { decided_ = INT64_MIN; }

  // Absent: too little was measured, or no limit of its tasks is known.
  std::optional<double> cores() const { return cores_ > 0 ? std::optional(cores_) : std::nullopt; }
  double utilization() const { return utilization_; }
  // Of the cores that it asked for, the share that the highest load of each hour took, over about a week;
  // utilization() without a day of ObserveOrder.
  double filled() const;
  // What would be chosen now; absent as cores() is.
  std::optional<SizingChoice> Weigh() const;
  void Explain(Reason& reason) const;

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);
  // What ObserveOrder has seen, which earlier versions did not save.
  void SaveOrders(ByteWriter& out) const;
  absl::Status LoadOrders(ByteReader& in);

 private:
  static constexpr size_t kHours = 168;
  static constexpr size_t kLeastHours = 24;

  void Decide(int64_t hour);
  void CloseHour();

  SizingSettings settings_;
  ReplicaBounds bounds_;
  double utilization_;
  std::array<float, kHours> loads_;  // highest of each hour of the week; negative: not measured
  int64_t hour_ = INT64_MIN;         // of the last window
  int64_t decided_ = INT64_MIN;      // the hour
  double owners_ = 0;                // the owner's, or where it is not known the one in force; 0: neither
  double cores_ = 0;                 // as decided; 0: not yet
  DecayedLine memory_;
  double memory_limit_ = 0;
  // Decayed means.
  double deviation_ = 0, mean_load_ = 0, weight_ = 0;
  // Cores asked for in the windows of this hour, and how many windows; over the hours, decayed: the cores asked
  // for, the highest loads, and the number of hours.
  double hour_asked_ = 0, hour_windows_ = 0;
  double asked_ = 0, highest_ = 0, hours_asked_ = 0;
};

}  // namespace taut::brain
