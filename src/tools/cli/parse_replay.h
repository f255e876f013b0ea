// The commands replay, explain, tune and generate, and options that all commands for traces share.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/command_table.h"
#include "tools/cli/commands.h"

namespace taut::tools {

// Adds the options for the files of a trace. `series_option` names the option that combines several series into
// one job.
void AddTrace(CLI::App& command, TraceArgs& args, const char* series_option = "--group");
// Adds --output and --quiet.
void AddOutput(CLI::App& command, OutputForm& form, bool& quiet);

// Adds replay, explain and tune. The report shows `command_line`, the command as typed.
void AddReplayCommands(CommandTable& commands, const std::string& command_line);
void AddGenerateCommand(CommandTable& commands);

}  // namespace taut::tools
