// Sorts events by time, for files in which events have any order, such as the shards of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "brain/cell/recorded_events.h"

namespace taut::tools {

// Keeps up to `in_memory` events (40 bytes each). Additional events are sorted, written to an unlinked
// temporary file, and merged later. Not thread-safe.
class EventSorter {
 public:
  explicit EventSorter(size_t in_memory = size_t{4} << 20, std::string directory = "/tmp");
  ~EventSorter();
  EventSorter(const EventSorter&) = delete;
  EventSorter& operator=(const EventSorter&) = delete;

  // Adds an event. A write error is reported by ForEach.
  void Add(const brain::TraceEvent& event);
  // Calls `take` for all events by time, then place, then kind. Call once, after the last Add. If the
  // temporary file could not be written or read, returns ResourceExhausted or Unavailable, with the
  // directory.
  absl::Status ForEach(absl::FunctionRef<void(const brain::TraceEvent&)> take);
  uint64_t size() const { return size_; }

 private:
  struct Run {
    uint64_t first = 0, count = 0;  // position and number of events in the file
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
