// Performance budgets of requests for quota: 1,000 groups in 50 cohorts, 100,000 jobs, half of them with a
// request.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "brain/economy/quota_requests.h"
#include "common/base/random.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int kBookCohorts = 50, kBookGroups = 1000, kBookJobs = 100'000;

QuotaSpec BookSpec() {
  QuotaSpec spec{{{"cell"}}};
  for (int i = 0; i < kBookCohorts; ++i) spec.groups.push_back({StrCat("cohort-", i), "cell"});
  for (int i = 0; i < kBookGroups; ++i) {
    spec.groups.push_back({StrCat("group-", i),
                           StrCat("cohort-", i % kBookCohorts),
                           {{"prod", "cpu", 100'000}, {"prod", "memory", int64_t{400} << 30}}});
  }
  return spec;
}

std::string BookJob(int i) { return StrCat("group-", i % kBookGroups, "/deployment/web-", i, "/app"); }

std::vector<JobUse> BookUse() {
  std::vector<JobUse> out;
  Rng rng(3);
  for (int i = 0; i < kBookJobs; ++i) {
    out.push_back({BookJob(i), StrCat("group-", i % kBookGroups), "prod",
                   static_cast<int64_t>(rng.Below(900)), static_cast<int64_t>(rng.Below(int64_t{3} << 30))});
  }
  return out;
}

AdmissionRequest BookAsk(int i) {
  return {.group = StrCat("group-", i % kBookGroups),
          .tier = "prod",
          .per_task = QuotaVector::Of(500, int64_t{1} << 30),
          .now = Timestamp::FromSeconds(i),
          .duration_s = 1'000'000 + i};
}

QuotaRequests FullBook() {
  QuotaRequests requests = *QuotaRequests::Make(BookSpec(), {.max_of_group = 100'000});
  for (int i = 0; i < kBookJobs; i += 2) {
    const auto made =
        requests.Submit(BookAsk(i), StrCat("group-", i % kBookGroups, "/deployment/web-", i), "bench");
    if (made.ok()) requests.Apply(*made);
  }
  requests.SetUse(BookUse(), Timestamp::FromSeconds(300));
  return requests;
}

// Benchmarks a request that is submitted and withdrawn. Every tenth request is for a job that runs without a
// request.
void RequestsMade(benchmark::State& state) {
  QuotaRequests requests = FullBook();
  std::vector<double> took_us;
  int i = 0;
  for (auto _ : state) {
    ++i;
    const int other = i * 2 % kBookJobs + 1;
    const std::string job =
        i % 10 == 0 ? StrCat("group-", other % kBookGroups, "/deployment/web-", other) : StrCat("new-", i);
    const auto start = std::chrono::steady_clock::now();
    const auto made = requests.Submit(BookAsk(i), job, "bench");
    if (made.ok()) requests.Apply(*made);
    took_us.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    if (!made.ok() || made->state == RequestState::kEnded) continue;
    requests.Apply(*requests.Withdraw(made->id, "bench", Timestamp::FromSeconds(i)));
    requests.Forget(made->id);
  }
  std::sort(took_us.begin(), took_us.end());
  state.counters["p99_us"] = took_us[took_us.size() * 99 / 100];
  state.counters["open"] = static_cast<double>(requests.open());
  state.SetLabel("budget p99 1 ms");
}
BENCHMARK(RequestsMade)->Unit(benchmark::kMicrosecond);

QuotaRequests BookWithQueue() {
  QuotaRequests requests = FullBook();
  for (int i = 0; i < 10'000; ++i) {
    AdmissionRequest large = BookAsk(i);
    large.per_task = QuotaVector::Of(1'900'000, 0);
    const auto made = requests.Submit(large, "", "bench");
    if (made.ok()) requests.Apply(*made);
  }
  (void)requests.Due(Timestamp::FromSeconds(700));
  return requests;
}

// Benchmarks a new request beside the longest possible queue, which must not be examined as a whole.
void RequestsBesideAQueue(benchmark::State& state) {
  QuotaRequests requests = BookWithQueue();
  int i = 0;
  for (auto _ : state) {
    const auto made = requests.Submit(BookAsk(++i), StrCat("new-", i), "bench");
    if (made.ok()) requests.Apply(*made);
    for (const QuotaRequest& due : requests.Due(Timestamp::FromSeconds(700))) requests.Apply(due);
  }
  state.counters["queued"] = static_cast<double>(requests.queued());
  state.SetLabel("budget 1 ms");
}
BENCHMARK(RequestsBesideAQueue)->Unit(benchmark::kMicrosecond);

void QueueLookedThrough(benchmark::State& state) {
  QuotaRequests requests = BookWithQueue();
  for (auto _ : state) {
    requests.LookAgain();
    benchmark::DoNotOptimize(requests.Due(Timestamp::FromSeconds(700)));
  }
}
BENCHMARK(QueueLookedThrough)->Unit(benchmark::kMillisecond);

void WindowOfUse(benchmark::State& state) {
  QuotaRequests requests = FullBook();
  const std::vector<JobUse> use = BookUse();
  int64_t now = 600;
  for (auto _ : state) requests.SetUse(use, Timestamp::FromSeconds(now += 300));
  state.SetLabel("budget 500 ms");
}
BENCHMARK(WindowOfUse)->Unit(benchmark::kMillisecond);

void WhatIsDue(benchmark::State& state) {
  QuotaRequests requests = FullBook();
  for (auto _ : state) benchmark::DoNotOptimize(requests.Due(Timestamp::FromSeconds(700)));
}
BENCHMARK(WhatIsDue)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::brain
