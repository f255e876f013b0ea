// The table of replica policies, each found by its name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

struct ReplicaPolicyInfo {
  std::string_view name;
  std::string_view what;  // human-readable description of one line
  // creates the policy without the schedule
  std::unique_ptr<ReplicaPolicy> (*make)(const ReplicaSettings& settings);
  // First parts of the keys of the settings that the policy reads ("hpa" for "hpa.target"), except "replicas",
  // which all policies read.
  std::span<const std::string_view> groups;
  // Returns the highest utilisation of a task's capacity that the policy plans for, in (0, 1].
  double (*utilization)(const ReplicaSettings& settings);
  // Settings that `taut tune --replicas` sweeps by default, as key=value,value; empty: the policy is not
  // swept.
  std::span<const std::string_view> sweep;
};
// Returns all policies in the order of their display.
std::span<const ReplicaPolicyInfo> ReplicaPolicies();
// Returns the row with this name. InvalidArgument lists the choices.
absl::StatusOr<const ReplicaPolicyInfo*> FindReplicaPolicy(std::string_view name);

// Creates a policy with these settings, including the schedule.
std::unique_ptr<ReplicaPolicy> NewReplicaPolicy(const ReplicaPolicyInfo& info,
                                                const ReplicaSettings& settings);

// SaveReplicaPolicy saves a policy with its name. LoadReplicaPolicy loads the policy with possibly changed
// settings. Returns NotFound for a name that no longer exists, else the errors of ReplicaPolicy::Load.
std::string SaveReplicaPolicy(std::string_view name, const ReplicaPolicy& policy);
absl::StatusOr<std::unique_ptr<ReplicaPolicy>> LoadReplicaPolicy(std::string_view bytes,
                                                                 const ReplicaSettings& settings);

}  // namespace taut::brain
