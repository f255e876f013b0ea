// Tests of PATCH of a job's settings: either all settings change or none, and the response names all errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/api_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ApiSettings : public testing::Test {
 protected:
  ApiSettings() {
    EXPECT_TRUE(control_.Restore().ok());
    const Timestamp now = Timestamp::FromSeconds(1'700'006'400);
    EXPECT_TRUE(control_.agents().Announce({"shop/web", "t", {}}, now).has_value());
    EXPECT_TRUE(control_.Tick(now).ok());
  }
  HttpResponse Patch(std::string_view body) {
    HttpRequest request;
    request.method = "PATCH";
    request.path = "/api/v1/jobs/shop%2Fweb/settings";
    request.segments = {"api", "v1", "jobs", "shop/web", "settings"};
    request.role = Role::kOperator;
    request.body = body;
    return api_.Handle(request);
  }
  Mode mode() {
    Mode mode = Mode::kOff;
    EXPECT_TRUE(control_.Look(JobId{0}, [&](const brain::LiveJob& job) { mode = job.policy->mode; }));
    return mode;
  }

  NoStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{ControlOptions(),
                        *MappingRules::Compile(BuiltinRules()),
                        {&store_, &store_, &actuator_, [] { return 0.0; }}};
  TestApi api_{control_};
};

TEST_F(ApiSettings, OneThatIsWrongKeepsAllFromBeingSet) {
  const HttpResponse response = Patch(R"({"mode": "auto", "bogus": ""})");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("bogus"));
  EXPECT_EQ(mode(), Mode::kObserve);
  EXPECT_EQ(store_.settings, 0U);
}

TEST_F(ApiSettings, AllThatIsWrongIsSaidAtOnceAndByKey) {
  const HttpResponse response =
      Patch(R"({"mode": "auto", "min_change": 0.1, "class": "fast", "memory.upper": "lots"})");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, AllOf(HasSubstr(R"({"key":"min_change","error":"min_change: expected a string)"),
                                   HasSubstr(R"({"key":"class")"), HasSubstr(R"({"key":"memory.upper")"),
                                   Not(HasSubstr(R"({"key":"mode")"))));
  EXPECT_EQ(mode(), Mode::kObserve);
}

TEST_F(ApiSettings, WhatTheHintsShowIsTaken) {
  const HttpResponse response = Patch(
      R"({"change_period": "30min", "memory.upper": "4GiB", "min_change": "5%", "canary.duration": "2d"})");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(store_.settings, 4U);
  EXPECT_THAT(response.body, HasSubstr(R"("key":"change_period","value":"30m")"));
}

TEST_F(ApiSettings, AnOrderThatNoRecommenderOfTheJobKeepsIsRefused) {
  EXPECT_EQ(Patch(R"({"risk": "1%", "throttled": "0.5%"})").status, 200) << "combined keeps both";
  const HttpResponse both = Patch(R"({"recommender": "moving_window", "risk": "2%"})");
  EXPECT_EQ(both.status, 400);
  EXPECT_THAT(both.body,
              HasSubstr("risk: the recommender moving_window takes no such order; expected analogs, "
                        "boosted or combined"));
  EXPECT_EQ(Patch(R"({"recommender": "work_function", "risk": ""})").status, 200);
  EXPECT_EQ(Patch(R"({"throttled": "1%"})").status, 200);
  EXPECT_EQ(Patch(R"({"risk": "1%"})").status, 400);
  HttpRequest many;
  many.method = "PATCH";
  many.path = "/api/v1/settings";
  many.segments = {"api", "v1", "settings"};
  many.query = {{"match", "shop/*"}, {"dry_run", "true"}};
  many.role = Role::kOperator;
  many.body = R"({"risk": "1%"})";
  const HttpResponse response = api_.Handle(many);
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("shop/web: risk: the recommender work_function takes no such order"));
}

TEST_F(ApiSettings, EachResourceMayHaveItsOwnRecommender) {
  const HttpResponse wrong = Patch(R"({"cpu.recommender": "autopilot"})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(
      wrong.body,
      HasSubstr(R"(cpu.recommender: \"autopilot\": expected one of static, peak, vpa, moving_window)"));
  EXPECT_EQ(Patch(R"({"cpu.recommender": "krr"})").status, 400) << "only in a replay";
  EXPECT_THAT(Patch(R"({"cpu.recommender": "moving_window"})").body,
              HasSubstr(R"("cpu.recommender","value":"moving_window","source":"set by ")"));
  HttpRequest job;
  job.method = "GET";
  job.path = "/api/v1/jobs/shop%2Fweb";
  job.segments = {"api", "v1", "jobs", "shop/web"};
  job.role = Role::kReader;
  EXPECT_THAT(api_.Handle(job).body, AllOf(HasSubstr(R"("recommender":"moving_window+analogs")"),
                                           HasSubstr(R"("cpu":{"recommender":"moving_window")"),
                                           HasSubstr(R"("memory":{"recommender":"analogs")")));
  // The recommender for a single resource overrides the recommender for both.
  EXPECT_EQ(Patch(R"({"recommender": "peak"})").status, 200);
  EXPECT_THAT(api_.Handle(job).body, HasSubstr(R"("recommender":"moving_window+peak")"));
  EXPECT_EQ(Patch(R"({"cpu.recommender": ""})").status, 200);
  EXPECT_THAT(api_.Handle(job).body, HasSubstr(R"("recommender":"peak")"));
  EXPECT_EQ(Patch(R"({"recommender": "work_function+analogs"})").status, 400) << "that is a name, no setting";
}

}  // namespace
}  // namespace taut::server
