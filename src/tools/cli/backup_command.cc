#include "tools/cli/backup_command.h"

#include <vector>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/config/daemon_config.h"
#include "server/store/store_backup.h"
#include "tools/cli/answer.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

absl::StatusOr<std::string> StoreOf(const BackupArgs& args) {
  if (args.config.empty()) return args.store;
  absl::StatusOr<server::DaemonConfig> config = server::ReadDaemonConfig(args.config);
  if (!config.ok()) return config.status();
  if (config->store.path == "memory")
    return absl::InvalidArgumentError(StrCat(args.config, ": store.path is memory: nothing is stored"));
  return config->store.path;
}

void PrintFiles(const std::vector<server::BackedUpFile>& files, std::string_view to) {
  uint64_t bytes = 0;
  for (const server::BackedUpFile& file : files) bytes += file.bytes;
  Print(StrCat(files.size(), files.size() == 1 ? " file, " : " files, ",
               FormatBytes(static_cast<double>(bytes)), ", in ", Printable(std::string(to)), "\n"));
}

}  // namespace

int RunBackup(const BackupArgs& args) {
  const absl::StatusOr<std::string> store = StoreOf(args);
  if (!store.ok()) return Finish(store.status());
  const auto files = server::BackUpStore(*store, args.folder);
  if (files.ok()) PrintFiles(*files, args.folder);
  return Finish(files.status());
}

int RunRestore(const BackupArgs& args) {
  const absl::StatusOr<std::string> store = StoreOf(args);
  if (!store.ok()) return Finish(store.status());
  const auto files = server::RestoreStore(args.folder, *store);
  if (files.ok()) PrintFiles(*files, *store);
  return Finish(files.status());
}

}  // namespace taut::tools
