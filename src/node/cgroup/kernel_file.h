// Small text files in the kernel's directories, read without allocation and relative to open directories.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::node {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { Close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  void Close();

  int fd_ = -1;
};

// A buffer for one file. The buffer is larger than any file that the agent needs; only the beginning of a longer
// file is read.
using KernelBuffer = char[8192];

// The text is in the caller's buffer. `error` is 0, or an errno; after an error the text is empty.
struct KernelText {
  std::string_view text;
  int error = 0;
};
KernelText ReadKernelFile(int fd, std::span<char> buffer);

// An open directory. After its removal every call fails, even if a new directory has the same name.
class KernelDirectory {
 public:
  KernelDirectory() = default;  // no directory: each call fails with ENOENT
  // Opens `path` below `root`; "/" is root itself. NotFound if the directory does not exist, InvalidArgument
  // for a path with "..".
  static absl::StatusOr<KernelDirectory> Open(const std::string& root, std::string_view path);

  bool is_open() const { return fd_.is_open(); }
  int fd() const { return fd_.get(); }  // descriptor for openat(); -1 if not open
  uint64_t inode() const { return inode_; }
  bool Has(const char* file) const;
  // `flags` as for open(2).
  Fd OpenFile(const char* file, int flags) const;
  KernelText Read(const char* file, std::span<char> buffer) const;
  // Returns the number that is the whole content of the file; nullopt otherwise.
  std::optional<uint64_t> ReadNumber(const char* file) const;
  // Writes `text` and a line end in one write. Returns 0 or the errno.
  int Write(const char* file, std::string_view text) const;

 private:
  Fd fd_;
  uint64_t inode_ = 0;
};

// A file that is read repeatedly and stays open. OpenIfClosed retries to open a missing file, because a
// controller may be disabled and enabled while the directory exists.
class HotFile {
 public:
  explicit HotFile(const char* name) : name_(name) {}  // must be a literal

  void OpenIfClosed(const KernelDirectory& directory);
  KernelText Read(std::span<char> buffer);
  std::optional<uint64_t> ReadNumber();

 private:
  const char* name_;
  Fd fd_;
};

}  // namespace taut::node
