// Rows of a job's settings that are fields of its JobPolicy. The settings of its replica policy are in
// ReplicaSettingsTable().
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

// One setting that is a field of JobPolicy.
struct JobFieldRow {
  std::string_view key, help;
  SettingKind kind;
  std::vector<std::string_view> (*choices)();  // for kChoice, else null; a choice's position is its value
  JobField (*field)(JobPolicy&);
  double min = 0, max = 0;    // for numbers, in the unit that people write
  double scale = 1;           // value in the people's unit = value in the struct * scale
  std::string_view was = {};  // former key of the setting; "": the key has not changed
};
std::span<const JobFieldRow> JobFieldRows();

// Choice of replicas.policy that leaves the number of tasks to the owner; the choice's value is "".
inline constexpr std::string_view kNoReplicaPolicy = "none";

}  // namespace taut::brain
