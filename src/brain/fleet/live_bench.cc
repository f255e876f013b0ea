// Performance budget of scaled jobs in tautd: one pass over 100,000 jobs whose number of tasks is decided, for
// each policy. The cost of their limits is not included (see bench/daemon_scale.cc).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/fleet/live_replicas.h"
#include "brain/replicas/policies.h"
#include "brain/rollout/rules.h"

namespace taut::brain {
namespace {

constexpr int kScaled = 100'000;
constexpr int kDifferent = 50;                    // number of distinct initial states, which the jobs share
constexpr int32_t kLearnt = 14 * kWindowsPerDay;  // number of windows before the measured windows
constexpr uint32_t kTasksEach = 4;

struct Row {
  const char* policy;
  const char* target;  // value of function.target; "": the default
  const char* metrics;
};
constexpr Row kRows[] = {
    {"static", "", ""},
    {"autopilot", "", ""},
    {"hpa", "", ""},
    {"hpa", "", "queue_length 30 per task; requests 500"},
    {"keda", "", ""},
    {"function", "", ""},
    {"function", "ceil(max(queue_length, 10m) / 50) + p95(requests, 6h) / 100 + avg(cpu, 5m) / 2", ""},
    {"forecast", "", ""},
};

JobPolicy PolicyOf(const Row& row) {
  JobPolicy policy;
  policy.mode = Mode::kObserve;
  policy.replicas.signals = {"queue_length", "requests"};
  const auto set = [&policy](const char* key, const char* value) {
    if (value[0] != '\0') (void)SetJobSetting(key, value, policy);
  };
  set("replicas.policy", row.policy);
  set("replicas.function.target", row.target);
  set("replicas.hpa.metrics", row.metrics);
  set("replicas.max", "1000");
  return policy;
}

// A window with four tasks and two signals. Values depend on the job and the time.
class Window {
 public:
  Signal Of(int job, int32_t window) {
    const double level =
        2 + std::sin(window * 2 * M_PI / kWindowsPerDay + job % 97) + 0.01 * (window * 7919 % 31);
    for (uint32_t t = 0; t < kTasksEach; ++t)
      tasks_[t] = {t, static_cast<float>(level / kTasksEach), static_cast<float>(level / kTasksEach)};
    named_[0].value = static_cast<float>(100 * level);
    named_[1].value = static_cast<float>(900 * level);
    Signal signal{.window = WindowId{window}, .buckets = {}, .tasks = tasks_, .owner_limit = 1};
    signal.used_together[IndexOf(Resource::kCpu)] = level;
    signal.named = named_;
    return signal;
  }

 private:
  TaskUsage tasks_[kTasksEach];
  NamedSignal named_[2] = {{"queue_length", 0}, {"requests", 0}};
};

void ScaledPass(benchmark::State& state) {
  const Row& row = kRows[state.range(0)];
  const JobPolicy policy = PolicyOf(row);
  Window window;
  std::vector<std::unique_ptr<LiveReplicas>> jobs;
  const auto step = [&](int job, int32_t at) {
    LiveReplicas& its = *jobs[static_cast<size_t>(job)];
    its.Observe(window.Of(job, at), 1, SizeUse::kOwners);
    benchmark::DoNotOptimize(its.Decide(policy, WindowId{at}.next().start_s()));
  };
  for (int job = 0; job < kDifferent; ++job) {
    jobs.push_back(LiveReplicas::For(policy));
    for (int32_t at = 0; at < kLearnt; ++at) step(job, at);
  }
  for (int job = kDifferent; job < kScaled; ++job) {
    std::string bytes_of;
    ByteWriter out(&bytes_of);
    jobs[static_cast<size_t>(job % kDifferent)]->Save(out);
    ByteReader in(bytes_of);
    jobs.push_back(std::move(LiveReplicas::Load(in, policy)->replicas));
  }
  int32_t at = kLearnt;
  double longest_s = 0, bytes = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (int job = 0; job < kScaled; ++job) step(job, at);
    longest_s =
        std::max(longest_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ++at;
  }
  for (const auto& job : jobs) bytes += static_cast<double>(job->state_bytes());
  state.counters["longest_ms"] = 1000 * longest_s;
  state.counters["budget_s"] = 0.5;
  state.counters["us/decision"] = 1e6 * longest_s / kScaled;
  state.counters["bytes/job"] = bytes / kScaled;
  state.SetLabel(std::string(row.policy) +
                 (row.target[0] != '\0' || row.metrics[0] != '\0' ? ", signals" : "") +
                 ", budget 0.5 s and 20 us a decision");
}
BENCHMARK(ScaledPass)
    ->DenseRange(0, static_cast<int64_t>(std::size(kRows)) - 1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(12);

}  // namespace
}  // namespace taut::brain
