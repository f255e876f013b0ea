// Tests that the history of late jobs and of gaps is read from a Prometheus, which may be unreachable, empty,
// or reachable again.
#include "server/control/past/late_history.h"

#include <gmock/gmock.h>

#include "common/net/http_server.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

class LateHistoryTest : public ComponentTest {
 protected:
  // Starts a Prometheus without series.
  std::unique_ptr<HttpServer> Serve() {
    auto server = HttpServer::Start({}, [this](const HttpRequest& request) {
      ++asked_;
      return away_ ? TextResponse(503, "starting")
             : request.path == "/api/v1/series"
                 ? JsonResponse(200, R"({"status":"success","data":[]})")
                 : JsonResponse(200, R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
    });
    EXPECT_TRUE(server.ok()) << server.status();
    config_.backfill.prometheus_url = StrCat("http://127.0.0.1:", (*server)->port());
    return *std::move(server);
  }
  std::unique_ptr<LateHistory> Make() {
    std::optional<LateHistory::Options> options = LateHistory::OptionsOf(config_);
    options->settle = std::chrono::seconds(0);
    return std::make_unique<LateHistory>(*std::move(options), backfill_, context_);
  }
  // A started LateHistory; its destructor stops the daemon first.
  struct Running {
    Running(LateHistory& late, std::atomic<bool>& stopping) : late(late), stopping(stopping) {
      EXPECT_EQ(late.Start(), absl::OkStatus());
    }
    ~Running() {
      stopping = true;
      late.Stop();
      stopping = false;
    }
    LateHistory& late;
    std::atomic<bool>& stopping;
  };
  SilentSpan Gap() const {
    const int32_t last = WindowId::Of(now()).index;
    return {WindowId{last - 24}, WindowId{last - 12}};
  }
  bool KeepsGaps() const { return (*context_.states->Get("gaps")).has_value(); }

  std::atomic<bool> away_{false};
  std::atomic<int> asked_{0};
  BackfillComponent backfill_{BackfillComponent::Options(), context_};
};

TEST_F(LateHistoryTest, ItIsAskedForWithAServerAndByTheWallClockOnly) {
  EXPECT_FALSE(LateHistory::OptionsOf(config_).has_value());
  config_.backfill.prometheus_url = "http://127.0.0.1:1";
  EXPECT_TRUE(LateHistory::OptionsOf(config_).has_value());
  DaemonConfig never = config_;
  never.backfill.later_jobs_s = 0;
  EXPECT_FALSE(LateHistory::OptionsOf(never).has_value());
  DaemonConfig samples = config_;
  samples.clock = ClockSource::kSamples;
  EXPECT_FALSE(LateHistory::OptionsOf(samples).has_value());
  config_.backfill.later_jobs_s = 60;
  EXPECT_EQ(LateHistory::OptionsOf(config_)->settle, std::chrono::seconds(60))
      << "no longer than the interval";
}

TEST_F(LateHistoryTest, AJobThatTheServerDoesNotKnowIsAskedForOnce) {
  const auto server = Serve();
  CloseAWindow("shop/web");
  now_s_ += 3600;
  EXPECT_EQ(backfill_.Run(), absl::OkStatus());
  const auto late = Make();
  EXPECT_EQ(late->progress().waiting, 1U);
  const Running running(*late, stopping_);
  ASSERT_TRUE(Eventually([&] { return late->progress().nothing == 1; })) << late->progress().error;
  EXPECT_EQ(late->progress().waiting, 0U);
  EXPECT_THAT(MetricsOf(*late), HasSubstr("tautd_late_jobs{state=\"nothing\"} 1\n"));
}

TEST_F(LateHistoryTest, NothingIsAskedBeforeTheBackfillHasEnded) {
  const auto server = Serve();
  CloseAWindow("shop/web");
  now_s_ += 3600;
  const auto late = Make();
  const Running running(*late, stopping_);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(asked_, 0);
}

TEST_F(LateHistoryTest, AGapOutlivesARestartAndAServerThatIsAway) {
  {
    config_.backfill.prometheus_url = "http://127.0.0.1:1";
    const auto late = Make();
    EXPECT_EQ(late->AddGap(Gap()), absl::OkStatus());
    EXPECT_TRUE(KeepsGaps());
  }
  EXPECT_EQ(backfill_.Run(), absl::OkStatus());
  {
    const auto late = Make();
    const Running running(*late, stopping_);
    ASSERT_TRUE(Eventually([&] {
      return Logged("the time without samples cannot be read, retrying in ") > 0;
    })) << Join(log_.lines(), "\n");
    EXPECT_TRUE(KeepsGaps());
    EXPECT_EQ(Logged("cannot be read"), 1) << "not again before the hour is over";
  }
  const auto server = Serve();
  const auto late = Make();
  const Running running(*late, stopping_);
  ASSERT_TRUE(Eventually([&] { return Logged("the time without samples was read") > 0; }))
      << Join(log_.lines(), "\n");
  ASSERT_TRUE(Eventually([&] { return !KeepsGaps(); }));
  EXPECT_GT(asked_, 0);
}

TEST_F(LateHistoryTest, AGapIsReadAgainAfterAnHour) {
  const auto server = Serve();
  away_ = true;
  EXPECT_EQ(backfill_.Run(), absl::OkStatus());
  const auto late = Make();
  EXPECT_EQ(late->AddGap(Gap()), absl::OkStatus());
  const Running running(*late, stopping_);
  ASSERT_TRUE(Eventually([&] { return Logged("cannot be read") == 1; }));
  away_ = false;
  now_s_ += 3601;
  EXPECT_TRUE(Eventually([&] { return Logged("the time without samples was read") == 1; }))
      << Join(log_.lines(), "\n");
}

}  // namespace
}  // namespace taut::server
