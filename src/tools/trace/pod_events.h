// Collects the events of pods in Alibaba's GPU trace of 2023: creation, scheduling, deletion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "brain/cell/cell_model.h"
#include "brain/cell/recorded_events.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

class PodEvents {
 public:
  struct Times {
    std::optional<double> created_s, scheduled_s, deleted_s;  // times, at least 0; absent: unknown
  };
  // Adds a pod. `phase` is the pod's last phase in the trace; reports contain `line`.
  void Add(const brain::CellJob& pod, std::string_view phase, const Times& times, uint64_t line);
  bool empty() const { return pods_.empty(); }
  // Returns the figures of all pods. Counts contradictory events in the report under `file`, and keeps them.
  brain::EventFigures Fold(const std::string& file, ReadReport& report);

 private:
  std::vector<brain::RecordedJob> pods_;
  std::vector<brain::TraceEvent> events_;
};

}  // namespace taut::tools
