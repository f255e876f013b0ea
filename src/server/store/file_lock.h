// One process at a time: an advisory lock on a file of its own, gone with the process that held it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace taut::server {

class FileLock {
 public:
  // FailedPrecondition, with the holder's process id, if another process (or this one) holds it.
  // PermissionDenied, NotFound or Unavailable if `path` cannot be made.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(const std::string& path);
  // The same of a file that is there and to which nothing is written, such as a database: under any of its names.
  static absl::StatusOr<std::unique_ptr<FileLock>> TakeFile(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace taut::server
