// Advisory lock on a separate file, held by at most one process. The lock ends with the process that holds
// it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace taut::server {

class FileLock {
 public:
  // Locks the file and writes this process' ID to it. Returns FailedPrecondition, with the holder's process ID, if
  // another process or this process holds the lock. Returns PermissionDenied, NotFound or Unavailable if `path`
  // cannot be created.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(const std::string& path);
  // Locks an existing file without writing to it, such as a database. The lock holds under all names of the
  // file. Returns the errors of Take.
  static absl::StatusOr<std::unique_ptr<FileLock>> TakeFile(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace taut::server
