// How each recommender is put together from its parts. One plain table; nothing registers itself.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/recommend/analogs.h"
#include "brain/recommend/ensemble.h"
#include "brain/recommend/policy.h"
#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"
#include "brain/recommend/work_function.h"
#include "common/model/usage.h"

namespace taut::brain {

// What the recommenders of one fleet share: the ensemble's models, and a fleet model a resource for analogs.
// Read-only while jobs are stepped; Update between days, from one thread.
struct FleetModels {
  EnsembleConfig ensemble;
  std::vector<AnalogFleet> analogs;  // by IndexOf
  std::vector<WorkFunctionFleet> works;

  explicit FleetModels(const VerticalSettings& settings);
  AnalogFleet& of(Resource r) { return analogs[IndexOf(r)]; }
  const AnalogFleet& of(Resource r) const { return analogs[IndexOf(r)]; }
  WorkFunctionFleet& work_of(Resource r) { return works[IndexOf(r)]; }
  const WorkFunctionFleet& work_of(Resource r) const { return works[IndexOf(r)]; }
  // Takes in the rows of the day that ended, in a fixed order of jobs, of every recommender.
  void CloseDay(Resource r, int32_t day, FleetRows rows);

  // Models that forecast as these do today, for one recommender and resource under other settings. They do
  // not learn.
  FleetModels ForecastersFor(Policy policy, Resource r, const VerticalSettings& settings) const;

  void Save(ByteWriter& out) const;
  // Takes what Save with the same settings wrote; after an error, models before the damaged one are loaded.
  absl::Status Load(ByteReader& in);
};

// What recommenders of one resource are ordered to risk, and what they delivered. Absent where no job's
// recommender takes such an order.
struct FleetRisk {
  std::optional<double> days_ordered;  // share of job-days over the limit (analogs)
  // Share of work above the limits: CPU work that would be throttled (work_function).
  std::optional<double> work_ordered, work_over;
};
// Of one recommender; adds to `risk` what is its.
void AddRisk(Policy policy, Resource r, const FleetModels& models, const VerticalSettings& settings,
             FleetRisk& risk);

// The window of the day at which a job's daily decision is due: spread over the day by the job's name, the
// same in every run and program.
int32_t DecisionWindow(std::string_view job);

// The class of CPU that a job's declared sensitivity asks for; where it declares none `otherwise`.
JobClass ClassOf(const JobInfo& job, JobClass otherwise);

// The recommender with all its wrappers. `fleet` must outlive it.
std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet);

}  // namespace taut::brain
