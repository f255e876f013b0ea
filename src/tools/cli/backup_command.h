// taut backup and taut restore: copy a store and its accompanying files to or from a folder.
#pragma once

#include <string>

namespace taut::tools {

struct BackupArgs {
  std::string folder;
  std::string store = "tautd.db";
  std::string config;  // path of a tautd.yaml that names the store; "": none
};
// Return the exit code.
int RunBackup(const BackupArgs& args);
int RunRestore(const BackupArgs& args);

}  // namespace taut::tools
