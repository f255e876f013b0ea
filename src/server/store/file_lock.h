// Advisory lock on a file of its own, for one process at a time. It ends with the process that holds it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace taut::server {

class FileLock {
 public:
  // Takes the lock and writes this process' ID to the file. FailedPrecondition, with the holder's process ID,
  // if another process (or this one) holds it. PermissionDenied, NotFound or Unavailable if `path` cannot be
  // created.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(const std::string& path);
  // Same for an existing file that is not written to, such as a database; the lock holds under all names of
  // the file.
  static absl::StatusOr<std::unique_ptr<FileLock>> TakeFile(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace taut::server
