// Accepts tasks, windows and OOM kills of agents, which report them as values and not as series.
#pragma once

#include <optional>
#include <span>

#include "absl/status/status.h"
#include "server/control/ingest_state.h"
#include "server/control/task_intake.h"

namespace taut::server {

// Thread-safe.
class AgentWindows {
 public:
  explicit AgentWindows(IngestState& state) : s_(state) {}

  // The next four functions implement the functions of the same names in TaskIntake.
  std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now);
  absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now);
  absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills, std::optional<double> limit,
                       Timestamp now);
  void SeeTime(Timestamp t);
  // Remembers stored OOM kills, so that repeated reports of these kills are dropped. Called before any other
  // thread starts.
  void RememberOoms(std::span<const OomRecord> ooms);

 private:
  IngestState& s_;
};

}  // namespace taut::server
