// Cells that commands read or make, and what they say of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_model.h"
#include "cli/json_text.h"
#include "trace/trace_reader.h"

namespace taut {

// "read 11 rows of 2 files (356 B)", and below what was skipped with examples, and the warnings.
std::string ReadText(const ReadReport& report);
// A line for each cause and example of rows that were `what`.
std::string CausesText(std::string_view what, const std::map<std::string, ReadReport::Cause>& causes);
// A line for each.
std::string FindingsText(const std::vector<CellFinding>& findings);
// A line for each sentence, the later ones indented more.
std::string SentenceLines(std::string_view text);

// The arrays "skipped_rows", "kept_rows" and "findings".
Json SkippedJson(const ReadReport& report);
Json KeptJson(const ReadReport& report);
Json FindingsJson(const std::vector<CellFinding>& findings);

}  // namespace taut
