// SampleLog in files beside the store: PATH.samples.000001 and on.
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
  std::string path;  // of the store: the files are beside it
  // A file ends after this many bytes, or after this many seconds of samples if it is not smaller than
  // min_segment_bytes. The oldest file goes when all together have more than max_bytes.
  uint64_t segment_bytes = uint64_t{64} << 20;
  uint64_t min_segment_bytes = uint64_t{1} << 20;
  int64_t segment_seconds = 60;
  uint64_t max_bytes = uint64_t{4} << 30;
};

// The store's lock guards these files, too: one process at a time.
class SampleLogFile final : public SampleLog {
 public:
  // Looks which files there are. Unavailable: the directory cannot be read.
  static absl::StatusOr<std::unique_ptr<SampleLogFile>> Open(const SampleLogOptions& options);
  // Flushes, for good.
  ~SampleLogFile() override;

  void Append(const LoggedWrite& write) override;
  absl::Status Flush(bool sync) override;
  absl::Status Read(absl::FunctionRef<void(const LoggedWrite&)> yield,
                    absl::FunctionRef<void(std::string_view)> on_damage) override;
  void Forget(Timestamp before) override;

  uint64_t unwritten_bytes() const override;

  uint64_t bytes() const;
  // Given up because max_bytes were reached, or because they could not be written.
  uint64_t lost_bytes() const;

 private:
  struct Segment {
    uint64_t number = 0;
    uint64_t bytes = 0;
    int64_t newest_us = INT64_MIN;
  };
  explicit SampleLogFile(const SampleLogOptions& options) : options_(options) {}
  std::string PathOf(uint64_t number) const;
  // These REQUIRE file_mutex_.
  absl::Status WriteOut();
  absl::Status OpenSegment();
  void CloseSegment();
  void DropOldest();

  const SampleLogOptions options_;
  mutable std::mutex file_mutex_;  // over files; taken before buffer_mutex_
  std::deque<Segment> segments_;   // ascending numbers; the last is written if fd_ is open
  int fd_ = -1;
  int64_t segment_begin_us_ = 0;  // the newest sample when the open one was begun
  uint64_t next_number_ = 1, total_bytes_ = 0, lost_bytes_ = 0;
  std::string writing_;  // scratch, swapped with buffer_

  mutable std::mutex buffer_mutex_;
  std::string buffer_;  // encoded, not written
  int64_t buffer_newest_us_ = INT64_MIN;
};

}  // namespace taut::server
