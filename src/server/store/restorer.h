// Reads the store after a stop. Part of SqliteStore.
#pragma once

#include <vector>

#include "server/store/damage_log.h"
#include "server/store/sqlite.h"
#include "server/store/store.h"

namespace taut::server {

class Restorer {
 public:
  Restorer(Database* db, DamageLog* damage) : db_(db), damage_(damage) {}

  absl::Status Restore(const RestoreSink& sink);
  absl::Status ReadForgotten(int64_t from_s, absl::FunctionRef<void(const JobRecord&, int64_t)> yield);
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield);
  absl::Status ReadWindows(WindowId after, absl::FunctionRef<absl::Status(const ClosedWindow&)> yield);

 private:
  absl::Status Jobs(const RestoreSink& sink);
  absl::Status Settings(const RestoreSink& sink);
  absl::Status Checkpoints(const RestoreSink& sink);
  // Adds the usage in day blocks to windows of one day, ascending.
  absl::Status AddRegrouped(int32_t day, std::vector<ClosedWindow>& windows);
  // Adds the usage in window blocks to the window.
  absl::Status AddRaw(ClosedWindow& window);
  // Returns the number of the day's windows that are held in memory at one time.
  absl::StatusOr<size_t> WindowsAtATime(int32_t day);

  Database* db_;
  DamageLog* damage_;
  Statement jobs_{
      db_,
      "SELECT id, first_seen_s, name, labels, sum, parts FROM jobs WHERE forgotten_s IS NULL ORDER BY id"};
  Statement forgotten_{db_,
                       "SELECT id, first_seen_s, name, labels, sum, parts, forgotten_s FROM jobs "
                       "WHERE forgotten_s >= ?1 ORDER BY id"};
  Statement pasts_{db_, "SELECT id, past FROM jobs WHERE past IS NOT NULL ORDER BY id"};
  Statement settings_{db_,
                      "SELECT id, time_s, who, job, key, value, before, sum FROM settings WHERE id IN "
                      "(SELECT max(id) FROM settings GROUP BY job, key) ORDER BY id"};
  Statement checkpoints_{db_, "SELECT chunk, block FROM checkpoints ORDER BY chunk"};
  Statement windows_{db_, "SELECT window FROM windows WHERE window > ?1 ORDER BY window"};
  Statement day_bytes_{db_, "SELECT sum(length(block)) FROM day_blocks WHERE key >= ?1 AND key < ?2"};
  Statement days_{db_, "SELECT key, block FROM day_blocks WHERE key >= ?1 AND key < ?2 ORDER BY key"};
  Statement blocks_{db_, "SELECT key, block FROM window_blocks WHERE key >= ?1 AND key < ?2 ORDER BY key"};
};

}  // namespace taut::server
