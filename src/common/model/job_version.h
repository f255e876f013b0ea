// Which version of its program a job runs, and since when: what begins with a deployment.
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
  std::string name;                // such as the image of its container, "web:1.3"; "": not known
  std::optional<int64_t> since_s;  // Unix time; absent: it ran when the job was first seen
  // Others that tasks still ran when it began, or have run beside it since.
  std::vector<std::string> beside;

  bool operator==(const JobVersion&) const = default;
};

// "web:1.3 since 2026-11-25T12:00:00Z beside web:1.2,web:1.1"; what is not there is left out. "" is no version.
// InvalidArgument says what is wrong.
absl::StatusOr<JobVersion> ParseJobVersion(std::string_view text);
// What ParseJobVersion reads back to the same version; of a name with blanks or commas, these become '_'.
std::string JobVersionText(const JobVersion& version);

// The version after `now` (a Unix time), when tasks run those of `present`, sorted and each once:
// - none of them is known: the first sight of a job begins no version, a later one does;
// - one that is neither the current one nor beside it begins, also one that has run before and was gone since;
// - the current one is gone: another that is left goes on, as after a rollback in the middle, and begins;
// - else nothing changes, as in a rollout that never ends. What is gone is no longer beside.
// Nothing is present: nothing is known, and nothing changes.
JobVersion NextVersion(const JobVersion& before, std::span<const std::string> present, int64_t now_s);

}  // namespace taut
