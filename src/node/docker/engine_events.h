// Events of containers, as the engine reports them.
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
  // Pause before a broken stream is requested again. The pause doubles from least_pause to most_pause until a
  // request succeeds.
  std::chrono::milliseconds least_pause{200}, most_pause{10'000};
  size_t max_queued = 65'536;  // limit of pending events; above it, the oldest events are dropped
};

// Reads the engine's event stream in its own thread and reconnects as long as the object exists. A missing engine
// is not an error here: the request for its list of containers reports the error.
class EngineEvents {
 public:
  // Starts the thread. InvalidArgument for an invalid address, ResourceExhausted without a free descriptor.
  static absl::StatusOr<std::unique_ptr<EngineEvents>> Start(const EngineEventsOptions& options);
  // Stops the thread without waiting for an event.
  ~EngineEvents();
  EngineEvents(const EngineEvents&) = delete;
  EngineEvents& operator=(const EngineEvents&) = delete;

  // Becomes ready when there are events. It also becomes ready once, possibly without events, when the stream
  // begins and when a container is renamed: list all containers then. Changes before the stream's beginning have
  // no events.
  Wakeup wakeup() const;
  // Returns the events in order, with "docker:ID" as identity, and clears the readiness. Thread-safe.
  std::vector<TaskEvent> Take();
  // Returns OK while the stream is open, else an error with a human-readable reason. Thread-safe.
  absl::Status status() const;

 private:
  struct Impl;
  explicit EngineEvents(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns the identity of a container as a task.
std::string DockerIdentity(std::string_view id);

}  // namespace taut::node
