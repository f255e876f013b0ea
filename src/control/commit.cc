// Store, apply, tell: in this order.
#include <algorithm>

#include "control/control_plane.h"
#include "control/trials.h"
#include "control/unsaved.h"

namespace taut {

absl::Status ControlPlane::CommitUnsaved() {
  if (unsaved_->empty()) return absl::OkStatus();
  if (absl::Status s = StoreUnsaved(); !s.ok()) return s;
  TellStored();
  return absl::OkStatus();
}

absl::Status ControlPlane::StoreUnsaved() {
  absl::Status s = parts_.store->Commit(unsaved_->Record());
  const std::lock_guard lock(view_mutex_);
  store_status_ = s;
  ++(s.ok() ? counts_.commits : counts_.failed_commits);
  return s;
}

void ControlPlane::TellStored() {
  const bool decided =
      !unsaved_->output.decisions.empty() || !unsaved_->settings.empty() || !unsaved_->forgotten_jobs.empty();
  if (unsaved_->window.has_value()) {
    RefreshView(&unsaved_->output.point);
  } else if (decided) {
    RefreshView(nullptr);
  }
  Publish();
  unsaved_->Clear();
}

void ControlPlane::Publish() {
  const std::vector<Decision>& decisions = unsaved_->output.decisions;
  ApplyPending(decisions);
  ExtendTrials();
  if (!unsaved_->pasts.empty()) {
    const std::unique_lock fleet(fleet_mutex_);
    for (const JobPast& past : unsaved_->pasts) {
      if (past.state.has_value()) pasts_[past.job.value] = *past.state;
    }
  }
  {
    const std::lock_guard lock(view_mutex_);
    counts_.decisions += decisions.size();
    counts_.forgotten_jobs += unsaved_->forgotten_jobs.size();
    counts_.returned_jobs += unsaved_->returned_jobs.size();
    for (const Decision& d : decisions) ++counts_.decisions_by_kind[static_cast<size_t>(d.kind)];
    counts_.replica_step_backs += unsaved_->output.step_backs.size();
    for (const OomRecord& o : unsaved_->ooms) counts_.ooms += o.kills;
  }
  const TickEvents events{decisions,
                          unsaved_->ooms,
                          unsaved_->settings,
                          unsaved_->window.has_value(),
                          unsaved_->when == When::kPast,
                          unsaved_->output.step_backs,
                          unsaved_->window.has_value() ? &*unsaved_->window : nullptr};
  for (const auto& listener : listeners_) listener(events);
}

void ControlPlane::ApplyPending(std::span<const Decision> decisions) {
  std::vector<TargetOrder> orders;
  // Of decisions on OOM kills by the clock of who saw them, which may go before.
  int64_t decided_s = now().seconds();
  for (const Decision& d : decisions) {
    if (d.kind == DecisionKind::kWouldSet || d.outcome != Outcome::kPending) continue;
    TargetOrder order{d.id, "", d.target, d.after, {}};
    decided_s = std::max(decided_s, d.time_s);
    const std::shared_lock fleet(fleet_mutex_);
    if (!fleet_.Has(d.job)) continue;
    const LiveJob& job = fleet_.job(d.job);
    order.job = job.record.name;
    if (d.kind == DecisionKind::kTry) {
      order.tasks = TrialNames(job.of(d.target.resource()).gate, d.id);
    } else if (d.kind == DecisionKind::kRollBack && !d.tasks.empty()) {
      order.tasks = d.tasks;
    }
    orders.push_back(std::move(order));
  }
  if (!orders.empty()) parts_.actuator->Apply(orders, decided_s);
}

absl::Status ControlPlane::StoreOutcomes() {
  std::vector<OutcomeUpdate> outcomes = parts_.actuator->TakeOutcomes();
  const int64_t now_s = now().seconds();
  if (!outcomes.empty()) {
    const std::unique_lock fleet(fleet_mutex_);
    for (const OutcomeUpdate& o : outcomes) fleet_.TakeOutcome(o);
  }
  for (OutcomeUpdate& o : outcomes) {
    if (o.time_s == 0) o.time_s = now_s;
    unsaved_->outcomes.push_back(std::move(o));
  }
  return CommitUnsaved();
}

}  // namespace taut
