// The quantity that a decision sets for a job: the limit of one resource per task, or the number of tasks.
// The key of decisions, orders and their outcomes.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/model/resource.h"

namespace taut {

class Target {
 public:
  // The limit of this resource. Converts implicitly, so that a resource can be passed as a target.
  constexpr Target(Resource limit_of) : code_(CodeOf(limit_of)) {}
  static constexpr Target Replicas() { return Target(kReplicasCode); }

  constexpr bool is_limit() const { return code_ != kReplicasCode; }
  constexpr bool is_replicas() const { return code_ == kReplicasCode; }
  // REQUIRES: is_limit().
  constexpr Resource resource() const {
    assert(is_limit());
    return static_cast<Resource>(code_ < kReplicasCode ? code_ : code_ - 1);
  }

  // The stored code, which never changes.
  constexpr uint8_t code() const { return code_; }
  // Returns the target with this code; nullopt for an unknown code.
  static constexpr std::optional<Target> FromCode(int64_t code) {
    if (code < 0 || code > static_cast<int64_t>(kNumResources)) return std::nullopt;
    return Target(static_cast<uint8_t>(code));
  }

  friend constexpr auto operator<=>(const Target&, const Target&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Target& target) {
    return H::combine(std::move(h), target.code_);
  }

 private:
  // This code follows the codes of the first two resources. Codes of later resources are therefore shifted by
  // one.
  static constexpr uint8_t kReplicasCode = 2;
  static constexpr uint8_t CodeOf(Resource r) {
    const auto index = static_cast<uint8_t>(r);
    return index < kReplicasCode ? index : static_cast<uint8_t>(index + 1);
  }
  explicit constexpr Target(uint8_t code) : code_(code) {}

  uint8_t code_;
};

// Returns "cpu" or "memory" for a limit, or "replicas".
constexpr std::string_view Name(Target target) {
  return target.is_replicas() ? "replicas" : Name(target.resource());
}
std::optional<Target> TargetNamed(std::string_view name);
// Returns the names that TargetNamed accepts: "cpu, memory or replicas".
std::string TargetNames();
// Returns "cores", "bytes" or "tasks".
constexpr std::string_view UnitName(Target target) {
  return target.is_replicas() ? "tasks" : UnitName(target.resource());
}
// Returns "memory limit" or "replicas".
std::string Describe(Target target);

}  // namespace taut
