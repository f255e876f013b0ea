// Between a recommended number of tasks and an order: modes, maintenance windows, and other programs that set
// the number. Arithmetic only.
//
// A higher number never waits: it can only help the job. A lower one waits for a maintenance window and for
// replicas.change_period since the last change. Mode canary is mode auto: a trial of some tasks has no meaning
// for their number. The policies themselves skip small changes.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "base/bytes.h"
#include "rollout/gate.h"
#include "rollout/job_policy.h"

namespace taut {

struct ReplicaGateState {
  std::optional<int> in_force;  // ordered by Tautline; absent: the owner's number stands
  std::optional<int> shown;     // mode observe: what was said last
  int64_t last_change_s = INT64_MIN;
  // The job has run `in_force` tasks since it was ordered.
  bool reached = false;
  // Windows in a row, after that, with another number of tasks.
  uint8_t elsewhere = 0;
  int64_t step_back_until_s = INT64_MIN;

  // What a policy takes as the number of tasks: the ordered or shown one, so that it sees what it asked for
  // also while tasks start or stop, or where nothing is carried out.
  std::optional<int> assumed() const { return in_force.has_value() ? in_force : shown; }

  void Save(ByteWriter& out) const;
  // DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);
};

// Another program has set the number if it differs from the ordered one for this many windows after it was
// reached; no order is given for this time then.
inline constexpr int kForeignWindows = 2;
inline constexpr int64_t kStepBackSeconds = 3600;

struct ReplicaProposal {
  int64_t now_s = 0;
  int running = 0;                 // tasks in the window closed last, as noted
  std::optional<int> recommended;  // absent: none yet
};

// A window was measured, in which so many tasks ran. Before DecideReplicas.
void NoteRunning(int running, int64_t now_s, ReplicaGateState& state);

// Takes the verdict into `state`. Its `before` and `after` are numbers of tasks.
Verdict DecideReplicas(const JobPolicy& policy, const ReplicaProposal& proposal, ReplicaGateState& state);

// A decision made before a stop and stored: brings `state` to where DecideReplicas left it then.
void Redo(const Decision& decision, ReplicaGateState& state);

}  // namespace taut
