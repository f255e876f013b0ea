// The owner's limits of all jobs over time, for one resource.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/time.h"
#include "common/model/usage.h"

namespace taut::tools {

// Collects limit changes in any order. After Finish() the changes are available in order of time.
//
// A change at time t is in force from the first window that starts at or after t. A limit of a usage row is
// in force from the row's own window on, and overrides changes that are in force from the same window. If
// several changes have one time, the largest limit is used. Memory: 8 bytes per job, and 16 bytes per change.
// At most one change per job and window is stored, and limits of rows at most once per job and day. Not
// thread-safe.
class LimitHistory {
 public:
  struct Change {
    uint32_t job = 0;
    int32_t window = 0;  // first window in which the limit is in force
    // Microseconds since the start of the previous window, or kFromRow; decides between changes of one window.
    uint32_t rank = 0;
    float limit = 0;
    auto operator<=>(const Change&) const = default;
  };
  static constexpr uint32_t kFromRow = UINT32_MAX;

  void AddChange(JobId job, Timestamp t, float limit);
  void AddRow(JobId job, WindowId window, float limit);
  void Finish(size_t num_jobs);

  // Returns all changes of a job, ascending by window, at most one per window. If the rows of one day have
  // several limits, only the last of these is certain to be included. REQUIRES: Finish() was called. The span
  // is valid as long as this object.
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
  std::vector<Pending> pending_;  // last row limit of each job on the last day with a row
  std::vector<size_t> first_;     // index of each job's first change in changes_
  size_t compact_at_ = size_t{1} << 20;
};

}  // namespace taut::tools
