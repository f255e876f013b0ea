// The version of the program that a job runs, and the time since which the job runs it. A deployment begins a
// new version.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut {

struct JobVersion {
  std::string name;                // name such as the container's image, "web:1.3"; "": unknown
  std::optional<int64_t> since_s;  // Unix time; absent: the version already ran when the job was first seen
  // Other versions that some tasks still ran when this version began, or have run since.
  std::vector<std::string> beside;

  bool operator==(const JobVersion&) const = default;
};

// Parses "web:1.3 since 2026-11-25T12:00:00Z beside web:1.2,web:1.1"; absent parts are left out, and "" is an
// unknown version. InvalidArgument for other text.
absl::StatusOr<JobVersion> ParseJobVersion(std::string_view text);
// Returns text that ParseJobVersion parses to the same version. Blanks and commas in names become '_'.
std::string JobVersionText(const JobVersion& version);

// Returns the version after `before` when, at Unix time `now_s`, tasks run the versions `present` (sorted,
// distinct):
//  - If the version was unknown, the first version is recorded without a time. A later change is recorded with
//    `now_s`.
//  - A version that is neither the current version nor in `beside` begins, even if tasks ran it earlier.
//  - If no task runs the current version, a remaining version begins, as after a rollback in the middle of a
//    rollout.
//  - Otherwise the version stays, as in a rollout that never completes.
//  - Versions that no task runs are removed from `beside`.
// An empty `present` contains no information and changes nothing.
JobVersion NextVersion(const JobVersion& before, std::span<const std::string> present, int64_t now_s);

}  // namespace taut
