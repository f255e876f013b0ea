#include "node/agent/message_queue.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::node {
namespace {

constexpr int64_t kRetryUs = 5'000'000;
constexpr uint64_t kReservedAtOnce = 1024;  // sequences; each reservation costs an fdatasync
constexpr std::string_view kSegmentSuffix = ".segment";
constexpr uint64_t kMostSegmentBytes = uint64_t{256} << 20;  // longer files were not written by this queue

// Numbers of the segments in a directory, ascending.
std::vector<uint64_t> ListSegments(const std::string& directory) {
  std::vector<uint64_t> out;
  std::error_code ignored;
  for (std::filesystem::directory_iterator it(directory, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    uint64_t number = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && last == name.data() + name.size() - kSegmentSuffix.size() && number > 0 &&
        name.ends_with(kSegmentSuffix)) {
      out.push_back(number);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

MessageQueue::MessageQueue(const MessageQueueOptions& options) : options_(options) {
  state_.number = options.new_number;
}

MessageQueue::~MessageQueue() {
  if (!state_file_) return;
  if (!memory_.empty()) WriteMemory();
  // The next Open then does not skip sequences that were reserved and not used.
  state_.reserved = next_;
  Sync();
}

absl::StatusOr<std::unique_ptr<MessageQueue>> MessageQueue::Open(const MessageQueueOptions& options) {
  if (options.max_bytes == 0 || options.segment_bytes == 0 || options.new_number == 0) {
    return absl::InvalidArgumentError(
        "invalid queue options: expected a size above 0 and a number other than 0");
  }
  std::unique_ptr<MessageQueue> queue(new MessageQueue(options));
  if (options.path.empty()) return queue;
  const absl::Status status = queue->Attach(When::kAtStart);
  if (status.code() == absl::StatusCode::kFailedPrecondition ||
      status.code() == absl::StatusCode::kInvalidArgument) {
    return status;
  }
  if (!status.ok()) {
    queue->DiskFailed(status);
    queue->retry_at_us_ = std::numeric_limits<int64_t>::min();
  }
  return queue;
}

absl::Status MessageQueue::Attach(When when) {
  std::error_code error;
  std::filesystem::create_directories(options_.path, error);
  if (!std::filesystem::is_directory(options_.path)) {
    if (std::filesystem::exists(options_.path)) {
      return absl::InvalidArgumentError(StrCat(options_.path, " is not a directory"));
    }
    return FileError("making", options_.path, error.value() == 0 ? ENOENT : error.value());
  }
  auto file = StateFile::Open(StrCat(options_.path, "/state"));
  if (!file.ok()) return file.status();
  const auto loaded = file->Load();
  if (when == When::kLater && (loaded || !ListSegments(options_.path).empty())) {
    // The directory has a queue number and sequences of its own, but the daemon knows this process by another
    // number.
    return absl::UnavailableError(StrCat("the messages in ", options_.path,
                                         " could not be read at the start; they are read at the next start"));
  }
  QueueState state = loaded.value_or(state_);
  // A restart after a kill must not assign sequences that this process has already used in memory.
  if (when == When::kLater) state.reserved = next_ + kReservedAtOnce;
  if (const absl::Status status = file->Save(state, StateFile::Sync::kYes); !status.ok()) return status;
  state_ = state;
  state_file_ = std::move(*file);
  if (when == When::kAtStart) {
    next_ = state_.reserved;
    ReadSegments();
  }
  return absl::OkStatus();
}

void MessageQueue::ReadSegments() {
  uint64_t last = 0;
  for (const uint64_t number : ListSegments(options_.path)) {
    const std::string path = PathOf(number);
    next_segment_ = number + 1;
    const auto bytes = ReadUpTo(path, kMostSegmentBytes);
    Segment segment = bytes.ok() ? ScanSegment(*bytes, last) : Segment{};
    segment.number = number;
    if (segment.is_damaged || !bytes.ok()) ++damaged_;
    if (!bytes.ok()) continue;
    last = std::max(last, segment.last);
    // Delete acknowledged and empty segments now, so that MakeRoom() below counts only the remaining segments.
    if (segment.records == 0 || segment.last <= state_.acknowledged) {
      unlink(path.c_str());
      continue;
    }
    // Appending behind a damaged tail would hide the new records from the next scan.
    (void)truncate(path.c_str(), static_cast<off_t>(segment.end));
    if (segments_.empty()) head_offset_ = kSegmentMagic.size();
    messages_ += segment.records;
    bytes_ += segment.end - kSegmentMagic.size();
    disk_bytes_ += segment.end;
    segments_.push_back(segment);
  }
  // The saved state may be older than the last record, because it is saved without a sync.
  next_ = std::max(next_, last + 1);
  TrimSegments();
  MakeRoom(0);
  if (segments_.empty() || segments_.back().end >= options_.segment_bytes) return;
  writing_ = OwnedFd(open(PathOf(segments_.back().number).c_str(), O_RDWR | O_CLOEXEC));
}

std::string MessageQueue::PathOf(uint64_t segment) const {
  return fmt::format("{}/{:012}{}", options_.path, segment, kSegmentSuffix);
}

void MessageQueue::SaveState(StateFile::Sync sync) {
  if (!state_file_) return;
  if (const absl::Status status = state_file_->Save(state_, sync); !status.ok()) DiskFailed(status);
}

void MessageQueue::DiskFailed(const absl::Status& status) {
  error_ = StrCat("messages are queued in memory: ", Message(status));
  retry_at_us_ = now_us_ + kRetryUs;
}

void MessageQueue::Reserve() {
  state_.reserved = next_ + kReservedAtOnce;
  SaveState(StateFile::Sync::kYes);
}

void MessageQueue::Append(std::string_view bytes, int64_t now_us) {
  now_us_ = now_us;
  // Sequences are reserved on disk before use: after a kill, Open starts at `reserved`, above every sequence
  // ever sent.
  if (next_ >= state_.reserved) Reserve();
  const uint64_t sequence = next_++;
  const uint64_t size = kRecordHeaderBytes + bytes.size();
  if (size + kSegmentMagic.size() > options_.max_bytes) {
    ++state_.dropped;
    SaveState(StateFile::Sync::kNo);
    return;
  }
  MakeRoom(size + kSegmentMagic.size());
  ++messages_;
  bytes_ += size;
  const bool tries_disk = !options_.path.empty() && (error_.empty() || now_us >= retry_at_us_);
  if (tries_disk) {
    // Write the messages in memory first, so that the segments stay in the order of sequences.
    WriteMemory();
    if (error_.empty()) {
      const absl::Status status = AppendToDisk(sequence, bytes);
      if (status.ok()) return;
      DiskFailed(status);
    }
  }
  memory_.push_back({sequence, std::string(bytes)});
  memory_bytes_ += size;
}

// Writes all messages in memory to disk, or as many as fit; error_ then contains the reason.
void MessageQueue::WriteMemory() {
  if (!state_file_) {
    if (const absl::Status status = Attach(When::kLater); !status.ok()) return DiskFailed(status);
  }
  while (!memory_.empty()) {
    const QueuedMessage& message = memory_.front();
    if (const absl::Status status = AppendToDisk(message.sequence, message.bytes); !status.ok()) {
      return DiskFailed(status);
    }
    memory_bytes_ -= kRecordHeaderBytes + message.bytes.size();
    memory_.pop_front();
  }
  error_.clear();
}

absl::Status MessageQueue::AppendToDisk(uint64_t sequence, std::string_view bytes) {
  const std::string record = MakeRecord(sequence, bytes);
  const uint64_t full = std::min(options_.segment_bytes, options_.max_bytes / 4);
  if (writing_.is_open() && segments_.back().records > 0 && segments_.back().end + record.size() > full) {
    EndSegment();
  }
  if (!writing_.is_open()) {
    if (const absl::Status status = BeginSegment(); !status.ok()) return status;
  }
  Segment& segment = segments_.back();
  if (const absl::Status status = WriteAt(writing_.get(), segment.end, record); !status.ok()) {
    // Part of the record may be written: truncate the file, or the next record would follow damage.
    (void)ftruncate(writing_.get(), static_cast<off_t>(segment.end));
    if (segment.records == 0) RemoveSegment(segments_.size() - 1);
    return status;
  }
  if (segment.records++ == 0) segment.first = sequence;
  segment.last = sequence;
  segment.end += record.size();
  disk_bytes_ += record.size();
  return absl::OkStatus();
}

absl::Status MessageQueue::BeginSegment() {
  Segment segment;
  segment.number = next_segment_;
  segment.end = kSegmentMagic.size();
  const std::string path = PathOf(segment.number);
  OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.is_open()) return FileError("making", path, errno);
  if (const absl::Status status = WriteAt(fd.get(), 0, kSegmentMagic); !status.ok()) {
    unlink(path.c_str());
    return status;
  }
  ++next_segment_;
  if (segments_.empty()) {
    head_offset_ = segment.end;
    head_index_ = 0;
  }
  disk_bytes_ += segment.end;
  segments_.push_back(segment);
  writing_ = std::move(fd);
  return absl::OkStatus();
}

void MessageQueue::EndSegment() {
  // A full segment is never written again, so one sync makes it durable.
  (void)fdatasync(writing_.get());
  writing_.Close();
}

void MessageQueue::MakeRoom(uint64_t bytes) {
  // Drop whole segments, because a file cannot be shortened at its front.
  const uint64_t before = messages_;
  while (stored_bytes() + bytes > options_.max_bytes) {
    if (!segments_.empty()) {
      RemoveSegment(0);
    } else if (!memory_.empty()) {
      const uint64_t size = kRecordHeaderBytes + memory_.front().bytes.size();
      --messages_;
      bytes_ -= size;
      memory_bytes_ -= size;
      memory_.pop_front();
    } else {
      break;
    }
  }
  if (messages_ == before) return;
  state_.dropped += before - messages_;
  SaveState(StateFile::Sync::kNo);
}

// Deletes a segment with all its messages.
void MessageQueue::RemoveSegment(size_t position) {
  const Segment segment = segments_[position];
  const bool is_head = position == 0;
  messages_ -= segment.records - (is_head ? head_index_ : 0);
  bytes_ -= segment.end - (is_head ? head_offset_ : kSegmentMagic.size());
  disk_bytes_ -= segment.end;
  if (position + 1 == segments_.size()) writing_.Close();
  if (cursor_.number == segment.number) cursor_ = Cursor();
  unlink(PathOf(segment.number).c_str());
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(position));
  if (is_head) {
    head_offset_ = kSegmentMagic.size();
    head_index_ = 0;
  }
}

// Ends the segment before the record at the cursor, which is in this segment and cannot be read.
void MessageQueue::CutSegment(size_t position) {
  Segment& segment = segments_[position];
  const uint64_t lost = segment.records - cursor_.index;
  const uint64_t bytes = segment.end - cursor_.offset;
  ++damaged_;
  state_.dropped += lost;
  messages_ -= lost;
  bytes_ -= bytes;
  disk_bytes_ -= bytes;
  segment.records = cursor_.index;
  segment.end = cursor_.offset;
  segment.last = cursor_.sequence;
  if (position + 1 == segments_.size()) writing_.Close();
  if (segment.records == (position == 0 ? head_index_ : 0)) RemoveSegment(position);
  cursor_ = Cursor();
  SaveState(StateFile::Sync::kNo);
}

void MessageQueue::Acknowledge(uint64_t sequence) {
  // A number above the last sequence would delete messages that are not even written yet.
  sequence = std::min(sequence, last_sequence());
  if (sequence <= state_.acknowledged) return;
  state_.acknowledged = sequence;
  TrimSegments();
  while (!memory_.empty() && memory_.front().sequence <= sequence) {
    const uint64_t size = kRecordHeaderBytes + memory_.front().bytes.size();
    --messages_;
    bytes_ -= size;
    memory_bytes_ -= size;
    memory_.pop_front();
  }
  SaveState(StateFile::Sync::kNo);
}

// Deletes acknowledged messages.
void MessageQueue::TrimSegments() {
  while (!segments_.empty() && segments_.front().last <= state_.acknowledged) RemoveSegment(0);
  if (segments_.empty() || segments_.front().first > state_.acknowledged) return;
  // The cursor of Next may be at a later position: use a temporary cursor, so that Next does not restart.
  Cursor kept = std::exchange(cursor_, Cursor());
  PointAt(0);
  while (true) {
    const auto header = ReadRecordHeader(cursor_.fd.get(), cursor_.offset, segments_.front().end);
    if (!header.ok()) return CutSegment(0);
    if (header->sequence > state_.acknowledged) break;
    cursor_.offset += header->size();
    cursor_.sequence = header->sequence;
    ++cursor_.index;
    head_offset_ = cursor_.offset;
    head_index_ = cursor_.index;
    --messages_;
    bytes_ -= header->size();
  }
  cursor_ = std::move(kept);
}

// Moves the cursor to the first unacknowledged message of a segment.
void MessageQueue::PointAt(size_t position) {
  cursor_ = Cursor();
  cursor_.number = segments_[position].number;
  cursor_.offset = position == 0 ? head_offset_ : kSegmentMagic.size();
  cursor_.index = position == 0 ? head_index_ : 0;
  cursor_.fd = OwnedFd(open(PathOf(cursor_.number).c_str(), O_RDONLY | O_CLOEXEC));
}

// Finds the segment with the oldest message above `after`, and moves the cursor to this segment if the cursor is
// in another segment.
bool MessageQueue::FindSegment(uint64_t after, size_t* position) {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [after](const Segment& s) { return s.records > 0 && s.last > after; });
  if (found == segments_.end()) return false;
  *position = static_cast<size_t>(found - segments_.begin());
  const bool is_behind_head = *position == 0 && cursor_.offset < head_offset_;
  if (cursor_.number != found->number || cursor_.sequence > after || is_behind_head) PointAt(*position);
  return true;
}

std::optional<QueuedMessage> MessageQueue::Next(uint64_t after) {
  after = std::max(after, state_.acknowledged);
  size_t position = 0;
  while (FindSegment(after, &position)) {
    RecordHeader header;
    auto bytes = ReadRecord(cursor_.fd.get(), cursor_.offset, segments_[position].end, &header);
    if (!bytes.ok()) {
      CutSegment(position);
      continue;
    }
    cursor_.offset += header.size();
    cursor_.sequence = header.sequence;
    ++cursor_.index;
    if (header.sequence > after) return QueuedMessage{header.sequence, std::move(*bytes)};
  }
  const auto found = std::upper_bound(memory_.begin(), memory_.end(), after,
                                      [](uint64_t a, const QueuedMessage& m) { return a < m.sequence; });
  if (found == memory_.end()) return std::nullopt;
  return *found;
}

bool MessageQueue::Sync() {
  if (!state_file_) return false;
  const bool synced = !writing_.is_open() || fdatasync(writing_.get()) == 0;
  SaveState(StateFile::Sync::kYes);
  return synced && error_.empty() && memory_.empty();
}

}  // namespace taut::node
