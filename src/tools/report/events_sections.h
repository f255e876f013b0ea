// What the events of a trace say, as sections of a report: a table and delays by tier, submissions over time, and
// figures beside what is published.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "brain/cell/recorded_events.h"
#include "tools/report/document.h"

namespace taut::tools {

// A figure of a trace, and the same as published of two traces of Google's; absent: not known.
struct ComparedFigure {
  std::string_view name, key;  // for people, for programs
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
  std::vector<Shape> shapes;  // most frequent first
};

// Adds the sections, a note, and the answer where there is none. REQUIRES: report.figures.
void AddEvents(const EventsReport& report, Document& out);

}  // namespace taut::tools
