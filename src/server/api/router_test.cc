// Tests the routes that each role reaches, and the responses for unknown routes.
#include "server/api/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RouterTest : public CellApi {
 protected:
  RouterTest() { Close(TwoTeams()); }

  // Returns the route's path with a job or a number for each name in braces.
  static std::string TargetOf(std::string_view path) {
    std::string out;
    for (const std::string_view piece : Split(path.substr(1), '/')) {
      StrAppend(&out, "/", piece == "{job}" ? "shop%2Fweb" : piece.starts_with('{') ? "1" : piece);
    }
    return out;
  }
};

// The handlers of these routes only count their calls.
TEST_F(RouterTest, EachActIsOpenToItsRolesAlone) {
  int calls = 0;
  const RouteTable all = RoutesOf(*access_, parts_);
  RouteTable counted;
  for (const Route& route : all.routes()) {
    counted.Add(route.method, route.path, route.act, [&calls](const ApiCall&) {
      ++calls;
      return JsonResponse(200, "{}");
    });
  }
  router_ = std::make_unique<Router>(*access_, std::move(counted), Router::Parts{});
  for (const Route& route : all.routes()) {
    SCOPED_TRACE(StrCat(route.method, " ", route.path));
    for (const Role role : {Role::kWriter, Role::kReader, Role::kPlatform, Role::kOperator}) {
      const int before = calls;
      const ApiAnswer answer = Ask(Caller(role), route.method, TargetOf(route.path), "");
      EXPECT_EQ(answer.status, May(role, route.act) ? 200 : 403) << Name(role);
      EXPECT_EQ(calls, before + (May(role, route.act) ? 1 : 0)) << Name(role);
    }
    for (const GroupRole as : {GroupRole::kMember, GroupRole::kOwner, GroupRole::kBudgetHolder}) {
      const bool may = route.act == Act::kLook || May(as, route.act);
      EXPECT_EQ(Ask(In("shop", as), route.method, TargetOf(route.path)).status, may ? 200 : 403) << Name(as);
    }
    EXPECT_EQ(Ask(Caller(Role::kNone), route.method, TargetOf(route.path)).status, 401);
    HttpRequest unbound = Caller(Role::kGroup);
    EXPECT_EQ(Ask(unbound, route.method, TargetOf(route.path)).status, route.act == Act::kLook ? 200 : 403);
  }
}

TEST_F(RouterTest, ARefusalNamesTheRoleThatIsNeeded) {
  const ApiAnswer answer = Ask(Caller(Role::kReader), "POST", "/api/v1/clock/confirm");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(std::string(answer["error"].text().value_or("")),
              AllOf(HasSubstr("operator"), HasSubstr("reader")));
}

TEST_F(RouterTest, WhereNothingIsIsSaidToThoseWhoMayLookOnly) {
  EXPECT_EQ(Get("/api/v1/nothing").status, 404);
  EXPECT_EQ(Get("/api/v1/jobs/").status, 404) << "a job without a name";
  EXPECT_EQ(Get("/api/v1/jobs//settings").status, 404);
  EXPECT_EQ(Get("/api/v1/fleet/").status, 404);
  EXPECT_EQ(Get("//").status, 404);
  EXPECT_EQ(Get("/api/v1/nothing", Caller(Role::kNone)).status, 401);
  EXPECT_EQ(Get("/api/v1/nothing", Caller(Role::kWriter)).status, 403);
  EXPECT_EQ(Ask(Caller(Role::kOperator), "POST", "/api/v1/nothing").status, 404);
}

TEST_F(RouterTest, AnotherMethodOfAPathIsRefusedAsSuch) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "G\x1bT"}) {
    const ApiAnswer answer = Ask(Caller(Role::kOperator), method, "/api/v1/fleet");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_THAT(answer.body, Not(HasSubstr("\x1b")));
  }
  EXPECT_EQ(Ask(Caller(Role::kOperator), "PUT", "/api/v1/settings").status, 405) << "it has GET and PATCH";
  EXPECT_EQ(Ask(Caller(Role::kWriter), "GET", "/api/v1/write").status, 403) << "not even told";
}

TEST_F(RouterTest, AJobIsFoundByItsWholeNameWithItsSlashes) {
  EXPECT_EQ(Get("/api/v1/jobs/shop%2Fweb")["name"].text(), "shop/web");
  EXPECT_EQ(Get("/api/v1/jobs/shop/web").status, 404) << "two pieces: shop has no part web";
  EXPECT_EQ(Get("/api/v1/jobs/shop%2Fweb/").status, 404);
  EXPECT_EQ(Get("/api/v1/jobs/shop%2Fweb/colour").status, 404);
  EXPECT_EQ(Get("/api/v1/jobs/shop%2Fweb/settings/mode").status, 404);
  EXPECT_EQ(Get("/api/v1/jobs/SHOP%2FWEB").status, 404);
  const ApiAnswer near = Get("/api/v1/jobs/shop%2Fweb2");
  EXPECT_EQ(near.status, 404);
  EXPECT_THAT(near.body, HasSubstr("shop/web"));
  EXPECT_EQ(Get(StrCat("/api/v1/jobs/", std::string(3000, 'n'))).status, 404);
  EXPECT_LT(Get(StrCat("/api/v1/jobs/", std::string(3000, 'n'))).body.size(), 500U);
}

TEST_F(RouterTest, AJobOfAnotherGroupIsAsUnknownAsNone) {
  const HttpRequest max = In("media", GroupRole::kOwner);
  for (const char* what : {"", "/settings", "/usage", "/replicas", "/explain", "/nosuch"}) {
    const ApiAnswer theirs = Get(StrCat("/api/v1/jobs/shop%2Fweb", what), max);
    EXPECT_EQ(theirs.status, 404) << what;
    EXPECT_THAT(theirs.body, Not(HasSubstr("shop/db"))) << "no name of another group";
    const ApiAnswer none = Get(StrCat("/api/v1/jobs/shop%2Fxyz", what), max);
    EXPECT_EQ(none.status, 404) << what;
  }
  EXPECT_EQ(Get("/api/v1/jobs/media%2Fencode", max).status, 200);
  EXPECT_EQ(Ask(max, "PATCH", "/api/v1/jobs/shop%2Fweb/settings", "{}").status, 404);
  EXPECT_EQ(
      Ask(In("media", GroupRole::kMember), "PATCH", "/api/v1/jobs/media%2Fencode/settings", "{}").status, 403)
      << "seen, and not theirs to change";
}

TEST_F(RouterTest, OpenHandlersComeFirstAndNeedNoRole) {
  EXPECT_EQ(Handle(Caller(Role::kNone), "GET", "/healthz").status, 200);
  EXPECT_EQ(Handle(Caller(Role::kWriter), "GET", "/healthz").status, 200);
  RouteTable table;
  table.AddOpen({}, [](const HttpRequest&) { return std::optional<HttpResponse>(); });
  table.AddOpen({}, [](const HttpRequest& r) {
    return r.path == "/a" ? std::optional(TextResponse(201, "open")) : std::nullopt;
  });
  table.Add("GET", "/a", Act::kRunPlatform, [](const ApiCall&) { return TextResponse(202, "closed"); });
  table.Add("GET", "/b", Act::kRunPlatform, [](const ApiCall&) { return TextResponse(202, "closed"); });
  router_ = std::make_unique<Router>(*access_, std::move(table), Router::Parts{});
  EXPECT_EQ(Handle(Caller(Role::kNone), "GET", "/a").status, 201);
  EXPECT_EQ(Handle(Caller(Role::kNone), "GET", "/b").status, 401);
  EXPECT_EQ(Handle(Caller(Role::kOperator), "GET", "/b").status, 202);
}

TEST_F(RouterTest, EachRequestIsTimedByItsRoute) {
  static double seconds = 0;
  seconds = 0;
  router_ = std::make_unique<Router>(*access_, RoutesOf(*access_, parts_),
                                     Router::Parts{.steady_s = [] { return seconds += 0.25; }});
  (void)Get("/api/v1/jobs/shop%2Fweb");
  (void)Get("/api/v1/jobs/none");
  (void)Get("/api/v1/none", Caller(Role::kNone));
  MetricsText out;
  router_->Collect(out);
  const std::string text = out.Take();
  EXPECT_THAT(text, HasSubstr("_count{route=\"/api/v1/jobs/{job}\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_sum{route=\"/api/v1/jobs/{job}\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("_count{route=\"other\"} 1\n"));
}

TEST_F(RouterTest, ThePagesAreFilesOfTheProgramOnly) {
  EXPECT_EQ(Handle(Caller(Role::kReader), "GET", "/api/v1/openapi.yaml").content_type, "application/yaml");
  for (const char* path :
       {"/../etc/passwd", "/assets/..%2Findex.html", "/index.html%2500", "/assets/none.js"})
    EXPECT_EQ(Handle(Caller(Role::kReader), "GET", path).status, 404) << path;
  parts_.about.pages = false;
  Serve();
  EXPECT_EQ(Handle(Caller(Role::kReader), "GET", "/").status, 404);
  EXPECT_EQ(Handle(Caller(Role::kReader), "GET", "/api/v1/openapi.yaml").status, 200) << "the contract stays";
}

TEST_F(RouterTest, WaysToSignInAreSaidWithoutAProvider) {
  EXPECT_TRUE(Get("/api/v1/login")["login"].is_null());
  EXPECT_EQ(Get("/api/v1/login")["token"].flag(), false);
  parts_.about.takes_tokens = true;
  Serve();
  EXPECT_EQ(Get("/api/v1/login")["token"].flag(), true);
  ExpectRefused(400, {"/api/v1/login?next=http://evil"});
  EXPECT_EQ(Get("/login").status, 404) << "there is no provider";
  EXPECT_EQ(OpenPathsWithLogin().front(), "/");
  EXPECT_THAT(OpenPathsWithLogin(),
              AllOf(testing::Contains("/login/callback"), Not(testing::Contains("/metrics")),
                    Not(testing::Contains("/api/v1/jobs"))));
}

}  // namespace
}  // namespace taut::server
