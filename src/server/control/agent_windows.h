// What agents say: tasks, windows and OOM kills that come as such, not as series.
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

  // As TaskIntake.
  std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now);
  absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now);
  absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills, std::optional<double> limit,
                       Timestamp now);
  void SeeTime(Timestamp t);
  // OOM kills that are stored: agents may tell them again. Before any other thread is there.
  void RememberOoms(std::span<const OomRecord> ooms);

 private:
  IngestState& s_;
};

}  // namespace taut::server
