#include "server/control/committer.h"

#include <algorithm>
#include <iterator>

#include "common/base/probe.h"
#include "server/control/trials.h"

namespace taut::server {

absl::Status Committer::Commit() {
  if (unsaved_.empty()) return absl::OkStatus();
  if (absl::Status s = StoreUnsaved(); !s.ok()) return s;
  TellStored();
  return absl::OkStatus();
}

absl::Status Committer::StoreUnsaved() {
  // The store precedes the actuator and the listeners: a decision on which they act must survive a kill.
  // Otherwise a restart would decide again, with another result.
  absl::Status s = parts_.store.Commit(unsaved_.Record());
  parts_.status.NoteStore(s);
  parts_.status.Count([&](ControlCounts& counts) { ++(s.ok() ? counts.commits : counts.failed_commits); });
  return s;
}

void Committer::TellStored() {
  const bool decided =
      !unsaved_.output.decisions.empty() || !unsaved_.settings.empty() || !unsaved_.forgotten_jobs.empty();
  if (unsaved_.window.has_value()) {
    parts_.views.Refresh(&unsaved_.output.point);
  } else if (decided) {
    parts_.views.Refresh(nullptr);
  }
  // The snapshot is published before the listeners are called: a front end that is notified of a decision
  // must find the decision in the snapshot.
  Publish();
  unsaved_.Clear();
}

void Committer::Publish() {
  const std::vector<Decision>& decisions = unsaved_.output.decisions;
  ApplyPending(decisions);
  if (!decisions.empty()) {
    const int64_t now_s = parts_.ingest.time.now().seconds();
    const auto fleet = parts_.fleet.Write();
    for (const Decision& d : decisions) fleet->orders.NoteSent(d, now_s);
  }
  if (!decisions.empty()) NotePublished(decisions.back().id);
  // New tasks of a running trial receive the trial's limit by an extension of the trial's first order, with
  // the same decision ID.
  const std::vector<TargetOrder> extended = TrialExtensions(parts_.fleet, unsaved_);
  if (!extended.empty()) parts_.actuator.Apply(extended, parts_.ingest.time.now().seconds());
  parts_.status.Count([&](ControlCounts& counts) {
    counts.decisions += decisions.size();
    counts.forgotten_jobs += unsaved_.forgotten_jobs.size();
    counts.returned_jobs += unsaved_.returned_jobs.size();
    for (const Decision& d : decisions) ++counts.decisions_by_kind[static_cast<size_t>(d.kind)];
    counts.replica_step_backs += unsaved_.output.step_backs.size();
    for (const OomRecord& o : unsaved_.ooms) counts.ooms += o.kills;
    for (const TierAct& a : unsaved_.tier_acts) {
      if (!a.observed) ++counts.tier_acts[static_cast<size_t>(a.tier)][static_cast<size_t>(a.kind)];
    }
  });
  const TickEvents events{.decisions = decisions,
                          .ooms = unsaved_.ooms,
                          .tier_acts = unsaved_.tier_acts,
                          .settings = unsaved_.settings,
                          .past = unsaved_.when == brain::When::kPast,
                          .step_backs = unsaved_.output.step_backs,
                          .holds = unsaved_.output.holds,
                          .pasts = unsaved_.pasts,
                          .window = unsaved_.window.has_value() ? &*unsaved_.window : nullptr,
                          .outcomes = unsaved_.outcomes};
  for (const auto& listener : listeners_) listener(events);
}

// Returns nullopt if the job is forgotten, or the decision contains no order.
std::optional<TargetOrder> Committer::OrderOf(const Decision& d) const {
  if (d.kind == DecisionKind::kWouldSet) return std::nullopt;
  const auto fleet = parts_.fleet.Read();
  if (!fleet->Has(d.job)) {
    TAUT_PROBE("an order for a job that was forgotten");
    return std::nullopt;
  }
  const brain::LiveJob& job = fleet->job(d.job);
  TargetOrder order{d.id, job.record->name, d.target, d.after, {}, d.outcome, job.record->workload()};
  if (d.kind == DecisionKind::kTry) {
    order.tasks = TrialNames(job.of(d.target.resource()).gate, d.id);
  } else if (d.kind == DecisionKind::kRollBack && !d.tasks.empty()) {
    order.tasks = d.tasks;
  }
  return order;
}

void Committer::ApplyPending(std::span<const Decision> decisions) {
  std::vector<TargetOrder> orders;
  // The decision on an OOM kill has the time of the observer's clock, which may be ahead of the cell's clock.
  // The time of an order must not precede the time of its decision.
  int64_t decided_s = parts_.ingest.time.now().seconds();
  for (const Decision& d : decisions) {
    if (d.outcome != Outcome::kPending) continue;
    std::optional<TargetOrder> order = OrderOf(d);
    if (!order.has_value()) continue;
    decided_s = std::max(decided_s, d.time_s);
    orders.push_back(*std::move(order));
  }
  if (!orders.empty()) parts_.actuator.Apply(orders, decided_s);
}

void Committer::ApplyAgain(std::span<const Decision> decisions) {
  std::vector<TargetOrder> orders;
  int64_t decided_s = 0;
  for (const Decision& d : decisions) {
    // Superseded orders, and orders of a dry run, have no effect that must be restored.
    if (d.outcome == Outcome::kSuperseded || d.outcome == Outcome::kDryRun) {
      TAUT_PROBE("an order that was replaced is not sent again");
      continue;
    }
    std::optional<TargetOrder> order = OrderOf(d);
    if (!order.has_value()) continue;
    decided_s = std::max(decided_s, d.time_s);
    orders.push_back(*std::move(order));
  }
  if (!orders.empty()) parts_.actuator.Apply(orders, decided_s);
}

absl::Status Committer::StoreOutcomes() {
  std::vector<OutcomeUpdate> outcomes = parts_.actuator.TakeOutcomes();
  const int64_t now_s = parts_.ingest.time.now().seconds();
  for (OutcomeUpdate& o : outcomes) {
    // With `clock: samples`, an actuator's clock may be years ahead of the cell's clock. A kill at the new
    // limit would then be attributed to the previous limit.
    o.time_s = o.time_s == 0 ? now_s : std::min(o.time_s, now_s);
  }
  if (!outcomes.empty()) {
    const auto fleet = parts_.fleet.Write();
    for (const OutcomeUpdate& o : outcomes) fleet->orders.TakeOutcome(o);
  }
  std::ranges::move(outcomes, std::back_inserter(unsaved_.outcomes));
  return Commit();
}

absl::Status Committer::CheckStore() {
  absl::Status checked = parts_.store.Check();
  if (checked.ok() && !store_was_gone_) return checked;
  store_was_gone_ = !checked.ok();
  parts_.status.NoteStore(checked);
  return checked;
}

}  // namespace taut::server
