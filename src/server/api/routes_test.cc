// Tests of the routes that callers bound to groups may use.
#include "server/api/routes.h"

#include <gtest/gtest.h>

#include <set>

#include "common/base/strings.h"
#include "server/api/api_fixture.h"

namespace taut::server {
namespace {

// A route that shows the whole fleet must not be open to callers bound to groups. The handlers of the routes in
// this list check the reach.
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
