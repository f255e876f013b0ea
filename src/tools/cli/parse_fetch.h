// Adds the options of `taut trace fetch`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/fetch_command.h"

namespace taut::tools {

extern const char* const kFetchHelp;
void AddFetch(CLI::App& verb, FetchArgs& args);

}  // namespace taut::tools
