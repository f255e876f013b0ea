// The owner's limits of all jobs over time, for one resource.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/time.h"
#include "common/model/usage.h"

namespace taut::tools {

// Collects limit changes in any order. After Finish(), returns them in order of time.
//
// A change at time t is in force from the first window that starts at or after t. A limit in a usage row is in
// force from the row's window on, and overrides changes for the same window. If several changes have the same
// time, the largest limit counts. Stores at most one change per job and window, and limits of rows at most once
// per job and day. Memory: 8 bytes per job and 16 bytes per change. Not thread-safe.
class LimitHistory {
 public:
  struct Change {
    uint32_t job = 0;
    int32_t window = 0;  // first window in which the limit is in force
    // Microseconds since the start of the previous window, or kFromRow. Orders the changes of one window.
    uint32_t rank = 0;
    float limit = 0;
    auto operator<=>(const Change&) const = default;
  };
  static constexpr uint32_t kFromRow = UINT32_MAX;

  void AddChange(JobId job, Timestamp t, float limit);
  void AddRow(JobId job, WindowId window, float limit);
  void Finish(size_t num_jobs);

  // Returns the changes of a job, ascending by window, at most one per window. If the rows of a day have several
  // limits, only the last limit is certainly included. REQUIRES: Finish() was called. The span is valid as long as
  // this object.
  std::span<const Change> ChangesOf(JobId job) const;

 private:
  struct Pending {
    int32_t window = INT32_MIN;
    float limit = kAbsent;
  };
  void Add(const Change& change);
  // Keeps the last change of each job and window.
  void Compact();
  void DropRepeats();

  std::vector<Change> changes_;
  std::vector<Pending> pending_;  // last limit in a row of each job, on its last day with a row
  std::vector<size_t> first_;     // index in changes_ of each job's first change
  size_t compact_at_ = size_t{1} << 20;
};

}  // namespace taut::tools
