// What happens to containers, told by the engine as it happens.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/agent/task_group.h"

namespace taut::node {

struct EngineEventsOptions {
  std::string address = "unix:///var/run/docker.sock";  // or the plain path
  std::chrono::milliseconds connect_timeout{2000};
  // Before a broken stream is asked for again: doubled from the least to the most, until it is there again.
  std::chrono::milliseconds least_pause{200}, most_pause{10'000};
  size_t max_queued = 65'536;  // events not yet taken; the oldest are dropped
};

// Reads the engine's event stream in a thread of its own, and reconnects as long as it exists. An
// engine that is not there is no error here: listing its containers reports the error.
class EngineEvents {
 public:
  static absl::StatusOr<std::unique_ptr<EngineEvents>> Start(const EngineEventsOptions& options);
  // Ends the thread, at once.
  ~EngineEvents();
  EngineEvents(const EngineEvents&) = delete;
  EngineEvents& operator=(const EngineEvents&) = delete;

  // Ready when there are events, and once, with or without events, when the stream begins (whatever happened
  // while there was none is in no event) and when a container gets a new name: then look at all containers.
  Wakeup wakeup() const;
  // In order, with "docker:ID" as the identity; takes the readiness away. Any thread.
  std::vector<TaskEvent> Take();
  // OK while the stream is open, else why it is not: for people. Any thread.
  absl::Status status() const;

 private:
  struct Impl;
  explicit EngineEvents(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The identity of a container as a task.
std::string DockerIdentity(std::string_view id);

}  // namespace taut::node
