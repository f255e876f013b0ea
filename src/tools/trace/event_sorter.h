// Events in order of time, whatever their order in the files: a trace's shards are in none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "brain/cell/recorded_events.h"

namespace taut::tools {

// Keeps `in_memory` events (40 bytes each); more go, sorted, to an unlinked temporary file, and are merged. One
// thread.
class EventSorter {
 public:
  explicit EventSorter(size_t in_memory = size_t{4} << 20, std::string directory = "/tmp");
  ~EventSorter();
  EventSorter(const EventSorter&) = delete;
  EventSorter& operator=(const EventSorter&) = delete;

  // What cannot be written is reported by ForEach.
  void Add(const brain::TraceEvent& event);
  // Once, after the last event: all of them by time, those of one time by place, of one row by kind.
  // ResourceExhausted or Unavailable with the directory if the temporary file could not be written or read.
  absl::Status ForEach(absl::FunctionRef<void(const brain::TraceEvent&)> take);
  uint64_t size() const { return size_; }

 private:
  struct Run {
    uint64_t first = 0, count = 0;  // events of the file
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
