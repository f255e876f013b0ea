// Rearranges the words of a command line before CLI11 parses them, and suggests corrections for words that CLI11
// rejects.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command_table.h"

namespace taut::tools {

// Returns the command line as typed, for a report.
std::string CommandLine(int argc, char** argv);
// Returns the words after the program's name with old names replaced. Moves options that precede the command
// behind it: `taut --server URL jobs` becomes `get jobs --server URL`. Sets `renamed` to the warning about an old
// name, if any.
std::vector<std::string> CommandFirst(const CommandTable& commands, int argc, char** argv,
                                      std::string& renamed);
// Returns the name of the command at the start of `words`, with a trailing blank: "get jobs "; "" if there is
// none.
std::string NameOfCommand(const CLI::App& program, const std::vector<std::string>& words);
// Returns a suggestion for the first unknown command or option; "" if all words are known.
std::string Suggestion(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace taut::tools
