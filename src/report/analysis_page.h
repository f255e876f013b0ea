// The analysis of a trace as one HTML file: tables with the published values beside them, and charts.
#pragma once

#include <string>
#include <string_view>

#include "sim/trace_analysis.h"

namespace taut {

// Without scripts, and without anything from elsewhere. `title`: what was analysed.
std::string AnalysisPage(const TraceAnalysis& analysis, std::string_view title);

}  // namespace taut
