// Prepares the words of a command line before CLI11 parses them, and suggests corrections if CLI11 rejects
// them.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command_table.h"

namespace taut::tools {

// Returns the command as typed, for a report.
std::string CommandLine(int argc, char** argv);
// Returns the words after the program's name. Old names are replaced, and options that stand before the
// command are moved behind it: `taut --server URL jobs` becomes `get jobs --server URL`. Sets `renamed` to
// the warning about an old name.
std::vector<std::string> CommandFirst(const CommandTable& commands, int argc, char** argv,
                                      std::string& renamed);
// Returns the name of the command that the words begin with, and a blank: "get jobs "; "" if they begin with none.
std::string NameOfCommand(const CLI::App& program, const std::vector<std::string>& words);
// Returns a suggestion for an unknown command or option; "" if all of them are known.
std::string Suggestion(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace taut::tools
