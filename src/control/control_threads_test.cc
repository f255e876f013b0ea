// Everybody at once: senders, the loop, readers, a person. What they see must hold together; the build with
// ThreadSanitizer looks for the rest.
#include <atomic>
#include <thread>

#include "control/control_fixture.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(ControlPlaneThreads, SendersTicksReadersAndPeopleAtOnce) {
  ControlCell cell(200);
  ASSERT_TRUE(cell.Live(0, 70).ok());
  ControlPlane& control = cell.control();
  std::atomic<bool> done{false};
  std::atomic<int> minute{70};
  std::thread loop([&] {
    while (!done) (void)control.Tick(Timestamp::FromSeconds(ControlCell::kStart + 60 * minute));
  });
  std::thread reader([&] {
    while (!done) {
      const std::shared_ptr<const FleetView> view = control.view();
      EXPECT_EQ(ListJobs(*view, JobsQuery()).total, view->jobs.size());
      for (uint32_t j = 0; j < view->jobs.size(); ++j) {
        (void)control.Look(JobId{j}, [&](const LiveJob& job) { EXPECT_EQ(job.record.id.value, j); });
        (void)control.Explain(JobId{j}, Resource::kMemory);
      }
      (void)control.counts();
      (void)control.ingest_counts();
      (void)control.last_pass();
      (void)control.history().Decisions(DecisionQuery(), History::Reasons::kInclude);
    }
  });
  std::thread person([&] {
    for (int i = 0; !done; ++i) {
      const bool observe = i % 2 == 0;
      EXPECT_TRUE(
          control.Set(JobId{static_cast<uint32_t>(i % 5)}, "mode", observe ? "observe" : "", "anna").ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (; minute < 150; ++minute) {
    const Timestamp now = Timestamp::FromSeconds(ControlCell::kStart + 60 * minute);
    for (const std::string& body : ScrapeBodies(200, now.us / 1000))
      EXPECT_TRUE(control.Write(body, now).ok());
  }
  done = true;
  loop.join();
  reader.join();
  person.join();
  EXPECT_TRUE(control.ready().ok());
  // Decision numbers have no gaps, whoever caused them.
  DecisionQuery all;
  all.limit = 1'000'000;
  const auto stored = control.history().Decisions(all, History::Reasons::kLeaveOut);
  ASSERT_TRUE(stored.ok());
  for (size_t i = 0; i < stored->size(); ++i) EXPECT_EQ((*stored)[i].id, stored->size() - i);
}

}  // namespace
}  // namespace taut
