// replay, explain, tune and generate: the commands of traces and recommenders, and the options that other commands
// of traces share.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/command_table.h"
#include "tools/cli/commands.h"

namespace taut::tools {

// The files of a trace and how they are read.
// `series_option`: the name of the option that makes jobs of several series.
void AddTrace(CLI::App& command, TraceArgs& args, const char* series_option = "--group");
// --output and --quiet.
void AddOutput(CLI::App& command, OutputForm& form, bool& quiet);

// `command_line`: as typed, for the report.
void AddReplayCommands(CommandTable& commands, const std::string& command_line);
void AddGenerateCommand(CommandTable& commands);

}  // namespace taut::tools
