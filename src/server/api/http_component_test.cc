// Tests of the HTTP server as a component: accepted tokens after a reload, and the server's metrics.
#include "server/api/http_component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/net/http_client.h"
#include "common/testing/recorded_log.h"
#include "common/testing/temp_dir.h"
#include "server/api/api_fixture.h"

namespace taut::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kFirstToken = "first-token-of-32-characters-0001",
                           kSecondToken = "other-token-of-32-characters-0002";

class HttpComponentTest : public testing::Test {
 protected:
  HttpComponentTest() {
    EXPECT_TRUE(control_.Restore().ok());
    config_.server.options.listen = {ListenAddress{"127.0.0.1", 0}};
    config_.server.operator_tokens_file = dir_.Write("first", StrCat(kFirstToken, " anna\n"));
    config_.cell.name = "west";
    EXPECT_EQ(http_.Start(), absl::OkStatus());
  }
  int StatusOf(std::string_view token, std::string_view path = "/api/v1/status") {
    ClientOptions options;
    options.token = token;
    auto client = HttpClient::Create(StrCat("http://127.0.0.1:", http_.port()), options);
    EXPECT_TRUE(client.ok()) << client.status();
    const absl::StatusOr<HttpResponse> response = (*client)->Get(path);
    return response.ok() ? response->status : 0;
  }
  // Reloads the configuration, and returns the names of the parts that took effect.
  std::vector<std::string> Reload(const DaemonConfig& next) {
    Reloading reload{.next = next, .running = config_, .log = log_};
    http_.OnReload(reload);
    reload.Finish();
    return reload.taken;
  }

  TempDir dir_{TempDir::Where::kMemory};
  NoStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{ControlOptions(),
                        *MappingRules::Compile(BuiltinRules()),
                        {&store_, &store_, &actuator_, [] { return 0.0; }}};
  RecordedLog log_;
  const DaemonContext context_{
      .control = &control_, .log = &log_, .now = [] { return Timestamp::FromSeconds(1'700'000'000); }};
  DaemonConfig config_;
  HttpComponent http_{{.config = config_, .config_path = "", .version = "1.2.3"}, ApiParts(), context_};
};

TEST_F(HttpComponentTest, AReloadTakesOtherTokensAndLeavesTheConfigurationThatRunsToTheReload) {
  EXPECT_EQ(StatusOf(kFirstToken), 200);
  EXPECT_EQ(StatusOf(kSecondToken), 401);
  EXPECT_EQ(StatusOf("", "/healthz"), 200) << "needs no token";
  DaemonConfig next = config_;
  next.server.operator_tokens_file = dir_.Write("second", StrCat(kSecondToken, " bert\n"));
  EXPECT_THAT(Reload(next), ElementsAre("tokens and certificates of the server"));
  EXPECT_EQ(config_.server.operator_tokens_file, next.server.operator_tokens_file);
  EXPECT_EQ(StatusOf(kFirstToken), 401);
  EXPECT_EQ(StatusOf(kSecondToken), 200);
}

TEST_F(HttpComponentTest, AFileThatIsMissingKeepsWhoMayCome) {
  DaemonConfig next = config_;
  next.server.operator_tokens_file = dir_.File("missing");
  next.cell.name = "east";
  EXPECT_THAT(Reload(next), ElementsAre());
  EXPECT_EQ(StatusOf(kFirstToken), 200);
  EXPECT_NE(config_.server.operator_tokens_file, next.server.operator_tokens_file);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("reload_failed")));
  EXPECT_THAT(log_.lines(), Contains(testing::AllOf(HasSubstr("restart_needed"), HasSubstr("cell.name"))));
}

TEST_F(HttpComponentTest, CountsAnswersAndTheTimeOfRoutes) {
  EXPECT_EQ(StatusOf(kFirstToken, "/api/v1/jobs"), 200);
  EXPECT_EQ(StatusOf(kFirstToken, "/api/v1/jobs/none"), 404);
  MetricsText out;
  http_.Collect(out);
  const std::string text = out.Take();
  EXPECT_THAT(text, HasSubstr("tautd_http_answers_total{class=\"4xx\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tautd_http_request_duration_seconds_count{route=\"/api/v1/jobs\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tautd_http_request_duration_seconds_count{route=\"/api/v1/jobs/{job}\"} 1\n"));
}

TEST_F(HttpComponentTest, EachRouteOfTheTableHasItsTimes) {
  for (const char* path : {"/api/v1/bills", "/allocation", "/api/v1/requests/17", "/healthz"})
    (void)StatusOf(kFirstToken, path);
  MetricsText out;
  http_.Collect(out);
  const std::string text = out.Take();
  for (const char* route : {"/api/v1/bills", "/allocation", "/api/v1/requests/{id}", "/healthz"})
    EXPECT_THAT(text, HasSubstr(StrCat("_count{route=\"", route, "\"} 1\n")));
  EXPECT_THAT(text, testing::Not(HasSubstr("route=\"other\"")));
}

}  // namespace
}  // namespace taut::server
