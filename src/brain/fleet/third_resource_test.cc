// Tests that a new row in the table of resources suffices for a live fleet to set limits of the resource, to
// explain them and to restore its lanes. There are no tests without TAUT_THIRD_RESOURCE.
#ifdef TAUT_THIRD_RESOURCE
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "brain/fleet/live_fixture.h"
#include "common/model/target.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr size_t kJobs = 12;

ClosedWindow WithDisk(ClosedWindow closed) {
  for (TaskWindow& t : closed.tasks) {
    t.disk_mean_bytes = t.memory_mean_bytes;
    t.disk_peak_bytes = t.memory_peak_bytes;
  }
  for (JobWindowData& j : closed.jobs) j.window.disk_limit_bytes = j.window.memory_limit_bytes;
  return closed;
}

using PlainDecision = std::tuple<uint32_t, int64_t, int, double>;
std::map<Target, std::vector<PlainDecision>> ByTarget(const std::vector<Decision>& decisions) {
  std::map<Target, std::vector<PlainDecision>> out;
  for (const Decision& d : decisions)
    out[d.target].emplace_back(d.job.value, d.time_s, static_cast<int>(d.kind), d.after.value_or(-1));
  return out;
}

TEST(ThirdResource, WithTheUsageOfMemoryGetsItsLimitsAndOutlivesARestart) {
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(Policy::kCombined, Mode::kAuto));
  AddJobs(fleet, kJobs);
  PassOutput out;
  std::vector<Decision> decisions;
  for (const ClosedWindow& closed : cell.windows()) {
    Step(fleet, WithDisk(closed), out);
    decisions.insert(decisions.end(), out.decisions.begin(), out.decisions.end());
    out.Clear();
  }
  const auto by_target = ByTarget(decisions);
  ASSERT_FALSE(by_target.at(Resource::kDisk).empty());
  EXPECT_EQ(by_target.at(Resource::kDisk), by_target.at(Resource::kMemory));
  EXPECT_TRUE(fleet.models->of(Resource::kDisk).ready());
  EXPECT_EQ(fleet.models->of(Resource::kDisk).price(), fleet.models->of(Resource::kMemory).price());
  for (uint32_t j = 0; j < kJobs; ++j) {
    const LiveJob& job = fleet.job(JobId{j});
    ASSERT_TRUE(fleet.LimitOf(job, Resource::kDisk).has_value());
    EXPECT_EQ(fleet.LimitOf(job, Resource::kDisk), fleet.LimitOf(job, Resource::kMemory));
    EXPECT_FALSE(fleet.risk.Explain(JobId{j}, Resource::kDisk).sentence.empty());
  }

  LiveFleet again(Settings(Policy::kCombined, Mode::kAuto));
  AddJobs(again, kJobs);
  const std::string models = Models(fleet), chunk = Chunk(fleet);
  ByteReader models_in(models), chunk_in(chunk);
  ASSERT_TRUE(again.checkpoint.LoadFleet(models_in).ok());
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, cell.windows().back().window, chunk_in).ok());
  EXPECT_EQ(Models(again), models);
  EXPECT_EQ(Chunk(again), chunk);
}

TEST(ThirdResource, AnUnmeasuredOneDecidesNothing) {
  const Cell cell(2);
  LiveFleet fleet(Settings(Policy::kCombined, Mode::kAuto));
  AddJobs(fleet, 2);
  PassOutput out;
  for (const ClosedWindow& closed : cell.windows()) {
    Step(fleet, closed, out);
    EXPECT_EQ(ByTarget(out.decisions).count(Resource::kDisk), 0U);
    out.Clear();
  }
  EXPECT_FALSE(fleet.LimitOf(fleet.job(JobId{0}), Resource::kDisk).has_value());
}

TEST(ThirdResource, ItsTargetHasACodeBehindThatOfReplicas) {
  const Target disk(Resource::kDisk);
  EXPECT_EQ(disk.code(), 3);
  EXPECT_EQ(Target::FromCode(3), disk);
  EXPECT_EQ(disk.resource(), Resource::kDisk);
  EXPECT_EQ(TargetNamed("disk"), disk);
  EXPECT_EQ(Target::FromCode(2), Target::Replicas());
  EXPECT_FALSE(Target::FromCode(4).has_value());
}

}  // namespace
}  // namespace taut::brain
#endif
