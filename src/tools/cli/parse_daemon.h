// The commands that query tautd, and options that these commands share with others.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/command_table.h"
#include "tools/cli/commands.h"

namespace taut::tools {

void AddConnection(CLI::App& app, ConnectionArgs& args, const char* url_option = "--server");
// Adds -o, --output.
void AddOutputForm(CLI::App& app, OutputForm& form);
// Adds the options of all commands that query tautd: the connection and the output format.
void AddDaemon(CLI::App& app, DaemonArgs& args);
// Adds --limit with the range from 1 to `most`.
void AddLimit(CLI::App& app, int& limit, const char* help, int most);

void AddDaemonCommands(CommandTable& commands);

}  // namespace taut::tools
