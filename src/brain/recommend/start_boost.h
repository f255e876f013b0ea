// The CPU limit of a task in its first minutes, derived from the usage of the job's last starts.
//
// Kubernetes' VPA (AEP-7862, "CPU Startup Boost") and Kube Startup CPU Boost multiply the steady request by a
// factor that people set. Here a configured factor applies only until a start was observed.
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

// The highest CPU usage of each of a job's last starts. Tasks that start in consecutive windows, such as in a
// rollout, form one start of at most one hour. The object keeps at most 8 starts of 16 bytes. Not thread-safe.
class StartPeaks {
 public:
  static constexpr size_t kMostStarts = 8;
  static constexpr int32_t kMostWindows = kWindowsPerHour;

  // Adds the highest usage of the tasks that started in this window. `limit` is the limit of these tasks; absent
  // if there is none or it is unknown. A window before the last window begins another start, because the clock
  // was set back.
  void Add(WindowId window, double peak_cores, std::optional<double> limit);

  bool empty() const { return starts_.empty(); }
  size_t size() const { return starts_.size(); }
  // The start with the highest need.
  struct Highest {
    double peak = 0;   // highest usage, cores
    bool cut = false;  // true if the tasks reached their limit and would have used more
    double need = 0;   // cores: the peak plus the margin, or the peak times kCutFactor if `cut`
  };
  // Returns nullopt if no start was observed.
  std::optional<Highest> highest() const;

  size_t heap_bytes() const { return starts_.capacity() * sizeof(Start); }

  void Save(ByteWriter& out) const;
  // For bytes that Save cannot have written, returns DataLoss and drops all starts.
  absl::Status Load(ByteReader& in);

  // Share of the limit from which usage counts as cut off by the limit.
  static constexpr double kCutShare = 0.95;
  static constexpr double kCutFactor = 1.5;

 private:
  struct Start {
    int32_t first = 0, last = 0;  // first and last window of the start
    float peak = 0;
    bool cut = false;
  };
  std::vector<Start> starts_;  // starts, the oldest first
};

// A limit for starting tasks.
struct StartBoost {
  double cores = 0;   // limit of starting tasks, above `steady`, at most kMostFactor * steady
  double steady = 0;  // the limit in force, cores
  // The start from which `cores` is derived; absent: `factor` is used.
  std::optional<StartPeaks::Highest> highest;
  double factor = 0;       // configured factor of `steady`; 0 if `highest` is used
  size_t starts = 0;       // number of starts observed
  std::string bounded_by;  // the bound that lowered `cores`, for people; "": none
  // Upper bound as a multiple of the steady limit: a request that fits on no node would keep pods from
  // starting at all.
  static constexpr double kMostFactor = 10;
};

// Returns the limit for a start: the highest need of the last starts, or `factor` times `steady` before the first
// observed start. The limit is in whole millicores, at most `bounds.upper` and at most kMostFactor times `steady`.
// Returns nullopt if the limit would not exceed `steady`. REQUIRES: steady > 0.
std::optional<StartBoost> BoostFor(const StartPeaks& peaks, double steady, std::optional<double> factor,
                                   const BoundSettings& bounds);

// Appends a sentence and facts to the reason of the CPU limit. `boost` is absent if starting tasks have the limit
// `steady`. `window_s` is the setting. `why_not` is the reason why the boost is not set; "" if it is set.
void ExplainBoost(const std::optional<StartBoost>& boost, double steady, double window_s,
                  std::string_view why_not, Reason& reason);

}  // namespace taut::brain
