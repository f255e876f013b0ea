// Import of files beside the store, which versions before 11 of the tables had in place of rows.
// Part of SqliteStore.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/store/sqlite.h"

namespace taut::server {

// Copies the files to tables at the first start, in one transaction, and renames them to "NAME.imported". A kill
// between the two steps loses and doubles nothing. Later files of these names are not read. DataLoss: a log is
// damaged, or was deleted although it had entries.
absl::Status ImportFilesBeside(Database& db);

}  // namespace taut::server
