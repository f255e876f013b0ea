// replay, explain, tune and generate: the commands for traces and recommenders, and the options that other
// commands for traces share.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/command_table.h"
#include "tools/cli/commands.h"

namespace taut::tools {

// Adds the options for the files of a trace. `series_option` is the name of the option that combines several
// series into one job.
void AddTrace(CLI::App& command, TraceArgs& args, const char* series_option = "--group");
// Adds --output and --quiet.
void AddOutput(CLI::App& command, OutputForm& form, bool& quiet);

// Adds replay, explain and tune; `command_line` is the command as typed, for the report.
void AddReplayCommands(CommandTable& commands, const std::string& command_line);
void AddGenerateCommand(CommandTable& commands);

}  // namespace taut::tools
