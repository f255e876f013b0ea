// Settings made by people. All settings of a request take effect, or none: they are first applied to a copy of
// the job, and to the job itself after they are stored.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// Settings of one request, ready to be stored, but not in force yet.
struct PreparedSettings {
  JobId id;
  LiveJob job;                         // copy of the job with the settings applied
  std::vector<SettingChange> changes;  // changes, each with an id
  PassOutput output;
};

// Checks and applies settings. Not thread-safe.
class LiveOverrides {
 public:
  LiveOverrides(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // Returns all errors of the settings as (key, message); the key is "" for an error of the combination. An
  // empty value removes an override.
  std::vector<KeyValue> Check(JobId id, std::span<const KeyValue> settings) const;
  // Computes the effect of the settings, such as the release of a limit, on a copy of the job. Returns NotFound
  // for an unknown job, InvalidArgument with all errors for invalid settings. Does not change the fleet, which
  // must not change until Take.
  absl::StatusOr<PreparedSettings> Prepare(JobId id, std::span<const KeyValue> settings, std::string_view who,
                                           int64_t now_s);
  // Applies prepared settings to the job. REQUIRES: nothing changed since Prepare.
  void Take(PreparedSettings prepared);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

// Applies a stored setting without making decisions.
void RedoSetting(const SettingChange& change, FleetState& state, ReplicaPass& replicas);

}  // namespace taut::brain
