// Tests of the extent of a caller's permission.
#include "server/pool/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::ElementsAre;

HttpRequest Bound(GroupBindings bindings) {
  HttpRequest caller;
  caller.role = Role::kGroup;
  caller.bindings = std::make_shared<const GroupBindings>(std::move(bindings));
  return caller;
}

std::shared_ptr<const GroupScheme> Scheme() {
  const brain::QuotaSpec spec{{{"all"}, {"shop", "all"}, {"web", "shop"}, {"media", "all"}}};
  return std::make_shared<const GroupScheme>(spec, *GroupRules::Make({"{team}", "", "production"}), "{team}");
}

TEST(Reach, IsOfTheGroupsInWhichTheActIsAllowedAndOfThoseBelow) {
  const HttpRequest mia =
      Bound({{"shop", GroupRole::kMember}, {"media", GroupRole::kOwner}, {"web", GroupRole::kMember}});
  const Reach jobs = Reach::Of(mia, Act::kSeeJobs, Scheme());
  EXPECT_FALSE(jobs.all());
  EXPECT_THAT(jobs.groups(), ElementsAre("media", "shop"));
  for (const char* group : {"shop", "web", "media"}) EXPECT_TRUE(jobs.Has(group)) << group;
  for (const char* group : {"all", "sho", "shopp", "", "SHOP"}) EXPECT_FALSE(jobs.Has(group)) << group;
  const Reach money = Reach::Of(mia, Act::kSeeMoney, Scheme());
  EXPECT_TRUE(money.Has("media"));
  EXPECT_FALSE(money.Has("shop"));
  EXPECT_FALSE(money.Has("web"));
  const auto job = [](std::vector<Label> labels) { return JobRecord{JobId{1}, "x", std::move(labels), 0}; };
  EXPECT_TRUE(jobs.Has(job({{"team", "web"}})));
  EXPECT_FALSE(jobs.Has(job({{"team", "all"}})));
  EXPECT_FALSE(jobs.Has(job({}))) << "a job of no group is nobody's";
}

TEST(Reach, IsNothingWithoutQuotaAndEverythingForThePlatform) {
  const HttpRequest mia = Bound({{"shop", GroupRole::kOwner}});
  EXPECT_FALSE(Reach::Of(mia, Act::kSeeJobs, nullptr).Has("shop"));
  EXPECT_FALSE(Reach::Of(mia, Act::kSeePlatform, Scheme()).Has("shop"));
  HttpRequest reader;
  reader.role = Role::kReader;
  EXPECT_TRUE(Reach::Of(reader, Act::kSeeJobs, Scheme()).all());
  EXPECT_FALSE(Reach::Of(reader, Act::kSetJobs, Scheme()).all());
  EXPECT_FALSE(Reach::Of(reader, Act::kSetJobs, Scheme()).Has("shop"));
  EXPECT_FALSE(Reach::Of(Bound({}), Act::kSeeJobs, Scheme()).Has("shop"));
}

}  // namespace
}  // namespace taut::server
