// Benchmarks the view of callers bound to a group, on a fleet of 100,000 jobs. The view is computed once per
// window and set of groups.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

#include "common/base/strings.h"
#include "server/api/group_views.h"

namespace taut::server {
namespace {

constexpr uint32_t kJobs = 100'000, kGroups = 1000;

void ViewOfAGroup(benchmark::State& state) {
  FleetView view;
  view.window = WindowId{1000};
  for (uint32_t i = 0; i < kJobs; ++i) {
    auto record = std::make_shared<JobRecord>();
    record->id = JobId{i};
    record->name = StrCat("group-", i % kGroups, "/deployment/job-", i);
    record->labels = {{"app", "x"}, {"container", "app"}, {"namespace", StrCat("group-", i % kGroups)}};
    JobView job;
    job.record = std::move(record);
    job.tasks = 3;
    job.last_seen_s = view.window->next().start_s();
    for (JobAmounts& a : job.amounts) a.usage = a.owner_limit = a.limit = 1;
    view.jobs.push_back(std::move(job));
  }
  brain::QuotaSpec spec{{{"pool"}}};
  for (uint32_t i = 0; i < kGroups; ++i) spec.groups.push_back({StrCat("group-", i), "pool"});
  HttpRequest caller;
  caller.role = Role::kGroup;
  caller.bindings = std::make_shared<const GroupBindings>(GroupBindings{{"group-7", GroupRole::kMember}});
  const Reach reach = Reach::Of(
      caller, Act::kSeeJobs,
      std::make_shared<const GroupScheme>(spec, *GroupRules::Make({"{namespace}", "", "p"}), "{namespace}"));
  size_t jobs = 0;
  for (auto _ : state) jobs = ViewWithin(reach, view)->jobs.size();
  state.SetLabel(StrCat("budget 200 ms; ", jobs, " jobs"));
}
BENCHMARK(ViewOfAGroup)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::server
