// The small text files of a kernel's directories: read without allocation, by handles that stay on what they
// were opened on.
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

// No file that is read here is longer; of a longer one only the beginning is seen.
using KernelBuffer = char[8192];

// The text lies in the reader's buffer. error: 0 or an errno, with no text.
struct KernelText {
  std::string_view text;
  int error = 0;
};
KernelText ReadKernelFile(int fd, std::span<char> buffer);

// A directory held open: a removed one stays removed, whatever takes its name.
class KernelDirectory {
 public:
  KernelDirectory() = default;  // of nothing: each call fails with ENOENT
  // `path` below `root`, "/" for root itself. NotFound if it is not there.
  static absl::StatusOr<KernelDirectory> Open(const std::string& root, std::string_view path);

  bool is_open() const { return fd_.is_open(); }
  int fd() const { return fd_.get(); }  // for openat and its like; -1 if not open
  uint64_t inode() const { return inode_; }
  bool Has(const char* file) const;
  // `flags` as of open(2).
  Fd OpenFile(const char* file, int flags) const;
  KernelText Read(const char* file, std::span<char> buffer) const;
  // The number that is the whole file.
  std::optional<uint64_t> ReadNumber(const char* file) const;
  // 0 or the errno; `text` and a line end in one write.
  int Write(const char* file, std::string_view text) const;

 private:
  Fd fd_;
  uint64_t inode_ = 0;
};

// A file that is read again and again: stays open. One that is not there is looked for again when told to,
// for a controller may be switched off and on while the directory lives.
class HotFile {
 public:
  explicit HotFile(const char* name) : name_(name) {}  // a literal

  void OpenIfClosed(const KernelDirectory& directory);
  KernelText Read(std::span<char> buffer);
  std::optional<uint64_t> ReadNumber();

 private:
  const char* name_;
  Fd fd_;
};

}  // namespace taut::node
