// The recommenders there are, by name, and how each is put together from its parts. One plain table; nothing
// registers itself.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/usage.h"
#include "vertical/analogs.h"
#include "vertical/ensemble.h"
#include "vertical/recommender.h"
#include "vertical/settings.h"

namespace taut {

enum class Policy : uint8_t { kStatic, kPeak, kVpa, kMovingWindow, kEnsemble, kAnalogs };

struct PolicyInfo {
  Policy policy;
  std::string_view name;
  std::string_view what;  // one line for people
};
// All of them, in the order they are shown.
std::span<const PolicyInfo> Policies();
std::string_view Name(Policy p);
// InvalidArgument naming the choices.
absl::StatusOr<Policy> ParsePolicy(std::string_view name);

// What the recommenders of one fleet share: the ensemble's models, and a fleet model a resource for analogs.
// Read-only while jobs are stepped; Update between days, from one thread.
struct FleetModels {
  EnsembleConfig ensemble;
  AnalogFleet cpu;
  AnalogFleet memory;

  explicit FleetModels(const VerticalSettings& settings);
  AnalogFleet& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
};

// The recommender with all its wrappers. `fleet` must outlive it.
std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet);

}  // namespace taut
