#include "tools/cli/parse_backup.h"

namespace taut::tools {

const char* const kBackupHelp =
    "Copies tautd's store and the files beside it into a new folder, also while tautd runs. All copied "
    "data have\nthe state of one moment. Run the command as the user of tautd, on its machine or in its "
    "pod.\n\n"
    "Examples:\n"
    "  taut backup /backup/2026-11-29 --config /etc/tautline/tautd.yaml\n"
    "  taut backup copy --store tautd.db\n"
    "  kubectl -n tautline exec tautd-0 -- taut backup /var/lib/tautline/copy --store "
    "/var/lib/tautline/tautd.db";

const char* const kRestoreHelp =
    "Copies a folder of `taut backup` to the path of tautd's store, while tautd is stopped. Replaces "
    "nothing:\nmove the files of an old store away first.\n\n"
    "Examples:\n"
    "  taut restore /backup/2026-11-29 --config /etc/tautline/tautd.yaml\n"
    "  taut restore copy --store tautd.db";

void AddBackup(CLI::App& verb, BackupArgs& args) {
  verb.add_option("folder", args.folder, "folder of the backup")->required()->type_name("FOLDER");
  CLI::Option* store = verb.add_option("--store", args.store, "path of tautd's store")
                           ->capture_default_str()
                           ->type_name("FILE");
  verb.add_option("--config", args.config, "configuration file of tautd, whose store.path is used")
      ->type_name("FILE")
      ->excludes(store);
}

}  // namespace taut::tools
