#include "engine/policies.h"

#include "vertical/comparators.h"
#include "vertical/moving_window.h"
#include "vertical/report_tools.h"
#include "vertical/vpa.h"
#include "vertical/wrappers.h"

namespace taut {
namespace {

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

// What an overrun of this job costs the ensemble, against one of a serving job.
double OverrunPriceFactor(Resource resource, const JobInfo& job, const MovingWindowSettings& settings) {
  if (resource == Resource::kCpu)
    return WorkFunctionRecommender::PriceFactor(ClassOf(job, settings.job_class));
  switch (settings.oom_tolerance) {
    case OomTolerance::kMinimal:
      return 10;
    case OomTolerance::kIntermediate:
      return 0.1;
    case OomTolerance::kLow:
    case OomTolerance::kBySize:
      break;
  }
  return 1;
}

}  // namespace

int32_t DecisionWindow(std::string_view job) {
  // FNV-1a, then a finaliser: near names must not be near in time.
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccdU;
  hash ^= hash >> 33U;
  return static_cast<int32_t>(hash % kWindowsPerDay);
}

FleetModels::FleetModels(const VerticalSettings& settings)
    : ensemble(settings.ensemble),
      cpu(Resource::kCpu, settings.analogs),
      memory(Resource::kMemory, settings.analogs),
      cpu_work(Resource::kCpu, settings.work_function),
      memory_work(Resource::kMemory, settings.work_function) {}

void FleetModels::CloseDay(Resource r, int32_t day, FleetRows rows) {
  work_of(r).CloseDay(rows);
  std::erase_if(rows, [](const FleetRow& row) { return row.work.has_value(); });
  of(r).CloseDay(day, rows);
}

std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet) {
  policy = PolicyFor(policy, resource);
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
      r = std::make_unique<EnsembleRecommender>(resource, fleet.ensemble, settings.oom,
                                                OverrunPriceFactor(resource, job, settings.moving_window));
      break;
    case Policy::kAnalogs:
      r = std::make_unique<AnalogsRecommender>(
          fleet.of(resource), std::make_unique<EnsembleRecommender>(resource, fleet.ensemble, settings.oom),
          settings.oom, AnalogJob{DecisionWindow(job.name), settings.analogs.OwnOrder(resource)});
      break;
    case Policy::kWorkFunction:
      r = std::make_unique<WorkFunctionRecommender>(
          fleet.work_of(resource), settings.oom,
          WorkFunctionRecommender::PriceFactor(ClassOf(job, settings.moving_window.job_class)));
      break;
    case Policy::kKrr:
      r = NewKrrRecommender(resource, settings.krr, DecisionWindow(job.name));
      break;
    case Policy::kCrane:
      r = NewCraneRecommender(resource, settings.crane, settings.oom, DecisionWindow(job.name));
      break;
    case Policy::kCombined:  // PolicyFor gives none
      break;
  }
  // The comparators stay as published: each has its own answer to an OOM, and its own minima.
  const bool published = policy == Policy::kVpa || policy == Policy::kKrr || policy == Policy::kCrane;
  const bool holds = !published || (policy == Policy::kVpa && settings.vpa.oom_floor);
  if (resource == Resource::kMemory && holds) r = WithOomFloor(std::move(r), settings.oom);
  BoundSettings bounds = settings.bounds(resource);
  // A lower bound that somebody chose is a bound like any other; the default is a floor that stays under the
  // owner's limit.
  if (!published) {
    FloorSettings floor;
    if (bounds.lower == BoundSettings::For(resource).lower) {
      floor.least = *bounds.lower;
      bounds.lower = bounds.granularity;
    }
    // Too little memory ends a start; too little CPU only slows it.
    floor.keep_start = resource == Resource::kMemory && policy != Policy::kPeak;
    const bool by_ensemble = policy == Policy::kEnsemble || policy == Policy::kAnalogs;
    if (resource == Resource::kMemory && by_ensemble) floor.young_margin = settings.ensemble.young_margin;
    r = WithFloor(std::move(r), floor);
  }
  return WithBounds(std::move(r), bounds);
}

}  // namespace taut
