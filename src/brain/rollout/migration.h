// Moves small jobs from observe to auto by rule, with notice and opt-out, as Autopilot did (Rzadca et al.,
// EuroSys 2020, §5.3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/rollout/job_policy.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Author of the override that moves a job to auto by rule.
inline constexpr std::string_view kMigrationName = "migration";

// Conditions of a move.
struct MigrationSettings {
  bool enabled = false;
  double max_cpu_cores = 4;  // the owner's limits over all tasks; both bounds must hold
  double max_memory_bytes = 16 * 1024 * kMiB;
  double observe_days = 14;     // minimum days in observe mode
  double max_days_over = 0.05;  // share of those days with usage above the would-be limit
  double notice_days = 3;
};

// Facts of a job at the end of a day.
struct MigrationFacts {
  int64_t now_s = 0;
  // The owner's limits, or usage where they are unknown, over all tasks.
  double cpu_cores = 0, memory_bytes = 0;
  bool over_today = false;
  // The day was read from history (backfill): it counts, but neither gives notice nor moves the job.
  bool past = false;
};

// Progress of one job.
struct MigrationState {
  uint16_t days = 0, days_over = 0;  // in observe mode
  int64_t notice_s = INT64_MIN;      // time of the notice; INT64_MIN: none
  bool moved = false;
  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);
};

enum class MigrationStep : uint8_t { kNothing, kNotice, kMove, kWithdraw };
// Result of StepMigration.
struct MigrationVerdict {
  MigrationStep step = MigrationStep::kNothing;
  std::string sentence;  // with the numbers; "" for kNothing
};

// Decides about one job at the end of a day. `policy` results from rules and people, without the move itself.
// A job that is not in observe mode starts over. So does a job whose owner opted out, or that grew too large
// or was over its would-be limit too often; the result is kWithdraw if notice had been given. A moved job
// stays moved, even if migration is disabled, until its policy or owner says otherwise.
MigrationVerdict StepMigration(const MigrationSettings& settings, const JobPolicy& policy,
                               const MigrationFacts& facts, MigrationState& state);

}  // namespace taut::brain
