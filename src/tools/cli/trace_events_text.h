// What taut analyze says of the events of a trace, beside what is published.
#pragma once

#include <string>

#include "tools/cli/cell_input.h"
#include "tools/cli/json_text.h"
#include "tools/report/events_sections.h"

namespace taut::tools {

// REQUIRES: cell.has_events.
std::string TraceEventsText(const LoadedCell& cell);
Json TraceEventsJson(const LoadedCell& cell);
// Refers to `cell`.
EventsReport TraceEventsReport(const LoadedCell& cell);

}  // namespace taut::tools
