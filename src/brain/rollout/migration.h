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

// Author of the overrides that move a job to mode auto by rule.
inline constexpr std::string_view kMigrationName = "migration";

// Conditions of a move to mode auto.
struct MigrationSettings {
  bool enabled = false;
  double max_cpu_cores = 4;  // highest sums of the owner's limits over all tasks; both bounds must hold
  double max_memory_bytes = 16 * 1024 * kMiB;
  double observe_days = 14;     // minimum days in observe mode
  double max_days_over = 0.05;  // highest share of days in observe mode with usage above the would-be limit
  double notice_days = 3;
};

// Facts of a job at the end of a day.
struct MigrationFacts {
  int64_t now_s = 0;
  // Sums over all tasks of the owner's limits, or of usage if the limits are unknown.
  double cpu_cores = 0, memory_bytes = 0;
  bool over_today = false;
  // True if the day was read from history (backfill). The day counts, but causes neither notice nor move.
  bool past = false;
};

// Progress of one job.
struct MigrationState {
  uint16_t days = 0, days_over = 0;  // days in observe mode; days above the would-be limit among them
  int64_t notice_s = INT64_MIN;      // time of the notice; INT64_MIN before a notice
  bool moved = false;
  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);
};

enum class MigrationStep : uint8_t { kNothing, kNotice, kMove, kWithdraw };
// Result of StepMigration.
struct MigrationVerdict {
  MigrationStep step = MigrationStep::kNothing;
  std::string sentence;  // explanation with the numbers; "" for kNothing
};

// Decides about one job at the end of a day. `policy` is the result of rules and people's settings, without the
// move itself. The count of days restarts if the job is not in observe mode, has grown too large, or was above its
// would-be limit too often. The count also restarts if the owner opted out. The result is then kWithdraw if a
// notice was given. A moved job stays moved, even if migration is disabled, until the job's policy or owner sets
// another mode.
MigrationVerdict StepMigration(const MigrationSettings& settings, const JobPolicy& policy,
                               const MigrationFacts& facts, MigrationState& state);

}  // namespace taut::brain
