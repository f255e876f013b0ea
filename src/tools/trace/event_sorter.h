// Sorts events by time, for input in any order, such as the shards of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "brain/cell/recorded_events.h"

namespace taut::tools {

// Keeps up to `in_memory` events of 40 bytes in memory. Writes further events as sorted runs to an unlinked
// temporary file, and merges the runs later. Not thread-safe.
class EventSorter {
 public:
  explicit EventSorter(size_t in_memory = size_t{4} << 20, std::string directory = "/tmp");
  ~EventSorter();
  EventSorter(const EventSorter&) = delete;
  EventSorter& operator=(const EventSorter&) = delete;

  // Adds an event. ForEach() returns the error of a failed write.
  void Add(const brain::TraceEvent& event);
  // Calls `take` for all events, ordered by time, place and kind. Call once, after the last Add(). Returns
  // ResourceExhausted or Unavailable, with the directory, if the temporary file could not be written or read.
  absl::Status ForEach(absl::FunctionRef<void(const brain::TraceEvent&)> take);
  uint64_t size() const { return size_; }

 private:
  struct Run {
    uint64_t first = 0, count = 0;  // position in the file, and number of events
  };
  struct Cursor;
  absl::Status Spill();
  absl::Status Read(uint64_t first, size_t count, brain::TraceEvent* out) const;

  const size_t in_memory_;
  const std::string directory_;
  int fd_ = -1;
  uint64_t size_ = 0, written_ = 0;
  std::vector<brain::TraceEvent> events_;
  std::vector<Run> runs_;
  absl::Status status_;
};

}  // namespace taut::tools
