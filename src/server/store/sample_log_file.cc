// Append-only files of checksummed entries. A kill may leave a torn entry at the end.
#define XXH_INLINE_ALL
#include "server/store/sample_log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "server/store/private_file.h"

namespace taut::server {
namespace {

constexpr std::string_view kMagic = "TAUTSMP1";
constexpr size_t kHeadBytes = 4 + 8 + 8 + 8;  // size of length, checksum, now and newest
constexpr size_t kMostBuffered = size_t{32} << 20;
constexpr size_t kMostBody = size_t{256} << 20;

uint64_t SumOf(int64_t now_us, int64_t newest_us, std::string_view body) {
  const uint64_t seed = static_cast<uint64_t>(now_us) * 31 + static_cast<uint64_t>(newest_us);
  return XXH3_64bits_withSeed(body.data(), body.size(), seed);
}

absl::Status Failed(const std::string& path, int error) {
  return absl::UnavailableError(StrCat(path, ": ", std::strerror(error)));
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SampleLogFile>> SampleLogFile::Open(const SampleLogOptions& options) {
  std::unique_ptr<SampleLogFile> log(new SampleLogFile(options));
  const std::filesystem::path path(options.path);
  const std::filesystem::path parent = path.parent_path().empty() ? "." : path.parent_path();
  const std::string prefix = StrCat(path.filename().string(), ".samples.");
  std::error_code failed;
  std::vector<Segment> found;
  for (std::filesystem::directory_iterator at(parent, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string digits = name.substr(prefix.size());
    if (digits.empty() || digits.size() > 18 ||
        !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    std::error_code no_size;
    const uint64_t bytes = at->file_size(no_size);
    found.push_back({std::stoull(digits), no_size ? 0 : bytes, INT64_MAX});
  }
  if (failed) return absl::UnavailableError(StrCat(parent.string(), ": ", failed.message()));
  std::ranges::sort(found, {}, &Segment::number);
  for (const Segment& s : found) {
    log->segments_.push_back(s);
    log->total_bytes_ += s.bytes;
    log->next_number_ = s.number + 1;
  }
  return log;
}

SampleLogFile::~SampleLogFile() {
  (void)Flush(true);
  const std::lock_guard lock(file_mutex_);
  CloseSegment();
}

std::string SampleLogFile::PathOf(uint64_t number) const {
  std::string digits = StrCat(number);
  digits.insert(0, digits.size() < 6 ? 6 - digits.size() : 0, '0');
  return StrCat(options_.path, ".samples.", digits);
}

void SampleLogFile::Append(const LoggedWrite& write) {
  bool full = false;
  {
    const std::lock_guard lock(buffer_mutex_);
    ByteWriter out(&buffer_);
    out.Put(static_cast<uint32_t>(write.body.size()));
    out.Put(SumOf(write.now.us, write.newest.us, write.body));
    out.Put(write.now.us);
    out.Put(write.newest.us);
    buffer_.append(write.body);
    buffer_newest_us_ = std::max(buffer_newest_us_, write.newest.us);
    full = buffer_.size() > kMostBuffered;
  }
  if (full) (void)Flush(false);  // lost_bytes() counts the bytes of a failed write
}

absl::Status SampleLogFile::Flush(bool sync) {
  const std::lock_guard lock(file_mutex_);
  absl::Status status = WriteOut();
  if (!sync) return status;
  if (status.ok() && fd_ >= 0 && fdatasync(fd_) != 0) status = Failed(PathOf(segments_.back().number), errno);
  status.Update(std::exchange(unsynced_, absl::OkStatus()));
  return status;
}

absl::Status SampleLogFile::WriteOut() {
  int64_t newest_us = 0;
  {
    const std::lock_guard lock(buffer_mutex_);
    if (buffer_.empty()) return absl::OkStatus();
    // Append continues while the file is written, because a slow disk must not block the ingest.
    std::swap(buffer_, writing_);
    newest_us = buffer_newest_us_;
  }
  if (fd_ >= 0) {
    const uint64_t bytes = segments_.back().bytes;
    const bool old = newest_us - segment_begin_us_ >= options_.segment_seconds * kMicrosPerSecond;
    if (bytes + writing_.size() > options_.segment_bytes || (old && bytes >= options_.min_segment_bytes)) {
      CloseSegment();
    }
  }
  absl::Status status;
  if (fd_ < 0) {
    status = OpenSegment();
    segment_begin_us_ = newest_us;
  }
  if (status.ok()) {
    Segment& segment = segments_.back();
    // Forget compares a segment's newest time, so one late entry keeps all entries of its segment.
    segment.newest_us = newest_us;
    if (WriteAll(fd_, writing_)) {
      segment.bytes += writing_.size();
      total_bytes_ += writing_.size();
    } else {
      status = Failed(PathOf(segment.number), errno);
      // The file may end with a torn entry. Entries behind a torn entry cannot be read, so the next entries are
      // written to a new file.
      CloseSegment();
    }
  }
  if (!status.ok()) lost_bytes_ += writing_.size();
  writing_.clear();
  while (total_bytes_ > options_.max_bytes && segments_.size() > 1) {
    lost_bytes_ += segments_.front().bytes;
    DropOldest();
  }
  return status;
}

absl::Status SampleLogFile::OpenSegment() {
  const std::string path = PathOf(next_number_);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return Failed(path, errno);
  segments_.push_back({next_number_++, kMagic.size(), INT64_MIN});
  fd_ = fd;
  absl::Status status = WriteAll(fd, kMagic) ? SyncDirectoryOf(path) : Failed(path, errno);
  if (status.ok()) {
    total_bytes_ += kMagic.size();
    return status;
  }
  CloseSegment();
  unlink(path.c_str());
  segments_.pop_back();
  return status;
}

// Syncs the segment before closing it, because no later call syncs it. Flush(sync) returns the error.
void SampleLogFile::CloseSegment() {
  if (fd_ < 0) return;
  if (fdatasync(fd_) != 0) unsynced_ = Failed(PathOf(segments_.back().number), errno);
  close(fd_);
  fd_ = -1;
}

void SampleLogFile::DropOldest() {
  unlink(PathOf(segments_.front().number).c_str());
  total_bytes_ -= std::min(total_bytes_, segments_.front().bytes);
  segments_.pop_front();
}

void SampleLogFile::Forget(Timestamp before) {
  const std::lock_guard lock(file_mutex_);
  while (!segments_.empty() && segments_.front().newest_us < before.us) {
    // The open segment is the last segment. Close it before its file is deleted, so that nothing is written to a
    // deleted file.
    if (segments_.size() == 1) CloseSegment();
    DropOldest();
  }
}

absl::Status SampleLogFile::Read(absl::FunctionRef<void(const LoggedWrite&)> yield,
                                 absl::FunctionRef<void(std::string_view)> on_damage) {
  const std::lock_guard lock(file_mutex_);
  std::string bytes;
  int64_t newest_us = INT64_MIN;
  for (Segment& segment : segments_) {
    const std::string path = PathOf(segment.number);
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    if (!in.good() && !in.eof()) {
      on_damage(StrCat(path, ": cannot be read"));
    } else if (!std::string_view(bytes).starts_with(kMagic)) {
      if (!bytes.empty()) on_damage(StrCat(path, ": not a sample file"));
    } else {
      std::string_view rest = std::string_view(bytes).substr(kMagic.size());
      while (rest.size() >= kHeadBytes) {
        ByteReader head(rest.substr(0, kHeadBytes));
        const auto length = head.Get<uint32_t>();
        const auto sum = head.Get<uint64_t>();
        const auto now_us = head.Get<int64_t>();
        const auto its_newest_us = head.Get<int64_t>();
        if (length > kMostBody || length > rest.size() - kHeadBytes) break;  // a kill has torn this entry
        const std::string_view body = rest.substr(kHeadBytes, length);
        if (SumOf(now_us, its_newest_us, body) != sum) {
          on_damage(StrCat(path, ": damaged at byte ", bytes.size() - rest.size(),
                           "; the samples after it are lost"));
          break;
        }
        newest_us = std::max(newest_us, its_newest_us);
        yield({{now_us}, {its_newest_us}, body});
        rest.remove_prefix(kHeadBytes + length);
      }
    }
    // Set also for a damaged file: entries of the next file are not older than the lost entries of this file.
    segment.newest_us = newest_us;
  }
  return absl::OkStatus();
}

uint64_t SampleLogFile::unwritten_bytes() const {
  const std::lock_guard file_lock(file_mutex_);  // this lock waits for a write in progress
  const std::lock_guard lock(buffer_mutex_);
  return buffer_.size();
}

uint64_t SampleLogFile::bytes() const {
  const std::lock_guard lock(file_mutex_);
  return total_bytes_;
}

uint64_t SampleLogFile::lost_bytes() const {
  const std::lock_guard lock(file_mutex_);
  return lost_bytes_;
}

}  // namespace taut::server
