// Sums of an analysis over the jobs of one part of a trace. The sums of the parts merge to the sums of the whole
// trace, with equal bytes in any order and for any division of the jobs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/cell/recorded_events.h"
#include "common/base/bytes.h"
#include "common/base/order_free_sum.h"
#include "tools/sim/job_sizes.h"
#include "tools/sim/trace_analysis.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {

// Tier of a job in each of the PriorityBands. The priorities of all jobs determine which of the two applies.
using TierByBands = std::array<TraceTier, 2>;

// A job with usage.
struct AnalysedJob {
  uint64_t key = 0;  // hash of the name
  TierByBands tiers = {};
  brain::ScalingMode mode = brain::ScalingMode::kUnknown;
  int64_t first_hour = 0;  // hour of the first usage
  JobSizes::Sizes sizes = {};
};

// Not thread-safe.
class AnalysisSums {
 public:
  // Adds what is known of a job, also of a job without usage.
  void AddKnown(std::optional<int> priority, brain::ScalingMode mode);
  // Adds a job's usage in one hour.
  void AddHour(const AnalysedJob& job, int64_t hour, const PerResource<TierHour>& usage);
  // Adds a job after all its hours.
  void AddJob(const AnalysedJob& job);

  void Merge(const AnalysisSums& other);
  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. Returns InvalidArgument for another version, and DataLoss for bytes that Save
  // cannot have written. REQUIRES: nothing was added.
  absl::Status Load(ByteReader& in);
  // Returns the analysis; FailedPrecondition without usage.
  absl::StatusOr<TraceAnalysis> Result() const;

 private:
  using Sums = PerResource<std::array<OrderFreeSum, 3>>;  // in the order of TierHour
  struct Hour {
    std::map<TierByBands, Sums> of;
    uint64_t new_jobs = 0;
  };
  struct Mode {
    uint64_t jobs = 0;
    Sums sums;
  };

  static void SaveSums(const Sums& sums, ByteWriter& out);
  static bool LoadSums(ByteReader& in, Sums& sums);
  static void MergeSums(const Sums& from, Sums& to);
  bool LoadHours(ByteReader& in);
  void WriteHours(TraceAnalysis& out) const;
  void WriteArrivals(TraceAnalysis& out) const;
  void WriteModes(TraceAnalysis& out) const;
  TraceTier TierIn(const TierByBands& tiers) const {
    return tiers[static_cast<size_t>(wide_priorities_ ? PriorityBands::k2019 : PriorityBands::k2011)];
  }

  // `wide`: a priority is outside of the range of 2011
  bool has_priorities_ = false, wide_priorities_ = false, has_modes_ = false;
  std::map<int64_t, Hour> hours_;
  std::map<TierByBands, uint64_t> jobs_;
  std::array<Mode, brain::kScalingModes> modes_;
  JobSizes sizes_;
};

}  // namespace taut::tools
