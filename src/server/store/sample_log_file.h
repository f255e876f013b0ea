// SampleLog in files beside the store: PATH.samples.000001, ...
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "server/store/sample_log.h"

namespace taut::server {

struct SampleLogOptions {
  std::string path;  // path of the store; the files are beside it
  // A new file begins after segment_bytes, or after segment_seconds of samples if the file has
  // min_segment_bytes. If all files together exceed max_bytes, the oldest file is deleted.
  uint64_t segment_bytes = uint64_t{64} << 20;
  uint64_t min_segment_bytes = uint64_t{1} << 20;
  int64_t segment_seconds = 60;
  uint64_t max_bytes = uint64_t{4} << 30;
};

// The lock of the store also guards these files, so that one process at a time uses them.
class SampleLogFile final : public SampleLog {
 public:
  // Finds the existing files. Returns Unavailable if the directory cannot be read.
  static absl::StatusOr<std::unique_ptr<SampleLogFile>> Open(const SampleLogOptions& options);
  // Flushes the buffer with sync.
  ~SampleLogFile() override;

  void Append(const LoggedWrite& write) override;
  absl::Status Flush(bool sync) override;
  absl::Status Read(absl::FunctionRef<void(const LoggedWrite&)> yield,
                    absl::FunctionRef<void(std::string_view)> on_damage) override;
  void Forget(Timestamp before) override;

  uint64_t unwritten_bytes() const override;

  // Returns the size of all files, bytes.
  uint64_t bytes() const;
  // Returns the bytes deleted because of max_bytes, or not written because of errors.
  uint64_t lost_bytes() const;

 private:
  struct Segment {
    uint64_t number = 0;
    uint64_t bytes = 0;
    int64_t newest_us = INT64_MIN;
  };
  explicit SampleLogFile(const SampleLogOptions& options) : options_(options) {}
  std::string PathOf(uint64_t number) const;
  // All functions below REQUIRE file_mutex_.
  absl::Status WriteOut();
  absl::Status OpenSegment();
  void CloseSegment();
  void DropOldest();

  const SampleLogOptions options_;
  mutable std::mutex file_mutex_;  // lock for the files, locked before buffer_mutex_
  std::deque<Segment> segments_;  // segments by ascending number; an open fd_ is the file of the last segment
  int fd_ = -1;
  absl::Status unsynced_;         // error of the sync of closed segments since the last Flush(sync)
  int64_t segment_begin_us_ = 0;  // newest sample at the start of the open segment
  uint64_t next_number_ = 1, total_bytes_ = 0, lost_bytes_ = 0;
  std::string writing_;  // scratch memory, swapped with buffer_ by a flush

  mutable std::mutex buffer_mutex_;
  std::string buffer_;  // encoded writes that are not in a file yet
  int64_t buffer_newest_us_ = INT64_MIN;
};

}  // namespace taut::server
