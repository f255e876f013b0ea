// The settings file that `taut tune --replicas` writes and `taut replay --replicas` reads: YAML with the job
// settings replicas.*, as under `set` in a rule of tautd.
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
  brain::JobPolicy policy;        // the defaults with the settings of the file applied
  std::vector<std::string> keys;  // keys in the file, such as "replicas.startup"

  bool has(std::string_view key) const;
};

// Parses settings. `defaults` contains the values of missing settings, and the named signals that expressions
// may use. Returns InvalidArgument "name:line: error" if the text is invalid. Does not check settings against each
// other.
absl::StatusOr<ReplicaFile> ParseReplicaFile(std::string_view yaml, std::string_view name,
                                             const brain::JobPolicy& defaults);
// Reads and parses the file. Returns NotFound if the file cannot be read, else the errors of ParseReplicaFile.
absl::StatusOr<ReplicaFile> ReadReplicaFile(const std::string& path, const brain::JobPolicy& defaults);

}  // namespace taut::server
