// Events of a trace as sections of a report: a table of tiers, start delays by tier, submissions over time, and a
// comparison with published figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "brain/cell/recorded_events.h"
#include "tools/report/document.h"

namespace taut::tools {

// A figure of a trace, beside the published figures of two Google traces. Absent: unknown.
struct ComparedFigure {
  std::string_view name, key;  // `name` is shown to users; `key` is for programs
  std::optional<double> own, of_2011, of_2019;
  bool is_share = false;
};

struct EventsReport {
  const brain::EventFigures* figures = nullptr;
  std::vector<ComparedFigure> compared;
  struct Shape {
    uint64_t machines = 0;
    double cpu_cores = 0, memory_bytes = 0;
  };
  std::vector<Shape> shapes;  // shapes of machines, most frequent first
};

// Adds the sections and a note to `out`, and an answer if `out` has none. REQUIRES: report.figures is not null.
void AddEvents(const EventsReport& report, Document& out);

}  // namespace taut::tools
