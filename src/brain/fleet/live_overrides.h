// People's settings: all of a request or none, first on a copy of the job, in force when they are stored.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/fleet/vertical_pass.h"

namespace taut::brain {

// Settings of one request, for the store before they are in force.
struct PreparedSettings {
  JobId id;
  LiveJob job;                         // as it will be; of its record, a copy
  std::vector<SettingChange> changes;  // with ids
  PassOutput output;
};

class LiveOverrides {
 public:
  LiveOverrides(FleetState& state, VerticalPass& pass, ReplicaPass& replicas)
      : s_(state), pass_(pass), replicas_(replicas) {}

  // What is wrong with a person's settings: keys with what to say of them, all that are wrong; the key is ""
  // of what no single one can break. Empty values take settings back.
  std::vector<KeyValue> Check(JobId id, std::span<const KeyValue> settings) const;
  // The settings and what follows of them (a limit given back), decided but not in force. InvalidArgument
  // says all that is wrong with them. The fleet is as before, and has to stay so until Take.
  absl::StatusOr<PreparedSettings> Prepare(JobId id, std::span<const KeyValue> settings, std::string_view who,
                                           int64_t now_s);
  void Take(PreparedSettings prepared);

 private:
  FleetState& s_;
  VerticalPass& pass_;
  ReplicaPass& replicas_;
};

// Takes in a setting that was stored, without deciding anything.
void RedoSetting(const SettingChange& change, FleetState& state, ReplicaPass& replicas);

}  // namespace taut::brain
