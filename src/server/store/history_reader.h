// History over one read connection. Part of SqliteStore.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/store/damage_log.h"
#include "server/store/sqlite.h"
#include "server/store/store.h"

namespace taut::server {

// Not thread-safe. Each call reads one consistent state of the file.
class HistoryReader final : public History {
 public:
  static absl::StatusOr<std::unique_ptr<HistoryReader>> Open(const std::string& path, DamageLog* damage);

  absl::StatusOr<JobRecord> Job(JobId id) override;
  absl::StatusOr<std::vector<JobDay>> JobDays(JobId job, WindowId from, WindowId to) override;
  absl::StatusOr<std::vector<Decision>> Decisions(const DecisionQuery& query, Reasons reasons) override;
  absl::StatusOr<std::vector<OomRecord>> Ooms(std::optional<JobId> job, int64_t from_s,
                                              size_t limit) override;
  absl::StatusOr<std::vector<TierAct>> TierActs(const TierActQuery& query) override;
  absl::StatusOr<std::vector<SettingChange>> Settings(std::optional<std::string> job, size_t limit) override;
  absl::StatusOr<std::vector<FleetPoint>> FleetPoints(WindowId from, WindowId to, int32_t stride) override;
  absl::Status ReadAccount(
      WindowId from, WindowId to,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) override;

 private:
  HistoryReader(std::unique_ptr<Database> db, DamageLog* damage) : owned_(std::move(db)), damage_(damage) {}
  // Appends the job's usage in `windows`, ascending, from day blocks. ReadBlocks appends the usage of windows
  // that are still stored as window blocks.
  absl::Status ReadDays(JobId job, const std::vector<WindowId>& windows, std::vector<JobDay>& days);
  // A table with one row per day and job.
  struct DayTable {
    std::string_view what;  // name of one row of the table in messages about damage
    Statement block;
  };
  // Appends the windows in [from, to) of the job's day, if the table has a row for this day.
  absl::Status ReadDay(DayTable& table, JobId job, int32_t day, WindowId from, WindowId to,
                       std::vector<JobDay>& days);
  absl::Status ReadBlocks(JobId job, const std::vector<WindowId>& windows, std::vector<JobDay>& days);
  // Appends usage that was read from a source of history (JobPast).
  absl::Status ReadPast(JobId job, WindowId from, WindowId to, std::vector<JobDay>& days);

  // The selected tables are in ascending order of time: account_days contains the oldest entries.
  static constexpr const char* kReadAccount =
      "SELECT key, block, 288, 0 FROM account_days WHERE key >= ?1 AND key < ?2 UNION ALL "
      "SELECT key, block, 12, 0 FROM account_hours WHERE key >= ?1 AND key < ?2 UNION ALL "
      "SELECT key, block, 1, 0 FROM account_windows WHERE key >= ?1 AND key < ?2 UNION ALL "
      "SELECT key, block, 288, 1 FROM account_late WHERE key >= ?1 AND key < ?2";

  const std::unique_ptr<Database> owned_;
  Database* const db_ = owned_.get();
  DamageLog* const damage_;
  Statement job_{db_, "SELECT id, first_seen_s, name, labels, sum, parts FROM jobs WHERE id = ?1"};
  Statement windows_{db_, "SELECT window FROM windows WHERE window >= ?1 AND window < ?2 ORDER BY window"};
  Statement first_block_{db_, "SELECT min(key) FROM window_blocks"};
  Statement block_{db_, "SELECT block FROM window_blocks WHERE key = ?1"};
  DayTable day_{"day", {db_, "SELECT block FROM day_blocks WHERE key = ?1"}};
  Statement first_past_{db_, "SELECT min(key) FROM past_days"};
  Statement last_past_{db_, "SELECT max(key) FROM past_days"};
  DayTable past_day_{"past day", {db_, "SELECT block FROM past_days WHERE key = ?1"}};
  Statement account_{db_, kReadAccount};
  Statement ooms_{
      db_,
      "SELECT time_s, job, task, kills, limit_bytes, sum, id, shown_s, since_s FROM ooms WHERE time_s >= ?1 "
      "ORDER BY time_s DESC, id DESC LIMIT ?2"};
  Statement job_ooms_{db_,
                      "SELECT time_s, job, task, kills, limit_bytes, sum, id, shown_s, since_s FROM ooms "
                      "WHERE job = ?3 AND time_s >= ?1 "
                      "ORDER BY time_s DESC, id DESC LIMIT ?2"};
  Statement tier_acts_{
      db_,
      "SELECT time_s, at_us, machine, job, task, tier, kind, observed, usage_bytes, request_bytes, "
      "high_bytes, "
      "free_bytes, total_bytes, pressure_some, pressure_full, text, sum, id FROM tier_acts WHERE time_s >= "
      "?1 AND "
      "(?3 = '' OR job = ?3) AND (?4 = '' OR machine = ?4) ORDER BY time_s DESC, id DESC LIMIT ?2"};
  Statement settings_{
      db_, "SELECT id, time_s, who, job, key, value, before, sum FROM settings ORDER BY id DESC LIMIT ?1"};
  Statement job_settings_{db_,
                          "SELECT id, time_s, who, job, key, value, before, sum FROM settings WHERE job = ?2 "
                          "ORDER BY id DESC LIMIT ?1"};
  Statement fleet_{db_,
                   "SELECT point FROM fleet WHERE window >= ?1 AND window < ?2 AND window % ?3 = 0"
                   " ORDER BY window"};
};

// Parses a row of jobs: id, first_seen_s, name, labels, sum, parts. If the row is damaged, logs the damage
// and returns nullopt.
std::optional<JobRecord> JobOf(const Rows& rows, DamageLog& damage);

// Parses a row of settings with the columns of the statement `settings_`. If the row is damaged, logs the damage
// and returns nullopt.
std::optional<SettingChange> SettingOf(const Rows& rows, DamageLog& damage);

}  // namespace taut::server
