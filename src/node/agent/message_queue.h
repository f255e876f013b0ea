// What an agent keeps until the daemon has it: a bounded queue on disk that outlives kills.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/agent/queue_files.h"

namespace taut::node {

struct MessageQueueOptions {
  std::string path;  // a directory of its own, made if it is not there; "": in memory
  // Of all files, or of what is in memory; the oldest segment goes when a message has no room.
  uint64_t max_bytes = uint64_t{32} << 20;
  uint64_t segment_bytes = uint64_t{1} << 20;  // at most; a quarter of max_bytes if that is less
  uint64_t new_number = 0;                     // the queue's number if it is made now; not 0
};

struct QueuedMessage {
  uint64_t sequence = 0;
  std::string bytes;
};

// Messages wait in the order of their sequences, which ascend over restarts too, though not one by one: a
// restart after a kill leaves some out, so that none is given twice even if the disk lost the last of them.
//
// Nothing is lost when the process is killed: each message is written at once. fdatasync is called when a
// segment is full, by Sync and by the destructor, so a loss of power takes what the kernel had not yet
// written by itself (some 30 s). A torn tail is cut off; a damaged record ends its segment, and later
// segments are read all the same. If the disk is full or does not take files, messages wait in memory, behind
// those on disk and bounded with them, and are written when it does again.
//
// One thread at a time. Appending is O(bytes), as is Next when it goes on where it was.
class MessageQueue {
 public:
  // Reads all segments. FailedPrecondition: another process has the directory. InvalidArgument: the path is
  // no directory, or a bound is 0. A directory that cannot be made or written is no error here: see error().
  static absl::StatusOr<std::unique_ptr<MessageQueue>> Open(const MessageQueueOptions& options);
  ~MessageQueue();
  MessageQueue(const MessageQueue&) = delete;
  MessageQueue& operator=(const MessageQueue&) = delete;

  uint64_t number() const { return state_.number; }
  // Of the message that Append takes next.
  uint64_t next_sequence() const { return next_; }
  uint64_t last_sequence() const { return next_ - 1; }

  // `now_us` of any clock that only goes forward: the disk is tried again 5 s after it failed.
  void Append(std::string_view bytes, int64_t now_us);
  // All up to `sequence` are done with; a higher number than was ever assigned is ignored.
  void Acknowledge(uint64_t sequence);
  // The oldest message above `after` that is not acknowledged.
  std::optional<QueuedMessage> Next(uint64_t after);
  // Puts all on disk for good; false if it cannot.
  bool Sync();

  uint64_t messages() const { return messages_; }  // not acknowledged
  uint64_t bytes() const { return bytes_; }        // of them, headers too
  uint64_t stored_bytes() const { return disk_bytes_ + memory_bytes_; }
  uint64_t dropped() const { return state_.dropped; }     // to keep the bound, or lost to damage, ever
  uint64_t damaged_segments() const { return damaged_; }  // since Open
  // Why messages do not go to disk; "" if they do, or should not.
  const std::string& error() const { return error_; }

 private:
  explicit MessageQueue(const MessageQueueOptions& options);

  // A place in a segment that is read record by record.
  struct Cursor {
    OwnedFd fd;
    uint64_t number = 0;    // the segment's; 0: nowhere
    uint64_t offset = 0;    // of the next record
    uint64_t index = 0;     // its number in the segment
    uint64_t sequence = 0;  // of the record before it; 0: not known
  };

  enum class When : uint8_t { kAtStart, kLater };
  absl::Status Attach(When when);
  void ReadSegments();
  absl::Status AppendToDisk(uint64_t sequence, std::string_view bytes);
  absl::Status BeginSegment();
  void EndSegment();
  void WriteMemory();
  void DiskFailed(const absl::Status& status);
  void MakeRoom(uint64_t bytes);
  void RemoveSegment(size_t position);
  void CutSegment(size_t position);
  void TrimSegments();
  void PointAt(size_t position);
  bool FindSegment(uint64_t after, size_t* position);
  void Reserve();
  void SaveState(StateFile::Sync sync);
  std::string PathOf(uint64_t segment) const;

  const MessageQueueOptions options_;
  QueueState state_;
  std::optional<StateFile> state_file_;  // of a directory that is used
  std::string error_;
  int64_t now_us_ = 0;  // time of the last Append
  int64_t retry_at_us_ = 0;

  uint64_t next_ = 1;
  uint64_t messages_ = 0, bytes_ = 0, damaged_ = 0;
  std::deque<Segment> segments_;  // ascending; none without records but the one that is written
  uint64_t disk_bytes_ = 0;
  uint64_t next_segment_ = 1;
  OwnedFd writing_;  // the last segment, if it takes more
  // Of the first segment: where its first message that is not acknowledged begins.
  uint64_t head_offset_ = 0, head_index_ = 0;
  std::deque<QueuedMessage> memory_;  // behind all segments
  uint64_t memory_bytes_ = 0;
  Cursor cursor_;
};

}  // namespace taut::node
