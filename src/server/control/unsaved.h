// State that is decided but not stored yet. The state is published only after the store has accepted it.
#pragma once

#include <optional>
#include <vector>

#include "brain/fleet/live_fleet.h"
#include "server/store/store.h"

namespace taut::server {

struct Unsaved {
  std::optional<ClosedWindow> window;
  std::vector<JobRecord> new_jobs;
  std::vector<JobId> forgotten_jobs;
  std::vector<JobRecord> returned_jobs;
  std::vector<JobRecord> relabelled_jobs;
  int64_t forgotten_s = 0;
  std::vector<OomRecord> ooms;
  std::vector<TierAct> tier_acts;
  std::vector<OutcomeUpdate> outcomes;
  std::vector<SettingChange> settings;
  std::vector<Checkpoint> checkpoints;
  std::vector<JobPast> pasts;
  std::vector<AccountEntry> account;      // entries of the closed window
  std::vector<LateAccount> late_account;  // entries of `pasts`
  std::vector<JobId> trials;              // PassOutput::trials; orders of running trials are extended
  brain::PassOutput output;
  brain::When when = brain::When::kNow;  // current or historical: kind of the window or OOM kills

  // Returns true if there is nothing to store.
  bool empty() const {
    return !window.has_value() && new_jobs.empty() && forgotten_jobs.empty() && returned_jobs.empty() &&
           relabelled_jobs.empty() && ooms.empty() && tier_acts.empty() && outcomes.empty() &&
           settings.empty() && checkpoints.empty() && pasts.empty() && output.decisions.empty() &&
           output.settings.empty();
  }
  // Returns the record to commit, which points into this object.
  PassRecord Record() const {
    PassRecord record;
    record.window = window.has_value() ? &*window : nullptr;
    record.new_jobs = new_jobs;
    record.forgotten_jobs = forgotten_jobs;
    record.returned_jobs = returned_jobs;
    record.relabelled_jobs = relabelled_jobs;
    record.forgotten_s = forgotten_s;
    record.decisions = output.decisions;
    record.outcomes = outcomes;
    record.ooms = ooms;
    record.tier_acts = tier_acts;
    record.settings = settings;
    record.checkpoints = checkpoints;
    record.pasts = pasts;
    record.account = account;
    record.late_account = late_account;
    record.fleet = window.has_value() ? &output.point : nullptr;
    return record;
  }
  // Clears all members except the fleet's counts between two windows, which the next window publishes.
  void Clear() {
    const FleetPoint between = window.has_value() ? FleetPoint() : output.point;
    *this = Unsaved();  // frees memory, too: the first hour makes decisions for every job at once
    output.point.oom_kills = between.oom_kills;
    output.point.changes = between.changes;
  }
};

}  // namespace taut::server
