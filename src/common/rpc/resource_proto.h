// Resources in messages between tautd and its agents.
#pragma once

#include <optional>

#include "agent.pb.h"
#include "common/model/resource.h"

namespace taut {

// The enum of the messages lists resources in the order of Resource.
constexpr taut::agent::v1::Resource ProtoOf(Resource r) { return static_cast<taut::agent::v1::Resource>(r); }
static_assert(ProtoOf(Resource::kCpu) == taut::agent::v1::CPU);
static_assert(ProtoOf(Resource::kMemory) == taut::agent::v1::MEMORY);

// Returns nullopt for a resource that this version does not know.
constexpr std::optional<Resource> ResourceOf(taut::agent::v1::Resource r) {
  const auto index = static_cast<size_t>(r);
  return index < kNumResources ? std::optional(kResources[index]) : std::nullopt;
}

}  // namespace taut
