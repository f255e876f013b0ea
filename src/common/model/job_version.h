// The version of its program that a job runs, and since when. A deployment begins a new one.
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
  std::string name;                // such as the container's image, "web:1.3"; "": unknown
  std::optional<int64_t> since_s;  // Unix time; absent: it already ran when the job was first seen
  // Other versions that tasks still ran when this one began, or have run besides it since.
  std::vector<std::string> beside;

  bool operator==(const JobVersion&) const = default;
};

// Parses "web:1.3 since 2026-11-25T12:00:00Z beside web:1.2,web:1.1"; absent parts are left out, "" is no
// version. InvalidArgument for other text.
absl::StatusOr<JobVersion> ParseJobVersion(std::string_view text);
// Returns text that ParseJobVersion parses to the same version. Blanks and commas in names become '_'.
std::string JobVersionText(const JobVersion& version);

// Returns the version after `before` when, at Unix time `now_s`, tasks run the versions `present` (sorted,
// distinct):
//  - If the version was unknown, the first one is recorded without a begin; afterwards a change has one.
//  - A version that is neither the current one nor beside it begins, even if it has run before and was gone since.
//  - If the current version is gone, a remaining one begins, as after a rollback in the middle of a rollout.
//  - Else the version stays, as in a rollout that never completes. Versions that are gone leave `beside`.
// If `present` is empty, nothing is known and nothing changes.
JobVersion NextVersion(const JobVersion& before, std::span<const std::string> present, int64_t now_s);

}  // namespace taut
