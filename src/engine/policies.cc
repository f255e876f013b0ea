#include "engine/policies.h"

#include <algorithm>

#include "base/strings.h"
#include "vertical/comparators.h"
#include "vertical/moving_window.h"
#include "vertical/vpa.h"
#include "vertical/wrappers.h"

namespace taut {
namespace {

constexpr PolicyInfo kPolicies[] = {
    {Policy::kStatic, "static", "the owner's limit, whatever the usage"},
    {Policy::kPeak, "peak", "the highest usage of the last days and a margin"},
    {Policy::kVpa, "vpa", "what the Kubernetes VPA would set with its defaults"},
    {Policy::kMovingWindow, "moving_window", "Autopilot's decayed statistics of the usage, by job class"},
    {Policy::kEnsemble, "ensemble", "Autopilot's many simple models, the least costly lately in charge"},
    {Policy::kAnalogs, "analogs",
     "what similar job-days of the whole fleet did next, at an ordered OOM risk"},
};

// The class that a job's declared sensitivity asks for; the settings' own where it declares none.
JobClass ClassOf(const JobInfo& job, JobClass otherwise) {
  switch (job.sensitivity) {
    case Sensitivity::kBestEffort:
    case Sensitivity::kBatch:
      return JobClass::kBatch;
    case Sensitivity::kSensitive:
      return JobClass::kServingTolerant;
    case Sensitivity::kMostSensitive:
      return JobClass::kServing;
    case Sensitivity::kUnknown:
      break;
  }
  return otherwise;
}

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

std::string_view Name(Policy p) { return kPolicies[static_cast<size_t>(p)].name; }

absl::StatusOr<Policy> ParsePolicy(std::string_view name) {
  for (const PolicyInfo& p : kPolicies) {
    if (p.name == name) return p.policy;
  }
  std::vector<std::string_view> names;
  for (const PolicyInfo& p : kPolicies) names.push_back(p.name);
  return absl::InvalidArgumentError(
      StrCat("no recommender \"", name, "\"; there are ", fmt::join(names, ", ")));
}

FleetModels::FleetModels(const VerticalSettings& settings)
    : ensemble(settings.ensemble),
      cpu(Resource::kCpu, settings.analogs),
      memory(Resource::kMemory, settings.analogs) {}

std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet) {
  std::unique_ptr<Recommender> r;
  switch (policy) {
    case Policy::kStatic:
      return NewStaticRecommender();
    case Policy::kPeak:
      r = NewPeakRecommender(resource, settings.peak, settings.oom);
      break;
    case Policy::kVpa:
      r = NewVpaRecommender(resource, settings.vpa, settings.oom);
      break;
    case Policy::kMovingWindow: {
      MovingWindowSettings s = settings.moving_window;
      s.job_class = ClassOf(job, s.job_class);
      r = std::make_unique<MovingWindowRecommender>(resource, s, settings.oom);
      r = WithMargin(std::move(r), MarginSchedule::For(resource), s.margin_scale);
      r = WithHold(std::move(r), s.hold_windows);
      break;
    }
    case Policy::kEnsemble:
      r = std::make_unique<EnsembleRecommender>(resource, fleet.ensemble, settings.oom);
      break;
    case Policy::kAnalogs:
      r = std::make_unique<AnalogsRecommender>(
          fleet.of(resource), std::make_unique<EnsembleRecommender>(resource, fleet.ensemble, settings.oom),
          settings.oom);
      break;
  }
  if (resource == Resource::kMemory) r = WithOomFloor(std::move(r), settings.oom);
  return WithBounds(std::move(r), settings.bounds(resource));
}

}  // namespace taut
