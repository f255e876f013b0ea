#include "node/agent/state_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/base/strings.h"

namespace taut::node {

absl::Status LockStateDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  const std::string lock = StrCat(path, "/lock");
  const int fd = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::UnavailableError(
        StrCat("cannot write ", lock, ": ", std::strerror(errno), "; name another directory with --state"));
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return absl::UnavailableError(StrCat("another tautlet uses ", path));
  }
  return absl::OkStatus();  // the open descriptor holds the lock until the process ends
}

absl::Status CheckStateDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(there, error) && there.has_parent_path() && there != there.parent_path()) {
    there = there.parent_path();
  }
  if (!std::filesystem::is_directory(there, error))
    return absl::InvalidArgumentError(StrCat(there.string(), " is not a directory"));
  if (access(there.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("cannot write ", there.string(), ": ", std::strerror(errno),
                                           "; name another directory with state or --state"));
}

}  // namespace taut::node
