// Messages of an agent that the daemon has not acknowledged: a bounded queue on disk that survives kills.
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
  std::string path;  // directory that only this queue uses, created if missing; "": in memory
  // Bound of all files, or of the messages in memory. The oldest segment is deleted when a message does not
  // fit.
  uint64_t max_bytes = uint64_t{32} << 20;
  uint64_t segment_bytes = uint64_t{1} << 20;  // upper bound of a segment; max_bytes / 4 if this is less
  uint64_t new_number = 0;                     // number of a new queue; not 0
};

struct QueuedMessage {
  uint64_t sequence = 0;
  std::string bytes;
};

// Messages are in the order of their sequences, which ascend across restarts. A restart after a kill skips some
// sequences, so that no sequence is used twice even if the disk lost the last messages.
//
// Nothing is lost when the process is killed: each message is written at once. fdatasync is called when a segment
// is full, by Sync and by the destructor. A loss of power loses the messages that the kernel had not yet written
// to disk (about the last 30 s). An incomplete tail is cut off; a damaged record ends its segment, and later
// segments are still read. If the disk is full or not writable, messages wait in memory, behind the messages on
// disk and within the same bound, until the disk is writable again.
//
// Not thread-safe. Append is O(bytes). Next is O(bytes) if it continues where the last call ended.
class MessageQueue {
 public:
  // Reads all segments. FailedPrecondition if another process uses the directory; InvalidArgument if the path
  // is not a directory or a bound is 0. A directory that cannot be created or written is not an error here:
  // see error().
  static absl::StatusOr<std::unique_ptr<MessageQueue>> Open(const MessageQueueOptions& options);
  ~MessageQueue();
  MessageQueue(const MessageQueue&) = delete;
  MessageQueue& operator=(const MessageQueue&) = delete;

  uint64_t number() const { return state_.number; }
  // Sequence of the message that Append will store next.
  uint64_t next_sequence() const { return next_; }
  uint64_t last_sequence() const { return next_ - 1; }

  // Stores a message as the newest. `now_us`: time of any clock that never goes back. After a failure the
  // disk is retried 5 s later.
  void Append(std::string_view bytes, int64_t now_us);
  // Deletes all messages up to `sequence`. Numbers that were never assigned are ignored.
  void Acknowledge(uint64_t sequence);
  // Returns the oldest unacknowledged message above `after`; nullopt if there is no such message.
  std::optional<QueuedMessage> Next(uint64_t after);
  // Flushes all messages to disk. Returns false if the flush failed.
  bool Sync();

  uint64_t messages() const { return messages_; }  // number of unacknowledged messages
  uint64_t bytes() const { return bytes_; }        // size of all unacknowledged messages with headers
  uint64_t stored_bytes() const { return disk_bytes_ + memory_bytes_; }
  // Number of messages that were dropped because of the bound or lost to damage, since the queue was created.
  uint64_t dropped() const { return state_.dropped; }
  uint64_t damaged_segments() const { return damaged_; }  // number of damaged segments since Open
  // Returns the reason why messages are not written to disk; "" if they are written, or if the queue is in memory.
  const std::string& error() const { return error_; }

 private:
  explicit MessageQueue(const MessageQueueOptions& options);

  // A position in a segment that is read record by record.
  struct Cursor {
    OwnedFd fd;
    uint64_t number = 0;    // number of the segment; 0: none
    uint64_t offset = 0;    // offset of the next record
    uint64_t index = 0;     // index of the next record in the segment
    uint64_t sequence = 0;  // sequence of the previous record; 0: unknown
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
  std::optional<StateFile> state_file_;  // open while the directory is in use
  std::string error_;
  int64_t now_us_ = 0;  // time of the last Append
  int64_t retry_at_us_ = 0;

  uint64_t next_ = 1;
  uint64_t messages_ = 0, bytes_ = 0, damaged_ = 0;
  std::deque<Segment> segments_;  // ascending; only the last segment may be empty
  uint64_t disk_bytes_ = 0;
  uint64_t next_segment_ = 1;
  OwnedFd writing_;  // the last segment, if it is still open for writing
  // Position of the first unacknowledged message in the first segment.
  uint64_t head_offset_ = 0, head_index_ = 0;
  std::deque<QueuedMessage> memory_;  // messages that are newer than all segments
  uint64_t memory_bytes_ = 0;
  Cursor cursor_;
};

}  // namespace taut::node
