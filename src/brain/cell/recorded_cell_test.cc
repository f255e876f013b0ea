#include "brain/cell/recorded_cell.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using enum TraceEventKind;
constexpr int64_t kSecond = kMicrosPerSecond;

class EventFoldTest : public ::testing::Test {
 protected:
  uint32_t Job(Tier tier, std::string name = "") {
    jobs_.push_back({.name = name.empty() ? "j" + std::to_string(jobs_.size()) : name});
    jobs_.back().tier = tier;
    return static_cast<uint32_t>(jobs_.size() - 1);
  }
  void Fold(const std::vector<TraceEvent>& events) {
    EventFold fold(jobs_, [this](std::string_view cause, const TraceEvent& e) {
      odd_.push_back(std::to_string(e.time_us / kSecond) + " " + std::string(cause));
    });
    for (const TraceEvent& e : events) fold.Take(e);
    figures_ = fold.Finish();
    spans_ = fold.TakeSpans();
  }
  static TraceEvent At(int64_t s, uint32_t job, uint32_t task, TraceEventKind kind, float cpu = kAbsent,
                       float memory = kAbsent) {
    return {s * kSecond, 0, job, task, cpu, memory, kind};
  }
  const TierEvents& Of(Tier tier) const { return figures_.tiers[static_cast<size_t>(tier)]; }

  std::vector<RecordedJob> jobs_;
  std::vector<std::string> odd_;
  EventFigures figures_;
  std::vector<JobSpan> spans_;
};

TEST_F(EventFoldTest, RatesDelaysEndsAndHours) {
  const uint32_t a = Job(Tier::kProduction), b = Job(Tier::kBatch);
  Fold({At(0, a, kWholeJob, kSubmit), At(0, a, 0, kSubmit, 2, 4e9F), At(0, a, 0, kStart),
        At(3600, b, kWholeJob, kSubmit), At(3600, b, 0, kSubmit, 1, 1e9F), At(3600, b, 1, kSubmit, 1, 1e9F),
        At(3630, b, kWholeJob, kReady), At(3700, b, 0, kStart), At(3700, b, 1, kStart),
        At(5500, b, 1, kEvict), At(5500, b, 1, kSubmit), At(7300, b, 0, kFinish), At(7400, b, 1, kStart),
        At(7500, b, 1, kFail), At(7600, a, 0, kRequest, 3)});
  EXPECT_TRUE(odd_.empty()) << odd_.front();
  EXPECT_EQ(figures_.jobs(), 2U);
  EXPECT_EQ(Of(Tier::kBatch).tasks, 2U);
  EXPECT_EQ(Of(Tier::kBatch).submissions, 3U);
  EXPECT_EQ(Of(Tier::kBatch).starts, 3U);
  EXPECT_EQ(Of(Tier::kBatch).ends, (std::array<uint64_t, kTaskEnds>{1, 1, 1, 0, 0}));
  // The delay of 70 s counts from the time at which the task was ready.
  EXPECT_EQ(Of(Tier::kBatch).delays_s, (std::vector<float>{70}));
  EXPECT_TRUE(Of(Tier::kProduction).delays_s.empty());  // the job was submitted before the trace
  EXPECT_NEAR(Of(Tier::kBatch).cpu_hours, (3600 + 1800 + 100) / 3600.0, 1e-6);
  EXPECT_NEAR(Of(Tier::kProduction).cpu_hours, 2 * 7600 / 3600.0, 1e-6);
  ASSERT_EQ(figures_.hours.size(), 1U);
  EXPECT_EQ(figures_.hours.at(1).jobs, 1U);
  EXPECT_EQ(figures_.hours.at(1).new_tasks, 2U);
  EXPECT_EQ(figures_.hours.at(1).tasks_again, 1U);
  EXPECT_EQ(spans_[b].end_us, 7500 * kSecond);
  EXPECT_EQ(spans_[b].runs, 2U);  // an evicted run does not count
  EXPECT_DOUBLE_EQ(spans_[b].run_us, 3700.0 * kSecond);
  EXPECT_EQ(spans_[a].end_us, -1);
  ASSERT_EQ(spans_[a].changes.size(), 1U);
  EXPECT_EQ(spans_[a].changes[0].cpu_cores, 3);
}

TEST_F(EventFoldTest, WhatCannotBeRightIsNamedAndCountsForNothing) {
  const uint32_t a = Job(Tier::kMid), b = Job(Tier::kMid);
  Fold({At(1, a, 0, kFinish), At(2, a, 0, kRequest, 1), At(3, a, 0, kStart, 1, 1), At(4, a, 0, kStart),
        At(5, a, 0, kSubmit), At(6, a, 0, kFinish), At(7, a, 0, kKill), At(8, b, kWholeJob, kFinish)});
  EXPECT_EQ(odd_, (std::vector<std::string>{
                      "1 end of a task that was not there", "2 change of a task that is not there",
                      "3 start of a task that was not submitted", "4 start of a task that runs",
                      "5 submission of a task that is there", "7 end of a task that was not there",
                      "8 end of a job that was not submitted"}));
  EXPECT_EQ(Of(Tier::kMid).ends, (std::array<uint64_t, kTaskEnds>{0, 0, 1, 0, 0}));
  EXPECT_EQ(Of(Tier::kMid).starts, 1U);
}

TEST_F(EventFoldTest, SumsOfRunningTasksDoNotDependOnTheOrderOfAHashMap) {
  const uint32_t a = Job(Tier::kMid);
  std::vector<TraceEvent> events;
  for (uint32_t task = 0; task < 2000; ++task) {
    events.push_back(At(1, a, task, kSubmit, 1 / (1 + static_cast<float>(task)), 1));
    events.push_back(At(1, a, task, kStart));
  }
  events.push_back(At(7200, a, 0, kRequest, 3));
  Fold(events);
  const double cpu_hours = Of(Tier::kMid).cpu_hours;
  EXPECT_GT(cpu_hours, 8);
  const auto by_task = [](const TraceEvent& x, const TraceEvent& y) { return x.task > y.task; };
  std::stable_sort(events.begin(), events.end() - 1, by_task);
  Fold(events);
  EXPECT_EQ(Of(Tier::kMid).cpu_hours, cpu_hours);
}

// The capacity of an alloc set includes its tasks, so that only the alloc set counts.
TEST_F(EventFoldTest, AllocSetsAreCountedBesideTheirTasks) {
  const uint32_t set = Job(Tier::kProduction), inside = Job(Tier::kProduction), outside = Job(Tier::kFree);
  jobs_[set].is_alloc_set = true;
  jobs_[inside].in_alloc_set = true;
  jobs_[inside].scaling = ScalingMode::kFull;
  std::vector<TraceEvent> events;
  for (const auto& [job, cpu] : {std::pair{set, 4.F}, std::pair{inside, 3.F}, std::pair{outside, 1.F}}) {
    events.push_back(At(0, job, 0, kSubmit, cpu, 0));
    events.push_back(At(0, job, 0, kStart));
  }
  events.push_back(At(3600, outside, 0, kFinish));
  Fold(events);
  EXPECT_EQ(figures_.allocs.collections, 3U);
  EXPECT_EQ(figures_.allocs.sets, 1U);
  EXPECT_EQ(figures_.allocs.production_sets, 1U);
  EXPECT_EQ(figures_.allocs.jobs_inside, 1U);
  EXPECT_DOUBLE_EQ(figures_.allocs.cpu_hours, 4);
  EXPECT_DOUBLE_EQ(figures_.allocs.others_cpu_hours, 1);
  EXPECT_DOUBLE_EQ(figures_.scaling_cpu_hours[3], 3);
  EXPECT_EQ(figures_.jobs(), 2U);
  const auto cell = MakeRecordedCell(jobs_, spans_, {});
  ASSERT_TRUE(cell.ok()) << cell.status();
  ASSERT_EQ(cell->model.jobs.size(), 2U);
  EXPECT_EQ(cell->model.jobs[0].name, "j0");
  EXPECT_EQ(cell->findings.front().cause, "job left out: it is in an alloc set, which is placed");
}

TEST_F(EventFoldTest, ACellOverTimeAndAtOneTime) {
  const uint32_t service = Job(Tier::kProduction, "service"), work = Job(Tier::kBatch, "work");
  const uint32_t waits = Job(Tier::kFree, "waits");
  Fold({At(0, service, 0, kSubmit, 2, 100), At(10, service, 0, kStart), At(20, work, 0, kSubmit, 1, 50),
        At(20, work, 1, kSubmit, 1.5, 50), At(30, work, 0, kStart), At(30, work, 1, kStart),
        At(40, service, 0, kRequest, 4, 100), At(50, waits, 0, kSubmit, 1, 1), At(60, work, 0, kFinish),
        At(70, work, 1, kFinish), At(80, waits, 0, kKill), At(110, service, 0, kKill)});
  RecordedMachines machines;
  const uint32_t a = machines.Number("a"), b = machines.Number("b"), none = machines.Number("none");
  using enum MachineEventKind;
  machines.AddEvent(a, {Timestamp{0}, kAdd, 8.0, 1000.0, 0});
  machines.AddEvent(a, {Timestamp{25 * kSecond}, kUpdate, 4.0, 1000.0, 0});
  machines.AddEvent(a, {Timestamp{90 * kSecond}, kRemove, {}, {}, 0});
  machines.AddEvent(b, {Timestamp{45 * kSecond}, kAdd, 16.0, 1000.0, 0});
  machines.AddEvent(none, {Timestamp{0}, kAdd, {}, {}, 0});
  machines.SettleEvents([](std::string_view, uint32_t, const MachineEvent&) {});
  auto cell = MakeRecordedCell(jobs_, spans_, machines);
  ASSERT_TRUE(cell.ok()) << cell.status();
  ASSERT_EQ(cell->findings.size(), 1U);
  EXPECT_EQ(cell->findings[0].cause, "machine left out: no capacity");
  EXPECT_EQ(cell->workload.runs[0].run_ms, 100'000);
  EXPECT_EQ(cell->workload.runs[0].kind, CellJobKind::kService);
  EXPECT_EQ(cell->workload.runs[1].run_ms, 35'000);
  EXPECT_EQ(cell->workload.runs[1].kind, CellJobKind::kWork);
  EXPECT_EQ(cell->model.jobs[1].limit[kCellCpu], 1500);
  std::string events;
  for (const CellEvent& e : cell->workload.events)
    events += std::to_string(e.time_ms / 1000) + " " + std::string(Name(e.kind)) + " " +
              std::to_string(e.id) + "; ";
  EXPECT_EQ(events,
            "0 fail 1; 0 submit 0; 20 submit 1; 25 capacity 0; 40 limit 0; 45 return 1; 50 submit 2; 80 stop "
            "2; 90 fail 0; ");
  const auto found = CheckCellWorkload(cell->model, cell->workload);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->empty());
  const CellModel at = CellAt(cell->model, cell->workload, 46'000);
  ASSERT_EQ(at.machines.size(), 2U);
  EXPECT_EQ(at.machines[0].capacity[kCellCpu], 4000);
  ASSERT_EQ(at.jobs.size(), 2U);
  EXPECT_EQ(at.jobs[0].limit[kCellCpu], 4000);
  EXPECT_EQ(at.jobs[0].reservation[kCellCpu], 4000);
  EXPECT_EQ(CellAt(cell->model, cell->workload, 10'000).machines.size(), 1U);
  EXPECT_EQ(CellAt(cell->model, cell->workload, 95'000).machines.size(), 1U);
  EXPECT_EQ(CellAt(cell->model, cell->workload, 100'000).jobs.size(), 0U);
  EXPECT_EQ(FullestTime(cell->model, cell->workload), 50'000);
}

}  // namespace
}  // namespace taut::brain
