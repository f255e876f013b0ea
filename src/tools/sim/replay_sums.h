// Sums of a replay over the jobs of one part of a fleet. The sums of the parts merge to the sums of the whole
// fleet, with equal bytes in any order and for any division of the jobs. A replay in one process has one part.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "brain/fleet/risk_table.h"
#include "common/base/order_free_sum.h"
#include "tools/sim/job_runner.h"
#include "tools/sim/replay.h"
#include "tools/sim/scorecard.h"

namespace taut::tools {

// Sums of one recommender and resource.
struct LaneSums {
  struct Day {
    std::array<OrderFreeSum, 3> amounts;  // limits, owners' limits and usage, as in FleetDay
    uint64_t job_days = 0, oom_days = 0, changes = 0;
    std::map<brain::RiskKey, std::array<OrderFreeSum, brain::RiskSums::kFields.size()>> risks;
  };

  void Add(const DayScore& score, const std::optional<brain::RiskDay>& risk, bool scored);
  void Merge(const LaneSums& other);
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);
  // Sets the summary, days and risks of `lane`.
  void WriteTo(std::span<const int32_t> days, LaneResult& lane) const;

  LaneSummary summary;  // of the scored days; WriteTo replaces its fields Totals::kSums by `sums`
  std::array<OrderFreeSum, Totals::kSums.size()> sums;
  std::vector<Day> days;
};

// Figures of a loaded part that are not sums over job-days.
struct LoadedFigures {
  int64_t first_scored_s = 0;
  int32_t first_scored_day = 0;
  uint64_t jobs = 0;
  std::vector<ScoresByJob> scores;  // distributions over jobs, by lane
};

// Not thread-safe.
class ReplaySums {
 public:
  ReplaySums() = default;
  explicit ReplaySums(size_t lanes) : lanes_(lanes) {}

  // Starts a day, which is later than the previous day.
  void BeginDay(int32_t day);
  // Adds a job's outcome of the current day.
  void Add(const JobDayOutcome& out, bool scored);
  // Adds the size of one lane's state at the end of its job.
  void AddState(size_t bytes) { state_bytes_ += bytes; }
  // Counts one ended job.
  void AddEnded() { ++ended_; }

  // Adds the sums of another part of the same replay. Returns InvalidArgument if the parts have different lanes,
  // days or scored days, or if the sums of either part were not loaded.
  absl::Status Merge(const ReplaySums& other);
  // Writes the sums, and from `result` the figures that are not sums and the distribution of OOM-days over jobs.
  void Save(const ReplayResult& result, ByteWriter& out) const;
  // Reads the bytes that Save wrote for a replay with `lanes` lanes. Returns InvalidArgument for another version
  // or number of lanes, and DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in, size_t lanes);
  // Returns the figures of loaded sums. From then on, the sums are like sums that were not loaded, so that further
  // days can be added. REQUIRES: the sums were loaded.
  LoadedFigures GoOn() { return *std::exchange(loaded_, std::nullopt); }
  const std::vector<int32_t>& days() const { return days_; }
  uint64_t job_windows() const { return job_windows_; }
  // Sets all sums of `result`, which must have the same lanes. If the sums were loaded, also sets the figures that
  // are not sums.
  void WriteTo(ReplayResult& result) const;

 private:
  std::vector<int32_t> days_;
  std::vector<LaneSums> lanes_;
  RecordedKills recorded_;
  std::optional<LoadedFigures> loaded_;
  uint64_t job_windows_ = 0, state_bytes_ = 0, ended_ = 0;
};

}  // namespace taut::tools
