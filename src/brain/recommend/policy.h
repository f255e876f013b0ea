// The recommenders there are: a row each, with what people read of it and what they can turn.
// brain/fleet/policies.cc puts each together.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut::brain {

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

struct VerticalSettings;

// A parameter that a what-if changes, as a number. Pages show a slider for it.
struct WhatIfKnob {
  enum class Unit : uint8_t { kShare, kFactor, kNumber, kDays };
  std::string_view key;  // the same key is the same parameter in every row
  std::string_view name, help;
  Unit unit = Unit::kNumber;
  double least = 0, most = 0;             // what is accepted; both included
  double low = 0, high = 0, initial = 0;  // of the slider
  bool logarithmic = true;
  void (*set)(double value, VerticalSettings& settings) = nullptr;
};
std::string_view Name(WhatIfKnob::Unit unit);

struct PolicyInfo {
  Policy policy;
  std::string_view name;
  std::string_view what;  // one line for people
  std::span<const WhatIfKnob> knobs;
  // What `taut tune` sweeps by default: the few settings that move along the frontier, as
  // key=value,value.
  std::span<const std::string_view> sweep;
  bool replay_only = false;  // a comparator that a replay runs if it is named; no job may have it
};
// All of them, in the order they are shown.
std::span<const PolicyInfo> Policies();
const PolicyInfo& InfoOf(Policy p);
std::string_view Name(Policy p);
// The knob of any recommender with this key; nullptr: there is none.
const WhatIfKnob* FindKnob(std::string_view key);
// The recommender that makes the limits of this resource: of kCombined one of its two, else `p` itself.
Policy PolicyFor(Policy p, Resource r);

// The recommenders of a job's limits: one of CPU and others that throttle, one of memory and others that kill;
// never kCombined.
struct PolicyPair {
  Policy cpu = Policy::kStatic, memory = Policy::kStatic;

  PolicyPair() = default;
  PolicyPair(Policy both) : PolicyPair(both, both) {}  // NOLINT(google-explicit-constructor)
  PolicyPair(Policy of_cpu, Policy of_memory)
      : cpu(PolicyFor(of_cpu, Resource::kCpu)), memory(PolicyFor(of_memory, Resource::kMemory)) {}

  Policy of(Resource r) const { return ThrottlesAtLimit(r) ? cpu : memory; }
  // The row of the table that makes the same limits; absent: none does.
  std::optional<Policy> one() const;
  auto operator<=>(const PolicyPair&) const = default;
};
// That of one(), else CPU's and memory's: "moving_window+analogs".
std::string Name(PolicyPair pair);
// Takes what Name gives. InvalidArgument naming the choices.
absl::StatusOr<PolicyPair> ParsePolicyPair(std::string_view name);

// InvalidArgument naming the choices.
absl::StatusOr<Policy> ParsePolicy(std::string_view name);
// The same of those that a job may have.
absl::StatusOr<Policy> ParseJobPolicy(std::string_view name);

}  // namespace taut::brain
