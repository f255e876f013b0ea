// The words of a command line before CLI11 reads them, and what was meant where it cannot.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

// The command as typed, for the report.
std::string CommandLine(int argc, char** argv);
// What was probably meant, for a verb or an option that there is not; "" if all of them are known.
std::string Suggestion(const CLI::App& app, int argc, char** argv);
// The arguments with options that stand before the verb moved behind it: `taut --server URL jobs` is
// `taut jobs --server URL`. Without a verb they stay.
std::vector<std::string> VerbFirst(const CLI::App& app, int argc, char** argv);

}  // namespace taut::tools
