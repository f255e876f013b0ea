// Tests concurrent calls by senders, a loop, readers and a person: the results must be consistent. The build with
// ThreadSanitizer finds data races.
#include <atomic>
#include <thread>

#include "common/base/strings.h"
#include "common/model/labels.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
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
        (void)control.Look(JobId{j}, [&](const brain::LiveJob& job) { EXPECT_EQ(job.record->id.value, j); });
        (void)control.Explain(JobId{j}, Resource::kMemory);
      }
      (void)control.status().counts();
      (void)control.ingest().counts.samples();
      (void)control.status().last_pass();
      (void)control.history().Decisions(DecisionQuery(), History::Reasons::kInclude);
    }
  });
  std::thread person([&] {
    for (int i = 0; !done; ++i) {
      const bool observe = i % 2 == 0;
      EXPECT_TRUE(
          SetOne(control, JobId{static_cast<uint32_t>(i % 5)}, "mode", observe ? "observe" : "", "anna")
              .ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  CadvisorScrape scrape(200);
  for (; minute < 150; ++minute) {
    const Timestamp now = Timestamp::FromSeconds(ControlCell::kStart + 60 * minute);
    for (const std::string& body : scrape.Bodies(now.us / 1000))
      EXPECT_TRUE(control.ingest().samples.Write(body, now).ok());
  }
  done = true;
  loop.join();
  reader.join();
  person.join();
  EXPECT_TRUE(control.status().ready().ok());
  // Decision numbers have no gaps, although several threads cause decisions.
  DecisionQuery all;
  all.limit = 1'000'000;
  const auto stored = control.history().Decisions(all, History::Reasons::kLeaveOut);
  ASSERT_TRUE(stored.ok());
  for (size_t i = 0; i < stored->size(); ++i) EXPECT_EQ((*stored)[i].id, stored->size() - i);
}

// A cluster's annotations change while front ends read the labels of views.
TEST(ControlPlaneThreads, LabelsChangeWhileViewsAreRead) {
  ControlCell cell(40);
  ASSERT_TRUE(cell.Live(0, 20).ok());
  ControlPlane& control = cell.control();
  const std::shared_ptr<const FleetView> first = control.view();
  const auto modes_of = [](const FleetView& view) {
    std::vector<std::string> modes;
    for (const JobView& job : view.jobs) {
      const std::string* const mode = FindLabel(job.record->labels, "tautline.dev/mode");
      modes.push_back(mode == nullptr ? "" : *mode);
    }
    return modes;
  };
  const std::vector<std::string> before = modes_of(*first);
  ASSERT_FALSE(before.empty());
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      EXPECT_EQ(modes_of(*first), before) << "a view keeps the labels of its pass";
      const std::shared_ptr<const FleetView> now = control.view();
      EXPECT_EQ(modes_of(*now), modes_of(*now));
      JobsQuery query;
      query.search = "mode=observe";
      (void)ListJobs(*now, query);
    }
  });
  for (int round = 0; round < 200; ++round) {
    const std::string mode = round % 2 == 0 ? "observe" : "auto";
    for (const JobView& job : first->jobs)
      control.ingest().jobs.SetSettingLabels(job.record->name, {{"tautline.dev/mode", mode}});
    EXPECT_TRUE(control.Tick(ControlCell::Minute(19)).ok());
  }
  done = true;
  reader.join();
  ASSERT_TRUE(cell.Live(20, 26).ok());
  EXPECT_EQ(modes_of(*control.view()), std::vector<std::string>(before.size(), "auto"));
}

// Agents resend kills of unknown jobs while ticks run and people change settings.
TEST(ControlPlaneThreads, KillsOfNewJobsWhileTicksRun) {
  ControlCell cell(40);
  ControlPlane& control = cell.control();
  const Timestamp now = Timestamp::FromSeconds(ControlCell::kStart);
  constexpr int kAgents = 3, kJobs = 150;
  std::atomic<int> at_work{kAgents};
  std::vector<std::thread> threads;
  for (int a = 0; a < kAgents; ++a) {
    threads.emplace_back([&, a] {
      for (int j = 0; j < kJobs; ++j) {
        const std::string job = StrCat("shop/job-", a, "-", j);
        const NamedTask task{job, "t", {}};
        const std::optional<TaskRef> ref = control.agents().Announce(task, now);
        EXPECT_TRUE(ref.has_value());
        EXPECT_TRUE(control.agents().TakeOom(task, now, 1, 1e9, now).ok());
        (void)control.agents().Standing(*ref, "");
        (void)control.Look(ref->job, [](const brain::LiveJob&) {});
        (void)control.Explain(ref->job, Resource::kMemory);
        const brain::KeyValue settings[] = {{"mode", "observe"}, {"min_change", "10%"}};
        (void)control.SetMany(ref->job, settings, "anna");
      }
      --at_work;
    });
  }
  while (at_work > 0) EXPECT_TRUE(control.Tick(now).ok());
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(control.Tick(now).ok());
  EXPECT_EQ(control.status().counts().ooms, uint64_t{kAgents} * kJobs) << "each once";
  for (uint32_t j = 0; j < kAgents * kJobs; ++j) {
    EXPECT_TRUE(control.Look(JobId{j},
                             [](const brain::LiveJob& job) { EXPECT_EQ(job.OomsOfWeek(job.ooms_day), 1U); }));
  }
}

}  // namespace
}  // namespace taut::server
