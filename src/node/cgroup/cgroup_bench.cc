// Benchmarks reading and finding tasks: real groups of this machine with a child process in each.
//
//   usage <= 25 us a task (200 tasks each second within 1 % of a core, with the processing of readings)
#include <benchmark/benchmark.h>

#include "node/cgroup/cgroup_finder.h"
#include "node/cgroup/cgroup_fixture.h"

namespace taut::node {
namespace {

constexpr int kTasks = 20;  // one task alone would be in the cache at each reading

void ReadGroups(benchmark::State& state, ReadDepth depth) {
  if (const std::string why = CgroupFixture::WhyNot(); !why.empty()) {
    state.SkipWithError(why.c_str());
    return;
  }
  std::vector<std::unique_ptr<CgroupFixture>> fixtures;
  std::vector<std::unique_ptr<TaskGroup>> groups;
  for (int i = 0; i < kTasks; ++i) {
    fixtures.push_back(std::make_unique<CgroupFixture>(StrCat("bench-", i)));
    fixtures.back()->StartHolding(8 << 20);
    groups.push_back(fixtures.back()->Open());
  }
  state.SetLabel(std::string(fixtures[0]->mounts().description()));
  size_t next = 0;
  for (auto _ : state) {
    TaskReading reading;
    const absl::Status status = groups[next++ % groups.size()]->Read(depth, reading);
    if (!status.ok() || reading.memory_bytes.value_or(0) < 8 << 20) {
      state.SkipWithError("a reading is wrong");
      break;
    }
    benchmark::DoNotOptimize(reading);
  }
  if (depth == ReadDepth::kUsage) state.counters["budget_us"] = 25;
}
BENCHMARK_CAPTURE(ReadGroups, usage, ReadDepth::kUsage)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ReadGroups, all, ReadDepth::kAll)->Unit(benchmark::kMicrosecond);

// Finds 200 tasks among all groups of the machine.
void FindTasks(benchmark::State& state, TaskSource source) {
  if (const std::string why = CgroupFixture::WhyNot(); !why.empty()) {
    state.SkipWithError(why.c_str());
    return;
  }
  constexpr size_t kGroups = 200;
  const CgroupFixture fixture("bench-find");
  for (size_t i = 0; i < kGroups; ++i) fixture.MakeBelow(StrCat("web@", i, ".service"));
  TaskRule rule;
  rule.source = source;
  rule.match = source == TaskSource::kCgroup ? fixture.path() + "/web@*" : "web@*.service";
  const std::unique_ptr<CgroupFinder> finder = *CgroupFinder::Create(fixture.mounts(), "host", {rule});
  for (auto _ : state) {
    const absl::StatusOr<std::vector<FoundTask>> found = finder->Find();
    if (!found.ok() || found->size() != kGroups) {
      state.SkipWithError("not what there is");
      break;
    }
  }
}
BENCHMARK_CAPTURE(FindTasks, groups, TaskSource::kCgroup)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(FindTasks, units, TaskSource::kSystemd)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace taut::node
