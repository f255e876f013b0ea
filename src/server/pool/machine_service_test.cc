#include "server/pool/machine_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/random.h"
#include "common/histogram/checkpoint.h"
#include "common/testing/test_scale.h"
#include "fmt/format.h"
#include "server/pool/machine_list.h"
#include "server/pool/machines_fixture.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;

const MachineView& Only(const MachineService& service, std::string_view name) {
  static std::shared_ptr<const MachinesView> view;
  view = service.View();
  for (const auto& m : view->machines) {
    if (m->name == name) return *m;
  }
  ADD_FAILURE() << "no machine " << name;
  static const MachineView kNone;
  return kNone;
}

TEST(MachineService, ShowsSumsOfTheTasks) {
  MachineService service({});
  EXPECT_FALSE(service.View()->window.has_value());
  MadeMachines cell;
  cell.machines["a"] = {{"x", {.cpu = 1, .memory = 1e9F}}, {"y", {.cpu = 2, .memory = 2e9F}}};
  cell.Window(service);
  {
    const MachineAmounts& cpu = Only(service, "a").of(Resource::kCpu);
    EXPECT_EQ(cpu.capacity, 16);
    EXPECT_EQ(cpu.limits, 8);
    EXPECT_EQ(cpu.usage, 3);
    EXPECT_EQ(cpu.reservations, 8) << "the limits, in the first window";
    EXPECT_EQ(cpu.reclaimable_now, 0);
    EXPECT_FALSE(cpu.learnt);
    EXPECT_EQ(cpu.predicted, 8) << "the limits, until the machine is known";
    EXPECT_EQ(cpu.reclaimable, 8);
    EXPECT_EQ(cpu.why, "");
  }
  for (int i = 0; i < 100; ++i) cell.Window(service);
  const MachineAmounts& memory = Only(service, "a").of(Resource::kMemory);
  EXPECT_NEAR(*memory.reservations, 3e9 * 1.15, 2e7);
  EXPECT_NEAR(*memory.reclaimable_now, 8e9 - 3e9 * 1.15, 2e7);
  ASSERT_EQ(service.View()->totals.size(), 1U);
  EXPECT_EQ(service.View()->totals[0].tasks, 2U);
  EXPECT_EQ(service.View()->totals[0].of[0].usage.value(), 3);
}

TEST(MachineService, BearsTheUsageOfStartsToo) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {{"x", {.cpu = 1, .memory = 1e9F}}, {"y", {.cpu = -1, .memory = 2e9F}}};
  ClosedWindow closed = cell.Closed(cell.now);
  closed.starts = {{.task = 0, .peak_cores = 3, .more_cores = 0.5F, .is_all = false},
                   {.task = 0, .peak_cores = 3, .more_cores = 2, .is_all = true}};
  for (uint32_t job = 0; job < 2; ++job) {
    closed.jobs[job].first_start = job;
    closed.jobs[job].num_starts = 1;
  }
  service.OnWindow(closed, {{cell.source, cell.Placed()}});
  EXPECT_EQ(Only(service, "a").of(Resource::kCpu).usage, 3.5);
}

TEST(MachineService, AMachineMostlyUnmeasuredHasNoFigureAndSaysWhy) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {{"x", {.cpu = 1, .memory = 1e9F, .cpu_limit = 1, .memory_limit = 2e9}},
                        {"y", {.cpu = -1, .memory = -1}},
                        {"z", {.cpu = -1, .memory = -1}}};
  cell.Window(service);
  for (const MachineAmounts& a : Only(service, "a").amounts) {
    EXPECT_FALSE(a.usage.has_value());
    EXPECT_FALSE(a.predicted.has_value());
    EXPECT_FALSE(a.reclaimable.has_value());
    EXPECT_TRUE(a.limits.has_value()) << "limits are known without measuring";
    EXPECT_THAT(a.why, HasSubstr("1 of 3 tasks were measured"));
  }
  EXPECT_EQ(service.View()->totals[0].of[0].usage.value(), std::nullopt) << "absent, and not 0";
}

TEST(MachineService, AMachineWithoutTasksUsesNothing) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {};
  cell.Window(service);
  const MachineAmounts& cpu = Only(service, "a").of(Resource::kCpu);
  EXPECT_EQ(cpu.usage, 0);
  EXPECT_EQ(cpu.reclaimable, 16);
}

TEST(MachineService, ATaskWithoutALimitLeavesThePredictionOpen) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {{"x", {.cpu = 1, .memory = 1e9F, .cpu_limit = {}, .memory_limit = 2e9}}};
  cell.Window(service);
  const MachineAmounts& cpu = Only(service, "a").of(Resource::kCpu);
  EXPECT_EQ(cpu.without_limit, 1U);
  EXPECT_FALSE(cpu.limits.has_value());
  EXPECT_FALSE(cpu.predicted.has_value());
  EXPECT_THAT(cpu.why, HasSubstr("1 task has no limit"));
  EXPECT_EQ(Only(service, "a").of(Resource::kMemory).predicted, 2e9);
}

TEST(MachineService, MachinesComeAndGoAndChange) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {{"x", {}}};
  cell.machines["b"] = {{"y", {}}};
  for (int i = 0; i < 50; ++i) cell.Window(service);
  const double reserved = *Only(service, "a").of(Resource::kCpu).reservations;
  EXPECT_LT(reserved, 2);

  const auto a = cell.machines.extract("a");
  cell.Window(service);
  EXPECT_FALSE(Only(service, "a").present);
  EXPECT_FALSE(Only(service, "a").of(Resource::kCpu).usage.has_value());
  EXPECT_EQ(Only(service, "a").seen_s, cell.now.start_s() - kWindowSeconds);
  EXPECT_EQ(service.View()->totals[0].machines, 2U);
  EXPECT_EQ(service.View()->totals[0].present, 1U);

  // The machine returns with less capacity, and the reservations of its tasks continue.
  cell.machines["a"] = a.mapped();
  cell.capacity["a"] = {2.0, 8e9};
  cell.Window(service);
  EXPECT_LT(*Only(service, "a").of(Resource::kCpu).reservations, reserved);
  EXPECT_EQ(Only(service, "a").of(Resource::kCpu).capacity, 2);
  EXPECT_EQ(Only(service, "a").of(Resource::kCpu).reclaimable, 0) << "not below 0";

  // A task that moves to another machine has restarted, so its reservation starts at its limit.
  cell.machines["b"].insert(cell.machines["a"].extract("x"));
  cell.Window(service);
  EXPECT_TRUE(Only(service, "a").tasks.empty());
  EXPECT_NEAR(*Only(service, "b").of(Resource::kCpu).reservations, 4 + 1.15, 0.3);

  // A machine that stays absent is forgotten, and its number is reused.
  cell.machines.erase("a");
  for (int i = 0; i <= 14 * kWindowsPerDay + 1; ++i) cell.Window(service);
  EXPECT_EQ(service.View()->machines.size(), 1U);
  cell.machines["c"] = {{"z", {}}};
  cell.Window(service);
  EXPECT_EQ(Only(service, "c").of(Resource::kCpu).predicted, 4);
}

TEST(MachineService, AClockThatWasSetBackBeginsFromNothing) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {{"x", {}}};
  for (int i = 0; i < 30; ++i) cell.Window(service);
  const double reserved = *Only(service, "a").of(Resource::kCpu).reservations;
  cell.now.index -= 3;
  cell.Window(service);
  EXPECT_EQ(*Only(service, "a").of(Resource::kCpu).reservations, reserved)
      << "a window that was there already";
  cell.now.index -= 1000;
  cell.Window(service);
  EXPECT_EQ(*Only(service, "a").of(Resource::kCpu).reservations, 4);
}

TEST(MachineService, OneNameOfTwoSourcesIsTwoMachines) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["a"] = {{"x", {}}};
  const ClosedWindow closed = cell.Closed(cell.now);
  service.OnWindow(closed, {{"agents", cell.Placed()}, {"kubernetes", cell.Placed()}});
  ASSERT_EQ(service.View()->machines.size(), 2U);
  EXPECT_THAT(service.View()->machines[0]->also_in, testing::ElementsAre("kubernetes"));
  EXPECT_THAT(service.View()->machines[1]->also_in, testing::ElementsAre("agents"));
  EXPECT_EQ(service.Find("a", "").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(service.Find("a", "agents")->machine->source, "agents");
  EXPECT_EQ(service.Find("b", "").status().code(), absl::StatusCode::kNotFound);
}

TEST(MachineService, TakesLimitsFromTheWindowWhereAgentsReportThem) {
  MachineService service({});
  ClosedWindow closed;
  closed.window = {1000};
  JobWindowData& job = closed.jobs.emplace_back();
  job.job = {7};
  job.window.num_tasks = 2;
  job.window.cpu_limit_cores = 8;
  closed.tasks = {{3, 1, 1, 1e9F, 1e9F}, {5, 2, 2, 1e9F, 1e9F}};
  job.num_reports = 1;
  TaskReport report;
  report.task = 3;
  report.cpu_limit_cores = 2;
  report.memory_limit_bytes = kNoLimit;
  closed.reports = {report};
  PlacedMachine machine{.name = "a", .capacity = {16.0, 64e9}};
  machine.tasks = {{.job = "j", .task = "t3", .limits_measured = true, .number = TaskRef{JobId{7}, 3}},
                   {.job = "j", .task = "t5", .limits_measured = true, .number = TaskRef{JobId{7}, 5}}};
  service.OnWindow(closed, {{"agents", {machine}}});
  EXPECT_EQ(Only(service, "a").of(Resource::kCpu).limits, 2 + 8);
  EXPECT_EQ(Only(service, "a").of(Resource::kMemory).without_limit, 2U);
}

// Twelve machines with three tasks each, whose usage is drawn at random every two hours.
struct LongCell {
  LongCell() {
    for (int m = 0; m < 12; ++m) {
      for (int t = 0; t < 3; ++t)
        cell.machines["m" + std::to_string(m)]["t" + std::to_string(m) + "-" + std::to_string(t)] = {};
    }
  }
  void Days(MachineService& service, int days) {
    for (int i = 0; i < days * kWindowsPerDay; ++i) {
      if (cell.now.index % 24 == 0) {
        for (auto& [name, tasks] : cell.machines) {
          for (auto& [task, made] : tasks) {
            made.cpu = static_cast<float>(std::min(4.0, -std::log(1 - rng.Uniform()) / 2));
            made.memory = made.cpu * 1e9F;
          }
        }
      }
      cell.Window(service);
    }
  }
  MadeMachines cell;
  Rng rng{11};
};

std::string Text(const MachineService& service) {
  std::string out;
  const auto view = service.View();
  for (const auto& m : view->machines) {
    for (const MachineAmounts& a : m->amounts) {
      out += fmt::format("{} {} {} {} {} {} {} {}/{}\n", m->name, a.limits.value_or(-1),
                         a.reservations.value_or(-1), a.usage.value_or(-1), a.predicted.value_or(-1),
                         a.reclaimable.value_or(-1), a.learnt, a.promises.passed, a.promises.judged);
    }
  }
  return out + fmt::format("{} {} {}\n", view->promises[0].judged, view->promises[0].passed, view->risk);
}

TEST(MachineService, PromisesAndHoldsThemAgainstWhatCame) {
  MachineOptions options;
  options.risk = 0.1;
  options.history_days = 2;
  options.min_days = 5;
  MachineService service(options);
  LongCell made;
  made.Days(service, 20);
  const auto view = service.View();
  EXPECT_TRUE(view->machines[0]->of(Resource::kCpu).learnt);
  EXPECT_LT(*view->machines[0]->of(Resource::kCpu).predicted, 12);
  const PromiseCounts& cpu = view->promises[0];
  EXPECT_GT(cpu.judged, 120U);
  EXPECT_LT(static_cast<double>(cpu.passed) / static_cast<double>(cpu.judged), 0.25);
  EXPECT_GT(cpu.passed, 0U);
  const auto detail = service.Find("m3", "");
  ASSERT_TRUE(detail.ok());
  EXPECT_THAT(detail->reasons[0].sentence, HasSubstr(" cores: above each"));
  EXPECT_THAT(detail->reasons[1].sentence, HasSubstr(" GiB: above each"));
}

// Only tasks that ran when the promise was made count.
TEST(MachineService, ATaskThatComesLaterBreaksNoPromise) {
  MachineOptions options;
  options.history_days = 2;
  options.min_days = 5;
  MachineService service(options);
  LongCell made;
  made.Days(service, 10);
  const PromiseCounts before = service.View()->promises[0];
  for (auto& [name, tasks] : made.cell.machines) tasks["late-" + name] = {.cpu = 100, .cpu_limit = 100};
  made.Days(service, 1);
  const PromiseCounts after = service.View()->promises[0];
  EXPECT_EQ(after.judged, before.judged + 12);
  EXPECT_LT(after.passed, before.passed + 6);
}

TEST(MachineService, ARestartGivesTheSameFigures) {
  MachineOptions options;
  options.history_days = 2;
  options.min_days = 5;
  LongCell made;
  MachineService one(options);
  made.Days(one, 9);
  made.cell.machines.erase("m7");
  made.Days(one, 1);
  MachineService two(options);
  ASSERT_TRUE(two.LoadState(one.SaveState()).ok());
  EXPECT_EQ(Text(two), Text(one));
  EXPECT_EQ(two.SaveState(), one.SaveState());
  LongCell same = made;
  made.Days(one, 2);
  same.Days(two, 2);
  EXPECT_EQ(Text(two), Text(one));
  // Another risk target does not affect the history.
  options.risk = 0.2;
  MachineService three(options);
  ASSERT_TRUE(three.LoadState(one.SaveState()).ok());
  made.Days(three, 1);
  EXPECT_TRUE(three.View()->machines[0]->of(Resource::kCpu).learnt);
}

TEST(MachineService, DamagedStateIsRefusedAndChangesNothing) {
  MachineOptions options;
  options.history_days = 2;
  options.min_days = 5;
  LongCell made;
  MachineService one(options);
  made.Days(one, 4);
  const std::string sealed = one.SaveState();
  MachineService fresh(options);
  std::string flipped = sealed;
  flipped[flipped.size() / 2] ^= 1;
  EXPECT_EQ(fresh.LoadState(flipped).code(), absl::StatusCode::kDataLoss);
  // States of a faulty writer, which are complete but have impossible contents.
  const std::string payload = *OpenCheckpoint(sealed);
  Rng rng(5);
  for (int i = 0; i < Scaled(3000); ++i) {
    std::string bytes = payload;
    if (i % 3 == 0) bytes.resize(rng.Next() % bytes.size());
    for (int k = 0; k < 3 && !bytes.empty(); ++k)
      bytes[rng.Next() % std::min<size_t>(bytes.size(), i % 2 == 0 ? 2000 : bytes.size())] =
          static_cast<char>(rng.Next());
    MachineService service(options);
    const absl::Status s = service.LoadState(SealCheckpoint(bytes, CheckpointCompression::kNever));
    if (!s.ok()) {
      EXPECT_TRUE(service.View()->machines.empty());
    }
    if (i % 50 == 0) made.cell.Window(service);
  }
  EXPECT_TRUE(fresh.View()->machines.empty());
}

TEST(MachineList, SortsSearchesAndPages) {
  MachineService service({});
  MadeMachines cell;
  cell.machines["b"] = {{"x", {.cpu = 3}}};
  cell.machines["a"] = {{"y", {.cpu = 1}}};
  cell.machines["web-c"] = {{"z", {.cpu = -1, .memory = -1}}};
  cell.Window(service);
  const auto names = [&](const MachinesQuery& query) {
    std::string out;
    for (const auto& m : ListMachines(*service.View(), query).machines) out += m->name + " ";
    return out;
  };
  EXPECT_EQ(names({}), "a b web-c ");
  EXPECT_EQ(names({.ascending = false}), "web-c b a ");
  EXPECT_EQ(names({.sort = "cpu_usage"}), "b a web-c ") << "absent last";
  EXPECT_EQ(names({.sort = "cpu_usage", .ascending = true}), "a b web-c ");
  EXPECT_EQ(names({.search = "WEB kube"}), "web-c ");
  EXPECT_EQ(names({.source = "agents"}), "");
  EXPECT_EQ(names({.offset = 1, .limit = 1}), "b ");
  EXPECT_EQ(ListMachines(*service.View(), {.limit = 1}).total, 3U);
  EXPECT_FALSE(IsMachineSort("size"));
  EXPECT_THAT(MachineSorts(), HasSubstr("memory_reclaimable_now"));
}

}  // namespace
}  // namespace taut::server
