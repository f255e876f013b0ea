// A Docker engine of the tests' own: private socket, data and cgroup parent, no network. Nothing of it is
// left afterwards.
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
  // Why there can be none here; nullopt: there can.
  static std::optional<std::string> WhyNot();

  // Starts it and gives it an image "bb:1" that has busybox. Aborts the test program if that fails.
  RealEngine();
  ~RealEngine();
  RealEngine(const RealEngine&) = delete;
  RealEngine& operator=(const RealEngine&) = delete;

  std::string socket_path() const { return (dir_ / "sock").string(); }
  // The path of a container's cgroup.
  std::string CgroupOf(std::string_view id) const;

  // Runs `script` in a new container and returns its id, or "" with a failure of the test. `host_config` and
  // `labels` are fields of JSON: "\"Memory\":8000000".
  std::string Run(std::string_view name, std::string_view script, std::string_view host_config = {},
                  std::string_view labels = {});
  // The body of the answer; a failure of the test if it is an error.
  std::string Ask(std::string_view method, std::string_view path, std::string_view body = {});

  // Stops the engine while its containers go on.
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
