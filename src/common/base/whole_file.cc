#include "common/base/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/strings.h"

namespace taut {
namespace {

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return fsync(fd) == 0;
}

}  // namespace

absl::Status WriteWhole(const std::string& path, std::string_view bytes) {
  const std::string next = StrCat(path, ".new");
  const int fd = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return absl::UnavailableError(StrCat("cannot write ", next));
  const bool written = WriteAll(fd, bytes);
  if (close(fd) != 0 || !written || rename(next.c_str(), path.c_str()) != 0)
    return absl::UnavailableError(StrCat("cannot write ", path));
  return absl::OkStatus();
}

std::optional<std::string> ReadWhole(const std::string& path) {
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return std::nullopt;
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

}  // namespace taut
