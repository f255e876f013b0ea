#include "node/agent/queue_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/base/bytes.h"
#include "common/base/strings.h"

namespace taut::node {
namespace {

constexpr uint64_t kStateMagic = 0x3154535155544154;  // "TAUTQST1"
constexpr size_t kSlotBytes = 56;
constexpr uint64_t kSlotDistance = 512;  // one disk sector for each slot

std::string FormatSlot(const QueueState& state, uint64_t generation) {
  std::string out;
  ByteWriter writer(&out);
  for (const uint64_t value :
       {kStateMagic, generation, state.number, state.acknowledged, state.reserved, state.dropped}) {
    writer.Put(value);
  }
  writer.Put<uint64_t>(XXH64(out.data(), out.size(), 0));
  return out;
}

struct Slot {
  QueueState state;
  uint64_t generation = 0;
};

std::optional<Slot> ParseSlot(std::string_view bytes) {
  if (bytes.size() < kSlotBytes) return std::nullopt;
  ByteReader in(bytes);
  const auto magic = in.Get<uint64_t>();
  Slot out;
  out.generation = in.Get<uint64_t>();
  out.state.number = in.Get<uint64_t>();
  out.state.acknowledged = in.Get<uint64_t>();
  out.state.reserved = in.Get<uint64_t>();
  out.state.dropped = in.Get<uint64_t>();
  const auto checksum = in.Get<uint64_t>();
  if (magic != kStateMagic || checksum != XXH64(bytes.data(), kSlotBytes - 8, 0)) return std::nullopt;
  return out;
}

// Returns up to `most` bytes; fewer at the end of the file.
absl::StatusOr<std::string> ReadAt(int fd, uint64_t offset, uint64_t most) {
  std::string out(most, '\0');
  size_t got = 0;
  while (got < most) {
    const ssize_t n = pread(fd, out.data() + got, most - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("reading", "a segment of the queue", errno);
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  out.resize(got);
  return out;
}

}  // namespace

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.fd_;
    other.fd_ = -1;
  }
  return *this;
}

void OwnedFd::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::Status FileError(std::string_view doing, std::string_view path, int error) {
  const std::string text = StrCat(doing, " ", path, ": ", std::generic_category().message(error));
  return error == ENOSPC || error == EFBIG || error == EDQUOT ? absl::ResourceExhaustedError(text)
                                                              : absl::UnavailableError(text);
}

absl::Status WriteAt(int fd, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FileError("writing", "the queue", n == 0 ? ENOSPC : errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadUpTo(const std::string& path, uint64_t most) {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return FileError("opening", path, errno);
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  if (size < 0) return FileError("reading", path, errno);
  return ReadAt(fd.get(), 0, std::min(most, static_cast<uint64_t>(size)));
}

RecordHeader ParseRecordHeader(std::string_view raw) {
  ByteReader in(raw);
  RecordHeader out;
  out.bytes = in.Get<uint32_t>();
  out.checksum = in.Get<uint64_t>();
  out.sequence = in.Get<uint64_t>();
  return out;
}

static uint64_t ChecksumOf(uint64_t sequence, std::string_view bytes) {
  // The seed contains sequence and length, so that a record with another header does not match.
  const uint64_t seed = XXH64(&sequence, sizeof(sequence), bytes.size());
  return XXH64(bytes.data(), bytes.size(), seed);
}

std::string MakeRecord(uint64_t sequence, std::string_view bytes) {
  std::string out;
  out.reserve(kRecordHeaderBytes + bytes.size());
  ByteWriter writer(&out);
  writer.Put(static_cast<uint32_t>(bytes.size()));
  writer.Put(ChecksumOf(sequence, bytes));
  writer.Put(sequence);
  out.append(bytes);
  return out;
}

bool IsSound(const RecordHeader& header, std::string_view bytes) {
  return header.bytes == bytes.size() && header.sequence > 0 &&
         header.checksum == ChecksumOf(header.sequence, bytes);
}

Segment ScanSegment(std::string_view file, uint64_t after) {
  Segment out;
  if (file.substr(0, kSegmentMagic.size()) != kSegmentMagic) {
    out.is_damaged = file != kSegmentMagic.substr(0, file.size());
    return out;
  }
  out.end = kSegmentMagic.size();
  while (true) {
    const std::string_view rest = file.substr(out.end);
    // A short tail is a write that a kill interrupted, not damage.
    if (rest.size() < kRecordHeaderBytes) return out;
    const RecordHeader header = ParseRecordHeader(rest);
    if (rest.size() < header.size()) return out;
    if (!IsSound(header, rest.substr(kRecordHeaderBytes, header.bytes)) || header.sequence <= after) {
      out.is_damaged = true;
      return out;
    }
    after = out.last = header.sequence;
    if (out.records++ == 0) out.first = header.sequence;
    out.end += header.size();
  }
}

absl::StatusOr<RecordHeader> ReadRecordHeader(int fd, uint64_t offset, uint64_t end) {
  if (offset + kRecordHeaderBytes > end) return absl::DataLossError("the record does not fit in its segment");
  const auto raw = ReadAt(fd, offset, kRecordHeaderBytes);
  if (!raw.ok()) return raw.status();
  const RecordHeader header = ParseRecordHeader(*raw);
  if (raw->size() < kRecordHeaderBytes || header.size() > end - offset) {
    return absl::DataLossError("the record is longer than its segment");
  }
  return header;
}

absl::StatusOr<std::string> ReadRecord(int fd, uint64_t offset, uint64_t end, RecordHeader* header) {
  const auto found = ReadRecordHeader(fd, offset, end);
  if (!found.ok()) return found.status();
  auto bytes = ReadAt(fd, offset + kRecordHeaderBytes, found->bytes);
  if (!bytes.ok()) return bytes.status();
  if (!IsSound(*found, *bytes)) return absl::DataLossError("the record's checksum is wrong");
  *header = *found;
  return bytes;
}

absl::StatusOr<StateFile> StateFile::Open(const std::string& path) {
  OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return FileError("opening", path, errno);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        StrCat("another process uses the queue ", path, "; stop it, or use another directory"));
  }
  return StateFile(std::move(fd), path);
}

std::optional<QueueState> StateFile::Load() {
  std::optional<Slot> newest;
  for (const uint64_t offset : {uint64_t{0}, kSlotDistance}) {
    const auto bytes = ReadAt(fd_.get(), offset, kSlotBytes);
    const auto slot = bytes.ok() ? ParseSlot(*bytes) : std::nullopt;
    if (slot && (!newest || slot->generation > newest->generation)) newest = slot;
  }
  if (!newest) return std::nullopt;
  generation_ = newest->generation;
  return newest->state;
}

absl::Status StateFile::Save(const QueueState& state, Sync sync) {
  const uint64_t next = generation_ + 1;
  // Write the slot of the older generation: if this write is interrupted, the newer slot is still valid.
  const absl::Status status = WriteAt(fd_.get(), next % 2 * kSlotDistance, FormatSlot(state, next));
  if (!status.ok()) return status;
  generation_ = next;
  if (sync == Sync::kYes && fdatasync(fd_.get()) != 0) return FileError("writing", path_, errno);
  return absl::OkStatus();
}

}  // namespace taut::node
