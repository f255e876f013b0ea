// Formats the result of a cell's simulation as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "brain/cell/cell_model.h"
#include "tools/cli/json_text.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {

// Returns the cell's utilization, tables by tier for the first run, the tasks pending at the end, and a table
// of all runs if there are several. Fits 100 columns. Changes the order of the runs' delays.
std::string SimulateText(const brain::CellModel& cell, std::vector<CellRun>& runs);
// Returns "runs", which docs/reference/traces.md describes. Changes the order of the runs' delays.
Json SimulateJson(const brain::CellModel& cell, std::vector<CellRun>& runs);

}  // namespace taut::tools
