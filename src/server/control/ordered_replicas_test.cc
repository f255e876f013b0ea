#include "server/control/ordered_replicas.h"

#include <memory>

#include "brain/rollout/rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

brain::LiveJob Job(std::string_view mode, std::string_view policy) {
  brain::JobPolicy settings;
  EXPECT_TRUE(brain::SetJobSetting("mode", mode, settings).ok());
  EXPECT_TRUE(brain::SetJobSetting("replicas.policy", policy, settings).ok());
  brain::LiveJob job;
  job.record = std::make_shared<JobRecord>(JobId{0}, "shop/deployment/web", JobRecord::Labels(), 0);
  job.policy = std::make_shared<const brain::JobPolicy>(settings);
  job.replicas = brain::LiveReplicas::For(settings);
  return job;
}

void Order(int count, brain::LiveJob& job) {
  Decision decision;
  decision.kind = DecisionKind::kSet;
  decision.after = count;
  brain::Redo(decision, job.replicas->order().gate);
}

TEST(OrderedReplicas, IsTheNumberInForce) {
  brain::LiveJob job = Job("auto", "keda");
  Order(7, job);
  EXPECT_EQ(*OrderedReplicas(job), 7);
  Order(0, job);
  ASSERT_TRUE(OrderedReplicas(job).ok()) << OrderedReplicas(job).status();
  EXPECT_EQ(*OrderedReplicas(job), 0) << "an order to run no task is an order";
}

TEST(OrderedReplicas, WithoutOneItSaysWhatToChange) {
  brain::LiveJob fresh = Job("auto", "keda");
  EXPECT_EQ(OrderedReplicas(fresh).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(OrderedReplicas(fresh).status().message()),
              HasSubstr("job shop/deployment/web has no ordered number of tasks"));
  EXPECT_THAT(std::string(OrderedReplicas(Job("auto", "none")).status().message()),
              HasSubstr("set its replicas.policy"));
  brain::LiveJob observed = Job("observe", "keda");
  Order(7, observed);
  EXPECT_THAT(std::string(OrderedReplicas(observed).status().message()), HasSubstr("set its mode to auto"));
}

TEST(OrderedReplicas, AnUnknownJobIsSaid) {
  ControlCell cell;
  EXPECT_EQ(OrderedReplicas(cell.control(), "none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace taut::server
