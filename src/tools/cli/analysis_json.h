// Formats an analysis of a trace as JSON.
#pragma once

#include <cstdint>

#include "tools/cli/cell_input.h"
#include "tools/cli/json_text.h"
#include "tools/sim/trace_analysis.h"

namespace taut::tools {

enum class ByHour : uint8_t { kLeaveOut, kInclude };
// Returns the document of taut analyze. `usage` and `cell`: null if the trace has no usage or no events.
Json AnalysisJson(const TraceAnalysis* usage, const LoadedCell* cell, ByHour hours);

}  // namespace taut::tools
