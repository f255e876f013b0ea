// How the loads of a fleet move while a task starts: what a job is likely to do that is too young to have shown
// it.
#pragma once

#include <array>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Ratios of a job's load to its load one start-up time before, counted by their logarithm.
class LoadMoves {
 public:
  static constexpr int kBins = 65;  // the middle one is of the ratio 1; the outer ones are of all beyond

  // REQUIRES: both finite and not negative. Loads that are both 0 count as the ratio 1.
  void Add(double before, double after);
  void Merge(const LoadMoves& other);
  void Scale(float factor);
  void Clear() { counts_ = {}; }
  // The share of moves to more than `ratio` times the load; ratio > 0. REQUIRES: total() > 0.
  double ChanceAbove(double ratio) const;
  double total() const;

  void Save(ByteWriter& out) const;
  // DataLoss, and no change, for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  std::array<float, kBins> counts_{};
};

// The moves of all jobs, each day counting half as much two weeks later. Read-only while jobs are stepped.
class LoadAnalogs {
 public:
  // Of one job since the last time, of any day.
  void Take(const LoadMoves& moves) { moves_.Merge(moves); }
  void CloseDay();
  // A day of ten jobs is enough to say what one move in a thousand is.
  bool is_known() const { return moves_.total() >= kEnough; }
  // REQUIRES: is_known().
  double ChanceAbove(double ratio) const { return moves_.ChanceAbove(ratio); }

  void Save(ByteWriter& out) const { moves_.Save(out); }
  absl::Status Load(ByteReader& in) { return moves_.Load(in); }

 private:
  static constexpr double kEnough = 2880;

  LoadMoves moves_;
};

}  // namespace taut::brain
