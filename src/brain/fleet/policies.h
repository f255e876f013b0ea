// Composes each recommender of a core and wrappers, from one table. Recommenders do not register themselves.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/recommend/analogs.h"
#include "brain/recommend/boosted.h"
#include "brain/recommend/ensemble.h"
#include "brain/recommend/policy.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "brain/recommend/work_function.h"
#include "common/model/usage.h"

namespace taut::brain {

// Models shared by the recommenders of a fleet: the ensemble's configuration, and for each resource a fleet model
// for analogs, one for the work function and one for the boosted recommender. Read-only while jobs are stepped.
// CloseDay is called between days, on one thread.
struct FleetModels {
  EnsembleConfig ensemble;
  std::vector<AnalogFleet> analogs;  // models by Resource (IndexOf)
  std::vector<WorkFunctionFleet> works;
  std::vector<BoostedFleet> boosted;

  explicit FleetModels(const VerticalSettings& settings);
  AnalogFleet& of(Resource r) { return analogs[IndexOf(r)]; }
  const AnalogFleet& of(Resource r) const { return analogs[IndexOf(r)]; }
  WorkFunctionFleet& work_of(Resource r) { return works[IndexOf(r)]; }
  const WorkFunctionFleet& work_of(Resource r) const { return works[IndexOf(r)]; }
  BoostedFleet& boosted_of(Resource r) { return boosted[IndexOf(r)]; }
  const BoostedFleet& boosted_of(Resource r) const { return boosted[IndexOf(r)]; }
  // Returns an empty share of the day. Add the rows of jobs in any order, then pass the share to CloseDay.
  FleetShare NewShare(Resource r, int32_t day) const;
  // Learns from the share of all jobs for the ended day.
  void CloseDay(Resource r, FleetShare share);
  // Learns from the rows that all recommenders returned for the ended day.
  void CloseDay(Resource r, int32_t day, const FleetRows& rows);

  // Returns models with the current forecasts, for one recommender and resource under other settings. The
  // returned models do not learn.
  FleetModels ForecastersFor(Policy policy, Resource r, const VerticalSettings& settings) const;

  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote under equal settings. If an error is returned, the models before the damaged
  // model are loaded.
  absl::Status Load(ByteReader& in);
};

// Returns true if the recommender uses a fleet model, which learns from all jobs at the end of each day.
bool LearnsFromFleet(Policy policy, Resource r);

// Target and delivered risk of the recommenders of one resource. A figure is absent if no recommender in use
// accepts this kind of target.
struct FleetRisk {
  std::optional<double> days_ordered;  // target share of job-days with usage above the limit (analogs)
  // Target share and delivered share of work above the limits (work_function). For CPU, this work would be
  // throttled.
  std::optional<double> work_ordered, work_over;
};
// Adds the figures of one recommender to `risk`.
void AddRisk(Policy policy, Resource r, const FleetModels& models, const VerticalSettings& settings,
             FleetRisk& risk);

// Returns a hash of a job's name, which is equal in every run and program. Samples of jobs are drawn by this
// hash.
uint64_t JobKey(std::string_view job);
// Returns the window of the day, in [0, 288), in which a job's daily decision is due. The window depends on the
// job's key, which spreads jobs over the day.
int32_t DecisionWindow(std::string_view job);

// Returns the CPU class for a job's declared sensitivity; `otherwise` if none is declared.
JobClass ClassOf(const JobInfo& job, JobClass otherwise);

// Returns a new recommender with all its wrappers. `fleet` must outlive the recommender.
std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet);

}  // namespace taut::brain
