#include "node/cgroup/kernel_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/strings.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

constexpr size_t kNumberBytes = 64;

std::optional<uint64_t> NumberOf(const KernelText& read) {
  return read.error != 0 ? std::nullopt : ParseKernelNumber(read.text);
}

// Paths with ".." are rejected, as they may lead out of the hierarchy.
bool LeadsUp(std::string_view path) {
  for (const std::string_view component : Split(path, '/')) {
    if (component == "..") return true;
  }
  return false;
}

}  // namespace

void Fd::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

KernelText ReadKernelFile(int fd, std::span<char> buffer) {
  ssize_t got = 0;
  do {
    got = pread(fd, buffer.data(), buffer.size(), 0);
    // pread reads from the start each time, because the descriptor stays open between reads.
  } while (got < 0 && errno == EINTR);
  if (got < 0) return {{}, errno};
  return {{buffer.data(), static_cast<size_t>(got)}, 0};
}

absl::StatusOr<KernelDirectory> KernelDirectory::Open(const std::string& root, std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos || LeadsUp(path)) {
    return absl::InvalidArgumentError(
        StrCat("\"", path, "\": invalid cgroup path; expected one that begins with '/' and has no '..'"));
  }
  const std::string full = StrCat(root, path);
  KernelDirectory out;
  out.fd_ = Fd(open(full.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat facts {};
  if (!out.is_open() || fstat(out.fd_.get(), &facts) != 0) return KernelError(errno, full);
  out.inode_ = facts.st_ino;
  return out;
}

bool KernelDirectory::Has(const char* file) const {
  return is_open() && faccessat(fd_.get(), file, F_OK, 0) == 0;
}

Fd KernelDirectory::OpenFile(const char* file, int flags) const {
  if (!is_open()) {
    errno = ENOENT;
    return {};
  }
  return Fd(openat(fd_.get(), file, flags | O_CLOEXEC));
}

KernelText KernelDirectory::Read(const char* file, std::span<char> buffer) const {
  const Fd fd = OpenFile(file, O_RDONLY);
  if (!fd.is_open()) return {{}, errno};
  return ReadKernelFile(fd.get(), buffer);
}

std::optional<uint64_t> KernelDirectory::ReadNumber(const char* file) const {
  char buffer[kNumberBytes];
  return NumberOf(Read(file, buffer));
}

int KernelDirectory::Write(const char* file, std::string_view text) const {
  const Fd fd = OpenFile(file, O_WRONLY | O_TRUNC);
  if (!fd.is_open()) return errno;
  const std::string line = StrCat(text, "\n");
  // The kernel parses each write on its own, so value and line end must arrive together.
  ssize_t put = 0;
  do {
    put = write(fd.get(), line.data(), line.size());
  } while (put < 0 && errno == EINTR);
  return put < 0 ? errno : 0;
}

void HotFile::OpenIfClosed(const KernelDirectory& directory) {
  if (!fd_.is_open()) fd_ = directory.OpenFile(name_, O_RDONLY);
}

KernelText HotFile::Read(std::span<char> buffer) {
  if (!fd_.is_open()) return {{}, ENOENT};
  const KernelText out = ReadKernelFile(fd_.get(), buffer);
  // Close the file, so that OpenIfClosed opens the new file if the controller is enabled again.
  if (out.error == ENODEV) fd_ = Fd();
  return out;
}

std::optional<uint64_t> HotFile::ReadNumber() {
  char buffer[kNumberBytes];
  return NumberOf(Read(buffer));
}

}  // namespace taut::node
