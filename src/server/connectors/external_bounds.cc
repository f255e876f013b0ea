#include "server/connectors/external_bounds.h"

#include <algorithm>
#include <initializer_list>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

// Amounts up to which any answer is allowed, because an idle job may need such amounts at once.
constexpr PerResource<double> kSmall = {1, kGiB};
constexpr double kFewTasks = 100;
// Tolerance for limits that the service computes from the same usage and rounds down.
constexpr double kRounding = 0.99;

// Returns the lowest limit under which the busiest task of the window could have run: the task's mean CPU or peak
// memory; 0 if not measured.
double NeededBy(Resource r, const ExternalJob& job) {
  float most = 0;
  for (const TaskWindow& task : job.tasks)
    most = std::max(most, r == Resource::kCpu ? task.cpu_mean_cores
                                              : std::max(task.memory_peak_bytes, task.memory_mean_bytes));
  return most;
}
double PeakOf(Resource r, const ExternalJob& job) {
  float most = 0;
  for (const TaskWindow& task : job.tasks)
    most = std::max(most, r == Resource::kCpu ? std::max(task.cpu_peak_cores, task.cpu_mean_cores)
                                              : task.memory_peak_bytes);
  return most;
}

double Highest(std::initializer_list<std::optional<double>> values) {
  double most = 0;
  for (const std::optional<double>& value : values) most = std::max(most, value.value_or(0));
  return most;
}

}  // namespace

ExternalFault CheckExternalLimit(Resource r, double value, const ExternalJob& job,
                                 const ExternalBounds& bounds) {
  const ExternalSignal& its = job.of(r);
  const auto fault = [&](ExternalRefusal kind, std::string_view what, double allowed) {
    return ExternalFault{kind, StrCat(Name(r), " limit ", value, " is ", what, " ", allowed)};
  };
  const double needed = NeededBy(r, job) * kRounding, peak = PeakOf(r, job);
  const double small = kSmall[static_cast<size_t>(r)];
  // The job's tasks ran under the limit in force, so a limit of at least this amount is not too low.
  if (value < needed && !(its.limit_in_force.has_value() && value >= *its.limit_in_force))
    return fault(ExternalRefusal::kBelowUsage, "below the usage of a task,", needed);
  if (const double machine = bounds.machine[static_cast<size_t>(r)]; machine > 0 && value > machine)
    return fault(ExternalRefusal::kAboveMachine, "above the largest machine,", machine);
  // The owner's limit bounds the sum of all steps, unless the job's measured peak justifies more.
  const double by_owner = std::max({its.owner_limit.value_or(0) * bounds.max_step, 2 * peak, small});
  if (its.owner_limit.has_value() && value > by_owner)
    return fault(ExternalRefusal::kAboveOwner, "above what the owner's limit and the usage allow,", by_owner);
  // The limit in force may come from an earlier answer, so a step does not start from it: steps would add up.
  const double by_step = std::max({bounds.max_step * Highest({its.owner_limit, its.recommended, peak}),
                                   its.limit_in_force.value_or(0), small});
  if (value > by_step)
    return fault(ExternalRefusal::kStep, "above one step (external_recommender.max_step),", by_step);
  return {};
}

ExternalFault CheckExternalTasks(double value, const ExternalJob& job, const ExternalBounds& bounds) {
  if (!job.replicas.has_value()) return {};
  const ExternalReplicas& its = *job.replicas;
  const double most = Highest({double(its.running), its.in_force, its.recommended});
  const double allowed = std::max(bounds.max_step * most, most + kFewTasks);
  if (value <= allowed) return {};
  return {ExternalRefusal::kStep,
          StrCat("replicas ", value, " is above one step (external_recommender.max_step), ", allowed)};
}

}  // namespace taut::server
