// Performance budget of admission: 1,000 groups in 50 cohorts of 5 divisions, 3 tiers of 3 resources, 100,000
// jobs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "brain/economy/elastic_share.h"
#include "brain/economy/quota_ledger.h"
#include "brain/economy/reclaim.h"
#include "common/base/random.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int kDivisions = 5, kCohorts = 50, kGroups = 1000, kJobs = 100'000;
constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kCpu = 100'000, kMemory = 400'000 * kMebibyte;  // nominal quota of each group
const std::vector<std::string> kTiers = {"batch", "free", "prod"};

std::string GroupName(uint64_t i) { return StrCat("group-", i); }

QuotaSpec Spec() {
  QuotaSpec spec{{{"cell"}}};
  for (int i = 0; i < kDivisions; ++i) spec.groups.push_back({StrCat("division-", i), "cell"});
  for (int i = 0; i < kCohorts; ++i)
    spec.groups.push_back({StrCat("cohort-", i), StrCat("division-", i % kDivisions)});
  for (int i = 0; i < kGroups; ++i) {
    QuotaGroup g{GroupName(static_cast<uint64_t>(i)), StrCat("cohort-", i % kCohorts)};
    for (const std::string& tier : kTiers) {
      g.quotas.push_back({tier, "cpu", kCpu, 3 * kCpu, kCpu / 2});
      g.quotas.push_back({tier, "memory", kMemory});
      g.quotas.push_back({tier, "gpu", 10, 10, 5});
    }
    spec.groups.push_back(g);
  }
  return spec;
}

// Returns a random request. On average, the jobs of a group in a tier use the share `share` of the group's quota.
AdmissionRequest Any(Rng& rng, double share) {
  AdmissionRequest r{.group = GroupName(rng.Below(kGroups)), .tier = kTiers[rng.Below(3)]};
  const double jobs = static_cast<double>(kJobs) / kGroups / 3;
  const double size = 2 * rng.Uniform() * share / jobs;
  r.per_task =
      QuotaVector::Of(1 + static_cast<int64_t>(size * kCpu), 1 + static_cast<int64_t>(size * kMemory));
  r.priority = static_cast<int32_t>(rng.Below(10));
  r.now = Timestamp::FromSeconds(static_cast<int64_t>(rng.Below(100'000)));
  r.duration_s = static_cast<int64_t>(rng.Below(100'000));
  return r;
}

// Returns a ledger of kJobs jobs. With `more`, requests 2 * kJobs jobs and returns a ledger of the admitted jobs.
// No job belongs to the group `spared`.
QuotaLedger Full(double share, bool more, const std::string& spared = "") {
  QuotaLedger ledger = *QuotaLedger::Make(Spec());
  Rng rng(5);
  for (int i = 0; i < 2 * kJobs; ++i) {
    if (!more && static_cast<int>(ledger.jobs()) == kJobs) break;
    const AdmissionRequest r = Any(rng, share);
    if (r.group != spared) (void)ledger.Admit(StrCat("job-", i), r);
  }
  return ledger;
}

// Benchmarks single requests. Each request is decided and, if it is admitted, counted and then released.
void Admissions(benchmark::State& state, double share, double size, bool releases) {
  QuotaLedger ledger = Full(share, size > 1);
  const std::vector<ExpectedRelease> ends = releases ? ledger.Releases() : std::vector<ExpectedRelease>();
  Rng rng(9);
  std::vector<AdmissionRequest> requests;
  for (int i = 0; i < 20'000; ++i) requests.push_back(Any(rng, size));
  std::vector<double> took_us;
  size_t i = 0, admitted = 0, queued = 0;
  for (auto _ : state) {
    const AdmissionRequest& r = requests[i++ % requests.size()];
    const auto start = std::chrono::steady_clock::now();
    const AdmissionVerdict v = *ledger.Admit("new", r, ends);
    const bool released = ledger.Release("new");
    const auto end = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(released);
    took_us.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    admitted += v.outcome == AdmissionOutcome::kAdmitted ? 1 : 0;
    queued += v.outcome == AdmissionOutcome::kQueued ? 1 : 0;
  }
  std::sort(took_us.begin(), took_us.end());
  state.counters["p99_us"] = took_us[took_us.size() * 99 / 100];
  state.counters["max_us"] = took_us.back();
  state.counters["admitted"] = static_cast<double>(admitted) / static_cast<double>(took_us.size());
  state.counters["queued"] = static_cast<double>(queued) / static_cast<double>(took_us.size());
  state.counters["jobs"] = static_cast<double>(ledger.jobs());
  state.SetLabel("budget p99 1 ms");
}
BENCHMARK_CAPTURE(Admissions, half_full, 0.5, 0.5, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Admissions, full, 0.97, 30, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Admissions, full_with_releases, 0.97, 30, true)->Unit(benchmark::kMicrosecond);

// Benchmarks a group that reclaims its nominal quota from other groups, among all jobs.
void Reclaims(benchmark::State& state) {
  const QuotaLedger ledger = Full(0.97, true, GroupName(7));
  const std::vector<HeldJob> jobs = ledger.Jobs();
  AdmissionRequest r{.group = GroupName(7), .tier = "prod", .per_task = QuotaVector::Of(kCpu, kMemory)};
  r.priority = 9;
  size_t victims = 0;
  for (auto _ : state) victims = PlanReclaim(ledger.tree(), jobs, r, {})->victims.size();
  state.counters["victims"] = static_cast<double>(victims);
  state.counters["jobs"] = static_cast<double>(jobs.size());
}
BENCHMARK(Reclaims)->Unit(benchmark::kMillisecond);

void ElasticShares(benchmark::State& state) {
  Rng rng(5);
  std::vector<ElasticGroup> groups;
  for (int i = 0; i < kCohorts; ++i)
    groups.push_back({.name = StrCat("cohort-", i), .min = 20 * kCpu, .max = 60 * kCpu});
  for (int i = 0; i < kGroups; ++i) {
    groups.push_back({.name = StrCat("group-", i),
                      .parent = StrCat("cohort-", i % kCohorts),
                      .min = kCpu,
                      .max = 5 * kCpu,
                      .request = static_cast<int64_t>(rng.Below(6 * kCpu))});
  }
  int64_t sum = 0;
  for (auto _ : state) sum += ShareElastically(groups, 2000 * kCpu)->back().runtime;
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(ElasticShares)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace taut::brain
