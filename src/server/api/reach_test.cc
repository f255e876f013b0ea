// The reach of a permission, and the routes that people of groups may use.
#include "server/api/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/base/strings.h"
#include "server/api/api_fixture.h"

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

// A route that shows the whole fleet must not be open to people of groups by mistake. The handlers of the
// routes in this list check the reach.
TEST(Permissions, RoutesThatPeopleOfGroupsReachAreTheseAlone) {
  NoStore store;
  DryRunActuator actuator;
  ControlPlane control{ControlOptions(),
                       *MappingRules::Compile(BuiltinRules()),
                       {&store, &store, &actuator, [] { return 0.0; }}};
  const DaemonContext context{.control = &control};
  const FleetAccess access(context);
  EventStreams events(access);
  const RouteTable table = RoutesOf(access, {.events = &events});
  std::set<std::string> open;
  for (const Route& route : table.routes()) {
    EXPECT_TRUE(May(Role::kOperator, route.act)) << route.path;
    if (May(GroupRole::kOwner, route.act) && route.act != Act::kLook)
      open.insert(StrCat(route.method, " ", route.path));
  }
  EXPECT_EQ(open, (std::set<std::string>{"DELETE /api/v1/requests/{id}",
                                         "GET /allocation",
                                         "GET /allocation/compute",
                                         "GET /api/v1/admission",
                                         "GET /api/v1/bills",
                                         "GET /api/v1/budget-ledger",
                                         "GET /api/v1/budgets",
                                         "GET /api/v1/businesses",
                                         "GET /api/v1/costs",
                                         "GET /api/v1/decisions",
                                         "GET /api/v1/decisions/{id}",
                                         "GET /api/v1/events",
                                         "GET /api/v1/fleet",
                                         "GET /api/v1/jobs",
                                         "GET /api/v1/jobs/{job}",
                                         "GET /api/v1/jobs/{job}/explain",
                                         "GET /api/v1/jobs/{job}/replicas",
                                         "GET /api/v1/jobs/{job}/settings",
                                         "GET /api/v1/jobs/{job}/usage",
                                         "GET /api/v1/ooms",
                                         "GET /api/v1/tier_acts",
                                         "GET /api/v1/quota",
                                         "GET /api/v1/requests",
                                         "GET /api/v1/requests/{id}",
                                         "GET /api/v1/settings",
                                         "GET /api/v1/totals",
                                         "PATCH /api/v1/jobs/{job}/settings",
                                         "PATCH /api/v1/settings",
                                         "POST /api/v1/jobs/{job}/whatif",
                                         "POST /api/v1/requests"}));
}

}  // namespace
}  // namespace taut::server
