// The analysis of a trace as a report: tables that also contain published values, and charts.
#pragma once

#include <string_view>

#include "tools/report/document.h"
#include "tools/report/events_sections.h"
#include "tools/sim/trace_analysis.h"

namespace taut::tools {

// Returns the document. `title` names the analysed input. A null `usage` or `events` means that the trace has no
// such data. REQUIRES: at least one of the two is not null.
Document AnalysisDocument(std::string_view title, const TraceAnalysis* usage, const EventsReport* events);

}  // namespace taut::tools
