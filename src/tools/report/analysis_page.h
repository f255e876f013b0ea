// The analysis of a trace as one HTML file: tables with the published values beside them, and charts.
#pragma once

#include <string>
#include <string_view>

#include "tools/report/events_sections.h"
#include "tools/sim/trace_analysis.h"

namespace taut::tools {

// Without scripts, and without anything from elsewhere. `title`: what was analysed. `usage`, `events`: null where
// the trace has none; REQUIRES: one of them.
std::string AnalysisPage(std::string_view title, const TraceAnalysis* usage, const EventsReport* events);

}  // namespace taut::tools
