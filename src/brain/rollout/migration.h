// Moving small jobs from observe to auto by rule, with notice and opt-out (Autopilot §5.3 moved its small
// jobs so).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/rollout/job_policy.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Who moved a job to auto by rule, as its override says.
inline constexpr std::string_view kMigrationName = "migration";

struct MigrationSettings {
  bool enabled = false;
  double max_cpu_cores = 4;  // of the owner's limits over all tasks, both must hold
  double max_memory_bytes = 16 * 1024 * kMiB;
  double observe_days = 14;     // so long in observe first
  double max_days_over = 0.05;  // share of those days with usage above the would-be limit
  double notice_days = 3;
};

// What is known of a job when a day ends.
struct MigrationFacts {
  int64_t now_s = 0;
  double cpu_cores = 0, memory_bytes = 0;  // owner's limits, or usage where not known, over all tasks
  bool over_today = false;
  // The day is read from history (backfill): it counts, but gives no notice and moves no job.
  bool past = false;
};

struct MigrationState {
  uint16_t days = 0, days_over = 0;  // in observe
  int64_t notice_s = INT64_MIN;      // given
  bool moved = false;
  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);
};

enum class MigrationStep : uint8_t { kNothing, kNotice, kMove, kWithdraw };
struct MigrationVerdict {
  MigrationStep step = MigrationStep::kNothing;
  std::string sentence;  // with the numbers; "" for nothing
};

// Once a day and job, with the policy that rules and people make: a caller that lets `moved` stand for mode
// auto passes it as it was before. A job that is not in observe by its policy starts over; so does one whose
// owner opted out or that grew too large or was over too often, with kWithdraw if notice was given. A job
// that was moved stays so until its policy or its owner says otherwise, also when migration is switched off.
MigrationVerdict StepMigration(const MigrationSettings& settings, const JobPolicy& policy,
                               const MigrationFacts& facts, MigrationState& state);

}  // namespace taut::brain
