// Writes a pass as rows. Part of SqliteStore.
#pragma once

#include "server/store/pass_rules.h"
#include "server/store/sqlite.h"
#include "server/store/store.h"

namespace taut::server {

class PassWriter {
 public:
  explicit PassWriter(Database* db) : db_(db) {}

  // Returns the ends that the file stores. Returns DataLoss if the ends are missing or damaged.
  absl::StatusOr<PassEnds> ReadEnds();
  // Writes a pass in one transaction. `ends`: the ends after the pass.
  absl::Status Write(const PassRecord& pass, const PassEnds& ends);

 private:
  absl::Status WriteWindow(const ClosedWindow& window);
  absl::Status WriteAccount(WindowId window, std::span<const AccountEntry> entries);
  absl::Status WriteLateAccount(std::span<const LateAccount> late);
  absl::Status WriteJobs(const PassRecord& pass);
  absl::Status WriteDecisions(const PassRecord& pass);
  absl::Status WriteRest(const PassRecord& pass);
  absl::Status WritePast(const JobPast& past);

  Database* db_;
  Statement read_ends_{db_, "SELECT window, job, decision, setting, sum FROM ends"};
  Statement ends_{db_, "INSERT OR REPLACE INTO ends VALUES(1, ?1, ?2, ?3, ?4, ?5)"};
  Statement window_{db_, "INSERT INTO windows VALUES(?1)"};
  Statement block_{db_, "INSERT INTO window_blocks VALUES(?1, ?2)"};
  Statement account_{db_, "INSERT INTO account_windows VALUES(?1, ?2)"};
  Statement late_account_{db_, "INSERT INTO account_late VALUES(NULL, ?1, ?2)"};
  Statement job_{db_, "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4, ?5, NULL, NULL, ?6)"};
  Statement forget_job_{db_, "UPDATE jobs SET forgotten_s = ?2 WHERE id = ?1"};
  // Does not change the column `past`, so that the returned job's history is not requested again.
  Statement return_job_{
      db_,
      "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4, ?5, NULL, NULL, ?6) ON CONFLICT(id) DO UPDATE SET "
      "first_seen_s = ?2, name = ?3, labels = ?4, sum = ?5, parts = ?6, forgotten_s = NULL"};
  Statement past_{db_, "UPDATE jobs SET past = ?2 WHERE id = ?1"};
  Statement read_past_day_{db_, "SELECT block FROM past_days WHERE key = ?1"};
  Statement past_day_{db_, "INSERT OR REPLACE INTO past_days VALUES(?1, ?2)"};
  Statement drop_checkpoint_{db_, "DELETE FROM checkpoints WHERE chunk = ?1"};
  Statement decision_{db_, "INSERT INTO decisions VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)"};
  Statement outcome_{
      db_, "UPDATE decisions SET outcome = ?2, outcome_time_s = ?3, outcome_text = ?4 WHERE id = ?1"};
  Statement oom_{db_, "INSERT INTO ooms VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
  Statement tier_act_{
      db_,
      "INSERT INTO tier_acts VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
      "?14, ?15, ?16, ?17)"};
  Statement setting_{db_, "INSERT INTO settings VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"};
  Statement checkpoint_{db_, "INSERT OR REPLACE INTO checkpoints VALUES(?1, ?2)"};
  Statement fleet_{db_, "INSERT OR REPLACE INTO fleet VALUES(?1, ?2)"};
};

}  // namespace taut::server
