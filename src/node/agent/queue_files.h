// The files of a message queue: segments of records, and the state file with the acknowledged position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::node {

// A file descriptor that is closed with its owner. Not thread-safe.
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

// A segment consists of kSegmentMagic and records. A record consists of the length of its bytes (4 bytes,
// little-endian), a checksum (8), the sequence (8) and the bytes. The checksum is XXH64 of the bytes. Its seed is
// XXH64 of the sequence, seeded with the length. Sequences ascend.
inline constexpr std::string_view kSegmentMagic = "TAUTSEG1";
inline constexpr uint64_t kRecordHeaderBytes = 20;

struct RecordHeader {
  uint32_t bytes = 0;
  uint64_t checksum = 0;
  uint64_t sequence = 0;
  uint64_t size() const { return kRecordHeaderBytes + bytes; }  // bytes of the whole record
};
RecordHeader ParseRecordHeader(std::string_view raw);  // REQUIRES: raw.size() >= kRecordHeaderBytes
std::string MakeRecord(uint64_t sequence, std::string_view bytes);
// True if the header's length and checksum match these bytes.
bool IsSound(const RecordHeader& header, std::string_view bytes);

struct Segment {
  uint64_t number = 0;
  uint64_t end = 0;  // offset behind the last sound record
  uint64_t records = 0;
  uint64_t first = 0, last = 0;  // sequences of the first and last record; 0: no records
  bool is_damaged = false;       // true for damage behind `end`, except a write that a kill interrupted
};
// Scans all records in a file's bytes; sequences up to `after` count as damage. Accepts any bytes. O(bytes).
Segment ScanSegment(std::string_view file, uint64_t after);

// Reads the header at `offset`; the file may be longer than `end`. DataLoss if the record does not fit.
absl::StatusOr<RecordHeader> ReadRecordHeader(int fd, uint64_t offset, uint64_t end);
absl::StatusOr<std::string> ReadRecord(int fd, uint64_t offset, uint64_t end, RecordHeader* header);

// Reads up to `most` bytes of a file.
absl::StatusOr<std::string> ReadUpTo(const std::string& path, uint64_t most);
// Writes all bytes, or returns an error with the system's reason.
absl::Status WriteAt(int fd, uint64_t offset, std::string_view bytes);
// Returns an error with the text "DOING PATH: REASON". ResourceExhausted if the disk or a quota is full,
// otherwise Unavailable.
absl::Status FileError(std::string_view doing, std::string_view path, int error);

struct QueueState {
  uint64_t number = 0;        // number of the queue
  uint64_t acknowledged = 0;  // all sequences up to this one are acknowledged
  uint64_t reserved = 1;      // sequences below this one may be in use
  uint64_t dropped = 0;
};

// The state on disk, in two slots that are written in turns: an interrupted write leaves the other slot
// valid. Slots are written in place, so a full disk does not matter. The file is locked while open. Not
// thread-safe.
class StateFile {
 public:
  // Creates the file if it is missing. FailedPrecondition if another process has the file open.
  static absl::StatusOr<StateFile> Open(const std::string& path);
  // Returns the last saved state; nullopt if neither slot is valid.
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
