// Formats the events of a trace for taut analyze, next to published figures.
#pragma once

#include <string>

#include "tools/cli/cell_input.h"
#include "tools/cli/json_text.h"
#include "tools/report/events_sections.h"

namespace taut::tools {

// Returns tables of the events' figures. REQUIRES: cell.has_events.
std::string TraceEventsText(const LoadedCell& cell);
Json TraceEventsJson(const LoadedCell& cell);
// Returns a report that points to data of `cell`, which must outlive the report.
EventsReport TraceEventsReport(const LoadedCell& cell);

}  // namespace taut::tools
