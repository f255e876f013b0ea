#include "server/connectors/external_message.h"

#include <cmath>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"

namespace taut::server {
namespace {

namespace recommender_v1 = taut::recommender::v1;

constexpr double kMostCores = 1e6;
constexpr double kMostBytes = 1e18;
constexpr uint32_t kMostTasks = 1'000'000;

void PutTask(const TaskWindow& from, recommender_v1::Task& to) {
  to.set_task(from.task);
  if (from.cpu_mean_cores >= 0) to.set_cpu_mean_cores(from.cpu_mean_cores);
  if (from.cpu_peak_cores >= 0) to.set_cpu_peak_cores(from.cpu_peak_cores);
  if (from.memory_mean_bytes >= 0) to.set_memory_mean_bytes(from.memory_mean_bytes);
  if (from.memory_peak_bytes >= 0) to.set_memory_peak_bytes(from.memory_peak_bytes);
}

void PutResource(const ExternalSignal& from, recommender_v1::Resource& to) {
  if (from.owner_limit.has_value()) to.set_owner_limit(*from.owner_limit);
  if (from.limit_in_force.has_value()) to.set_limit_in_force(*from.limit_in_force);
  if (from.recommended.has_value()) to.set_recommended(*from.recommended);
}

void PutReplicas(const ExternalReplicas& from, recommender_v1::Replicas& to) {
  to.set_running(static_cast<uint32_t>(from.running));
  if (from.in_force.has_value()) to.set_in_force(static_cast<uint32_t>(*from.in_force));
  if (from.recommended.has_value()) to.set_recommended(static_cast<uint32_t>(*from.recommended));
  if (from.load.has_value()) to.set_load(*from.load);
  if (from.task_capacity.has_value()) to.set_task_capacity(*from.task_capacity);
  to.set_load_of_series(!from.is_of_cpu);
}

// Returns the fault of a recommendation; its text is "" if all amounts are valid and within the bounds.
ExternalFault Fault(const recommender_v1::Recommendation& r, const ExternalJob& job,
                    const ExternalBounds& bounds) {
  const auto amount = [](std::string_view what, double value, double most) {
    if (value > 0 && value <= most) return std::string();  // this condition also rejects NaN
    return StrCat(what, " is ", value, ": expected above 0 and at most ", most);
  };
  std::string fault;
  if (r.has_cpu_limit_cores()) fault = amount("cpu_limit_cores", r.cpu_limit_cores(), kMostCores);
  if (fault.empty() && r.has_memory_limit_bytes())
    fault = amount("memory_limit_bytes", r.memory_limit_bytes(), kMostBytes);
  if (fault.empty() && r.has_replicas() && r.replicas() > kMostTasks)
    fault = StrCat("replicas is ", r.replicas(), ": expected at most ", kMostTasks);
  if (!fault.empty()) return {ExternalRefusal::kImpossible, std::move(fault)};
  ExternalFault beyond;
  if (r.has_cpu_limit_cores()) beyond = CheckExternalLimit(Resource::kCpu, r.cpu_limit_cores(), job, bounds);
  if (beyond.text.empty() && r.has_memory_limit_bytes())
    beyond = CheckExternalLimit(Resource::kMemory, r.memory_limit_bytes(), job, bounds);
  if (beyond.text.empty() && r.has_replicas()) beyond = CheckExternalTasks(r.replicas(), job, bounds);
  return beyond;
}

std::string ReasonOf(std::string_view reason) { return Printable(CutUtf8(reason, kMaxExternalReasonBytes)); }

}  // namespace

recommender_v1::RecommendRequest ExternalRequest(std::string_view cell, WindowId window,
                                                 std::span<const ExternalJob> jobs) {
  recommender_v1::RecommendRequest request;
  request.set_cell(std::string(cell));
  request.set_window_start_s(window.start_s());
  request.set_window_end_s(window.next().start_s());
  const Grid& grid = GridOf(Resource::kCpu);
  for (const ExternalJob& from : jobs) {
    recommender_v1::Job& to = *request.add_jobs();
    to.set_name(from.name);
    for (const auto& [key, value] : from.labels) (*to.mutable_labels())[key] = value;
    for (const TaskWindow& task : from.tasks) PutTask(task, *to.add_tasks());
    for (const BucketWeight& bucket : from.cpu_seconds) {
      recommender_v1::CpuUsage& usage = *to.add_cpu_usage();
      usage.set_cores(grid.UpperBound(bucket.bucket));
      usage.set_seconds(bucket.weight);
    }
    PutResource(from.of(Resource::kCpu), *to.mutable_cpu());
    PutResource(from.of(Resource::kMemory), *to.mutable_memory());
    if (const auto share = from.of(Resource::kCpu).throttled; share.has_value())
      to.set_throttled_share(*share);
    to.set_oom_kills_of_week(from.of(Resource::kMemory).oom_kills_of_week);
    for (const ExternalNamed& named : from.named) {
      recommender_v1::NamedSignal& signal = *to.add_signals();
      signal.set_name(named.name);
      if (named.value.has_value()) signal.set_value(*named.value);
    }
    if (from.replicas.has_value()) PutReplicas(*from.replicas, *to.mutable_replicas());
  }
  return request;
}

ExternalResult TakeExternalResponse(const recommender_v1::RecommendResponse& response,
                                    std::span<const ExternalJob> jobs, WindowId until,
                                    const ExternalBounds& bounds) {
  absl::flat_hash_map<std::string_view, const ExternalJob*> by_name;
  for (const ExternalJob& job : jobs) by_name.emplace(job.name, &job);
  absl::flat_hash_set<uint32_t> answered;
  ExternalResult result;
  for (const recommender_v1::Recommendation& r : response.recommendations()) {
    const auto found = by_name.find(r.job());
    const ExternalJob* const job = found == by_name.end() ? nullptr : found->second;
    const auto other = [](std::string text) {
      return ExternalFault{ExternalRefusal::kImpossible, std::move(text)};
    };
    const ExternalFault fault = job == nullptr ? other("the job was not asked for")
                                : !answered.insert(job->id.value).second
                                    ? other("the job was answered before")
                                    : Fault(r, *job, bounds);
    if (!fault.text.empty()) {
      ++result.invalid;
      std::string name = Printable(CutUtf8(r.job(), kMaxExternalReasonBytes));
      result.why = StrCat(name, ": ", fault.text);
      result.refused.push_back({fault.kind, std::move(name), fault.text});
      continue;
    }
    const std::string why = ReasonOf(r.reason());
    const auto add = [&](Target target, double value) {
      result.answers.push_back(
          {.job = job->id, .target = target, .value = value, .why = why, .until = until});
    };
    if (r.has_cpu_limit_cores()) add(Resource::kCpu, r.cpu_limit_cores());
    if (r.has_memory_limit_bytes()) add(Resource::kMemory, r.memory_limit_bytes());
    if (r.has_replicas()) add(Target::Replicas(), r.replicas());
  }
  return result;
}

}  // namespace taut::server
