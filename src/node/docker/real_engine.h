// A Docker engine started by the tests: private socket, data and cgroup parent, no network. Everything is
// removed at the end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace taut::node {

class RealEngine {
 public:
  // Returns the reason why no engine can run here; nullopt if an engine can run.
  static std::optional<std::string> WhyNot();

  // Starts the engine and creates an image "bb:1" with busybox. Aborts the test program on failure.
  RealEngine();
  ~RealEngine();
  RealEngine(const RealEngine&) = delete;
  RealEngine& operator=(const RealEngine&) = delete;

  std::string address() const { return "unix://" + socket_path(); }
  std::string socket_path() const { return (dir_ / "sock").string(); }
  // Returns the path of a container's cgroup.
  std::string CgroupOf(std::string_view id) const;

  // Runs `script` in a new container and returns its id; "" and a test failure on error. `host_config` and
  // `labels` are JSON fields: "\"Memory\":8000000".
  std::string Run(std::string_view name, std::string_view script, std::string_view host_config = {},
                  std::string_view labels = {});
  // Returns the body of the response; an error response fails the test.
  std::string Ask(std::string_view method, std::string_view path, std::string_view body = {});

  // Stops the engine while its containers continue.
  void Stop();
  void Start();

 private:
  bool Answers();
  void MakeImage();

  std::filesystem::path dir_;
  pid_t pid_ = -1;
  pid_t sweeper_pid_ = -1;
  int sweeper_fd_ = -1;
};

}  // namespace taut::node
