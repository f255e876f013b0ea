// Imports the files that table versions before 11 had beside the store; newer versions store this content in rows.
// Part of SqliteStore.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/store/sqlite.h"

namespace taut::server {

// Copies the files to tables at the first start, in one transaction, and renames them to "NAME.imported". A
// kill between the two steps neither loses nor doubles data. Later files with these names are not read.
// Returns DataLoss if a log is damaged, or was deleted although it had entries.
absl::Status ImportFilesBeside(Database& db);

}  // namespace taut::server
