#include "brain/fleet/replica_order.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"

namespace taut::brain {

bool ReplicaOrder::TakeOutcome(uint64_t decision, Outcome outcome) {
  if (decision != id || outcome == Outcome::kPending || outcome == Outcome::kSuperseded) return false;
  const bool has_failed = outcome == Outcome::kFailed;
  const bool is_dry_run = has_failed ? dry_run : outcome == Outcome::kDryRun;
  const bool changes = has_failed != failed || is_dry_run != dry_run;
  failed = has_failed;
  dry_run = is_dry_run;
  return changes;
}

void ReplicaOrder::NoteRunning(const RunningTasks& running) {
  step_back = taut::brain::NoteRunning(running, gate);
  if (gate.reached || step_back.has_value()) failed = false;
}

void ReplicaOrder::CountOtherwise() {
  gate.reached = false;
  gate.elsewhere = gate.unreached = 0;
  gate.nearest = -1;
}

int ReplicaOrder::AssumedReady(int ready, int count, size_t startup_windows) {
  const bool is_carried_out = gate.in_force.has_value() ? !dry_run : !gate.shown.has_value();
  if (is_carried_out) {
    assumed.clear();
    return ready;
  }
  // Without a history of assumed tasks, the currently ready tasks are assumed for the whole start-up time.
  if (assumed.empty()) assumed.assign(startup_windows - 1, ready);
  assumed.push_back(count);
  if (assumed.size() > startup_windows) assumed.erase(assumed.begin());
  // The newest tasks stop first, so the minimum over the start-up time is the number of tasks that have run for
  // the whole start-up time.
  const int started = *std::ranges::min_element(assumed);
  return gate.in_force.has_value() ? std::max(started, ready) : started;
}

Verdict ReplicaOrder::Decide(const JobPolicy& policy, ReplicaProposal proposal) {
  proposal.repeats =
      failed && gate.in_force.has_value() && proposal.now_s - gate.last_change_s >= kRepeatFailedSeconds;
  return DecideReplicas(policy, proposal, gate);
}

std::string ReplicaOrder::FailedText() const {
  if (!failed || !gate.in_force.has_value()) return "";
  return StrCat("the order of ", FormatAmount(Target::Replicas(), *gate.in_force),
                " failed, as its decision says; it is given again at ",
                FormatTime(gate.last_change_s + kRepeatFailedSeconds), " UTC");
}

void ReplicaOrder::DistrustFuture(int64_t latest_s, int64_t now_s) {
  if (gate.last_change_s > latest_s) gate.last_change_s = now_s;
  if (gate.step_back_until_s > latest_s + kStepBackSeconds) gate.step_back_until_s = now_s;
}

void ReplicaOrder::SaveOutcome(ByteWriter& out) const {
  out.Put(static_cast<uint8_t>((dry_run ? 1 : 0) | (failed ? 2 : 0)));
  out.Put(id);
  out.PutVarint(assumed.size());
  for (const int count : assumed) out.Put(count);
}

absl::Status ReplicaOrder::LoadOutcome(ByteReader& in, size_t startup_windows) {
  const auto what = in.Get<uint8_t>();
  dry_run = (what & 1) != 0;
  failed = (what & 2) != 0;
  id = in.Get<uint64_t>();
  const uint64_t size = in.GetVarint();
  bool possible = size <= in.remaining() / sizeof(int);
  assumed.assign(possible ? size : 0, 0);
  for (int& count : assumed) {
    count = in.Get<int>();
    possible = possible && count >= 0;
  }
  if (!possible) return absl::DataLossError("the tasks assumed of a job: invalid value");
  // The state was saved with a longer start-up time.
  if (assumed.size() > startup_windows)
    assumed.erase(assumed.begin(), assumed.end() - static_cast<std::ptrdiff_t>(startup_windows));
  return absl::OkStatus();
}

}  // namespace taut::brain
