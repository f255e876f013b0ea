// The engine of a running cell: processes windows and OOM kills, and returns decisions. The engine uses the same
// lanes, fleet models and gate as a replay, and has no I/O, clock or threads. The caller stores, applies and
// shows the decisions.
#pragma once

#include "brain/fleet/departures.h"
#include "brain/fleet/fleet_state.h"
#include "brain/fleet/live_checkpoint.h"
#include "brain/fleet/live_external.h"
#include "brain/fleet/live_history.h"
#include "brain/fleet/live_kills.h"
#include "brain/fleet/live_orders.h"
#include "brain/fleet/live_overrides.h"
#include "brain/fleet/live_owners.h"
#include "brain/fleet/live_restore.h"
#include "brain/fleet/live_risk.h"
#include "brain/fleet/live_trials.h"
#include "brain/fleet/replica_pass.h"
#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// The state, and one object per topic that changes the state. Not thread-safe. Several threads may read a const
// reference while no thread writes.
struct LiveFleet : FleetState {
  explicit LiveFleet(const LiveSettings& its_settings) : FleetState(its_settings) {}
  // Replaces rules and settings, for example after a reload of the configuration. Lanes with a new recommender
  // then need history.
  void Reload(const LiveSettings& its_settings);

  ReplicaPass replicas{*this};                       // decides numbers of tasks
  LiveTrials trials{*this};                          // tracks limits on some of a job's tasks
  LiveRisk risk{*this};                              // counts promised and delivered risk
  VerticalPass pass{*this, replicas, trials, risk};  // steps the lanes for a closed window
  LiveKills kills{*this, pass, risk};
  LiveOrders orders{*this, replicas, trials};
  LiveOwners owners{*this, pass, replicas};        // applies labels that are settings
  LiveOverrides overrides{*this, pass, replicas};  // applies settings made by people
  LiveExternal external{*this, pass, replicas};
  LiveHistory history{*this, replicas};
  LiveDepartures departures{*this, replicas};
  LiveCheckpoint checkpoint{*this, history, trials};
  LiveRestore restore{*this, pass, replicas, trials, kills, owners};
};

}  // namespace taut::brain
