#include "brain/fleet/live_external.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/model/signal_name.h"

namespace taut::brain {
namespace {

std::optional<double> Known(float value) {
  return value >= 0 && value != kNoLimit ? std::optional<double>(value) : std::nullopt;
}

ExternalReplicas ReplicasOf(const LiveReplicas& replicas) {
  const ReplicaFigures figures = replicas.figures();
  return {.running = figures.running,
          .in_force = figures.in_force,
          .recommended = figures.recommended,
          .load = figures.load,
          .task_capacity = figures.capacity,
          .is_of_cpu = figures.is_of_cpu};
}

// Returns the measured signals, and also, without values, the other signals that `replicas` reads. `replicas` may
// be null.
std::vector<ExternalNamed> NamedOf(std::span<const NamedSignal> measured, const LiveReplicas* replicas) {
  std::map<std::string, std::optional<double>> named;
  if (replicas != nullptr) {
    for (const std::string& name : replicas->policy().signals()) named.emplace(name, std::nullopt);
  }
  for (const std::string_view own : kOwnSignals) named.erase(std::string(own));
  for (const NamedSignal& signal : measured) {
    if (!signal.name.starts_with('_'))
      named[signal.name] = signal.value;  // names with '_' are internal (said_replicas.h)
  }
  std::vector<ExternalNamed> out;
  for (const auto& [name, value] : named) out.push_back({name, value});
  return out;
}

}  // namespace

void LiveExternal::Jobs(const ClosedWindow& closed, size_t first, size_t last,
                        std::vector<ExternalJob>& out) const {
  for (const JobWindowData& data : std::span(closed.jobs).subspan(first, last - first)) {
    const LiveJob* job = s_.jobs.Find(data.job);
    if (job == nullptr || !job->policy->external || job->policy->mode == Mode::kOff) continue;
    ExternalJob& to = out.emplace_back();
    to.id = data.job;
    to.name = job->record->name;
    to.labels = job->record->labels;
    const auto tasks = std::span(closed.tasks).subspan(data.window.first_task, data.window.num_tasks);
    to.tasks.assign(tasks.begin(), tasks.end());
    const auto buckets =
        std::span(closed.cpu_buckets).subspan(data.window.first_bucket, data.window.num_buckets);
    to.cpu_seconds.assign(buckets.begin(), buckets.end());
    for (const Resource r : kResources) {
      const LiveLane& lane = job->of(r);
      ExternalSignal& signal = to.signals[static_cast<size_t>(r)];
      signal.owner_limit = lane.owner();
      signal.limit_in_force = lane.real_limit();
      signal.recommended = lane.lane.own_recommended();
    }
    to.signals[static_cast<size_t>(Resource::kMemory)].oom_kills_of_week =
        job->OomsOfWeek(closed.window.day());
    to.signals[static_cast<size_t>(Resource::kCpu)].throttled = Known(data.window.cpu_throttled);
    const bool scales = job->replicas != nullptr && !job->policy->replica_policy.empty();
    to.named = NamedOf(std::span(closed.signals).subspan(data.window.first_signal, data.window.num_signals),
                       scales ? job->replicas.get() : nullptr);
    if (scales) to.replicas = ReplicasOf(*job->replicas);
  }
}

bool LiveExternal::Take(const ExternalAnswer& answer, int64_t now_s, PassOutput& out) {
  const LiveJob* known = s_.jobs.Find(answer.job);
  // Recommenders without their history are replaced after the history has been read, so an answer would be lost.
  if (known == nullptr || !known->policy->external || known->needs_history()) return false;
  if (s_.passed.index == INT32_MIN) return false;  // no request was sent yet
  now_s = DecisionTime(s_, now_s);
  LiveJob& job = s_.Awake(answer.job);
  s_.Changed(job);
  if (answer.target.is_replicas()) {
    if (job.replicas == nullptr || job.policy->replica_policy.empty()) return false;
    job.replicas->TakeExternal(ExternalTasks{.count = static_cast<int>(answer.value),
                                             .until = Timestamp::FromSeconds(answer.until.start_s()),
                                             .why = answer.why});
    replicas_.Decide(job, now_s, out);
    return true;
  }
  const Resource r = answer.target.resource();
  JobStepper(r, job.of(r))
      .ObserveAnswer({.until = answer.until, .limit = answer.value, .why = answer.why}, s_.passed.next());
  pass_.DecideLane(job, r, now_s, Trigger::kSetting, out);
  return true;
}

}  // namespace taut::brain
