#include "node/cgroup/kill_group.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <string>

#include "common/base/strings.h"
#include "node/cgroup/group_pids.h"

namespace taut::node {
namespace {

constexpr int kRounds = 20;

Fd OpenPid(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }
bool SendKill(const Fd& pidfd) {
  return syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) == 0;
}

// Repeats rounds until every process that is found was killed. A pidfd is opened first and used only if its
// pid is still in the group: the pidfd then refers to this process, or to a process that has ended.
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
  // Frozen processes cannot fork faster than they are killed. SIGKILL ends frozen processes, too.
  const bool is_frozen = group.Has("cgroup.freeze") && group.Write("cgroup.freeze", "1") == 0;
  const int killed = KillOneByOne(group);
  // Unfreeze the group also after a failure: a frozen task would hang.
  if (is_frozen) group.Write("cgroup.freeze", "0");
  if (killed == 0 && !PidsOf(group).empty()) {
    return absl::PermissionDeniedError("its processes cannot be killed; give tautlet CAP_KILL");
  }
  return killed;
}

}  // namespace taut::node
