// Runs commands of taut inside another program, such as the Python module tautline: arguments in, a document out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/console.h"

namespace taut::tools {

// Runs the command with these words, such as {"tune", "usage.csv", "--output=json"}, and returns the exit code
// (cli.h). `console` receives the output. Waits while another thread runs a command.
int RunEmbedded(const std::vector<std::string>& words, Console& console);

// An option of a command, as `taut COMMAND --help` shows it.
struct CommandOption {
  std::string name;           // name without dashes: "warmup" for --warmup, "paths" for the parameter paths
  std::string type, help;     // type such as "FILE"; help is one sentence without a period
  std::string default_value;  // "" if the help shows none
  bool is_flag = false;       // true: the option has no value
  bool is_list = false;       // true: the option may be repeated
};
// Returns the options of a command, such as "get bills", in the order of its help.
std::vector<CommandOption> OptionsOf(std::string_view command);

}  // namespace taut::tools
