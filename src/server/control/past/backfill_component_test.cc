// Tests the backfill component: the first start, an unreachable server, a stop, the start after a stop, and
// gaps.
#include "server/control/past/backfill_component.h"

#include <gmock/gmock.h>

#include "common/net/http_server.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kHourSeconds = 3600;

constexpr std::string_view kMetric = "container_memory_working_set_bytes";

// A Prometheus with the memory series of one pod, one sample every 60 s.
class BackfillComponentTest : public ComponentTest {
 protected:
  BackfillComponentTest() {
    auto server = HttpServer::Start({}, [this](const HttpRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    config_.backfill.prometheus_url = StrCat("http://127.0.0.1:", server_->port());
    config_.backfill.days = 1;
  }
  HttpResponse Answer(const HttpRequest& request) {
    ++asked_;
    if (away_ > 0) {
      --away_;
      return TextResponse(503, "starting");
    }
    std::string query, time;
    const auto form = ParseQuery(request.body);
    for (const QueryParameter& p : *form) (p.name == "query" ? query : time) = p.value;
    std::string result;
    if (const size_t range_at = query.rfind('['); query.find(kMetric) != std::string::npos) {
      const int64_t range = std::stoll(query.substr(range_at + 1)), end = std::stoll(time);
      if (stops_at_s_ > 0 && end >= stops_at_s_) stopping_ = true;
      result = StrCat(R"({"metric":{"__name__":")", kMetric,
                      R"(","container":"app","namespace":"shop","pod":"web-0"},"values":[)");
      bool first = true;
      for (int64_t t = (end - range) / 60 * 60 + 60; t <= end; t += 60) {
        StrAppend(&result, first ? "" : ",", "[", t, R"(,"1e9"])");
        first = false;
      }
      result += "]}";
    }
    return JsonResponse(
        200, StrCat(R"({"status":"success","data":{"resultType":"matrix","result":[)", result, "]}}"));
  }
  std::unique_ptr<BackfillComponent> Make() {
    BackfillComponent::Options options = BackfillComponent::OptionsOf(config_);
    options.tick = [this](Timestamp through) { return control_.Tick(through, brain::When::kPast); };
    using std::chrono::seconds;
    options.patience = options.gap_patience = {seconds(1), seconds(1), seconds(3)};
    return std::make_unique<BackfillComponent>(std::move(options), context_);
  }
  bool HasJob() const { return control_.view()->jobs.size() == 1; }
  std::optional<WindowId> Through() const { return control_.status().stored_through(); }

  std::atomic<int> asked_{0}, away_{0};
  std::atomic<int64_t> stops_at_s_{0};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(BackfillComponentTest, WithoutAServerThereIsNothingToDo) {
  config_.backfill.prometheus_url.clear();
  const auto run = Make();
  EXPECT_FALSE(run->ended());
  EXPECT_EQ(run->Run(), absl::OkStatus());
  EXPECT_TRUE(run->ended());
  EXPECT_FALSE(run->progress().has_value());
  EXPECT_THAT(MetricsOf(*run), IsEmpty());
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(BackfillComponentTest, TheFirstStartReadsTheDaysAndTheNextOneNothing) {
  const auto run = Make();
  ASSERT_EQ(run->Run(), absl::OkStatus());
  EXPECT_EQ(Logged("backfill: 1 days from http://"), 1);
  ASSERT_TRUE(HasJob());
  ASSERT_TRUE(Through().has_value());
  EXPECT_GT(Through()->next().start_s(), now_s_ - kHourSeconds);
  const std::optional<BackfillProgress> progress = run->progress();
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->done, progress->total);
  EXPECT_FALSE(progress->running);
  EXPECT_EQ(progress->error, "");
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_backfill_running 0\n"));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_backfill_failed 0\n"));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_backfill_seconds 86400\n"));
  const int asked = asked_;
  const auto again = Make();
  EXPECT_EQ(again->Run(), absl::OkStatus());
  EXPECT_EQ(asked_, asked);
  EXPECT_FALSE(again->progress().has_value());
}

TEST_F(BackfillComponentTest, AServerThatIsAwayIsAskedAgain) {
  away_ = 1'000'000;
  const auto run = Make();
  context_.wait = [this](std::chrono::milliseconds) {
    if (Logged("retrying in 1 s") > 0) away_ = 0;
  };
  EXPECT_EQ(run->Run(), absl::OkStatus());
  EXPECT_EQ(Logged("retrying in 1 s"), 1);
  EXPECT_EQ(run->progress()->error, "");
}

TEST_F(BackfillComponentTest, AServerThatStaysAwayIsAnErrorAndTheNextStartAsksAgain) {
  away_ = 1'000'000;
  const auto run = Make();
  EXPECT_TRUE(absl::IsUnavailable(run->Run()));
  EXPECT_EQ(Logged("backfill failed; "), 1);
  EXPECT_FALSE(run->progress()->running);
  EXPECT_THAT(run->progress()->error, Not(IsEmpty()));
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_backfill_failed 1\n"));
  run->ForgetError();
  EXPECT_THAT(MetricsOf(*run), HasSubstr("tautd_backfill_failed 0\n"));
  away_ = 0;
  EXPECT_EQ(Make()->Run(), absl::OkStatus());
  EXPECT_TRUE(HasJob());
}

TEST_F(BackfillComponentTest, SettingsThatCannotBeUsedAreAnError) {
  config_.backfill.bearer_token_file = dir_.File("missing");
  const auto run = Make();
  EXPECT_THAT(Message(run->Run()), HasSubstr("missing"));
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(Logged("backfill failed; "), 1);
}

TEST_F(BackfillComponentTest, AStartAfterAStopResumesWhereTheStoreEnds) {
  stops_at_s_ = now_s_ - 20 * kHourSeconds;
  const auto run = Make();
  EXPECT_TRUE(absl::IsCancelled(run->Run()));
  ASSERT_TRUE(Through().has_value());
  const int64_t read_s = Through()->next().start_s();
  ASSERT_LT(read_s, now_s_ - kHourSeconds);
  stops_at_s_ = 0;
  stopping_ = false;
  const auto after = Make();
  EXPECT_EQ(after->Run(), absl::OkStatus());
  EXPECT_EQ(Logged("resumed"), 1);
  EXPECT_EQ(after->progress()->total, static_cast<uint64_t>(now_s_ - (read_s - kWindowSeconds)))
      << "with the window before, from which rates go on";
  EXPECT_GT(Through()->next().start_s(), now_s_ - kHourSeconds);
}

TEST_F(BackfillComponentTest, AGapIsReadByTheWallClockOnly) {
  CloseAWindow("web");
  now_s_ += 6 * kHourSeconds;
  config_.clock = ClockSource::kSamples;
  EXPECT_EQ(Make()->Run(), absl::OkStatus());
  EXPECT_EQ(asked_, 0);
  config_.clock = ClockSource::kWall;
  const auto run = Make();
  EXPECT_EQ(run->Run(), absl::OkStatus());
  EXPECT_EQ(Logged("backfill: nothing is stored of the last "), 1);
  EXPECT_THAT(run->progress()->sentence, HasSubstr("a gap, "));
  EXPECT_GT(Through()->next().start_s(), now_s_ - kHourSeconds);
}

TEST_F(BackfillComponentTest, AGapThatCannotBeReadIsHandedOver) {
  CloseAWindow("web");
  const WindowId last = *Through();
  now_s_ += 6 * kHourSeconds;
  away_ = 1'000'000;
  const auto run = Make();
  std::optional<SilentSpan> later;
  run->ReadLaterBy([&](SilentSpan span) {
    later = span;
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsUnavailable(run->Run()));
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(later->from, last.next());
  EXPECT_EQ(later->to, WindowId::Of(now()));
  EXPECT_EQ(Logged("before the start are read later"), 1);
}

}  // namespace
}  // namespace taut::server
