// Tables of the store's file, and their migrations from older versions.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "common/model/usage.h"
#include "server/store/sqlite.h"

namespace taut::server {

inline constexpr int32_t kStoreApplicationId = 0x54415554;  // "TAUT", also for the program `file`

inline constexpr size_t kStoreVersion = 12;  // version of the tables: number of migrations
// Returns the migrations. Migration i converts version i to version i + 1. Released migrations never change.
std::span<const char* const> StoreMigrations();

// Migrates the file to the newest version, one transaction per step; creates the tables in an empty file.
//   InvalidArgument      database of another program
//   FailedPrecondition   written by a newer version of this program
//   DataLoss             damaged, as far as a quick check detects
absl::Status Migrate(Database& db, std::span<const char* const> migrations);

// Checks for truncation and missing tables, and reads both ends of every table. Checks a file of up to 64 MiB
// completely. Returns DataLoss if the file is damaged.
absl::Status CheckStructure(Database& db);

// Keys of rows begin with the time, so that new rows are at the end of their table.
constexpr int64_t WindowKey(int64_t window, uint32_t chunk) { return window * (int64_t{1} << 26) + chunk; }
constexpr int32_t WindowOfKey(int64_t key) { return static_cast<int32_t>(key >> 26); }
constexpr uint32_t ChunkOfKey(int64_t key) { return static_cast<uint32_t>(key & ((1 << 26) - 1)); }
constexpr int64_t DayKey(int64_t day, uint32_t job) { return day * (int64_t{1} << 32) + job; }
constexpr int32_t DayOfKey(int64_t key) { return static_cast<int32_t>(key >> 32); }
constexpr JobId JobOfKey(int64_t key) { return JobId{static_cast<uint32_t>(key)}; }

}  // namespace taut::server
