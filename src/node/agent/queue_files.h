// The files of a message queue: segments of records, and the small one that says how far they are done with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::node {

// A file descriptor that is closed with its owner. One thread.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  ~OwnedFd() { Close(); }
  void Close();
  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// A segment is kSegmentMagic, then records: bytes' length (4 bytes, little-endian), XXH64 of all of the
// record behind itself seeded with the length (8), sequence (8), bytes. Sequences ascend.
inline constexpr std::string_view kSegmentMagic = "TAUTSEG1";
inline constexpr uint64_t kRecordHeaderBytes = 20;

struct RecordHeader {
  uint32_t bytes = 0;
  uint64_t checksum = 0;
  uint64_t sequence = 0;
  uint64_t size() const { return kRecordHeaderBytes + bytes; }  // of the whole record
};
RecordHeader ParseRecordHeader(std::string_view raw);  // kRecordHeaderBytes of them
std::string MakeRecord(uint64_t sequence, std::string_view bytes);
// Of the record whose bytes behind the header are `bytes`.
bool IsSound(const RecordHeader& header, std::string_view bytes);

struct Segment {
  uint64_t number = 0;
  uint64_t end = 0;  // where the sound records end
  uint64_t records = 0;
  uint64_t first = 0, last = 0;  // their sequences; 0 if there are none
  bool is_damaged = false;       // something lies behind the end that no kill in the middle of a write makes
};
// Looks at every record of a file's bytes; those up to `after` are not expected. Total.
Segment ScanSegment(std::string_view file, uint64_t after);

// The record that begins at `offset`; the file may hold more than `end`. DataLoss if it is not sound.
absl::StatusOr<RecordHeader> ReadRecordHeader(int fd, uint64_t offset, uint64_t end);
absl::StatusOr<std::string> ReadRecord(int fd, uint64_t offset, uint64_t end, RecordHeader* header);

// Up to `most` bytes of a file.
absl::StatusOr<std::string> ReadUpTo(const std::string& path, uint64_t most);
// All of it, or an error with the system's reason.
absl::Status WriteAt(int fd, uint64_t offset, std::string_view bytes);
// "doing what path: reason" of errno.
absl::Status FileError(std::string_view doing, std::string_view path, int error);

struct QueueState {
  uint64_t number = 0;        // the queue's
  uint64_t acknowledged = 0;  // all up to this are done with
  uint64_t reserved = 1;      // sequences below may have been given
  uint64_t dropped = 0;
};

// The state on disk, twice: written in turns, so that a write that is torn leaves the other, and in place, so
// that a full disk does not matter. Locked as long as it is open. One thread.
class StateFile {
 public:
  // Makes the file if it is not there. FailedPrecondition if another one has it open.
  static absl::StatusOr<StateFile> Open(const std::string& path);
  // What was saved last; nullopt if nothing that is sound.
  std::optional<QueueState> Load();
  enum class Sync : uint8_t { kNo, kYes };
  absl::Status Save(const QueueState& state, Sync sync);

 private:
  StateFile(OwnedFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  OwnedFd fd_;
  std::string path_;
  uint64_t generation_ = 0;
};

}  // namespace taut::node
