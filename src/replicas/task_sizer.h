// The size of one live job's tasks, from what it measures; decided once a day.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/decayed_line.h"
#include "base/time.h"
#include "model/reason.h"
#include "model/signal.h"
#include "replicas/settings.h"
#include "replicas/task_sizing.h"

namespace taut {

class TaskSizer {
 public:
  // `utilization`: that the replica policy fills, see SizingInput.
  TaskSizer(const SizingSettings& settings, const ReplicaBounds& bounds, double utilization);

  // Windows in ascending order. `size`: CPU limit of each task, cores; absent: not known.
  void ObserveCpu(const Signal& cpu, std::optional<double> size);
  // Also of windows whose CPU is yet to be observed.
  void ObserveMemory(const Signal& memory, std::optional<double> limit_bytes);
  // Decides when the next hour begins, not a day after the last time.
  void WeighAnew() { decided_ = INT64_MIN; }

  // Absent: too little was measured, or no limit of its tasks is known.
  std::optional<double> cores() const { return cores_ > 0 ? std::optional(cores_) : std::nullopt; }
  double utilization() const { return utilization_; }
  // What would be chosen now; absent as cores() is.
  std::optional<SizingChoice> Weigh() const;
  void Explain(Reason& reason) const;

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  static constexpr size_t kHours = 168;
  static constexpr size_t kLeastHours = 24;

  void Decide(int64_t hour);

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
};

}  // namespace taut
