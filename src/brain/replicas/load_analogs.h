// The distribution of load changes of a fleet while a task starts: the forecast for a job with too little
// history.
#pragma once

#include <array>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// A histogram, on a logarithmic scale, of ratios of a job's load to its load one start-up time earlier.
class LoadMoves {
 public:
  // The middle bin is ratio 1; the outer bins include all ratios beyond them.
  static constexpr int kBins = 65;

  // Adds a change. Two loads of 0 count as ratio 1. REQUIRES: both loads are finite and not negative.
  void Add(double before, double after);
  void Merge(const LoadMoves& other);
  void Scale(float factor);
  void Clear() { counts_ = {}; }
  // Returns the share of changes to more than `ratio` times the load. REQUIRES: total() > 0, ratio > 0.
  double ChanceAbove(double ratio) const;
  // Returns the decayed number of changes.
  double total() const;

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and changes nothing, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  std::array<float, kBins> counts_{};
};

// The changes of all jobs, with a half-life of two weeks. Read-only while jobs are stepped.
class LoadAnalogs {
 public:
  // Adds the load changes of one job since the last call for this job.
  void Take(const LoadMoves& moves) { moves_.Merge(moves); }
  // Decays all changes by one day.
  void CloseDay();
  // Returns true with enough changes for a chance of one in a thousand, such as a day of ten jobs.
  bool is_known() const { return moves_.total() >= kEnough; }
  // Returns the share of changes to more than `ratio` times the load. REQUIRES: is_known().
  double ChanceAbove(double ratio) const { return moves_.ChanceAbove(ratio); }

  void Save(ByteWriter& out) const { moves_.Save(out); }
  absl::Status Load(ByteReader& in) { return moves_.Load(in); }

 private:
  static constexpr double kEnough = 2880;

  LoadMoves moves_;
};

}  // namespace taut::brain
