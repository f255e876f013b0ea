// taut backup and taut restore: copy a store and the files that belong to it to and from one folder.
#pragma once

#include <string>

namespace taut::tools {

struct BackupArgs {
  std::string folder;
  std::string store = "tautd.db";
  std::string config;  // a tautd.yaml with the store's path; "": none
};
// Return the exit code.
int RunBackup(const BackupArgs& args);
int RunRestore(const BackupArgs& args);

}  // namespace taut::tools
