// Tests that the result does not depend on the number of threads on which jobs are stepped.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "brain/fleet/live_fixture.h"
#include "common/base/strings.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr size_t kFleetJobs = 3 * VerticalPass::kTurnJobs - 10;
constexpr size_t kWindows = 5 * kWindowsPerDay;

// Runs each turn on its own thread, and starts the last turn first.
void RunOnThreads(size_t count, absl::FunctionRef<void(size_t)> turn) {
  std::vector<std::thread> threads;
  for (size_t i = count; i-- > 0;) threads.emplace_back([turn, i] { turn(i); });
  for (std::thread& t : threads) t.join();
}

std::string BytesOf(const FleetPoint& p) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(p.jobs);
  out.Put(p.tasks);
  for (const uint32_t n : p.jobs_by_mode) out.Put(n);
  for (const FleetAmounts& a : p.amounts) {
    out.Put(a.job_windows_over);
    out.Put(a.usage);
    out.Put(a.would_be);
  }
  return bytes;
}

// Returns a fleet that has processed the cell, and appends the outputs of all passes to `said`.
std::unique_ptr<LiveFleet> Lived(const Cell& cell, Policy policy, RunTurns run, std::string& said) {
  auto fleet = std::make_unique<LiveFleet>(Settings(policy, Mode::kAuto));
  AddJobs(*fleet, kFleetJobs);
  PassOutput out;
  for (size_t w = 0; w < kWindows; ++w) {
    const ClosedWindow& closed = cell.windows()[w];
    fleet->pass.Observe(closed, 0, kFleetJobs / 2, out, When::kNow, run);
    fleet->pass.Observe(closed, kFleetJobs / 2, kFleetJobs, out, When::kNow, run);
    fleet->pass.EndWindow(closed, out);
    fleet->pass.Decide(closed, 0, kFleetJobs, out);
    said += BytesOf(out.point);
    for (const Decision& d : out.decisions)
      said += StrCat(d.id, " ", d.job.value, " ", d.after.value_or(-1), "\n");
    out.Clear();
  }
  return fleet;
}

TEST(LiveFleetThreads, TheSameBytesOnAnyNumberOfThem) {
  const Cell cell(kFleetJobs);
  std::string said, said_on_threads;
  const auto fleet = Lived(cell, Policy::kCombined, RunInOrder, said);
  const auto on_threads = Lived(cell, Policy::kCombined, RunOnThreads, said_on_threads);
  ASSERT_TRUE(fleet->models->of(Resource::kMemory).ready());
  EXPECT_EQ(said, said_on_threads);
  EXPECT_EQ(Models(*fleet), Models(*on_threads));
  const std::string chunk = Chunk(*fleet);
  ASSERT_EQ(chunk, Chunk(*on_threads));

  // Returns a fleet that was restored from a checkpoint and the later windows.
  const auto restored = [&](RunTurns run) {
    LiveFleet again(Settings(Policy::kCombined, Mode::kAuto));
    AddJobs(again, kFleetJobs);
    const std::string models = Models(*fleet);
    ByteReader models_in(models);
    EXPECT_TRUE(again.checkpoint.LoadFleet(models_in).ok());
    ByteReader in(chunk);
    const WindowId through = cell.windows()[kWindows - 1].window;
    EXPECT_TRUE(again.checkpoint.LoadChunk(0, through, in, run).ok());
    EXPECT_EQ(Chunk(again), chunk);
    for (size_t w = kWindows; w < kWindows + 20; ++w)
      again.restore.Redo(cell.windows()[w], {&through, 1}, run);
    return Chunk(again);
  };
  EXPECT_EQ(restored(RunInOrder), restored(RunOnThreads));
}

}  // namespace
}  // namespace taut::brain
