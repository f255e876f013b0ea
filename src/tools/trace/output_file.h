// Writes a file from start to end, compressed with gzip if its name ends in .gz. The file is replaced atomically.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::tools {

// Buffers and writes the appended bytes. Close() returns the first error. Not thread-safe.
class OutputFile {
 public:
  // Opens a temporary file in the folder of `path`, with which Close() replaces `path`. The old file stays until
  // then, and also if Close() fails or is never called. Pipes and devices are written directly. Returns the
  // system's error with the path.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Append(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kFlushBytes) Flush(false);
  }
  // Completes the file. Call once, after the last Append().
  absl::Status Close();

 private:
  struct Gzip;
  static constexpr size_t kFlushBytes = 1 << 20;

  OutputFile(int fd, std::string path, std::string temporary, std::string target, bool gzip);
  void Flush(bool last);
  void Write(const char* data, size_t size);

  int fd_;
  std::string path_;       // path that the caller passed
  std::string temporary_;  // replaces target_ in Close(); "": target_ is written directly
  std::string target_;     // path_ with symbolic links resolved
  std::string buffer_;
  std::unique_ptr<Gzip> gzip_;
  absl::Status status_;
};

}  // namespace taut::tools
