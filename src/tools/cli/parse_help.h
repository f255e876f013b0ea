// Generates shell completions and man pages from the definition of the command line.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

// Returns a validator that accepts only `words`, and lists them in its error.
CLI::Validator OneOf(std::vector<std::string> words);
// Returns a validator that accepts whole numbers from 0 to `most`, and names this range in its error. CLI11 reads
// "-1" as the largest unsigned number.
CLI::Validator NotNegative(uint64_t most = std::numeric_limits<uint64_t>::max());
// Returns the words that the validator of OneOf() accepts; empty for an option without this validator.
std::vector<std::string> WordsOf(const CLI::Option& option);

// Returns the direct subcommands of `app` that the help lists.
std::vector<std::string> NamesOf(const CLI::App& app);

// Return shell completions, which query tautd for the names of jobs: a script for `source` (bash), a function for
// $fpath (zsh), or a completions file (fish).
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

// Parameters of a man page of a program or command. `section`: 1 for commands, 8 for daemons.
struct ManPageOptions {
  std::string name;     // name of the page, such as "taut-get-jobs"
  std::string command;  // the command, such as "taut get jobs"
  std::string version;
  int section = 1;
  std::vector<std::string> see_also;  // other pages, such as "taut(1)"
};
std::string ManPage(const CLI::App& app, const ManPageOptions& options);

}  // namespace taut::tools
