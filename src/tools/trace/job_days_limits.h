// The owner's limits of all jobs over time, for one resource: who had which limit in which window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/time.h"
#include "common/model/usage.h"

namespace taut::tools {

// Changes may come in any order; after Finish() they are asked for in time order.
//
// A change at time t holds from the first window that starts at or after t. A limit carried by a usage row
// holds from the row's own window on and beats changes that hold from the same window; of several at the same
// instant the largest holds. Memory: 16 bytes a change (at most one a job and window), 8 bytes a job; limits
// of rows once a job and day.
class LimitHistory {
 public:
  struct Change {
    uint32_t job = 0;
    int32_t window = 0;  // holds from here
    uint32_t rank = 0;   // microseconds into the window before, or kFromRow
    float limit = 0;
    auto operator<=>(const Change&) const = default;
  };
  static constexpr uint32_t kFromRow = UINT32_MAX;

  void AddChange(JobId job, Timestamp t, float limit);
  void AddRow(JobId job, WindowId window, float limit);
  void Finish(size_t num_jobs);

  // All changes of a job, ascending by window, one a window at most. Of the row limits of one day only the
  // last is certain to be there. After Finish(); valid as long as the history.
  std::span<const Change> ChangesOf(JobId job) const;

 private:
  struct Pending {
    int32_t window = INT32_MIN;
    float limit = kAbsent;
  };
  void Add(const Change& change);
  // Keeps one change a job and window.
  void Compact();
  void DropRepeats();

  std::vector<Change> changes_;
  std::vector<Pending> pending_;  // by job: the last row limit of the day seen last
  std::vector<size_t> first_;     // by job: into changes_
  size_t compact_at_ = size_t{1} << 20;
};

}  // namespace taut::tools
