#include "server/kubernetes/client/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "common/base/printable.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

using Clock = std::chrono::steady_clock;

// Interval between checks of the process's end and of `stopping`.
constexpr std::chrono::milliseconds kPollPause{50};
constexpr size_t kMaxErrorBytes = 500;
constexpr int kFirstInherited = STDERR_FILENO + 1;

// Read end of a pipe, closed by the destructor.
class ReadEnd {
 public:
  ReadEnd() = default;
  ~ReadEnd() { Close(); }
  ReadEnd(const ReadEnd&) = delete;
  ReadEnd& operator=(const ReadEnd&) = delete;

  // Opens a pipe. Returns its write end, which the caller must close; -1 with errno on an error.
  int Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
    fd_ = ends[0];
    (void)fcntl(fd_, F_SETFL, O_NONBLOCK);  // the child's write end stays blocking
    return ends[1];
  }
  int fd() const { return fd_; }  // descriptor; -1: closed
  // Reads the available data, up to about `max` bytes.
  void ReadInto(std::string& out, size_t max) {
    std::array<char, 16384> piece{};
    for (size_t sum = 0; fd_ >= 0 && sum < max;) {
      const ssize_t got = read(fd_, piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return Close();
      out.append(piece.data(), static_cast<size_t>(got));
      sum += static_cast<size_t>(got);
    }
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Settings of posix_spawn, released by the destructor.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

class Child {
 public:
  ~Child() { Kill(); }

  absl::Status Start(const ChildCommand& command) {
    const int output = output_.Open(), errors = errors_.Open();
    SpawnSettings settings;
    posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&settings.files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&settings.files, errors, STDERR_FILENO);
    // Close all other descriptors, because libraries may have opened sockets without O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&settings.files, kFirstInherited);
    std::vector<std::string> all = {command.path};
    all.insert(all.end(), command.arguments.begin(), command.arguments.end());
    int error = errno;  // error of a pipe that could not be opened
    if (output >= 0 && errors >= 0) {
      error = posix_spawn(&pid_, command.path.c_str(), &settings.files, &settings.attributes,
                          Pointers(all).data(), Pointers(command.environment).data());
    }
    if (output >= 0) close(output);
    if (errors >= 0) close(errors);
    if (error == 0) return absl::OkStatus();
    pid_ = kNone;
    return absl::NotFoundError(StrCat("cannot start ", command.path, ": ", std::strerror(error)));
  }

  absl::Status Follow(const ChildCommand& command, const std::atomic<bool>& stopping, ChildOutput& out) {
    const Clock::time_point deadline = Clock::now() + command.timeout;
    while (true) {
      // Check for the end before reading the pipes: a program that has ended writes nothing more, so that the last
      // read is complete.
      const bool ended = HasEnded();
      output_.ReadInto(out.output, command.max_output_bytes + 1);
      errors_.ReadInto(out.errors, command.max_output_bytes);
      if (out.errors.size() > kMaxErrorBytes) out.errors.erase(0, out.errors.size() - kMaxErrorBytes);
      if (out.output.size() > command.max_output_bytes) {
        return absl::ResourceExhaustedError(
            StrCat("it printed more than ", command.max_output_bytes, " bytes and was killed"));
      }
      if (ended) return Reap();
      if (stopping) return absl::CancelledError("it was stopped");
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) {
        return absl::DeadlineExceededError(
            StrCat("it did not end in ", command.timeout.count(), " ms and was killed"));
      }
      std::array<pollfd, 2> ends = {{{output_.fd(), POLLIN, 0}, {errors_.fd(), POLLIN, 0}}};
      (void)poll(ends.data(), ends.size(), static_cast<int>(std::min(left, kPollPause).count()));
    }
  }

 private:
  static constexpr pid_t kNone = -1;

  bool HasEnded() const {
    // WNOWAIT leaves the process unreaped, so that its group id cannot be reused before Kill().
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }
  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = kNone;
    return status;
  }
  absl::Status Reap() {
    const int status = Wait();
    if (WIFSIGNALED(status))
      return absl::FailedPreconditionError(StrCat("it was ended by signal ", WTERMSIG(status)));
    if (WEXITSTATUS(status) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(StrCat("it ended with exit code ", WEXITSTATUS(status)));
  }
  // Kills the process group. Its id cannot belong to another group, because the process is not reaped yet.
  void Kill() {
    if (pid_ == kNone) return;
    (void)kill(-pid_, SIGKILL);
    (void)Wait();
  }

  pid_t pid_ = kNone;
  ReadEnd output_, errors_;
};

}  // namespace

absl::StatusOr<ChildOutput> RunChild(const ChildCommand& command, const std::atomic<bool>& stopping) {
  Child child;
  if (absl::Status s = child.Start(command); !s.ok()) return s;
  ChildOutput out;
  const absl::Status status = child.Follow(command, stopping, out);
  out.errors = Printable(StripSpace(out.errors));
  if (status.ok()) return out;
  return absl::Status(status.code(), StrCat(Message(status), out.errors.empty() ? "" : ": ", out.errors));
}

}  // namespace taut::server
