#include "brain/fleet/policies.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "brain/recommend/comparators.h"
#include "brain/recommend/external.h"
#include "brain/recommend/moving_window.h"
#include "brain/recommend/report_tools.h"
#include "brain/recommend/task_size.h"
#include "brain/recommend/vpa.h"
#include "brain/recommend/wrappers.h"

namespace taut::brain {

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

namespace {

// Returns the cost of an overrun relative to a job with default settings. For CPU, the cost depends on the job's
// class, for memory on its tolerance of OOM kills.
double OverrunPriceFactor(Resource resource, const JobInfo& job, const MovingWindowSettings& settings) {
  if (ThrottlesAtLimit(resource))
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

uint64_t JobKey(std::string_view job) {
  // Uses FNV-1a and a finaliser, so that similar names get different keys.
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccdU;
  hash ^= hash >> 33U;
  return hash;
}

int32_t DecisionWindow(std::string_view job) { return static_cast<int32_t>(JobKey(job) % kWindowsPerDay); }

FleetModels::FleetModels(const VerticalSettings& settings) : ensemble(settings.ensemble) {
  for (const Resource r : kResources) {
    analogs.emplace_back(r, settings.analogs);
    works.emplace_back(r, settings.work_function);
    boosted.emplace_back(r, settings.boosted, settings.boosted_target(r));
  }
}

FleetShare FleetModels::NewShare(Resource r, int32_t day) const {
  FleetShare share(day, of(r).settings(), boosted_of(r).settings());
  share.analogs.sample.Limit(of(r).sample_bound());
  share.boosted.sample.Limit(boosted_of(r).sample_bound());
  return share;
}

void FleetModels::CloseDay(Resource r, FleetShare share) {
  work_of(r).CloseDay(share.works);
  of(r).CloseDay(std::move(share.analogs));
  boosted_of(r).CloseDay(std::move(share.boosted));
}

void FleetModels::CloseDay(Resource r, int32_t day, const FleetRows& rows) {
  FleetShare share = NewShare(r, day);
  share.Add(rows);
  CloseDay(r, std::move(share));
}

FleetModels FleetModels::ForecastersFor(Policy policy, Resource r, const VerticalSettings& settings) const {
  FleetModels models(settings);
  if (PolicyFor(policy, r) == Policy::kAnalogs) {
    models.of(r) = of(r).ForecasterFor(settings.analogs.order(r));
  }
  models.work_of(r) = work_of(r).With(settings.work_function);
  if (policy == Policy::kBoosted) {
    models.boosted_of(r) = boosted_of(r).ForecasterFor(settings.boosted_target(r));
  }
  return models;
}

void FleetModels::Save(ByteWriter& out) const {
  for (size_t i = 0; i < kFirstResources; ++i) analogs[i].Save(out);
  for (size_t i = 0; i < kFirstResources; ++i) works[i].Save(out);
  for (size_t i = kFirstResources; i < kNumResources; ++i) {
    analogs[i].Save(out);
    works[i].Save(out);
  }
  for (const BoostedFleet& fleet : boosted) fleet.Save(out);
}

absl::Status FleetModels::Load(ByteReader& in) {
  for (size_t i = 0; i < kFirstResources; ++i) {
    if (absl::Status s = analogs[i].Load(in); !s.ok()) return s;
  }
  if (in.remaining() == 0) return absl::OkStatus();  // an older version had no work function
  for (size_t i = 0; i < kFirstResources; ++i) {
    if (absl::Status s = works[i].Load(in); !s.ok()) return s;
  }
  // The state of an older version may end before these resources.
  for (size_t i = kFirstResources; i < kNumResources && in.remaining() > 0; ++i) {
    if (absl::Status s = analogs[i].Load(in); !s.ok()) return s;
    if (absl::Status s = works[i].Load(in); !s.ok()) return s;
  }
  if (in.remaining() == 0) return absl::OkStatus();  // an older version had no boosted recommender
  for (BoostedFleet& fleet : boosted) {
    if (absl::Status s = fleet.Load(in); !s.ok()) return s;
  }
  return absl::OkStatus();
}

bool LearnsFromFleet(Policy policy, Resource r) { return TargetOf(policy, r) != TargetKind::kNone; }

void AddRisk(Policy policy, Resource r, const FleetModels& models, const VerticalSettings& settings,
             FleetRisk& risk) {
  const TargetKind target = TargetOf(policy, r);
  if (target == TargetKind::kDays) risk.days_ordered = settings.analogs.order(r);
  if (target != TargetKind::kWork) return;
  const bool boosted = policy == Policy::kBoosted;
  // A fixed price replaces the target of the work function.
  if (boosted || settings.work_function.price <= 0) risk.work_ordered = settings.work_function.order(r);
  risk.work_over = boosted ? models.boosted_of(r).delivered() : models.work_of(r).share_over();
}

namespace {

// Inputs for the construction of a recommender.
struct Ingredients {
  Resource resource;
  const JobInfo& job;
  const VerticalSettings& settings;
  FleetModels& fleet;
};

std::unique_ptr<Recommender> MakeMovingWindow(const Ingredients& in) {
  MovingWindowSettings s = in.settings.moving_window;
  s.job_class = ClassOf(in.job, s.job_class);
  auto r = WithMargin(std::make_unique<MovingWindowRecommender>(in.resource, s, in.settings.oom),
                      MarginSchedule::For(in.resource), s.margin_scale);
  return WithHold(std::move(r), s.hold_windows);
}

std::unique_ptr<Recommender> MakeEnsemble(const Ingredients& in) {
  return std::make_unique<EnsembleRecommender>(
      in.resource, in.fleet.ensemble, in.settings.oom,
      OverrunPriceFactor(in.resource, in.job, in.settings.moving_window));
}

std::unique_ptr<Recommender> MakeAnalogs(const Ingredients& in) {
  AnalogJob job{DecisionWindow(in.job.name), in.settings.analogs.OwnOrder(in.resource)};
  // A tolerance of OOM kills changes the risk target (SettingsFor), so it must not also change the price; a
  // class changes only the price.
  if (ThrottlesAtLimit(in.resource))
    job.price_factor = OverrunPriceFactor(in.resource, in.job, in.settings.moving_window);
  return std::make_unique<AnalogsRecommender>(in.fleet.of(in.resource), MakeEnsemble(in), in.settings.oom,
                                              job);
}

std::unique_ptr<Recommender> MakeWorkFunction(const Ingredients& in) {
  return std::make_unique<WorkFunctionRecommender>(
      in.fleet.work_of(in.resource), in.settings.oom,
      OverrunPriceFactor(in.resource, in.job, in.settings.moving_window),
      in.settings.work_function.OwnOrder(in.resource));
}

std::unique_ptr<Recommender> MakeBoosted(const Ingredients& in) {
  const bool throttles = ThrottlesAtLimit(in.resource);
  BoostedJob job{JobKey(in.job.name), throttles ? in.settings.work_function.OwnOrder(in.resource)
                                                : in.settings.analogs.OwnOrder(in.resource)};
  if (throttles) job.price_factor = OverrunPriceFactor(in.resource, in.job, in.settings.moving_window);
  return std::make_unique<BoostedRecommender>(in.fleet.boosted_of(in.resource),
                                              throttles ? MakeWorkFunction(in) : MakeEnsemble(in),
                                              in.settings.oom, job);
}

// Composition of a recommender: its core and the wrappers around the core.
struct Recipe {
  enum class Kind : uint8_t {
    kBare,        // no wrapper: the limit is the owner's limit
    kComparator,  // the published rules, with the algorithm's own reaction to an OOM kill and its own minima
    kOurs,
  };
  Policy policy;
  Kind kind;
  std::unique_ptr<Recommender> (*make)(const Ingredients&);
  bool keep_start = true;     // true: no memory limit is below the memory that a task needs to start
  bool young_margin = false;  // true: wider margin for young jobs, for a core without such a margin
  // Returns the seconds of history that must precede the first limit; nullptr: no minimum.
  double (*min_history_s)(const VerticalSettings&) = nullptr;
};

double EnsemblesHistory(const VerticalSettings& s) { return s.ensemble.min_history_s; }

constexpr Recipe kRecipes[] = {
    {Policy::kStatic, Recipe::Kind::kBare, [](const Ingredients&) { return NewStaticRecommender(); }},
    {Policy::kPeak, Recipe::Kind::kOurs,
     [](const Ingredients& in) { return NewPeakRecommender(in.resource, in.settings.peak, in.settings.oom); },
     /*keep_start=*/false, /*young_margin=*/false,
     [](const VerticalSettings& s) { return s.peak.min_history_s; }},
    {Policy::kVpa, Recipe::Kind::kComparator,
     [](const Ingredients& in) { return NewVpaRecommender(in.resource, in.settings.vpa, in.settings.oom); }},
    {Policy::kMovingWindow, Recipe::Kind::kOurs, MakeMovingWindow, /*keep_start=*/true,
     /*young_margin=*/false, [](const VerticalSettings& s) { return s.moving_window.min_history_s; }},
    {Policy::kEnsemble, Recipe::Kind::kOurs, MakeEnsemble, /*keep_start=*/true, /*young_margin=*/true,
     EnsemblesHistory},
    {Policy::kAnalogs, Recipe::Kind::kOurs, MakeAnalogs, /*keep_start=*/true, /*young_margin=*/true,
     EnsemblesHistory},
    {Policy::kWorkFunction, Recipe::Kind::kOurs, MakeWorkFunction, /*keep_start=*/true,
     /*young_margin=*/false, [](const VerticalSettings& s) { return s.work_function.min_history_s; }},
    {Policy::kKrr, Recipe::Kind::kComparator,
     [](const Ingredients& in) {
       return NewKrrRecommender(in.resource, in.settings.krr, DecisionWindow(in.job.name));
     }},
    {Policy::kCrane, Recipe::Kind::kComparator,
     [](const Ingredients& in) {
       return NewCraneRecommender(in.resource, in.settings.crane, in.settings.oom,
                                  DecisionWindow(in.job.name));
     }},
    {Policy::kRecorded, Recipe::Kind::kBare,
     [](const Ingredients&) { return NewStaticRecommender(/*enforced=*/false); }},
    {Policy::kBoosted, Recipe::Kind::kOurs, MakeBoosted, /*keep_start=*/true, /*young_margin=*/true,
     EnsemblesHistory},
};

const Recipe& RecipeOf(Policy policy) {
  const auto it = std::ranges::find(kRecipes, policy, &Recipe::policy);
  assert(it != std::end(kRecipes));  // PolicyFor returns only policies with a recipe
  return *it;
}

// Adds the floor. A configured lower bound remains a bound. The default lower bound becomes a floor, which stays
// below the owner's limit.
std::unique_ptr<Recommender> WithFloorOf(std::unique_ptr<Recommender> r, const Recipe& recipe,
                                         const Ingredients& in, BoundSettings& bounds) {
  FloorSettings floor;
  if (bounds.lower == BoundSettings::For(in.resource).lower) {
    floor.least = *bounds.lower;
    bounds.lower = bounds.granularity;
  }
  // A start fails with too little memory, but only takes longer with too little CPU.
  const bool kills = KillsAtLimit(in.resource);
  floor.keep_start = kills && recipe.keep_start;
  if (kills && recipe.young_margin) floor.young_margin = in.settings.ensemble.young_margin;
  if (recipe.min_history_s != nullptr) floor.min_history_s = recipe.min_history_s(in.settings);
  return WithFloor(std::move(r), floor);
}

}  // namespace

std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet) {
  const Recipe& recipe = RecipeOf(PolicyFor(policy, resource));
  const Ingredients in{resource, job, settings, fleet};
  std::unique_ptr<Recommender> r = recipe.make(in);
  if (recipe.kind == Recipe::Kind::kBare && !settings.external) return r;
  using ScaledBy = VerticalSettings::ScaledBy;
  if (settings.scaled_by == ScaledBy::kCpu && resource == Resource::kCpu) {
    r = WithTaskSize(std::move(r));
  } else if (settings.scaled_by != ScaledBy::kNothing) {
    r = WithTaskLoad(std::move(r), resource, settings.scaled_by == ScaledBy::kSeries);
  }
  if (settings.external) r = WithExternal(std::move(r), resource);
  // Floors and bounds also apply to limits from an external recommender.
  const bool is_ours = recipe.kind == Recipe::Kind::kOurs || settings.external;
  const bool holds_after_oom = is_ours || (recipe.policy == Policy::kVpa && settings.vpa.oom_floor);
  if (KillsAtLimit(resource) && holds_after_oom) r = WithOomFloor(std::move(r), settings.oom);
  BoundSettings bounds = settings.bounds(resource);
  if (is_ours) r = WithFloorOf(std::move(r), recipe, in, bounds);
  return WithBounds(std::move(r), bounds);
}

}  // namespace taut::brain
