// Test groups on the real kernel, in each hierarchy that exists, with child processes in them. The destructor
// removes them; groups that a killed test left behind are removed when the next test starts.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "common/base/strings.h"
#include "common/testing/eventually.h"
#include "gtest/gtest.h"
#include "node/cgroup/cgroup.h"

namespace taut::node {

// Skips the test, with the reason, where no groups can be created.
#define TAUT_NEEDS_CGROUPS()                                           \
  if (const std::string why = CgroupFixture::WhyNot(); !why.empty()) { \
    GTEST_SKIP() << why;                                               \
  }

class CgroupFixture {
 public:
  // Returns "" if groups with CPU and memory can be created here, else the reason.
  static std::string WhyNot() {
    if (geteuid() != 0) return "not root: no cgroups can be made";
    const absl::StatusOr<CgroupMounts> mounts = ReadCgroupMounts();
    if (!mounts.ok()) return std::string(Message(mounts.status()));
    const CgroupFixture probe("probe");
    const bool is_v2 = mounts->version() == CgroupVersion::kV2;
    for (const char* file : is_v2
                                ? std::vector{"cpu.max", "memory.max"}
                                : std::vector{"cpu.cfs_quota_us", "cpuacct.usage", "memory.limit_in_bytes"}) {
      if (probe.WithFile(file).empty()) return StrCat("a new group here has no ", file);
    }
    return "";
  }

  // Creates the group "/taut-cgroup-test-PID-NAME".
  explicit CgroupFixture(const std::string& name) : path_(StrCat("/", kPrefix, getpid(), "-", name)) {
    if (const absl::StatusOr<CgroupMounts> mounts = ReadCgroupMounts(); mounts.ok()) mounts_ = *mounts;
    Sweep();
    Make();
  }
  ~CgroupFixture() {
    KillAll();
    Remove();
  }
  CgroupFixture(const CgroupFixture&) = delete;

  const CgroupMounts& mounts() const { return mounts_; }
  bool is_v2() const { return mounts_.version() == CgroupVersion::kV2; }
  const std::string& path() const { return path_; }
  std::unique_ptr<TaskGroup> Open() const {
    absl::StatusOr<std::unique_ptr<TaskGroup>> group = OpenCgroup(mounts_, path_);
    if (group.ok()) return *std::move(group);
    ADD_FAILURE() << Message(group.status());
    std::abort();
  }

  void Make() const {
    for (const std::string& directory : Directories()) std::filesystem::create_directories(directory);
  }
  // Creates a group below the test group; on v2 with the parent's controllers.
  void MakeBelow(const std::string& name) const {
    for (const std::string& directory : Directories())
      std::filesystem::create_directories(directory + "/" + name);
  }
  // Removes the group and all groups below. REQUIRES: no children.
  void Remove() const {
    for (const std::string& directory : Directories()) RemoveTree(directory);
  }

  // Starts a child in the group. The child calls `work` and then sleeps until it is killed. Returns when `work`
  // has returned or the child has died.
  template <typename Work>
  pid_t Start(Work work) {
    return StartIn("", work);
  }
  // Starts a child in the group `below`.
  template <typename Work>
  pid_t StartIn(const std::string& below, Work work) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (const std::string& directory : Directories())
        Write(directory + "/" + below + "/cgroup.procs", "0");
      work();
      (void)!write(ready[1], "r", 1);
      for (;;) pause();
    }
    children_.push_back(child);
    close(ready[1]);
    char byte = 0;
    (void)!read(ready[0], &byte, 1);
    close(ready[0]);
    return child;
  }
  // Starts a child that holds anonymous memory.
  pid_t StartHolding(size_t bytes) {
    return Start([bytes] { Touch(bytes); });
  }
  // Starts a child that uses this much CPU time.
  pid_t StartBurning(std::chrono::milliseconds cpu) {
    return Start([cpu] {
      while (std::chrono::milliseconds(clock() * 1000 / CLOCKS_PER_SEC) < cpu) {
      }
    });
  }
  // Allocates anonymous memory of the calling process and never frees it.
  static void Touch(size_t bytes) {
    auto* memory = static_cast<volatile char*>(std::malloc(bytes));
    for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
  }

  // Returns the wait status of a child that ends by itself; if it does not end, kills it and returns -1.
  int WaitFor(pid_t child) {
    children_.erase(std::remove(children_.begin(), children_.end(), child), children_.end());
    int status = 0;
    if (Eventually([&] { return waitpid(child, &status, WNOHANG) == child; })) return status;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return -1;
  }
  void KillAll() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
    children_.clear();
  }

  std::string ReadFile(const std::string& file) const {
    std::ifstream in(WithFile(file));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void WriteFile(const std::string& file, const std::string& text) const {
    EXPECT_TRUE(Write(WithFile(file), text)) << file << " of " << path_;
  }

 private:
  static constexpr const char* kPrefix = "taut-cgroup-test-";

  std::vector<std::string> Roots() const {
    std::vector<std::string> out;
    for (const std::string& root : {mounts_.memory, mounts_.cpu, mounts_.cpuacct, mounts_.unified}) {
      if (!root.empty() && std::find(out.begin(), out.end(), root) == out.end()) out.push_back(root);
    }
    return out;
  }
  std::vector<std::string> Directories() const {
    std::vector<std::string> out = Roots();
    for (std::string& directory : out) directory += path_;
    return out;
  }
  // Returns the path of `file` in the first hierarchy whose group has this file, home first; "" if no group has
  // it.
  std::string WithFile(const std::string& file) const {
    for (const std::string& directory : Directories()) {
      if (std::filesystem::exists(directory + "/" + file)) return directory + "/" + file;
    }
    return "";
  }
  static bool Write(const std::string& file, const std::string& text) {
    const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (fd >= 0) close(fd);
    return done;
  }
  // Removes a directory and all directories below it. Retries, because a killed process stays in its group for a
  // moment.
  static void RemoveTree(const std::string& directory) {
    std::error_code error;
    std::vector<std::string> below;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      if (entry.is_directory(error)) below.push_back(entry.path());
    }
    for (const std::string& path : below) RemoveTree(path);
    EXPECT_TRUE(Eventually([&] { return rmdir(directory.c_str()) == 0 || errno != EBUSY; })) << directory;
  }
  // Removes groups of tests that no longer run.
  void Sweep() const {
    std::error_code error;
    for (const std::string& root : Roots()) {
      std::vector<std::string> dead;
      for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with(kPrefix)) continue;
        const int pid = std::atoi(name.c_str() + std::string_view(kPrefix).size());
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) dead.push_back(entry.path());
      }
      for (const std::string& directory : dead) RemoveTree(directory);
    }
  }

  CgroupMounts mounts_;
  std::string path_;
  std::vector<pid_t> children_;
};

}  // namespace taut::node
