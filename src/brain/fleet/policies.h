// Composes each recommender of its core and wrappers, from one table. No recommender registers itself.
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

// Models that the recommenders of one fleet share: the ensemble's, and one fleet model per resource for
// analogs and for the work function. Read-only while jobs are stepped; CloseDay runs between days, on one
// thread.
struct FleetModels {
  EnsembleConfig ensemble;
  std::vector<AnalogFleet> analogs;  // by IndexOf
  std::vector<WorkFunctionFleet> works;

  explicit FleetModels(const VerticalSettings& settings);
  AnalogFleet& of(Resource r) { return analogs[IndexOf(r)]; }
  const AnalogFleet& of(Resource r) const { return analogs[IndexOf(r)]; }
  WorkFunctionFleet& work_of(Resource r) { return works[IndexOf(r)]; }
  const WorkFunctionFleet& work_of(Resource r) const { return works[IndexOf(r)]; }
  // Learns from the rows that every recommender returned for the day that ended. The order of jobs must be fixed
  // for a reproducible result.
  void CloseDay(Resource r, int32_t day, FleetRows rows);

  // Returns models with today's forecasts, for one recommender and resource under other settings. The returned
  // models do not learn.
  FleetModels ForecastersFor(Policy policy, Resource r, const VerticalSettings& settings) const;

  void Save(ByteWriter& out) const;
  // Reads the bytes that Save under equal settings wrote. After an error, the models that precede the damaged
  // model are loaded.
  absl::Status Load(ByteReader& in);
};

// Ordered and delivered risk of the recommenders of one resource. A figure is absent if no job's recommender
// accepts a risk target of its kind.
struct FleetRisk {
  std::optional<double> days_ordered;  // share of job-days over the limit (analogs)
  // Shares of work above the limits, target and delivered (work_function); for CPU, work that would be throttled.
  std::optional<double> work_ordered, work_over;
};
// Adds the figures of one recommender to `risk`.
void AddRisk(Policy policy, Resource r, const FleetModels& models, const VerticalSettings& settings,
             FleetRisk& risk);

// Returns the window of the day (in [0, 288)) at which a job's daily decision is due. The window is a hash of the
// name: jobs are spread over the day, and the result is equal in every run and program.
int32_t DecisionWindow(std::string_view job);

// Returns the CPU class for a job's declared sensitivity; `otherwise` if the job declares none.
JobClass ClassOf(const JobInfo& job, JobClass otherwise);

// Returns the recommender with all its wrappers. `fleet` must outlive the recommender.
std::unique_ptr<Recommender> NewRecommender(Policy policy, Resource resource, const JobInfo& job,
                                            const VerticalSettings& settings, FleetModels& fleet);

}  // namespace taut::brain
