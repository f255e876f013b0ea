// The settings of a job that are fields of JobPolicy, as rows. ReplicaSettingsTable() has the settings of the
// replica policies.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "brain/rollout/job_policy.h"
#include "brain/rollout/rules.h"

namespace taut::brain {

using JobField = std::variant<Mode*, Policy*, std::optional<Policy>*, JobClass*, OomTolerance*, AppliesTo*,
                              double*, std::optional<double>*, std::vector<MaintenanceWindow>*, bool*,
                              std::string_view*, SizeBy*, AllowedRange*, JobVersion*, MemorySignal*>;

// A setting that is a field of JobPolicy.
struct JobFieldRow {
  std::string_view key, help;
  SettingKind kind;
  // Choices for kChoice, else null. The position of a choice is its enum value.
  std::vector<std::string_view> (*choices)();
  JobField (*field)(JobPolicy&);
  double min = 0, max = 0;    // bounds of numbers, in the unit that people write
  double scale = 1;           // (value in the unit that people write) = (value of the field) * scale
  std::string_view was = {};  // former key of the setting; "" if the key has not changed
};
std::span<const JobFieldRow> JobFieldRows();

// Choice of replicas.policy that leaves the number of tasks to the owner. JobPolicy::replica_policy is then "".
inline constexpr std::string_view kNoReplicaPolicy = "none";

}  // namespace taut::brain
