// taut backup and taut restore: a store and the files beside it, in one folder.
#pragma once

#include <string>

namespace taut::tools {

struct BackupArgs {
  std::string folder;
  std::string store = "tautd.db";
  std::string config;  // a tautd.yaml that says where the store is; "" for none
};
// The exit code.
int RunBackup(const BackupArgs& args);
int RunRestore(const BackupArgs& args);

}  // namespace taut::tools
