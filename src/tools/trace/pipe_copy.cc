#include "tools/trace/pipe_copy.h"

#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "fmt/format.h"

namespace taut::tools {

absl::StatusOr<std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>> CopyPipe(const std::string& path,
                                                                                      uint64_t& size) {
  auto source = OpenFile(path);
  if (!source.ok()) return source.status();
  const std::shared_ptr<std::FILE> file(std::tmpfile(), [](std::FILE* f) {
    if (f != nullptr) std::fclose(f);
  });
  if (file == nullptr)
    return absl::ErrnoToStatus(errno, fmt::format("cannot make a temporary file for the pipe {}", path));
  std::vector<char> buffer(size_t{256} * 1024);
  size = 0;
  for (;;) {
    const size_t n = (*source)->Read(buffer.data(), buffer.size());
    if (n == 0) break;
    if (std::fwrite(buffer.data(), 1, n, file.get()) != n)
      return absl::ErrnoToStatus(errno, fmt::format("cannot copy the pipe {} to a temporary file", path));
    size += n;
  }
  if (!(*source)->damage().empty())
    return absl::DataLossError(fmt::format("{}: {}", path, (*source)->damage()));
  if (std::fflush(file.get()) != 0)
    return absl::ErrnoToStatus(errno, fmt::format("cannot copy the pipe {} to a temporary file", path));
  // Opening the file through /proc creates a new file description, whose offset is 0. Descriptors from dup(2)
  // would share one offset.
  return [file] { return OpenFile(fmt::format("/proc/self/fd/{}", fileno(file.get()))); };
}

}  // namespace taut::tools
