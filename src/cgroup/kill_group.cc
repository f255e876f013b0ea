#include "cgroup/kill_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <string>

#include "base/strings.h"
#include "cgroup/kernel_text.h"

namespace taut {
namespace {

constexpr int kRounds = 20;
constexpr int kMostDepth = 32;

Fd OpenPid(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }
bool SendKill(const Fd& pidfd) {
  return syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) == 0;
}

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

// Processes of the directory and of those below; "0" stands for one of another PID namespace.
void AddPids(int directory, int depth, std::set<pid_t>& out) {
  const Fd procs(openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC));
  if (procs.is_open()) {
    const std::string text = ReadAll(procs.get());
    for (const std::string_view line : Split(text, '\n')) {
      if (const std::optional<uint64_t> pid = ParseDecimal(line)) out.insert(static_cast<pid_t>(*pid));
    }
  }
  if (depth == 0) return;
  const int list = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = list < 0 ? nullptr : fdopendir(list);
  if (entries == nullptr) {
    if (list >= 0) close(list);
    return;
  }
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
    const Fd below(openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (below.is_open()) AddPids(below.get(), depth - 1, out);
  }
  closedir(entries);
}

std::set<pid_t> PidsOf(const KernelDirectory& group) {
  std::set<pid_t> out;
  AddPids(group.fd(), kMostDepth, out);
  return out;
}

// Until a round finds no process that was not killed. A pidfd is opened first and used if its number is still
// in the group: then it is that process, or one that is gone.
int KillOneByOne(const KernelDirectory& group) {
  std::set<pid_t> killed;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::pair<pid_t, Fd>> found;
    for (const pid_t pid : PidsOf(group)) {
      if (killed.contains(pid)) continue;
      if (Fd pidfd = OpenPid(pid); pidfd.is_open()) found.emplace_back(pid, std::move(pidfd));
    }
    if (found.empty()) break;
    const std::set<pid_t> still = PidsOf(group);
    for (const auto& [pid, pidfd] : found) {
      if (still.contains(pid) && SendKill(pidfd)) killed.insert(pid);
    }
  }
  return static_cast<int>(killed.size());
}

}  // namespace

absl::StatusOr<int> KillGroup(const KernelDirectory& group, std::string_view path) {
  if (path.empty() || path == "/")
    return absl::FailedPreconditionError("the root of a hierarchy is not killed");
  const std::set<pid_t> pids = PidsOf(group);
  for (const auto& [pid, who] : {std::pair<pid_t, std::string_view>(getpid(), "this process"),
                                 {getppid(), "the parent of this process"},
                                 {1, "process 1"}}) {
    if (pid != 0 && pids.contains(pid)) {
      return absl::FailedPreconditionError(StrCat(who, " is in it; nothing is killed"));
    }
  }
  if (group.Has("cgroup.kill")) {
    const int error = group.Write("cgroup.kill", "1");
    if (error == 0) return static_cast<int>(pids.size());
    if (error != EOPNOTSUPP && error != ENOENT) return KernelError(error, "cgroup.kill");
  }
  if (pids.contains(0)) {
    return absl::UnimplementedError(
        "its processes are of another PID namespace; run tautlet with the host's");
  }
  const bool is_frozen = group.Has("cgroup.freeze") && group.Write("cgroup.freeze", "1") == 0;
  const int killed = KillOneByOne(group);
  if (is_frozen) group.Write("cgroup.freeze", "0");
  if (killed == 0 && !PidsOf(group).empty()) {
    return absl::PermissionDeniedError("its processes cannot be killed; give tautlet CAP_KILL");
  }
  return killed;
}

}  // namespace taut
