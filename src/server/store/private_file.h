// Files of the store: private to their owner, and durable after a loss of power.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace taut::server {

// Creates the file with mode 0600, or sets this mode if others may access the file. Does the same for the -wal and
// -shm files. A mode that already excludes others stays unchanged. The files are private because they contain
// usage, names and settings. Ignores errors, because SQLite reports them.
void CloseToOthers(const std::string& path);
// Identity of a file, independent of its name.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
// Returns the identity of the file at `path`; nullopt if no such file exists.
std::optional<FileIdentity> IdentityOf(const std::string& path);

// Checks whether an open file is still at its path. Thread-safe.
class FilePlace {
 public:
  // REQUIRES that the file exists.
  explicit FilePlace(std::string path) : path_(std::move(path)), identity_(IdentityOf(path_)) {}
  const std::string& path() const { return path_; }
  // Returns Unavailable, with the remedy, if the file was deleted, moved or replaced. Writes to such a file
  // would be lost.
  absl::Status Check() const;

 private:
  const std::string path_;
  const std::optional<FileIdentity> identity_;
};

// Returns OK once the content of the file or directory `path` is on disk; else Unavailable.
absl::Status SyncFile(const std::string& path);
// Syncs the file's directory. Without this, a new file may be missing after a loss of power. Returns
// Unavailable on an error.
absl::Status SyncDirectoryOf(const std::string& path);

}  // namespace taut::server
