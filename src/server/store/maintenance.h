// Housekeeping of the store's file; a call does a part of the work, in about 50 ms. Part of SqliteStore.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "server/store/damage_log.h"
#include "server/store/pass_rules.h"
#include "server/store/sqlite.h"
#include "server/store/store.h"

namespace taut::server {

class Maintenance {
 public:
  Maintenance(Database* db, DamageLog* damage, const Retention& keep, int32_t regroup_after_hours)
      : db_(db), damage_(damage), keep_(keep), regroup_after_hours_(regroup_after_hours) {}

  // Deletes rows that are past their retention. Returns true if more rows are to be deleted. `now`: the
  // newest window.
  absl::StatusOr<bool> Forget(WindowId now);
  // Converts the window blocks of finished days to day blocks, each with one job. Returns true if there is more to
  // convert. `last`: the last stored window.
  absl::StatusOr<bool> Regroup(std::optional<WindowId> last);
  // Adds up the account of finished hours to one entry per hour, then of finished days to one entry per day.
  // Returns true if more is to be added up. `last`: the last stored window.
  absl::StatusOr<bool> SumUpAccount(std::optional<WindowId> last);

 private:
  // Converts the window blocks of one chunk and day to day blocks. Returns the size of the day blocks in bytes.
  absl::StatusOr<size_t> RegroupChunk(int32_t day, uint32_t chunk);

  // Statements for one table of the account. Rows of this table cover `step` windows each. The rows of `span`
  // windows are added up to one row of the next table.
  struct AccountLevel {
    AccountLevel(Database* db, const char* from, const char* to, int32_t its_step, int32_t its_span);
    const int32_t step, span;  // numbers of windows
    Statement first, read, drop, write;
  };
  absl::Status SumUpChunk(AccountLevel& level, int64_t first_window, uint32_t chunk);

  Database* db_;
  DamageLog* damage_;
  const Retention keep_;
  const int32_t regroup_after_hours_;
  Statement newest_windows_{db_, "SELECT window FROM windows ORDER BY window DESC LIMIT 1 OFFSET ?1"};
  Statement forget_windows_{db_, "DELETE FROM windows WHERE window < ?1"};
  // These statements delete the oldest rows first, so that each call finds the next rows at one end of the table.
  Statement forget_days_{db_,
                         "DELETE FROM day_blocks WHERE key IN (SELECT key FROM day_blocks WHERE key < ?1 "
                         "ORDER BY key LIMIT ?2)"};
  Statement forget_past_{db_,
                         "DELETE FROM past_days WHERE key IN (SELECT key FROM past_days WHERE key < ?1 "
                         "ORDER BY key LIMIT ?2)"};
  Statement forget_blocks_{db_,
                           "DELETE FROM window_blocks WHERE key IN (SELECT key FROM window_blocks WHERE key "
                           "< ?1 ORDER BY key LIMIT ?2)"};
  Statement old_decisions_{db_, "SELECT id, time_s FROM decisions ORDER BY id LIMIT ?1"};
  Statement forget_decisions_{db_, "DELETE FROM decisions WHERE id < ?1"};
  Statement forget_ooms_{
      db_, "DELETE FROM ooms WHERE id IN (SELECT id FROM ooms WHERE time_s < ?1 ORDER BY time_s LIMIT ?2)"};
  Statement forget_tier_acts_{db_,
                              "DELETE FROM tier_acts WHERE id IN (SELECT id FROM tier_acts WHERE time_s < ?1 "
                              "ORDER BY time_s LIMIT ?2)"};
  Statement forget_jobs_{
      db_, "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE forgotten_s < ?1 LIMIT ?2)"};
  Statement forget_settings_{db_,
                             "DELETE FROM settings WHERE time_s < ?1 AND id NOT IN "
                             "(SELECT max(id) FROM settings GROUP BY job, key)"};
  Statement forget_fleet_{db_, "DELETE FROM fleet WHERE window < ?1"};
  Statement forget_account_{
      db_,
      "DELETE FROM account_days WHERE key IN (SELECT key FROM account_days WHERE key < ?1 ORDER BY key LIMIT "
      "?2)"};
  Statement forget_late_account_{
      db_,
      "DELETE FROM account_late WHERE id IN (SELECT id FROM account_late WHERE key < ?1 ORDER BY key LIMIT "
      "?2)"};
  AccountLevel account_levels_[2] = {{db_, "account_windows", "account_hours", 1, kWindowsPerHour},
                                     {db_, "account_hours", "account_days", kWindowsPerHour, kWindowsPerDay}};
  Statement first_block_{db_, "SELECT min(key) FROM window_blocks"};
  Statement read_block_{db_, "SELECT block FROM window_blocks WHERE key = ?1"};
  Statement drop_block_{db_, "DELETE FROM window_blocks WHERE key = ?1"};
  Statement write_day_{db_, "INSERT INTO day_blocks VALUES(?1, ?2)"};
};

}  // namespace taut::server
