// What was promised of machines' peaks, compared with what came.
//
// At the end of each day (UTC) the prediction of a machine for the next day is a promise: the peak of the tasks
// that are there then stays below it. Tasks that come later do not count, and a day that was measured in less
// than half of its windows is not judged.
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

// One promise that is not judged yet.
class OpenPromise {
 public:
  OpenPromise() = default;
  // For the day after the window `made`.
  OpenPromise(WindowId made, double predicted) : made_(made), predicted_(predicted) {}

  bool open() const { return made_.has_value(); }
  // REQUIRES: open().
  WindowId made() const { return *made_; }
  // The usage of its tasks in a window of its day.
  void Note(WindowId window, double usage);
  struct Outcome {
    int32_t day = 0;
    bool passed = false;
  };
  // Ends it once its day is over by `window`, the last window that closed. nullopt: it is not over, or was
  // measured too little.
  std::optional<Outcome> End(WindowId window);

  void Save(ByteWriter& out) const;
  static absl::StatusOr<OpenPromise> Load(ByteReader& in);

 private:
  std::optional<WindowId> made_;
  double predicted_ = 0, peak_ = 0;
  int32_t measured_ = 0;  // windows
};

// By day and resource, of all machines.
class PromiseTotals {
 public:
  void Add(Resource r, const OpenPromise::Outcome& outcome);
  void ForgetBefore(int32_t day);
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
// DataLoss if more were passed than judged.
absl::StatusOr<PromiseCounts> LoadPromiseCounts(ByteReader& in);

}  // namespace taut::server
