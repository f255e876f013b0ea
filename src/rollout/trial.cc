// Which tasks a trial takes, what both its sides live, and the state of a gate as bytes.
#include <algorithm>
#include <cmath>

#include "rollout/gate.h"

namespace taut {
namespace {

constexpr double kAtLimit = 0.99;
// Against shares that come to a hair less than the whole number they mean.
constexpr double kHair = 1e-9;
constexpr uint8_t kVersion = 1;

double ShareOf(uint32_t num_tasks, double share) {
  const double one = 1.0 / num_tasks;
  return std::clamp(share, one, 1 - one);
}

void CountTask(const TaskUsage& task, std::optional<double> limit, TrialSide& side) {
  ++side.task_windows;
  side.usage_sum += task.mean;
  if (!limit.has_value()) return;
  side.limit_sum += *limit;
  if (task.peak >= *limit * kAtLimit) ++side.over;
}

void PutAmount(ByteWriter& out, std::optional<double> amount) { out.Put(amount.value_or(-1)); }

// False: no amount that a limit can have.
bool GetAmount(ByteReader& in, std::optional<double>* amount) {
  const double value = in.Get<double>();
  amount->reset();
  if (value == -1) return true;
  *amount = value;
  return std::isfinite(value) && value >= 0;
}

void SaveSide(ByteWriter& out, const TrialSide& side) {
  out.PutVarint(side.task_windows);
  out.PutVarint(side.ooms);
  out.PutVarint(side.over);
  out.Put(side.usage_sum);
  out.Put(side.limit_sum);
}

bool LoadSide(ByteReader& in, TrialSide& side) {
  side.task_windows = in.GetVarint();
  side.ooms = in.GetVarint();
  side.over = in.GetVarint();
  side.usage_sum = in.Get<double>();
  side.limit_sum = in.Get<double>();
  return side.over <= side.task_windows && std::isfinite(side.usage_sum) && std::isfinite(side.limit_sum);
}

bool LoadTrial(ByteReader& in, Trial& trial) {
  trial.limit = in.Get<double>();
  const bool amounts = GetAmount(in, &trial.old_limit) && std::isfinite(trial.limit) && trial.limit >= 0;
  trial.since_s = in.Get<int64_t>();
  const auto watched = in.Get<uint8_t>();
  trial.watched = watched == 1;
  const bool sides = LoadSide(in, trial.tasks) && LoadSide(in, trial.rest);
  return amounts && sides && watched <= 1;
}

}  // namespace

double TrialSide::OverShare() const {
  return task_windows == 0 ? 0 : static_cast<double>(over) / static_cast<double>(task_windows);
}

uint32_t TrialTasks(uint32_t num_tasks, double share) {
  if (num_tasks < 2) return 0;
  return static_cast<uint32_t>(std::floor(num_tasks * ShareOf(num_tasks, share) + kHair));
}

bool InTrial(uint32_t task, uint32_t num_tasks, double share) {
  if (num_tasks < 2) return false;
  const double step = ShareOf(num_tasks, share);
  return std::floor((task + 1.0) * step + kHair) > std::floor(task * step + kHair);
}

void CountTrialWindow(const JobPolicy& policy, const Signal& signal, GateState& state) {
  if (!state.trial.has_value()) return;
  Trial& trial = *state.trial;
  const std::optional<double> rest_limit = trial.old_limit.has_value() ? trial.old_limit : signal.owner_limit;
  for (const TaskUsage& task : signal.tasks) {
    if (trial.watched ||
        InTrial(task.task, static_cast<uint32_t>(signal.tasks.size()), policy.canary.share)) {
      CountTask(task, trial.limit, trial.tasks);
    } else {
      CountTask(task, rest_limit, trial.rest);
    }
  }
}

void CountTrialOom(const JobPolicy& policy, uint32_t task, uint64_t kills, uint32_t num_tasks,
                   GateState& state) {
  if (!state.trial.has_value()) return;
  const bool tried = state.trial->watched || InTrial(task, num_tasks, policy.canary.share);
  (tried ? state.trial->tasks : state.trial->rest).ooms += kills;
}

void GateState::Save(ByteWriter& out) const {
  out.Put(kVersion);
  PutAmount(out, in_force);
  PutAmount(out, shown);
  out.Put(last_change_s);
  out.Put(last_shown_s);
  out.Put(rolled_back_limit);
  out.Put(rolled_back_s);
  out.Put(static_cast<uint8_t>(trial.has_value() ? 1 : 0));
  if (!trial.has_value()) return;
  out.Put(trial->limit);
  PutAmount(out, trial->old_limit);
  out.Put(trial->since_s);
  out.Put(static_cast<uint8_t>(trial->watched ? 1 : 0));
  SaveSide(out, trial->tasks);
  SaveSide(out, trial->rest);
}

absl::Status GateState::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("the state of a rollout is damaged");
  GateState loaded;
  const auto version = in.Get<uint8_t>();
  const bool amounts = GetAmount(in, &loaded.in_force) && GetAmount(in, &loaded.shown);
  loaded.last_change_s = in.Get<int64_t>();
  loaded.last_shown_s = in.Get<int64_t>();
  loaded.rolled_back_limit = in.Get<double>();
  loaded.rolled_back_s = in.Get<int64_t>();
  const auto has_trial = in.Get<uint8_t>();
  if (in.failed() || version != kVersion || !amounts || has_trial > 1) return damaged;
  if (!std::isfinite(loaded.rolled_back_limit) || loaded.rolled_back_limit < 0) return damaged;
  if (has_trial == 1 && (!LoadTrial(in, loaded.trial.emplace()) || in.failed())) return damaged;
  *this = loaded;
  return absl::OkStatus();
}

}  // namespace taut
