// Benchmarks the webhook that checks quota for new pods: 1,000 groups in 50 cohorts, 100,000 pods of two
// containers, 100,000 measured jobs, and a request for quota in every tenth group.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "server/pool/live_quota.h"

namespace taut::server {
namespace {

constexpr int kCohorts = 50, kGroups = 1000, kPodsOfGroup = 100;
constexpr int64_t kCpu = 24'000, kMemory = int64_t{100} << 30;

brain::QuotaSpec Spec() {
  brain::QuotaSpec spec{{{"cell"}}};
  for (int i = 0; i < kCohorts; ++i) spec.groups.push_back({StrCat("cohort-", i), "cell"});
  for (int i = 0; i < kGroups; ++i) {
    brain::QuotaGroup group{StrCat("team-", i), StrCat("cohort-", i % kCohorts)};
    for (const char* tier : {"batch", "production"}) {
      group.quotas.push_back({tier, "cpu", kCpu, kCpu, kCpu / 2});
      group.quotas.push_back({tier, "memory", kMemory});
    }
    spec.groups.push_back(group);
  }
  return spec;
}

LiveTask Pod(int group, int number, Rng& rng) {
  LiveTask pod;
  pod.name = StrCat("team-", group, "/web-", number);
  pod.uid = StrCat("uid-", group, "-", number);
  pod.labels = {{"app", StrCat("web-", number / 10)},
                {"namespace", StrCat("team-", group)},
                {"tier", number % 2 == 0 ? "production" : "batch"}};
  const std::string workload = StrCat("team-", group, "/deployment/web-", number / 10);
  for (const char* container : {"/app", "/proxy"}) {
    const auto part = static_cast<int64_t>(1 + rng.Below(400));
    pod.parts.push_back({workload + container, brain::QuotaVector::Of(part, part << 22)});
  }
  return pod;
}

// Reviews a new pod. Half of the pods that fit are created, and another webhook rejects the others.
void Reviews(benchmark::State& state) {
  double now_s = 0;
  std::mutex mutex;
  brain::GroupUsage usage = *brain::GroupUsage::Make(Spec());
  const GroupRules rules = *GroupRules::Make({"{namespace}", "{tier}", "production"});
  LiveQuota live(
      mutex, usage, rules, [&now_s] { return now_s; }, 30);
  Rng rng(3);
  std::vector<LiveTask> pods;
  std::vector<brain::JobUse> measured;
  uint64_t requests = 0;
  for (int group = 0; group < kGroups; ++group) {
    for (int i = 0; i < kPodsOfGroup; ++i) {
      pods.push_back(Pod(group, i, rng));
      // For each pod, add a job that is measured but has no reported task.
      measured.push_back({StrCat("team-", group, "/job-", i), StrCat("team-", group), "batch", 20, 1 << 20});
    }
    if (group % 10 != 0) continue;
    brain::QuotaRequest request;
    request.id = ++requests;
    request.asked = {.group = StrCat("team-", group),
                     .tier = "production",
                     .per_task = brain::QuotaVector::Of(4000, 1 << 30)};
    request.job = StrCat("team-", group, "/deployment/web-3");
    request.state = brain::RequestState::kAdmitted;
    usage.Open(request);
  }
  live.Replace(std::move(pods));
  const auto before = std::chrono::steady_clock::now();
  usage.SetMeasured(measured, Timestamp::FromSeconds(300));
  state.counters["window_ms"] =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  std::vector<double> took_us;
  size_t fitted = 0;
  int number = kPodsOfGroup;
  for (auto _ : state) {
    const LiveTask pod = Pod(static_cast<int>(rng.Below(kGroups)), number++, rng);
    now_s += 0.001;
    const auto start = std::chrono::steady_clock::now();
    const bool fits = live.Ask(pod, false).outcome == LiveQuota::Outcome::kFits;
    took_us.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    fitted += fits ? 1 : 0;
    if (!fits || number % 2 == 0) continue;
    live.Put(pod);
    live.Remove(pod);
  }
  std::ranges::sort(took_us);
  state.counters["p99_us"] = took_us[took_us.size() * 99 / 100];
  state.counters["max_us"] = took_us.back();
  state.counters["fitted"] = static_cast<double>(fitted) / static_cast<double>(took_us.size());
  state.SetLabel("budget p99 1 ms");
}
BENCHMARK(Reviews)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace taut::server
