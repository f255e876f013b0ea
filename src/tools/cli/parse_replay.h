// replay, explain, tune and generate: the commands of traces and recommenders, and the options that other commands
// of traces share.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"
#include "tools/cli/verb_list.h"

namespace taut::tools {

// The files of a trace and how they are read.
void AddTrace(CLI::App& verb, TraceArgs& args);
// --output table or json, and --quiet.
void AddOutput(CLI::App& verb, OutputForm& form, bool& quiet);

// `command_line`: as typed, for the report.
void AddReplayVerbs(VerbList& verbs, const std::string& command_line);
void AddGenerateVerb(VerbList& verbs);

}  // namespace taut::tools
