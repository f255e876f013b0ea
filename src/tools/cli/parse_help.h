// Texts made of the command line itself: shell completion and man pages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

// Accepts these words only; an error names them all.
CLI::Validator OneOf(std::vector<std::string> words);
// The words that an option made with OneOf accepts; none for others.
std::vector<std::string> WordsOf(const CLI::Option& option);

// Returns a script for `source` (bash), a function for $fpath (zsh), or a file of completions (fish). They query
// tautd for the names of jobs.
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

// A page in the form of man(7), of the program or of one verb. `section`: 1 for commands, 8 for daemons.
struct ManPageOptions {
  std::string name;     // "taut-get-jobs"
  std::string command;  // "taut get jobs"
  std::string version;
  int section = 1;
  std::vector<std::string> see_also;  // "taut(1)"
};
std::string ManPage(const CLI::App& app, const ManPageOptions& options);

}  // namespace taut::tools
