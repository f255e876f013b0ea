// The settings file that `taut tune --replicas` writes and `taut replay --replicas` reads: YAML of the job
// settings replicas.*, as under `set` of a rule of tautd.
//
//   replicas.policy: hpa
//   replicas.hpa.target: "0.6"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"

namespace taut::server {

struct ReplicaFile {
  brain::JobPolicy policy;        // what was given, over what it is read into
  std::vector<std::string> keys;  // that are in the file: "replicas.startup"

  bool has(std::string_view key) const;
};

// Over `defaults`, which has the named signals that expressions may read. InvalidArgument "name:line: what is
// wrong"; the settings are not checked against each other yet.
absl::StatusOr<ReplicaFile> ParseReplicaFile(std::string_view yaml, std::string_view name,
                                             const brain::JobPolicy& defaults);
absl::StatusOr<ReplicaFile> ReadReplicaFile(const std::string& path, const brain::JobPolicy& defaults);

}  // namespace taut::server
