// The replica policies there are, by name. One plain table; nothing registers itself.
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
  std::string_view what;                                                    // one line for people
  std::unique_ptr<ReplicaPolicy> (*make)(const ReplicaSettings& settings);  // without the schedule
  // The first part of the keys of the settings that it reads, "hpa" of "hpa.target"; "replicas" apart.
  std::span<const std::string_view> groups;
  // The utilisation of its tasks' capacity that the policy fills at most; 0 < share <= 1.
  double (*utilization)(const ReplicaSettings& settings);
  // What `taut tune --replicas` sweeps by default, as key=value,value; empty: it is not swept.
  std::span<const std::string_view> sweep;
};
// All of them, in the order they are shown.
std::span<const ReplicaPolicyInfo> ReplicaPolicies();
// InvalidArgument naming the choices.
absl::StatusOr<const ReplicaPolicyInfo*> FindReplicaPolicy(std::string_view name);

// One with these settings, its schedule included.
std::unique_ptr<ReplicaPolicy> NewReplicaPolicy(const ReplicaPolicyInfo& info,
                                                const ReplicaSettings& settings);

// A policy of this name with its state as bytes, and back with settings that may have changed: NotFound for a
// policy that does not exist any more, else as ReplicaPolicy::Load.
std::string SaveReplicaPolicy(std::string_view name, const ReplicaPolicy& policy);
absl::StatusOr<std::unique_ptr<ReplicaPolicy>> LoadReplicaPolicy(std::string_view bytes,
                                                                 const ReplicaSettings& settings);

}  // namespace taut::brain
