#include "server/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/strings.h"

namespace taut::server {
namespace {

absl::Status CannotOpen(const std::string& path, int error) {
  const std::string why = StrCat(path, ": ", std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(StrCat(why, "; the store's directory must be writable"));
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(StrCat(why, "; the store's directory must exist"));
    default:
      return absl::UnavailableError(why);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return CannotOpen(path, errno);
  std::unique_ptr<FileLock> lock(new FileLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK) return absl::UnavailableError(StrCat(path, ": ", std::strerror(error)));
    char holder[32] = {};
    const ssize_t size = pread(fd, holder, sizeof(holder) - 1, 0);
    const std::string_view pid =
        StripSpace(std::string_view(holder, size > 0 ? static_cast<size_t>(size) : 0));
    return absl::FailedPreconditionError(StrCat(path, ": process ", pid.empty() ? "?" : pid,
                                                " writes to this store; stop it, or use another file"));
  }
  const std::string pid = StrCat(getpid(), "\n");
  // The process ID is only for messages: the lock holds even if the ID cannot be written.
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0) return lock;
  return lock;
}

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::TakeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CannotOpen(path, errno);
  std::unique_ptr<FileLock> lock(new FileLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  const int error = errno;
  if (error != EWOULDBLOCK) return absl::UnavailableError(StrCat(path, ": ", std::strerror(error)));
  return absl::FailedPreconditionError(StrCat(
      path, ": another process writes to this store under another name; stop it, or use another file"));
}

// The file is not deleted: after a deletion, two processes could lock two files of this name.
FileLock::~FileLock() { close(fd_); }

}  // namespace taut::server
