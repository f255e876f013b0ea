// Compares predictions of machines' peaks with the usage that followed.
//
// At the end of each day (UTC), the prediction of a machine for the next day is a promise: the peak of the current
// tasks stays below the prediction. Tasks that start later do not count. A promise has no outcome if fewer than
// half of the windows of its day were measured.
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

// A promise whose day is not over yet.
class OpenPromise {
 public:
  OpenPromise() = default;
  // Makes a promise for the day after window `made`.
  OpenPromise(WindowId made, double predicted) : made_(made), predicted_(predicted) {}

  bool open() const { return made_.has_value(); }
  // Returns the window in which the promise was made. REQUIRES: open().
  WindowId made() const { return *made_; }
  // Notes the usage of the promise's tasks in a window of its day.
  void Note(WindowId window, double usage);
  struct Outcome {
    int32_t day = 0;
    bool passed = false;
  };
  // Ends the promise if its day is over, and returns the outcome. `window` is the last closed window. Returns
  // nullopt if the day is not over, or if too few windows were measured.
  std::optional<Outcome> End(WindowId window);

  void Save(ByteWriter& out) const;
  static absl::StatusOr<OpenPromise> Load(ByteReader& in);

 private:
  std::optional<WindowId> made_;
  double predicted_ = 0, peak_ = 0;
  int32_t measured_ = 0;  // number of measured windows
};

// Outcomes of all machines' promises, by day and resource.
class PromiseTotals {
 public:
  // Counts the outcome of a promise on its day.
  void Add(Resource r, const OpenPromise::Outcome& outcome);
  // Deletes the counts of days before `day`.
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
  std::deque<Day> days_;  // days in ascending order
};

void Save(const PromiseCounts& counts, ByteWriter& out);
// Reads the counts. Returns DataLoss if `passed` exceeds `judged`.
absl::StatusOr<PromiseCounts> LoadPromiseCounts(ByteReader& in);

}  // namespace taut::server
