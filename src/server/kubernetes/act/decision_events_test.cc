#include "server/kubernetes/act/decision_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/act/event_writer.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

Decision Set(uint64_t id) {
  Decision out;
  out.id = id;
  out.target = Resource::kMemory;
  out.kind = DecisionKind::kSet;
  out.before = 32 * kMebibyte;
  out.after = 100 * kMebibyte;
  out.sentence = "usage grew";
  return out;
}

constexpr const char* kForbidden =
    "set on 0 of 1 pod; pod shop/web-1: the API server answered 403: maximum memory usage per Container is "
    "40Mi";

TEST(DecisionEvents, FollowTheOutcomeAndSayEachOnce) {
  DecisionEvents events;
  EXPECT_FALSE(events.Note(Set(7)).has_value()) << "nothing is set yet";
  EXPECT_FALSE(events.Note(OutcomeUpdate{7, Outcome::kPending, "waits", 1}).has_value());
  const std::optional<Decision> failed = events.Note(OutcomeUpdate{7, Outcome::kFailed, kForbidden, 2});
  ASSERT_TRUE(failed.has_value());
  const WorkloadEvent event = EventOf(*failed, {"shop", "deployment", "web", "app"});
  EXPECT_TRUE(event.is_warning);
  EXPECT_EQ(event.reason, "LimitNotSet");
  EXPECT_THAT(event.message,
              HasSubstr("container app: memory limit 32.0 MiB -> 100 MiB failed: set on 0 of 1"));
  EXPECT_THAT(event.message, HasSubstr("maximum memory usage per Container is 40Mi"));
  EXPECT_FALSE(events.Note(OutcomeUpdate{7, Outcome::kFailed, kForbidden, 3}).has_value());
  const std::optional<Decision> applied = events.Note(OutcomeUpdate{7, Outcome::kApplied, "set on 1 pod", 4});
  ASSERT_TRUE(applied.has_value());
  EXPECT_EQ(EventOf(*applied, {"shop", "deployment", "web", "app"}).reason, "LimitSet");
  EXPECT_FALSE(events.Note(OutcomeUpdate{7, Outcome::kApplied, "set on 2 pods", 5}).has_value());
  EXPECT_FALSE(events.Note(OutcomeUpdate{8, Outcome::kApplied, "of before a restart", 5}).has_value());
}

TEST(DecisionEvents, WhatIsOnlyShownIsSaidAtOnceAndWhatIsReplacedNever) {
  DecisionEvents events;
  Decision shown = Set(7);
  shown.kind = DecisionKind::kWouldSet;
  shown.outcome = Outcome::kDryRun;
  EXPECT_TRUE(events.Note(shown).has_value());
  (void)events.Note(Set(8));
  EXPECT_FALSE(events.Note(OutcomeUpdate{8, Outcome::kSuperseded, "replaced", 2}).has_value());
  (void)events.Note(Set(9));
  const std::optional<Decision> dry =
      events.Note(OutcomeUpdate{9, Outcome::kDryRun, "not applied: dry run", 2});
  ASSERT_TRUE(dry.has_value());
  const WorkloadEvent event = EventOf(*dry, {"shop", "deployment", "web", "app"});
  EXPECT_EQ(event.reason, "LimitRecommended") << "nothing was set";
  EXPECT_FALSE(event.is_warning);
}

}  // namespace
}  // namespace taut::server
