// Starts and removes the Docker engine against which docker_engine_test.cc runs its tests.
#include "node/docker/real_engine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/base/strings.h"
#include "common/net/http_client.h"
#include "common/testing/eventually.h"

namespace taut::node {
namespace {

constexpr char kDockerd[] = "/usr/sbin/dockerd", kBusybox[] = "/bin/busybox";
constexpr std::chrono::seconds kEngineWait{20};

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void Die(const std::string& why) {
  std::fprintf(stderr, "real engine: %s\n", why.c_str());
  std::abort();
}

// Kills the processes whose command line names `dir`, a path that only this test uses: the shims of
// containers.
void KillProcessesOf(const std::string& dir) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid > 1 && pid != getpid() &&
        ReadText(entry.path() / "cmdline").find(dir + "/exec/") != std::string::npos) {
      kill(pid, SIGKILL);
    }
  }
}

// Removes everything that an engine in `dir` has left: processes, cgroups, mounts, files.
std::error_code Sweep(const std::filesystem::path& dir) {
  KillProcessesOf(dir.string());
  std::error_code error;
  for (const auto& hierarchy : std::filesystem::directory_iterator("/sys/fs/cgroup")) {
    const std::filesystem::path parent = hierarchy.path() / dir.filename();
    for (const auto& container : std::filesystem::directory_iterator(parent, error)) {
      if (!container.is_directory()) continue;
      std::ifstream procs(container.path() / "cgroup.procs");
      for (int pid; procs >> pid;) kill(pid, SIGKILL);
      (void)Eventually([&] { return rmdir(container.path().c_str()) == 0 || errno != EBUSY; }, kEngineWait);
    }
    rmdir(parent.c_str());
  }
  std::vector<std::string> mounts;  // mount points, newest first
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string_view> words = Split(line, ' ');
    if (words.size() > 4 && words[4].starts_with(dir.string()))
      mounts.insert(mounts.begin(), std::string(words[4]));
  }
  for (const std::string& mount : mounts) umount2(mount.c_str(), MNT_DETACH);
  std::filesystem::remove_all(dir, error);
  return error;
}

// Starts a child that calls Sweep if this program is killed, because the pipe then breaks. `fd` becomes the pipe's
// other end; a byte written to `fd` ends the child without a Sweep.
pid_t StartSweeper(const std::filesystem::path& dir, int& fd) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Die("no pipe for it");
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    close(ends[1]);
    char byte = 0;
    if (read(ends[0], &byte, 1) == 0) {
      // When the parent is killed, the kernel also signals the engine (PR_SET_PDEATHSIG): wait until the engine
      // has stopped.
      const std::string pid_file = dir / "pid";
      (void)Eventually([&pid_file] { return access(pid_file.c_str(), F_OK) != 0; }, kEngineWait);
      (void)Sweep(dir);
    }
    _exit(0);
  }
  close(ends[0]);
  fd = ends[1];
  return child;
}

}  // namespace

std::optional<std::string> RealEngine::WhyNot() {
  if (geteuid() != 0) return "not root: no Docker engine was started";
  for (const char* program : {kDockerd, kBusybox}) {
    if (access(program, X_OK) != 0) return StrCat(program, " is not installed: no Docker engine was started");
  }
  if (access("/sys/fs/cgroup", W_OK) != 0) return "cgroups are read-only here: no Docker engine was started";
  return std::nullopt;
}

RealEngine::RealEngine() {
  std::string pattern = (std::filesystem::temp_directory_path() / "taut_docker_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) Die("no directory for it");
  dir_ = pattern;
  sweeper_pid_ = StartSweeper(dir_, sweeper_fd_);
  Start();
  MakeImage();
}

RealEngine::~RealEngine() {
  if (pid_ < 0) Start();  // only an engine can remove the containers that it started
  const std::string all = Ask("GET", "/containers/json?all=1");
  for (size_t at = 0; (at = all.find("\"Id\":\"", at)) != std::string::npos; ++at) {
    Ask("DELETE", StrCat("/containers/", all.substr(at + 6, 64), "?force=1&v=1"));
  }
  Stop();
  if (const std::error_code error = Sweep(dir_); error) ADD_FAILURE() << dir_ << ": " << error.message();
  [[maybe_unused]] const ssize_t written = write(sweeper_fd_, "x", 1);
  close(sweeper_fd_);
  waitpid(sweeper_pid_, nullptr, 0);
}

std::string RealEngine::CgroupOf(std::string_view id) const {
  return StrCat("/", dir_.filename().string(), "/", id);
}

void RealEngine::Start() {
  const std::string d = dir_.string();
  std::vector<std::string> words = {kDockerd,
                                    "--data-root",
                                    d + "/data",
                                    "--exec-root",
                                    d + "/exec",
                                    "--pidfile",
                                    d + "/pid",
                                    "-H",
                                    address(),
                                    "--bridge=none",
                                    "--iptables=false",
                                    "--ip6tables=false",
                                    "--live-restore",
                                    "--exec-opt",
                                    "native.cgroupdriver=cgroupfs",
                                    "--cgroup-parent",
                                    "/" + dir_.filename().string(),
                                    "--config-file",
                                    d + "/none.json"};
  std::ofstream(dir_ / "none.json") << "{}";  // replaces the machine's configuration
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = d + "/log";
  pid_ = fork();
  if (pid_ == 0) {
    // When the test ends, the kernel signals the engine. Containers end by themselves.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setsid();
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    execv(kDockerd, argv.data());
    _exit(127);
  }
  if (pid_ < 0 || !Eventually([this] { return Answers(); }, kEngineWait))
    Die(StrCat("it did not start:\n", ReadText(log)));
}

void RealEngine::Stop() {
  const auto containerd =
      static_cast<pid_t>(std::atoi(ReadText(dir_ / "exec/containerd/containerd.pid").c_str()));
  kill(pid_, SIGTERM);
  if (!Eventually([this] { return waitpid(pid_, nullptr, WNOHANG) == pid_; }, kEngineWait)) {
    ADD_FAILURE() << "the engine had to be killed";
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
  const auto is_gone = [containerd] { return containerd <= 0 || kill(containerd, 0) != 0; };
  if (!Eventually(is_gone, kEngineWait)) kill(containerd, SIGKILL);
}

bool RealEngine::Answers() {
  ClientOptions options;
  options.timeout = std::chrono::seconds(5);
  const auto response = (*HttpClient::Create(address(), options))->Get("/_ping");
  return response.ok() && response->body == "OK";
}

std::string RealEngine::Ask(std::string_view method, std::string_view path, std::string_view body) {
  const std::string versioned = StrCat("/v1.41", path);
  const bool is_tar = path.starts_with("/images/");
  const auto response =
      (*HttpClient::Create(address(), {}))
          ->Send({method, versioned, body, is_tar ? "application/x-tar" : "application/json", {}});
  if (!response.ok()) {
    ADD_FAILURE() << response.status();
    return "";
  }
  if (response->status >= 400) ADD_FAILURE() << method << " " << path << ": " << response->body;
  return response->body;
}

void RealEngine::MakeImage() {
  const std::string d = dir_.string();
  const std::string make =
      StrCat("mkdir -p ", d, "/fs/bin && cp ", kBusybox, " ", d, "/fs/bin/ && ln -s busybox ", d,
             "/fs/bin/sh && tar -C ", d, "/fs -cf ", d, "/fs.tar .");
  if (std::system(make.c_str()) != 0) Die("no image could be made");
  Ask("POST", "/images/create?fromSrc=-&repo=bb&tag=1", ReadText(dir_ / "fs.tar"));
}

std::string RealEngine::Run(std::string_view name, std::string_view script, std::string_view host_config,
                            std::string_view labels) {
  const std::string made = Ask(
      "POST", StrCat("/containers/create?name=", name),
      StrCat(R"({"Image":"bb:1","Cmd":["/bin/sh","-c",")", script, R"("],"Labels":{)", labels,
             R"(},"HostConfig":{"NetworkMode":"none")", host_config.empty() ? "" : ",", host_config, "}}"));
  const size_t at = made.find("\"Id\":\"");
  if (at == std::string::npos) return "";
  const std::string id = made.substr(at + 6, 64);
  Ask("POST", StrCat("/containers/", id, "/start"));
  return id;
}

}  // namespace taut::node
