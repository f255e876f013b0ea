// Settings made by people. A request takes effect as a whole or not at all: it is first applied to a copy of
// the job, and to the job itself once it is stored.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// Settings of one request, prepared for the store before they are in force.
struct PreparedSettings {
  JobId id;
  LiveJob job;                         // the job with the settings applied; its record is a copy
  std::vector<SettingChange> changes;  // with ids
  PassOutput output;
};

// Not thread-safe.
class LiveOverrides {
 public:
  LiveOverrides(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // Returns the errors of a person's settings as (key, message), all of them; the key is "" for an error of
  // the combination. An empty value removes an override.
  std::vector<KeyValue> Check(JobId id, std::span<const KeyValue> settings) const;
  // Computes the effect of the settings (such as releasing a limit) on a copy of the job. Returns NotFound if
  // the job is unknown, InvalidArgument with all errors if settings are invalid. The fleet does not change,
  // and must not change until Take.
  absl::StatusOr<PreparedSettings> Prepare(JobId id, std::span<const KeyValue> settings, std::string_view who,
                                           int64_t now_s);
  // Puts prepared settings into force. REQUIRES: nothing changed since Prepare.
  void Take(PreparedSettings prepared);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

// Applies a stored setting without making decisions.
void RedoSetting(const SettingChange& change, FleetState& state, ReplicaPass& replicas);

}  // namespace taut::brain
