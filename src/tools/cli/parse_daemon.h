// The commands that query tautd, and options that other commands share with them.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/command_table.h"
#include "tools/cli/commands.h"

namespace taut::tools {

void AddConnection(CLI::App& app, ConnectionArgs& args, const char* url_option = "--server");
// Adds -o, --output.
void AddOutputForm(CLI::App& app, OutputForm& form);
// Adds the options of every query to the daemon: the connection and the output form.
void AddDaemon(CLI::App& app, DaemonArgs& args);
// Adds --limit, from 1 to `most`.
void AddLimit(CLI::App& app, int& limit, const char* help, int most);

void AddDaemonCommands(CommandTable& commands);

}  // namespace taut::tools
