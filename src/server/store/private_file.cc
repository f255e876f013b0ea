#include "server/store/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/strings.h"

namespace taut::server {

void CloseToOthers(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);  // if open() failed, SQLite will report the error
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string file = path + suffix;
    struct stat info {};
    // The mode of another user's file cannot be changed; its owner chose the mode.
    if (stat(file.c_str(), &info) == 0 && (info.st_mode & 0007) != 0) (void)chmod(file.c_str(), 0600);
  }
}

std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || info.st_nlink == 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino};
}

absl::Status FilePlace::Check() const {
  const std::optional<FileIdentity> now = IdentityOf(path_);
  if (now.has_value() && now == identity_) return absl::OkStatus();
  return absl::UnavailableError(
      StrCat(path_, ": the file was ", now ? "replaced by another file" : "deleted or moved away",
             " while it was in use, so decisions would be lost; move it back, or stop tautd, restore a "
             "backup and start it (without a backup it starts with an empty store)"));
}

absl::Status SyncFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  if (fd >= 0) close(fd);
  return synced ? absl::OkStatus() : absl::UnavailableError(StrCat(path, ": cannot be synced"));
}

absl::Status SyncDirectoryOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int fd = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::OkStatus();  // an unreadable directory cannot be synced
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced ? absl::OkStatus() : absl::UnavailableError(StrCat(parent.string(), ": cannot be synced"));
}

}  // namespace taut::server
