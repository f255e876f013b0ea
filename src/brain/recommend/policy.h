// The table of recommenders, with their descriptions and tunable parameters. brain/fleet/policies.cc creates the
// recommenders.
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
  kBoosted,
  kKrr,
  kCrane,
  kRecorded
};

struct VerticalSettings;

// A numeric parameter that a what-if can change. Front ends show a slider for the parameter.
struct WhatIfKnob {
  enum class Unit : uint8_t { kShare, kFactor, kNumber, kDays };
  std::string_view key;  // key of the parameter, which knobs with equal keys share
  std::string_view name, help;
  Unit unit = Unit::kNumber;
  double least = 0, most = 0;             // inclusive bounds of accepted values
  double low = 0, high = 0, initial = 0;  // lower end, upper end and start of the slider
  bool logarithmic = true;
  void (*set)(double value, VerticalSettings& settings) = nullptr;
};
std::string_view Name(WhatIfKnob::Unit unit);

struct PolicyInfo {
  Policy policy;
  std::string_view name;
  std::string_view what;  // human-readable description of one line
  std::span<const WhatIfKnob> knobs;
  // Settings that `taut tune` sweeps by default, as key=value,value. Each sweep exchanges footprint for risk.
  std::span<const std::string_view> sweep;
  bool replay_only = false;  // true for a comparator of replays, which no job may have
  bool on_request = false;   // true: a replay that names no recommenders leaves it out, because it takes long
};
// Returns all recommenders in the order of their display.
std::span<const PolicyInfo> Policies();
const PolicyInfo& InfoOf(Policy p);
std::string_view Name(Policy p);
// Returns the first knob with this key, of any recommender; nullptr if no recommender has it.
const WhatIfKnob* FindKnob(std::string_view key);
// Returns `p`, or for kCombined the recommender that kCombined uses for resource `r`.
Policy PolicyFor(Policy p, Resource r);

// The kind of risk target that a recommender meets: a share of OOM-days (days over the limit), or of work above
// the limits.
enum class TargetKind : uint8_t { kNone, kDays, kWork };
TargetKind TargetOf(Policy p, Resource r);

// The two recommenders of a job: `cpu` for resources that throttle, `memory` for resources that kill. Never
// kCombined.
struct PolicyPair {
  Policy cpu = Policy::kStatic, memory = Policy::kStatic;

  PolicyPair() = default;
  PolicyPair(Policy both) : PolicyPair(both, both) {}  // NOLINT(google-explicit-constructor)
  PolicyPair(Policy of_cpu, Policy of_memory)
      : cpu(PolicyFor(of_cpu, Resource::kCpu)), memory(PolicyFor(of_memory, Resource::kMemory)) {}

  Policy of(Resource r) const { return ThrottlesAtLimit(r) ? cpu : memory; }
  // Returns the recommender of Policies() that uses this pair; nullopt if there is none.
  std::optional<Policy> one() const;
  auto operator<=>(const PolicyPair&) const = default;
};
// Returns the name of one() if it exists, else both names: "moving_window+analogs".
std::string Name(PolicyPair pair);
// Parses a name in the format of Name(PolicyPair). InvalidArgument lists the choices.
absl::StatusOr<PolicyPair> ParsePolicyPair(std::string_view name);

// Parses the name of a recommender. InvalidArgument lists the choices.
absl::StatusOr<Policy> ParsePolicy(std::string_view name);
// Parses the name of a recommender that a job may have. InvalidArgument lists the choices.
absl::StatusOr<Policy> ParseJobPolicy(std::string_view name);

}  // namespace taut::brain
