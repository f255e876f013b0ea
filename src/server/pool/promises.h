// Compares predictions of machines' peaks with the usage that followed.
//
// At the end of each day (UTC), the prediction of a machine for the next day is a promise: the peak of the
// present tasks stays below it. Later tasks do not count. A day with less than half of its windows measured
// is not judged.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/base/time.h"
#include "server/pool/machines_view.h"

namespace taut::server {

inline constexpr int32_t kPromiseDays = 90;

// A promise that is not judged yet.
class OpenPromise {
 public:
  OpenPromise() = default;
  // A promise for the day after window `made`.
  OpenPromise(WindowId made, double predicted) : made_(made), predicted_(predicted) {}

  bool open() const { return made_.has_value(); }
  // REQUIRES: open().
  WindowId made() const { return *made_; }
  // Notes the usage of its tasks in a window of its day.
  void Note(WindowId window, double usage);
  struct Outcome {
    int32_t day = 0;
    bool passed = false;
  };
  // Ends the promise once its day is over. `window`: last closed window. Returns nullopt if the day is not
  // over, or too few windows were measured.
  std::optional<Outcome> End(WindowId window);

  void Save(ByteWriter& out) const;
  static absl::StatusOr<OpenPromise> Load(ByteReader& in);

 private:
  std::optional<WindowId> made_;
  double predicted_ = 0, peak_ = 0;
  int32_t measured_ = 0;  // windows
};

// Counts by day and resource, over all machines.
class PromiseTotals {
 public:
  // Counts the outcome of a promise on its day.
  void Add(Resource r, const OpenPromise::Outcome& outcome);
  // Forgets the counts of earlier days.
  void ForgetBefore(int32_t day);
  // Returns the sums over all days.
  PerResource<PromiseCounts> Sums() const;

  void Save(ByteWriter& out) const;
  static absl::StatusOr<PromiseTotals> Load(ByteReader& in);

 private:
  struct Day {
    int32_t day = 0;
    PerResource<PromiseCounts> of;
  };
  std::deque<Day> days_;  // ascending
};

void Save(const PromiseCounts& counts, ByteWriter& out);
// DataLoss if more promises were passed than judged.
absl::StatusOr<PromiseCounts> LoadPromiseCounts(ByteReader& in);

}  // namespace taut::server
