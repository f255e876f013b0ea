// Saves and loads the state of a job's number of tasks. New fields are appended at the end, so the state of an
// older version has fewer fields.
#include <algorithm>
#include <cmath>

#include "brain/fleet/live_replicas.h"
#include "common/base/strings.h"

namespace taut::brain {

std::string LiveReplicas::SavedName() const { return StrCat(info_->name, is_of_cpu() ? "" : "/load"); }

void LiveReplicas::Save(ByteWriter& out) const {
  out.PutString(SavedName());
  out.PutString(SaveReplicaPolicy(info_->name, *policy_));
  order_.gate.Save(out);
  out.Put(capacity_);
  out.Put(running_);
  out.Put(load_.value_or(-1.0));
  out.Put(recommended_.value_or(-1));
  out.PutString(hold_);
  safe_.Save(out);
  std::string size;
  if (sizer_ != nullptr) {
    ByteWriter inner(&size);
    sizer_->Save(inner);
    inner.Put(size_.limit.value_or(-1.0));
    inner.Put(size_.load);
    sizer_->SaveOrders(inner);
  }
  out.PutString(size);
  std::string moves;
  ByteWriter inner(&moves);
  moves_.Save(inner);
  for (const double load : recent_) inner.Put(load);
  out.PutString(moves);
  out.Put(static_cast<uint8_t>(held_.cause));
  out.Put(held_.since_s);
  order_.SaveOutcome(out);
  overload_.Save(out);
  order_.gate.damping.Save(out);
}

void LiveReplicas::LoadMovesOf(std::string_view bytes) {
  ByteReader in(bytes);
  LoadMoves moves;
  if (!moves.Load(in).ok() || in.remaining() != recent_.size() * sizeof(double))
    return;  // the start-up time has changed
  moves_ = moves;
  for (double& load : recent_) load = in.Get<double>();
}

absl::Status LiveReplicas::LoadSize(std::string_view bytes) {
  if (bytes.empty()) return absl::OkStatus();  // the owner set the size
  if (sizer_ == nullptr) {
    capacity_ = task_capacity_;  // the saved capacity belongs to a chosen size
    return absl::OkStatus();
  }
  ByteReader in(bytes);
  if (absl::Status s = sizer_->Load(in); !s.ok()) return s;
  const auto limit = in.Get<double>(), load = in.Get<double>();
  if (absl::Status s = in.status("the size of a job's tasks"); !s.ok()) return s;
  if (in.remaining() > 0) {
    if (absl::Status s = sizer_->LoadOrders(in); !s.ok()) return s;
  }
  const bool possible = std::isfinite(limit) && load >= 0 && std::isfinite(load);
  if (!possible) return absl::DataLossError("the size of a job's tasks: invalid value");
  size_ = {.limit = limit > 0 ? std::optional(limit) : std::nullopt, .load = load};
  return absl::OkStatus();
}

absl::StatusOr<LiveReplicas::Loaded> LiveReplicas::Load(ByteReader& in, const JobPolicy& policy) {
  const std::string_view name = in.GetString();
  const std::string_view state = in.GetString();
  std::unique_ptr<LiveReplicas> out = For(policy);
  const bool same = out != nullptr && out->SavedName() == name;
  if (out == nullptr) out = std::make_unique<LiveReplicas>(ReplicaPolicies().front(), policy.replicas);
  if (absl::Status s = out->order_.gate.Load(in); !s.ok()) return s;
  out->capacity_ = in.Get<double>();
  out->running_ = in.Get<int>();
  if (const auto load = in.Get<double>(); load >= 0) out->load_ = load;
  const auto recommended = in.Get<int>();
  out->hold_ = in.GetString();
  if (in.remaining() > 0) {  // older versions saved no SafeCount
    if (absl::Status s = out->safe_.Load(in); !s.ok()) return s;
  }
  if (in.remaining() > 0) {  // older versions saved no task size
    if (absl::Status s = out->LoadSize(in.GetString()); !s.ok()) return s;
    if (in.remaining() > 0) out->LoadMovesOf(in.GetString());
  }
  if (in.remaining() > 0) {  // older versions saved no hold
    out->held_.cause = static_cast<HoldCause>(in.Get<uint8_t>());
    out->held_.since_s = in.Get<int64_t>();
  }
  if (in.remaining() > 0) {  // older versions did not save the assumed tasks, so tasks count as just ordered
    if (absl::Status s = out->order_.LoadOutcome(in, out->startup_windows()); !s.ok()) return s;
  }
  if (in.remaining() > 0) {  // older versions saved no overloaded windows
    if (absl::Status s = out->overload_.Load(in); !s.ok()) return s;
  }
  if (in.remaining() > 0) out->order_.gate.damping.Load(in);  // older versions saved no ReplicaDamping
  if (absl::Status s = in.status("the state of a job's replicas"); !s.ok()) return s;
  bool possible = out->capacity_ >= 0 && std::isfinite(out->capacity_) && out->running_ >= 0;
  possible = possible && out->held_.cause <= HoldCause::kNoNumber;
  if (!possible) {
    return absl::DataLossError("invalid state of a job's replicas");
  }
  if (!same) {
    out->moves_.Clear();
    std::ranges::fill(out->recent_, -1);
    out->capacity_ = out->task_capacity_;
    out->load_.reset();
    out->safe_ = {};
    out->overload_ = {};  // the replay of the stored history counts these windows again
    return Loaded{std::move(out)};
  }
  if (!out->is_of_cpu()) out->capacity_ = out->task_capacity_;  // the setting may have changed
  absl::StatusOr<std::unique_ptr<ReplicaPolicy>> learnt = LoadReplicaPolicy(state, policy.replicas);
  if (!learnt.ok()) return Loaded{std::move(out), true};
  out->policy_ = *std::move(learnt);
  if (!policy.external) out->policy_->TakeExternal(std::nullopt);
  if (recommended >= 0) out->recommended_ = policy.replicas.bounds.Clamp(recommended);
  return Loaded{std::move(out)};
}

void CopyNotSaved(const LiveReplicas& from, LiveReplicas& to) {
  to.order_.gate.nearest = from.order_.gate.nearest;
  to.order_.gate.rolling = from.order_.gate.rolling;
  to.order_.step_back = from.order_.step_back;
  to.tasks_ = from.tasks_;
  to.count_ = from.count_;
  to.missing_ = from.missing_;
  to.raised_ = from.raised_;
}

bool LiveReplicas::ChangePolicy(const JobPolicy& policy) {
  const std::unique_ptr<LiveReplicas> fresh = For(policy);
  bool keeps = fresh->SavedName() == SavedName() && fresh->startup_windows() == startup_windows();
  std::string state;
  ByteWriter out(&state);
  Save(out);
  ByteReader in(state);
  if (absl::StatusOr<Loaded> loaded = Load(in, policy); loaded.ok()) {
    keeps = keeps && !loaded->has_lost;
    if (keeps) CopyNotSaved(*this, *loaded->replicas);
    *this = std::move(*loaded->replicas);
  }
  if (sizer_ != nullptr) sizer_->WeighAnew();
  return keeps;
}

size_t LiveReplicas::state_bytes() const {
  return sizeof(*this) + policy_->state_bytes() + hold_.capacity() + tasks_.capacity() * sizeof(uint32_t) +
         signals_.capacity() * sizeof(double) + missing_.capacity() +
         order_.assumed.capacity() * sizeof(int) + (sizer_ != nullptr ? sizeof(TaskSizer) : 0);
}

}  // namespace taut::brain
