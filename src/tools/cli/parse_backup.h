// Adds the options of `taut backup` and `taut restore`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/backup_command.h"

namespace taut::tools {

extern const char* const kBackupHelp;
extern const char* const kRestoreHelp;
void AddBackup(CLI::App& verb, BackupArgs& args);

}  // namespace taut::tools
