// Formats the events of a trace for taut analyze, next to the published figures.
#pragma once

#include <string>

#include "tools/cli/cell_input.h"
#include "tools/cli/json_text.h"
#include "tools/report/events_sections.h"

namespace taut::tools {

// Returns the figures of the events as tables. REQUIRES: cell.has_events.
std::string TraceEventsText(const LoadedCell& cell);
Json TraceEventsJson(const LoadedCell& cell);
// Returns a report with pointers to `cell`.
EventsReport TraceEventsReport(const LoadedCell& cell);

}  // namespace taut::tools
