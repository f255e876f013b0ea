#include "server/api/job_notices.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/histogram/grid.h"
#include "common/model/units.h"

namespace taut::server {
namespace {

std::string_view OomSourceNotice(std::optional<OomSource> source) {
  if (source == OomSource::kNone) {
    return "No source reports OOM kills of this job: a kill would not be detected. kube-state-metrics or an "
           "agent "
           "(tautlet) reports them.";
  }
  if (source == OomSource::kSurvivors) {
    return "OOM kills of this job are read from container_oom_events_total alone, which stays 0 when the "
           "whole container is killed. kube-state-metrics or an agent (tautlet) reports such kills.";
  }
  return "";
}

std::string CollisionNotice(std::string_view sources) {
  return StrCat(
      "Series from several sources have this job's name: ", sources,
      ". If these are different workloads, or the same one measured twice, this job's figures are wrong: "
      "give one of them another name with a mapping rule, or with the job template of its agent.");
}

// Returns the largest amount per task that tautd's grid covers.
double MostOf(Resource r) {
  const std::span<const double> bounds = (InCores(r) ? Grid::Cpu() : Grid::Memory()).upper_bounds();
  return bounds.back();
}

// Returns the notice for a job whose tasks may use more than MostOf(); "" for other jobs.
std::string BoundNotice(const JobView& job, Resource r) {
  const double owner = job.of(r).owner_limit;
  if (!(owner > MostOf(r))) return "";
  return StrCat(
      "Its owner's ", Name(r), " limit, ", FormatAmount(r, owner), ", is above ", FormatAmount(r, MostOf(r)),
      ", the largest amount of a task that tautd counts: higher usage is not counted, and nothing is "
      "recommended above it.");
}

// Returns the notice for a job whose CPU usage exceeds the recommendation on many days, such as at starts and in
// bursts; "" for other jobs.
std::string BurstNotice(const JobView& job, const brain::JobPolicy& policy) {
  constexpr int kFewestDays = 5;
  const int days = job.of(Resource::kCpu).days, over = job.of(Resource::kCpu).days_over;
  if (policy.startup_window_s > 0 || days < kFewestDays || 3 * over < days) return "";
  return StrCat(
      "Its CPU usage was above the recommended limit on ", over, " of its last ", days,
      " days. If that is the work of a task's start, cpu.startup_window (such as 5m) leaves it out of the "
      "limit; if it comes at other times, a sensitive class or a smaller throttled orders a higher limit.");
}

// Returns the notice for a job of a cluster if there is a job with the same name without the cluster; ""
// otherwise.
std::string NewClusterNotice(std::string_view cluster, std::string_view before) {
  return StrCat(
      "Its series have the label cluster=", cluster, ", and there is a job ", before,
      " from before they had it, whose history does not count here. A mapping rule without the cluster, or a "
      "labeldrop of cluster in Prometheus where there is only one, keeps the name.");
}

constexpr std::string_view kMachineNotice =
    "This job is all that its machines use. Their containers and processes are jobs of their own, so it is "
    "in no sum, "
    "saving, cost or capacity.";

std::string StepBackNotice(const brain::LiveJob& job, std::optional<WindowId> window) {
  if (job.replicas == nullptr || !window.has_value()) return "";
  const std::optional<int64_t> until = job.replicas->order().steps_back_until(window->next().start_s());
  if (!until.has_value()) return "";
  return StrCat(
      "The number of tasks changed without an order: another program may set it, such as a "
      "HorizontalPodAutoscaler, or tasks fail. tautd orders none until ",
      FormatTime(*until), " UTC. Let one program set it.");
}

}  // namespace

std::vector<std::string> JobNotices(const brain::LiveJob& job, const JobView& shown, const JobFacts& facts,
                                    std::optional<WindowId> window) {
  std::vector<std::string> out;
  const auto add = [&out](std::string_view notice) {
    if (!notice.empty()) out.emplace_back(notice);
  };
  add(job.notice);
  if (shown.whole_machine) add(kMachineNotice);
  add(StepBackNotice(job, window));
  if (job.replicas != nullptr) add(job.replicas->CountNotice());
  for (const std::string& wrong : brain::WrongSettingLabels(job.record->labels, *job.policy)) add(wrong);
  add(OomSourceNotice(facts.oom_source));
  if (job.policy->startup_window_s > 0 && facts.knows_starts == false) add(kNoStartsNotice);
  if (!facts.collision.empty()) add(CollisionNotice(facts.collision));
  for (const Resource r : kResources) add(BoundNotice(shown, r));
  add(BurstNotice(shown, *job.policy));
  const Label cluster("cluster", facts.cluster);
  if (!facts.without_cluster.empty() &&
      std::ranges::find(job.record->labels, cluster) != job.record->labels.end())
    add(NewClusterNotice(facts.cluster, facts.without_cluster));
  add(facts.of_pods);
  if (job.policy->external && !facts.has_external) {
    add("external is true, but external_recommender.address of tautd is empty: the job's own recommender "
        "sets its "
        "limits");
  }
  return out;
}

}  // namespace taut::server
