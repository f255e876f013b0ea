// Who may do what, as the docs say it; and how far that goes.
#include "server/api/permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "common/base/strings.h"
#include "server/api/api_fixture.h"
#include "server/api/reach.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> out;
  for (const std::string_view cell : Split(line, '|')) out.emplace_back(StripSpace(cell));
  return {out.begin() + 1, out.end() - 1};
}

// docs/operations.md, "Roles": {role: what it may}.
std::map<std::string, std::set<std::string>> TableOfDocs() {
  std::ifstream file("docs/operations.md");
  std::map<std::string, std::set<std::string>> out;
  std::vector<std::string> roles;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| may |")) {
      roles = Cells(line);
    } else if (!roles.empty() && line.starts_with("|---")) {
      continue;
    } else if (!roles.empty() && line.starts_with('|')) {
      const std::vector<std::string> cells = Cells(line);
      for (size_t i = 1; i < cells.size(); ++i) {
        if (cells[i] == "yes") out[roles[i]].insert(cells[0]);
      }
    } else if (!roles.empty()) {
      break;
    }
  }
  return out;
}

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

TEST(Permissions, AreWhatTheDocumentSays) {
  std::map<std::string, std::set<std::string>> table;
  for (const Permission& p : Permissions()) {
    EXPECT_EQ(&p, &PermissionOf(p.act));
    for (const Role role : {Role::kWriter, Role::kReader, Role::kPlatform, Role::kOperator}) {
      if (May(role, p.act)) table[std::string(Name(role))].emplace(p.what);
    }
    for (const GroupRole role : {GroupRole::kMember, GroupRole::kOwner, GroupRole::kBudgetHolder}) {
      if (May(role, p.act)) table[std::string(Name(role))].emplace(p.what);
    }
    EXPECT_FALSE(May(Role::kNone, p.act)) << p.name;
    EXPECT_EQ(May(Role::kGroup, p.act), p.act == Act::kLook) << p.name;
  }
  EXPECT_EQ(table, TableOfDocs());
}

TEST(Permissions, ARefusalSaysWhatIsNeededAndWhatIsThere) {
  const HttpRequest mia = Bound({{"shop", GroupRole::kMember}, {"media", GroupRole::kBudgetHolder}});
  EXPECT_FALSE(May(mia, Act::kSetJobs));
  EXPECT_TRUE(May(mia, Act::kSeeMoney));
  EXPECT_EQ(RefusalText(mia, Act::kSetJobs),
            "role of these required: operator, owner (to change settings of jobs); this token is of role "
            "member of shop, budget_holder of media");
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

// A route of everything must not be open to people of groups by mistake: those that are answer from the reach.
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
