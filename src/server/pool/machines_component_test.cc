// Tests of the machines component: a window with the tasks of each source, windows in the past, and a restart.
#include "server/pool/machines_component.h"

#include <gmock/gmock.h>

#include "server/control/component_fixture.h"
#include "server/control/in_memory_placement.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class MachinesComponentTest : public ComponentTest {
 protected:
  MachinesComponentTest() {
    agents_.Set({MachineOf("small", 8, 32e9, "other"), MachineOf("large", 64, 16e9, "absent")});
  }
  // Returns a machine with one task of the job. The task has limits of 4 cores and 4e9 bytes.
  static PlacedMachine MachineOf(std::string name, double cores, double bytes, std::string job) {
    PlacedMachine machine{.name = std::move(name), .capacity = {cores, bytes}};
    PlacedTask& task = machine.tasks.emplace_back();
    task.job = std::move(job);
    task.task = "t";
    task.asked = task.cap = {4.0, 4e9};
    return machine;
  }
  std::unique_ptr<MachinesComponent> Start(std::vector<const PlacementSource*> sources) {
    auto run = std::make_unique<MachinesComponent>(config_.machines, context_, std::move(sources));
    EXPECT_EQ(run->Start(), absl::OkStatus());
    return run;
  }
  std::unique_ptr<MachinesComponent> Start() { return Start({&agents_}); }

  InMemoryPlacement agents_{"agents"}, kubernetes_{"kubernetes"};
};

TEST_F(MachinesComponentTest, BeforeAWindowNothingIsKnown) {
  const auto run = Start();
  EXPECT_FALSE(run->service()->View()->window.has_value());
  EXPECT_EQ(run->Largest(), PerResource<double>{});
  EXPECT_THAT(log_.lines(), SizeIs(0));
  EXPECT_THAT(MetricsOf(*run), Not(HasSubstr("tautd_machines{")));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_machines_failed_saves_total 0\n"));
  run->Save();  // this call saves nothing, because no window was closed
  run->Stop();
}

TEST_F(MachinesComponentTest, AWindowFindsTheUsageOfTheTasksOfEachMachine) {
  const auto run = Start();
  CloseAWindow("other");
  const std::shared_ptr<const MachinesView> view = run->service()->View();
  EXPECT_EQ(view->window, WindowId{WindowId::Of(now()).index - 1});
  ASSERT_THAT(view->machines, SizeIs(2));
  EXPECT_EQ(view->machines[0]->name, "large");
  EXPECT_FALSE(view->machines[0]->of(Resource::kCpu).usage.has_value()) << "its job sent nothing";
  EXPECT_EQ(view->machines[1]->of(Resource::kCpu).usage, 1.0);
  EXPECT_EQ(run->Largest()[IndexOf(Resource::kCpu)], 64);
  EXPECT_EQ(run->Largest()[IndexOf(Resource::kMemory)], 32e9);
}

TEST_F(MachinesComponentTest, MetricsAreBySourceAndTellWhatIsAway) {
  kubernetes_.Set({MachineOf("node", 16, 64e9, "other")});
  config_.machines.risk = 0.02;
  const auto run = Start({&agents_, &kubernetes_});
  CloseAWindow();
  std::string metrics = MetricsOf(*run);
  EXPECT_THAT(metrics, HasSubstr("tautd_machines{source=\"agents\",state=\"present\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_machines{source=\"kubernetes\",state=\"present\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_machines_capacity{source=\"agents\",resource=\"cpu\"} 72\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_machines_limits{source=\"kubernetes\",resource=\"cpu\"} 4\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_machines_risk 0.02\n"));
  agents_.Set({MachineOf("small", 8, 32e9, "other")});
  now_s_ += kWindowSeconds;
  CloseAWindow();
  metrics = MetricsOf(*run);
  EXPECT_THAT(metrics, HasSubstr("tautd_machines{source=\"agents\",state=\"present\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_machines{source=\"agents\",state=\"away\"} 1\n"));
}

TEST_F(MachinesComponentTest, AWindowOfThePastIsLeftOut) {
  const auto run = Start();
  CloseAWindow();
  const std::string before = run->service()->SaveState();
  now_s_ += kWindowSeconds;
  const WindowId window{WindowId::Of(now()).index - 1};
  ReportedWindow report;
  report.window = window;
  report.figures.cpu_mean_cores = report.figures.cpu_peak_cores = 2;
  ASSERT_TRUE(control_.agents().TakeWindow({"other", "t", {}}, report, now()).ok());
  ASSERT_TRUE(control_.Tick(Timestamp::FromSeconds(now_s_ + 121), brain::When::kPast).ok());
  ASSERT_EQ(control_.view()->window, window) << "the daemon has it";
  EXPECT_EQ(run->service()->SaveState(), before);
}

TEST_F(MachinesComponentTest, ARestartKeepsTheState) {
  const auto run = Start();
  CloseAWindow();
  run->Save();
  const auto after = Start();
  EXPECT_EQ(Logged("2 machines restored"), 1);
  EXPECT_EQ(after->service()->SaveState(), run->service()->SaveState());
  EXPECT_EQ(after->Largest(), run->Largest());
  EXPECT_EQ(Logged("lost"), 0);
}

}  // namespace
}  // namespace taut::server
