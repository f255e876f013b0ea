// The CPU limit of a task in its first minutes, by what the last starts of its job used.
//
// Compare Kubernetes' VPA, AEP-7862 "CPU Startup Boost", and Kube Startup CPU Boost: both multiply the steady
// request by a factor that people set. Here a factor is the first guess, and the usage of starts replaces it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/settings.h"
#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/model/reason.h"

namespace taut::brain {

// The highest CPU usage of a job's last starts. Tasks that start in windows that follow each other, as in a
// rollout, are one start of the job, of an hour at most. At most 8 starts, 16 bytes each.
class StartPeaks {
 public:
  static constexpr size_t kMostStarts = 8;
  static constexpr int32_t kMostWindows = kWindowsPerHour;

  // What the tasks that started in this window used at most. `limit`: the one they had; absent: none, or not
  // known. A window before the last one (a clock that was set back) begins another start.
  void Add(WindowId window, double peak_cores, std::optional<double> limit);

  bool empty() const { return starts_.empty(); }
  size_t size() const { return starts_.size(); }
  // Of all starts the one that needs most; nullopt: there was none.
  struct Highest {
    double peak = 0;   // cores
    bool cut = false;  // its tasks were at their limit: they would have used more
    double need = 0;   // with the margin, or by kCutFactor where it was cut
  };
  std::optional<Highest> highest() const;

  size_t heap_bytes() const { return starts_.capacity() * sizeof(Start); }

  void Save(ByteWriter& out) const;
  // DataLoss, and no starts, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

  // Usage from this share of the limit on counts as cut off by it.
  static constexpr double kCutShare = 0.95;
  static constexpr double kCutFactor = 1.5;

 private:
  struct Start {
    int32_t first = 0, last = 0;  // windows
    float peak = 0;
    bool cut = false;
  };
  std::vector<Start> starts_;  // oldest first
};

// A limit for tasks that start.
struct StartBoost {
  double cores = 0;                            // above `steady`, at most kMostFactor times it
  double steady = 0;                           // the limit in force
  std::optional<StartPeaks::Highest> highest;  // what it follows; absent: the factor
  double factor = 0;                           // of the setting, where it follows that
  size_t starts = 0;                           // seen
  std::string bounded_by;                      // what lowered it, for people; "": nothing
  // No start gets more than this times the steady limit: a request that no node has room for would keep pods
  // from starting at all.
  static constexpr double kMostFactor = 10;
};

// The need of the highest of the last starts, or `factor` times `steady` where none was seen, in whole
// millicores, at most `bounds.upper` and kMostFactor times `steady`. nullopt: that is no more than `steady`.
// REQUIRES: steady > 0.
std::optional<StartBoost> BoostFor(const StartPeaks& peaks, double steady, std::optional<double> factor,
                                   const BoundSettings& bounds);

// Appends a sentence and facts to the reason of the CPU limit. `boost`: absent where starts get no more than
// `steady`. `window_s`: the setting. `why_not`: why tasks do not get it, "" if they do.
void ExplainBoost(const std::optional<StartBoost>& boost, double steady, double window_s,
                  std::string_view why_not, Reason& reason);

}  // namespace taut::brain
