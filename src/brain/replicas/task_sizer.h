// Decides the size of the tasks of one live job from measured usage, once a day.
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

// Not thread-safe.
class TaskSizer {
 public:
  // `utilization` is the utilisation that the replica policy plans for; see SizingInput.
  TaskSizer(const SizingSettings& settings, const ReplicaBounds& bounds, double utilization);

  // Adds a window's CPU usage. Windows must ascend. `size` is the CPU limit per task in cores; absent if
  // unknown.
  void ObserveCpu(const Signal& cpu, std::optional<double> size);
  // Adds a window's memory usage; the call may precede the window's ObserveCpu.
  void ObserveMemory(const Signal& memory, std::optional<double> limit_bytes);
  // Adds the decision of a policy that forecasts the load: `tasks` tasks of `size` cores each, at the policy's
  // risk target. Later comparisons of sizes include the spare capacity that the risk target requires. Call
  // after ObserveCpu of the window.
  void ObserveOrder(int tasks, double size);
  // Makes the next decision due at the start of the next hour instead of a day after the last decision.
  void WeighAnew() { decided_ = INT64_MIN; }

  // Returns the decided size in cores; absent if history or a limit of the tasks is missing.
  std::optional<double> cores() const { return cores_ > 0 ? std::optional(cores_) : std::nullopt; }
  double utilization() const { return utilization_; }
  // Returns the highest load of each hour as a share of the ordered cores, averaged over about a week. Returns
  // utilization() until ObserveOrder was called for about a day.
  double filled() const;
  // Returns the choice of a size from the current history; nullopt if history or a limit of the tasks is
  // missing.
  std::optional<SizingChoice> Weigh() const;
  void Explain(Reason& reason) const;

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);
  // Save and load the history of ObserveOrder, which states of earlier versions do not have.
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
  std::array<float, kHours> loads_;  // highest load of each hour of the week; negative: not measured
  int64_t hour_ = INT64_MIN;         // hour of the last window; INT64_MIN before the first window
  int64_t decided_ = INT64_MIN;      // hour of the last decision; INT64_MIN if a decision is due
  double owners_ = 0;                // owner's size, else the current size, cores; 0 if both are unknown
  double cores_ = 0;                 // decided size; 0 before the first decision
  DecayedLine memory_;
  double memory_limit_ = 0;
  // Decayed means of the spread of the tasks' loads and of a task's load, and the weight of both means.
  double deviation_ = 0, mean_load_ = 0, weight_ = 0;
  // Ordered cores and windows of the current hour, and decayed sums over the hours: ordered cores, highest loads,
  // number of hours.
  double hour_asked_ = 0, hour_windows_ = 0;
  double asked_ = 0, highest_ = 0, hours_asked_ = 0;
};

}  // namespace taut::brain
