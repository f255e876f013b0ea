// A file written from front to back, through gzip if its name ends in .gz. It appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::tools {

// One thread. What is appended is buffered; the first failure is kept and told by Close().
class OutputFile {
 public:
  // Writes to a temporary file in the same folder, which replaces `path` in Close(): until then, and if
  // Close() is never called or fails, what was at `path` stays. Pipes and devices are written directly.
  // NotFound, PermissionDenied or Unavailable, with the path.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Append(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kFlushBytes) Flush(false);
  }
  // Call once, at the end; without it the file is incomplete.
  absl::Status Close();

 private:
  struct Gzip;
  static constexpr size_t kFlushBytes = 1 << 20;

  OutputFile(int fd, std::string path, std::string temporary, std::string target, bool gzip);
  void Flush(bool last);
  void Write(const char* data, size_t size);

  int fd_;
  std::string path_;       // as the caller wrote it
  std::string temporary_;  // replaces target_ in Close(); "": target_ is written directly
  std::string target_;     // path_ with symbolic links followed
  std::string buffer_;
  std::unique_ptr<Gzip> gzip_;
  absl::Status status_;
};

}  // namespace taut::tools
