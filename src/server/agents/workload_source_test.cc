// Tests a scheduler that Tautline does not know, such as Nomad, beside a cluster in the same control plane.
// The scheduler reports the usage of its workloads under its own names and sets their limits. No code parses
// these names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/actuator_set.h"
#include "server/control/control_fixture.h"
#include "server/control/live_workload_intake.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

constexpr double kMib = 1024 * 1024;

const Workload kService{.source = Source::kDocker,
                        .cell = "dc1",
                        .namespace_name = "default",
                        .kind = "service",
                        .name = "shop/web",
                        .container = "server"};
const Workload kPod{.source = Source::kKubernetes,
                    .namespace_name = "default",
                    .kind = "deployment",
                    .name = "web",
                    .container = "server"};
const Workload kProcess{.source = Source::kAgents, .name = "dc1/default/service/other/server"};

// Reports two tasks that use a tenth of their limits.
void Report(const Workload& job, int minute, WorkloadIntake& to) {
  const int64_t at_ms = ControlCell::Minute(minute).us / 1000;
  for (const char* task : {"a", "b"}) {
    const WorkloadPart part{.job = job, .task = task};
    to.Take(part, SeriesKind::kCpuSecondsTotal, {6.0 * minute, at_ms});
    to.Take(part, SeriesKind::kMemoryBytes, {50 * kMib, at_ms});
    to.Take(part, SeriesKind::kCpuLimitCores, {1, at_ms});
    to.Take(part, SeriesKind::kMemoryLimitBytes, {500 * kMib, at_ms});
  }
}

// Sets limits of the workloads of one source at once.
class SourceActuator final : public Actuator {
 public:
  SourceActuator(std::string name, Source source) : name_(std::move(name)), source_(source) {}
  std::string_view name() const override { return name_; }
  bool Claims(const TargetOrder& order) const override { return order.workload.source == source_; }
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override {
    for (const TargetOrder& order : orders) {
      EXPECT_EQ(order.workload.JobName(), order.job);
      if (order.target == Target(Resource::kMemory)) memory[order.job] = order.workload;
      outcomes_.push_back({order.decision, Outcome::kApplied, "", now_s});
    }
  }
  std::vector<OutcomeUpdate> TakeOutcomes() override { return std::exchange(outcomes_, {}); }

  std::map<std::string, Workload> memory;  // workload whose limit was ordered, by job

 private:
  const std::string name_;
  const Source source_;
  std::vector<OutcomeUpdate> outcomes_;
};

class WorkloadSources : public testing::Test {
 protected:
  WorkloadSources() { Restart(); }
  // Restarts the control plane as after a kill.
  void Restart() {
    auto set = std::make_unique<ActuatorSet>();
    set->Add("dry_run", std::make_unique<DryRunActuator>());
    auto scheduler = std::make_unique<SourceActuator>("scheduler", Source::kDocker);
    auto cluster = std::make_unique<SourceActuator>("cluster", Source::kKubernetes);
    scheduler_ = scheduler.get();
    cluster_ = cluster.get();
    set->Add("scheduler", std::move(scheduler));
    set->Add("cluster", std::move(cluster));
    cell_.actuator = set.get();
    cell_.Restart();
    ASSERT_TRUE(cell_.restored().ok()) << cell_.restored();
    set_ = std::move(set);
  }
  void Live(int from, int to) {
    for (int minute = from; minute < to; ++minute) {
      LiveWorkloadIntake intake(cell_.control().ingest(), [minute] { return ControlCell::Minute(minute); });
      for (const Workload& job : {kService, kPod, kProcess}) Report(job, minute, intake);
      ASSERT_TRUE(cell_.control().Tick(ControlCell::Minute(minute)).ok());
    }
  }
  std::vector<Outcome> OutcomesOf(const Workload& job) {
    DecisionQuery query;
    query.job = cell_.control().Find(job.JobName());
    std::vector<Outcome> out;
    const absl::StatusOr<std::vector<Decision>> decisions =
        cell_.store().Decisions(query, History::Reasons::kLeaveOut);
    for (const Decision& d : *decisions) out.push_back(d.outcome);
    return out;
  }

  std::unique_ptr<ActuatorSet> set_;  // actuators, which must outlive the control plane
  ControlCell cell_{1};
  SourceActuator *scheduler_ = nullptr, *cluster_ = nullptr;
};

TEST_F(WorkloadSources, EachActuatorHasTheOrdersOfItsOwnWorkloads) {
  Live(0, 3 * 60);
  EXPECT_THAT(scheduler_->memory, ElementsAre(Key("dc1/default/service/shop/web/server")));
  EXPECT_THAT(cluster_->memory, ElementsAre(Key("default/deployment/web/server")));
  EXPECT_EQ(scheduler_->memory.begin()->second, kService) << "with a name that has a slash";
  EXPECT_THAT(OutcomesOf(kService), testing::Contains(Outcome::kApplied));
  EXPECT_THAT(OutcomesOf(kPod), testing::Contains(Outcome::kApplied));
  EXPECT_THAT(OutcomesOf(kProcess), testing::Not(testing::Contains(Outcome::kApplied)))
      << "its name looks like one of the scheduler's";
  EXPECT_THAT(set_->TakeConflicts(), IsEmpty());
}

TEST_F(WorkloadSources, ARestartKnowsWhoseEachJobIsBeforeItsSourceReports) {
  Live(0, 3 * 60);
  ASSERT_TRUE(cell_.control().CheckpointAll().ok());
  Restart();
  const std::optional<JobId> id = cell_.control().Find(kService.JobName());
  ASSERT_TRUE(id.has_value());
  cell_.control().Look(*id, [](const brain::LiveJob& job) { EXPECT_EQ(job.record->workload(), kService); });
  ASSERT_TRUE(SetOne(cell_.control(), *id, "mode", "off", "owner").ok());
  ASSERT_TRUE(cell_.control().Tick(ControlCell::Minute(3 * 60)).ok());
  EXPECT_THAT(scheduler_->memory, ElementsAre(Key(kService.JobName())))
      << "the owner's limit is ordered there";
  EXPECT_THAT(cluster_->memory.contains(kService.JobName()), false);
}

}  // namespace
}  // namespace taut::server
