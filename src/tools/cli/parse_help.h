// Generates texts from the definition of the command line: shell completion and man pages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

// Returns a validator that accepts only these words. The validator's error lists the words.
CLI::Validator OneOf(std::vector<std::string> words);
// Returns the words that an option with OneOf accepts; empty for other options.
std::vector<std::string> WordsOf(const CLI::Option& option);

// Returns the names of the commands directly below `app` that the help lists.
std::vector<std::string> NamesOf(const CLI::App& app);

// Return completions for the commands and options: a script for `source` (bash), a function for $fpath (zsh),
// or a file of completions (fish). The completions query tautd for the names of jobs.
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

// Options of a page in the format of man(7), for the program or one command. `section`: 1 for commands, 8 for
// daemons.
struct ManPageOptions {
  std::string name;     // "taut-get-jobs"
  std::string command;  // "taut get jobs"
  std::string version;
  int section = 1;
  std::vector<std::string> see_also;  // "taut(1)"
};
std::string ManPage(const CLI::App& app, const ManPageOptions& options);

}  // namespace taut::tools
