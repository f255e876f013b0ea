// The analysis of a trace as a report: tables with the published values in further columns, and charts.
#pragma once

#include <string_view>

#include "tools/report/document.h"
#include "tools/report/events_sections.h"
#include "tools/sim/trace_analysis.h"

namespace taut::tools {

// Returns the document. `title` names the analysed input. `usage` or `events` is null if the trace has no
// such data. REQUIRES: one of the two is not null.
Document AnalysisDocument(std::string_view title, const TraceAnalysis* usage, const EventsReport* events);

}  // namespace taut::tools
