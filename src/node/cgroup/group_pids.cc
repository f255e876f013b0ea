#include "node/cgroup/group_pids.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/strings.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

constexpr int kMostDepth = 32;

std::string ReadAll(int fd) {
  std::string out;
  char buffer[8192];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(buffer, static_cast<size_t>(n));
  }
}

// Collects the processes of a directory and of the directories below it.
class PidWalk {
 public:
  PidWalk(const std::set<std::string_view>& leave_out, std::set<int>& out)
      : leave_out_(leave_out), out_(out) {}

  void Add(int directory, const std::string& path, int depth) {
    const Fd procs(openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC));
    if (procs.is_open()) {
      const std::string text = ReadAll(procs.get());
      for (const std::string_view line : Split(text, '\n')) {
        if (const std::optional<uint64_t> pid = ParseDecimal(line)) out_.insert(static_cast<int>(*pid));
      }
    }
    if (depth > 0) AddBelow(directory, path, depth - 1);
  }

 private:
  void AddBelow(int directory, const std::string& path, int depth) {
    const int list = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const entries = list < 0 ? nullptr : fdopendir(list);
    if (entries == nullptr) {
      if (list >= 0) close(list);
      return;
    }
    while (const dirent* entry = readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
      const std::string below_path = StrCat(path, "/", name);
      if (leave_out_.contains(below_path)) continue;
      const Fd below(openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
      if (below.is_open()) Add(below.get(), below_path, depth);
    }
    closedir(entries);
  }

  const std::set<std::string_view>& leave_out_;
  std::set<int>& out_;
};

}  // namespace

std::set<int> PidsOf(const KernelDirectory& group, const std::string& path,
                     const std::set<std::string_view>& leave_out) {
  std::set<int> out;
  PidWalk(leave_out, out).Add(group.fd(), path, kMostDepth);
  return out;
}

}  // namespace taut::node
