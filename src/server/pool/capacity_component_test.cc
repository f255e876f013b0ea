// Tests of the capacity component: the source of the cell's size, windows in the past, and a restart.
#include "server/pool/capacity_component.h"

#include <gmock/gmock.h>

#include "server/control/component_fixture.h"
#include "server/control/in_memory_placement.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Prices with one tier and a pool of eight cores.
constexpr std::string_view kPrices =
    "currency: EUR\n"
    "tiers:\n  - {name: production, prices: [{core_hour: 0.03, gib_hour: 0.004}]}\n"
    "pool: {cores: 8, memory: 32GiB, core_hour: 0.01, gib_hour: 0.001}\n";

class CapacityComponentTest : public ComponentTest {
 protected:
  struct Running {
    std::unique_ptr<PricesComponent> prices;
    std::unique_ptr<CapacityComponent> capacity;
    CapacityComponent* operator->() const { return capacity.get(); }
  };
  Running Start(const MachinesComponent* machines = nullptr) {
    Running out;
    out.prices = std::make_unique<PricesComponent>(config_.prices, context_);
    EXPECT_EQ(out.prices->Start(), absl::OkStatus());
    out.capacity = std::make_unique<CapacityComponent>(
        CapacityComponent::Parts{
            .machines = machines, .prices = out.prices.get(), .default_tier = "production"},
        context_);
    EXPECT_EQ(out.capacity->service(), nullptr) << "before its start";
    EXPECT_EQ(out->Start(), absl::OkStatus());
    return out;
  }
  void HavePool() { config_.prices.file = dir_.Write("prices.yaml", kPrices); }
  // Closes all windows of an hour, and the first window of the next hour.
  void CloseAnHour() {
    now_s_ = (now_s_ / 3600 + 1) * 3600;
    for (int w = 0; w <= kWindowsPerHour; ++w) {
      now_s_ += kWindowSeconds;
      CloseAWindow();
    }
  }
  CapacityHistory HistoryOf(const Running& run) const {
    return run->service()->History(now_s_ - 4 * 3600, now_s_ + 3600, 3600);
  }
  static std::vector<std::optional<double>> CapacityLineOf(const CapacityHistory& history) {
    return history.lines[IndexOf(Resource::kCpu)][static_cast<size_t>(CapacityLine::kCapacity)];
  }
};

TEST_F(CapacityComponentTest, ItStartsBehindThePartsThatItReads) {
  const Running run = Start();
  EXPECT_THAT(std::vector(run->after().begin(), run->after().end()),
              ElementsAre("machines", "quota", "prices"));
  EXPECT_FALSE(run->service()->window().has_value());
  run->Save();  // this call saves nothing, because no window was closed
  EXPECT_THAT(log_.lines(), ElementsAre());
}

TEST_F(CapacityComponentTest, WithoutMachinesAndPoolThereIsNoCapacity) {
  const Running run = Start();
  CloseAnHour();
  EXPECT_EQ(run->service()->View()->latest->source, CapacitySource::kNone);
  EXPECT_THAT(MetricsOf(*run.capacity), HasSubstr("tautd_capacity_measured_seconds{resource=\"cpu\"} 0\n"));
  EXPECT_THAT(MetricsOf(*run.capacity), Not(HasSubstr("tautd_capacity_sellable{")));
}

TEST_F(CapacityComponentTest, ThePoolOfThePriceFileIsTheCapacity) {
  HavePool();
  const Running run = Start();
  CloseAnHour();
  const std::shared_ptr<const CapacityView> view = run->service()->View();
  EXPECT_EQ(view->latest->source, CapacitySource::kPool);
  EXPECT_EQ(view->latest->amounts(Resource::kCpu).capacity, 8.0);
  const std::string metrics = MetricsOf(*run.capacity);
  EXPECT_THAT(metrics, HasSubstr("tautd_capacity_measured_seconds{resource=\"cpu\"} 3600\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_capacity_sellable{tier=\"production\",horizon=\"any\","
                                 "resource=\"cpu\"} 8\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_capacity_failed_saves_total 0\n"));
}

TEST_F(CapacityComponentTest, MachinesGoBeforeThePool) {
  HavePool();
  InMemoryPlacement placement{"agents"};
  placement.Set({PlacedMachine{.name = "m", .capacity = {16.0, 64e9}}});
  MachinesComponent machines(config_.machines, context_, {&placement});
  ASSERT_EQ(machines.Start(), absl::OkStatus());
  const Running run = Start(&machines);
  CloseAWindow();
  EXPECT_EQ(run->service()->View()->latest->source, CapacitySource::kMachines);
  EXPECT_EQ(run->service()->View()->latest->amounts(Resource::kCpu).capacity, 16.0);
}

TEST_F(CapacityComponentTest, AWindowOfThePastCountsWithThePoolOnly) {
  const auto read_past = [&] {
    now_s_ = (now_s_ / 3600 + 1) * 3600;
    for (int w = 0; w < kWindowsPerHour; ++w) {
      now_s_ += kWindowSeconds;
      ReportedWindow report;
      report.window = WindowId{WindowId::Of(now()).index - 1};
      report.figures.cpu_mean_cores = report.figures.cpu_peak_cores = 1;
      report.figures.memory_mean_bytes = report.figures.memory_peak_bytes = 1e9F;
      EXPECT_TRUE(control_.agents().TakeWindow({"other", "t", {}}, report, now()).ok());
      EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(now_s_ + 121), brain::When::kPast).ok());
    }
  };
  const Running none = Start();
  HavePool();
  const Running pool = Start();
  read_past();
  EXPECT_FALSE(none->service()->window().has_value());
  EXPECT_EQ(none->service()->View()->latest->source, CapacitySource::kNone) << "it is only shown";
  EXPECT_EQ(pool->service()->window(), WindowId{WindowId::Of(now()).index - 1});
  EXPECT_THAT(CapacityLineOf(HistoryOf(pool)), testing::Contains(std::optional(8.0)));
}

TEST_F(CapacityComponentTest, ARestartKeepsTheHistory) {
  HavePool();
  const Running run = Start();
  CloseAnHour();
  run->Save();
  const Running after = Start();
  EXPECT_EQ(after->service()->window(), run->service()->window());
  EXPECT_EQ(after->service()->SaveState(), run->service()->SaveState());
  EXPECT_EQ(CapacityLineOf(HistoryOf(after)), CapacityLineOf(HistoryOf(run)));
  EXPECT_EQ(after->service()->View()->latest->source, CapacitySource::kPool)
      << "shown before a window closes";
  EXPECT_EQ(Logged("lost"), 0);
}

}  // namespace
}  // namespace taut::server
