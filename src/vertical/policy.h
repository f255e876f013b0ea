// The recommenders there are, by name. engine/policies.h puts them together.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/resource.h"

namespace taut {

enum class Policy : uint8_t {
  kStatic,
  kPeak,
  kVpa,
  kMovingWindow,
  kEnsemble,
  kAnalogs,
  kWorkFunction,
  kCombined,
  kKrr,
  kCrane
};

struct PolicyInfo {
  Policy policy;
  std::string_view name;
  std::string_view what;     // one line for people
  bool replay_only = false;  // a comparator that a replay runs if it is named; no job may have it
};
// All of them, in the order they are shown.
std::span<const PolicyInfo> Policies();
std::string_view Name(Policy p);
// The recommender that makes the limits of this resource: of kCombined one of its two, else `p` itself.
Policy PolicyFor(Policy p, Resource r);
// InvalidArgument naming the choices.
absl::StatusOr<Policy> ParsePolicy(std::string_view name);
// The same of those that a job may have.
absl::StatusOr<Policy> ParseJobPolicy(std::string_view name);

}  // namespace taut
