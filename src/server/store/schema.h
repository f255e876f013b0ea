// The tables of the store's file and how an older file becomes a newer one.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "common/model/usage.h"
#include "server/store/sqlite.h"

namespace taut::server {

inline constexpr int32_t kStoreApplicationId = 0x54415554;  // "TAUT": how `file` and we know our files

inline constexpr size_t kStoreVersion = 10;  // of the tables: the number of migrations
// Migration i makes version i + 1 of version i. Written ones never change.
std::span<const char* const> StoreMigrations();

// Brings the file to the newest version, each step in a transaction of its own; creates it if it is empty.
//   InvalidArgument      another program's database
//   FailedPrecondition   written by a newer version of this program
//   DataLoss             damaged as far as a cheap look tells
absl::Status Migrate(Database& db, std::span<const char* const> migrations);

// Truncation, missing tables, both ends of every table; all of it where the file is small.
absl::Status CheckStructure(Database& db);

// Row keys: time first, so that rows are written at the end of their table.
constexpr int64_t WindowKey(int64_t window, uint32_t chunk) { return window * (int64_t{1} << 26) + chunk; }
constexpr int32_t WindowOfKey(int64_t key) { return static_cast<int32_t>(key >> 26); }
constexpr uint32_t ChunkOfKey(int64_t key) { return static_cast<uint32_t>(key & ((1 << 26) - 1)); }
constexpr int64_t DayKey(int64_t day, uint32_t job) { return day * (int64_t{1} << 32) + job; }
constexpr int32_t DayOfKey(int64_t key) { return static_cast<int32_t>(key >> 32); }
constexpr JobId JobOfKey(int64_t key) { return JobId{static_cast<uint32_t>(key)}; }

}  // namespace taut::server
