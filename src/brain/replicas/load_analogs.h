// Distribution of the load changes of a fleet's jobs within one start-up time. The forecast of a job with too
// little history uses this distribution.
#pragma once

#include <array>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// A histogram, on a logarithmic scale, of ratios of a job's load to its load one start-up time earlier.
class LoadMoves {
 public:
  // The middle bin is ratio 1. The first and the last bin include all smaller and all larger ratios.
  static constexpr int kBins = 65;

  // Adds a change. Two loads of 0 count as ratio 1. REQUIRES: both loads are finite and not negative.
  void Add(double before, double after);
  void Merge(const LoadMoves& other);
  void Scale(float factor);
  void Clear() { counts_ = {}; }
  // Returns the share of changes that multiplied the load by more than `ratio`. REQUIRES: total() > 0, ratio >
  // 0.
  double ChanceAbove(double ratio) const;
  // Returns the decayed number of changes.
  double total() const;

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and changes nothing, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  std::array<float, kBins> counts_{};
};

// The load changes of all jobs, with a half-life of two weeks. Read-only while jobs are stepped.
class LoadAnalogs {
 public:
  // Adds the load changes of one job since the last call for this job.
  void Take(const LoadMoves& moves) { moves_.Merge(moves); }
  // Decays all changes by one day.
  void CloseDay();
  // Returns true if the number of changes suffices for a chance of one in a thousand, such as after a day of ten
  // jobs.
  bool is_known() const { return moves_.total() >= kEnough; }
  // Returns the share of changes that multiplied the load by more than `ratio`. REQUIRES: is_known().
  double ChanceAbove(double ratio) const { return moves_.ChanceAbove(ratio); }

  void Save(ByteWriter& out) const { moves_.Save(out); }
  absl::Status Load(ByteReader& in) { return moves_.Load(in); }

 private:
  static constexpr double kEnough = 2880;

  LoadMoves moves_;
};

}  // namespace taut::brain
