// Tests reading history from a server that responds like Prometheus, with Prometheus' limits and errors.
#include "server/ingest/prometheus_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

#include "common/base/strings.h"
#include "common/net/http_server.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kStart = 1'700'000'100;  // start of a window
static_assert(kStart % kWindowSeconds == 0);

MappingRule Rule(std::string metric, SeriesKind kind) {
  return {"r", std::move(metric), {}, kind, "{job}", "{instance}", "", 1};
}

// A fake server with series that have one sample every `every_s`. It answers queries of the form
// SELECTOR[Ns].
struct Fake {
  std::map<std::string, int> series_of = {{"cpu", 2}, {"owner", 1}};  // number of series by metric
  int64_t every_s = 30;
  int64_t server_time = 0;  // present time of the server; 0: the server does not answer
  size_t max_samples = SIZE_MAX;
  // Returns the response to the nth request; nullopt: the usual response.
  std::function<std::optional<HttpResponse>(const HttpRequest&, int nth)> first;

  std::mutex mutex;
  std::vector<std::string> queries;  // metric, range and end after kStart: "cpu 3600 @ 3600"

  // The series index returns two series per hour.
  HttpResponse AnswerSeries(const std::vector<QueryParameter>& form) {
    std::string matches;
    int64_t start = 0, end = 0;
    for (const QueryParameter& p : form) {
      if (p.name == "match[]") matches += p.value;
      if (p.name == "start") start = std::stoll(p.value);
      if (p.name == "end") end = std::stoll(p.value);
    }
    queries.push_back(StrCat("series of ", matches, " ", start - kStart, " to ", end - kStart));
    if (end - start > longest_index_s) return TextResponse(503, "the query timed out");
    std::string result;
    for (int64_t t = start; t < end; t += 3600)
      StrAppend(&result, result.empty() ? "" : ",", R"({"__name__":"cpu","i":")", t - kStart, R"("})");
    return JsonResponse(200, StrCat(R"({"status":"success","data":[)", result, "]}"));
  }
  int64_t longest_index_s = INT64_MAX;

  HttpResponse Answer(const HttpRequest& request) {
    const std::lock_guard lock(mutex);
    const auto form = ParseQuery(request.body);
    if (request.path == "/api/v1/series") return AnswerSeries(*form);
    std::string query, time;
    for (const QueryParameter& p : *form) (p.name == "query" ? query : time) = p.value;
    if (query == "vector(time())[10s:1s]" && time.empty() && server_time > 0) {
      return JsonResponse(
          200, StrCat(R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},)",
                      R"("values":[[)", server_time - 1, R"(,"1"],[)", server_time, R"(,"2"]]}]}})"));
    }
    constexpr std::string_view kBegin = "{__name__=\"";
    const size_t range_at = query.rfind('[');
    if (request.path != "/api/v1/query" || query.rfind(kBegin, 0) != 0 || range_at == std::string::npos ||
        query.substr(query.size() - 2) != "s]") {
      return JsonResponse(400, R"({"status":"error","errorType":"bad_data","error":"what is that"})");
    }
    const std::string metric = query.substr(kBegin.size(), query.find('"', kBegin.size()) - kBegin.size());
    const int64_t range = std::stoll(query.substr(range_at + 1)), end = std::stoll(time);
    queries.push_back(StrCat(metric, " ", range, " @ ", end - kStart));
    if (first) {
      if (auto response = first(request, static_cast<int>(queries.size()))) return *response;
    }
    size_t samples = 0;
    std::string result;
    for (int s = 0; s < series_of[metric]; ++s) {
      StrAppend(&result, result.empty() ? "" : ",", R"({"metric":{"__name__":")", metric, R"(","i":")", s,
                R"("},"values":[)");
      // The sample at the start is included, as before Prometheus 3.0.
      bool is_first = true;
      for (int64_t t = (end - range + every_s - 1) / every_s * every_s; t <= end; t += every_s, ++samples) {
        StrAppend(&result, is_first ? "" : ",", "[", t, R"(,")", t - kStart, R"("])");
        is_first = false;
      }
      result += "]}";
    }
    if (samples > max_samples) {
      return JsonResponse(
          422,
          R"({"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"})");
    }
    return JsonResponse(
        200, StrCat(R"({"status":"success","data":{"resultType":"matrix","result":[)", result, "]}}"));
  }
};

class PrometheusHistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server =
        HttpServer::Start(ServerOptions{}, [this](const HttpRequest& r) { return fake_.Answer(r); });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
    options_.sleep = [this](std::chrono::milliseconds pause) { pauses_.push_back(pause.count()); };
    sink_.on_chunk_begin = [this](Timestamp end) {
      events_.push_back(StrCat("begin ", end.seconds() - kStart));
    };
    sink_.on_chunk_done = [this](Timestamp t) {
      events_.push_back(StrCat("done ", t.seconds() - kStart));
      return absl::OkStatus();
    };
    sink_.on_series = [this](auto labels, auto samples) {
      const std::string name(LabelValue(labels, "__name__"));
      if (events_.back() != name) events_.push_back(name);
      for (const RemoteSample& s : samples) {
        std::vector<RemoteSample>& all = samples_[StrCat(name, LabelValue(labels, "i"))];
        EXPECT_TRUE(all.empty() || all.back().timestamp_ms < s.timestamp_ms);
        all.push_back(s);
      }
      return absl::OkStatus();
    };
    sink_.on_progress = [this](const HistoryProgress& p) { progress_ = p; };
  }

  absl::Status Read(int64_t seconds, const ClientOptions& client = {}, std::string url = "") {
    if (url.empty()) url = StrCat("http://127.0.0.1:", server_->port());
    const std::vector<MappingRule> rules = {Rule("cpu", SeriesKind::kCpuSecondsTotal),
                                            Rule("owner", SeriesKind::kOwner)};
    auto history = PrometheusHistory::Create(url, client, rules, options_);
    if (!history.ok()) return history.status();
    return (*history)->Read(Timestamp::FromSeconds(kStart), Timestamp::FromSeconds(kStart + seconds), sink_);
  }
  // The server first returns this response `times` times.
  void Refuse(int status, const std::string& text, int times = 1'000'000) {
    fake_.first = [=](const HttpRequest&, int nth) -> std::optional<HttpResponse> {
      if (nth > times) return std::nullopt;
      return TextResponse(status, text);
    };
  }

  Fake fake_;
  std::unique_ptr<HttpServer> server_;
  HistoryOptions options_;
  HistorySink sink_;
  std::vector<int64_t> pauses_;
  std::vector<std::string> events_;
  std::map<std::string, std::vector<RemoteSample>> samples_;
  HistoryProgress progress_;
};

// Reading the labels of a few series costs one request, or several if the server is busy, and no samples.
TEST_F(PrometheusHistoryTest, TheIndexIsAskedForSeriesAlone) {
  const std::vector<MappingRule> rules = {Rule("cpu", SeriesKind::kCpuSecondsTotal),
                                          Rule("owner", SeriesKind::kOwner)};
  auto history = PrometheusHistory::Create(StrCat("http://127.0.0.1:", server_->port()), {}, rules, options_);
  ASSERT_TRUE(history.ok()) << history.status();
  std::vector<std::string> found;
  const auto read = [&](std::function<bool()> should_stop = nullptr) {
    found.clear();
    fake_.queries.clear();
    return (*history)->ReadSeries((*history)->selectors(), Timestamp::FromSeconds(kStart),
                                  Timestamp::FromSeconds(kStart + 7200), should_stop, [&](auto labels) {
                                    found.emplace_back(LabelValue(labels, "i"));
                                    return absl::OkStatus();
                                  });
  };
  ASSERT_TRUE(read().ok());
  EXPECT_THAT(found, ElementsAre("0", "3600"));
  EXPECT_THAT(fake_.queries, ElementsAre(R"(series of {__name__="owner"}{__name__="cpu"} 0 to 7200)"));
  fake_.longest_index_s = 3600;
  ASSERT_TRUE(read().ok());
  EXPECT_THAT(found, ElementsAre("0", "3600"));
  EXPECT_THAT(fake_.queries, testing::SizeIs(3));
  EXPECT_TRUE(absl::IsCancelled(read([] { return true; })));
  EXPECT_TRUE(fake_.queries.empty());
}

TEST_F(PrometheusHistoryTest, WhatIsSelectedIsAskedForAlone) {
  const std::vector<MappingRule> rules = {Rule("cpu", SeriesKind::kCpuSecondsTotal)};
  auto history = PrometheusHistory::Create(StrCat("http://127.0.0.1:", server_->port()), {}, rules, options_);
  ASSERT_TRUE(history.ok()) << history.status();
  (*history)->Select({{R"({__name__="memory",pod="a"})", false}});
  ASSERT_TRUE(
      (*history)->Read(Timestamp::FromSeconds(kStart), Timestamp::FromSeconds(kStart + 300), sink_).ok());
  EXPECT_THAT(fake_.queries, ElementsAre("memory 300 @ 300"));
}

TEST_F(PrometheusHistoryTest, ChunksComeInOrderFactsFirstAndEachSampleOnce) {
  const absl::Status read = Read(9000);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_THAT(events_, ElementsAre("begin 3600", "owner", "cpu", "done 3600", "begin 7200", "owner", "cpu",
                                   "done 7200", "begin 9000", "owner", "cpu", "done 9000"));
  for (const char* series : {"owner0", "cpu0", "cpu1"}) {
    const auto& all = samples_[series];
    ASSERT_EQ(all.size(), 300U) << series;
    EXPECT_EQ(all.front().timestamp_ms, (kStart + 30) * 1000);
    EXPECT_EQ(all.back().timestamp_ms, (kStart + 9000) * 1000);
    EXPECT_EQ(all.back().value, 9000);
  }
  EXPECT_EQ(progress_.samples, 900U);
  EXPECT_EQ(progress_.series, 3U);
  EXPECT_EQ(progress_.queries, 6U);
  EXPECT_EQ(progress_.Sentence(), "2 of 2.5 hours, 900 samples");
}

TEST_F(PrometheusHistoryTest, TheServerSaysWhatTimeItIs) {
  const auto ask = [this] {
    const std::vector<MappingRule> rules = {Rule("cpu", SeriesKind::kCpuSecondsTotal)};
    auto history =
        PrometheusHistory::Create(StrCat("http://127.0.0.1:", server_->port()), {}, rules, options_);
    return (*history)->ServerTime();
  };
  EXPECT_FALSE(ask().ok());
  fake_.server_time = kStart + 7;
  const absl::StatusOr<Timestamp> time = ask();
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->seconds(), kStart + 7);
}

TEST_F(PrometheusHistoryTest, AServerWithALimitIsAskedForLess) {
  fake_.max_samples = 70;  // 17 minutes of two series with a sample every 30 s
  const absl::Status read = Read(7200);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(samples_["cpu0"].size(), 240U);
  EXPECT_EQ(samples_["cpu1"].size(), 240U);
  EXPECT_EQ(samples_["owner0"].size(), 240U);
  EXPECT_THAT(fake_.queries, ::testing::Contains("cpu 900 @ 900"));
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(PrometheusHistoryTest, QueriesGrowBackWhenTheServerIsWellAgain) {
  Refuse(422, "no", 2);
  const absl::Status read = Read(16 * 3600);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_THAT(fake_.queries, ::testing::Contains("owner 900 @ 2700"));
  EXPECT_EQ(fake_.queries[fake_.queries.size() - 2], "owner 3600 @ 57600");
  EXPECT_EQ(samples_["owner0"].size(), 1920U);
}

TEST_F(PrometheusHistoryTest, ALimitBelowAMinuteIsAnErrorInTheServersWords) {
  fake_.max_samples = 2;
  const absl::Status read = Read(3600);
  EXPECT_TRUE(absl::IsFailedPrecondition(read));
  EXPECT_THAT(Message(read), HasSubstr("too many samples"));
  EXPECT_THAT(Message(read), HasSubstr("--query.max-samples"));
  EXPECT_THAT(Message(read), HasSubstr(StrCat("http://127.0.0.1:", server_->port())));
}

TEST_F(PrometheusHistoryTest, AnAnswerThatIsTooLargeIsAskedForInHalves) {
  options_.max_answer_bytes = 2000;
  const absl::Status read = Read(3600);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(samples_["cpu1"].size(), 120U);
  options_.max_answer_bytes = 100;
  const absl::Status none = Read(3600);
  EXPECT_TRUE(absl::IsResourceExhausted(none)) << none;
  EXPECT_THAT(Message(none), HasSubstr("map fewer series"));
}

TEST_F(PrometheusHistoryTest, ABusyServerIsAskedAgain) {
  Refuse(503, "busy", 2);
  const absl::Status read = Read(3600);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_THAT(pauses_, ElementsAre(1000, 2000));
  EXPECT_EQ(samples_["cpu0"].size(), 120U);

  Refuse(500, "oops");
  const absl::Status failed = Read(3600);
  EXPECT_TRUE(absl::IsUnavailable(failed)) << failed;
  EXPECT_THAT(Message(failed), HasSubstr("500 Internal Server Error: oops; see the server's log"));
  EXPECT_EQ(pauses_.size(), 5U);
}

TEST_F(PrometheusHistoryTest, AQueryThatTimesOutIsHalved) {
  fake_.first = [](const HttpRequest&, int nth) -> std::optional<HttpResponse> {
    if (nth > 1) return std::nullopt;
    return JsonResponse(
        503,
        R"({"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"})");
  };
  const absl::Status read = Read(3600);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_TRUE(pauses_.empty());
  EXPECT_THAT(fake_.queries,
              ElementsAre("owner 3600 @ 3600", "owner 1800 @ 1800", "owner 1800 @ 3600", "cpu 3600 @ 3600"));
}

TEST_F(PrometheusHistoryTest, ASlowServerIsAskedForLess) {
  fake_.first = [](const HttpRequest&, int nth) -> std::optional<HttpResponse> {
    if (nth == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return std::nullopt;
  };
  ClientOptions client;
  client.timeout = std::chrono::milliseconds(500);
  const absl::Status read = Read(3600, client);
  // On a very busy machine even the short queries may time out; the error then reports the timeout.
  if (!read.ok()) {
    EXPECT_THAT(Message(read), HasSubstr("too slow"));
    return;
  }
  EXPECT_GE(fake_.queries.size(), 4U);
  EXPECT_EQ(samples_["owner0"].size(), 120U);
}

TEST_F(PrometheusHistoryTest, ErrorsSayTheUrlAndTheWayOut) {
  const std::string url = StrCat("http://127.0.0.1:", server_->port(), "/api/v1/query");
  const struct {
    int status;
    const char* text;
    absl::StatusCode code;
    const char* says;
  } cases[] = {
      {401, "", absl::StatusCode::kUnauthenticated, "backfill.bearer_token_file"},
      {403, "no", absl::StatusCode::kPermissionDenied, "no permission to query"},
      {404, "404 page not found", absl::StatusCode::kNotFound, "before /api/v1"},
      {302, "", absl::StatusCode::kNotFound, "before /api/v1"},
      {200, "<html>hello</html>", absl::StatusCode::kDataLoss, "invalid JSON"},
      {200, "{\"status\":\"ok\"}", absl::StatusCode::kDataLoss, "not a Prometheus API response"},
      {400, R"({"status":"error","error":"bad thing"})", absl::StatusCode::kFailedPrecondition, "bad thing"},
  };
  for (const auto& c : cases) {
    Refuse(c.status, c.text);
    const absl::Status read = Read(3600);
    EXPECT_EQ(read.code(), c.code) << read;
    EXPECT_THAT(std::string(Message(read)), HasSubstr(c.says));
    EXPECT_THAT(std::string(Message(read)), HasSubstr(url));
  }
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(PrometheusHistoryTest, NobodyThereIsTriedAgainAndSaid) {
  const std::string url = StrCat("http://127.0.0.1:", server_->port());
  server_.reset();
  const absl::Status read = Read(3600, {}, url);
  EXPECT_TRUE(absl::IsUnavailable(read)) << read;
  EXPECT_THAT(Message(read), HasSubstr("backfill.prometheus"));
  EXPECT_THAT(pauses_, ElementsAre(1000, 2000, 4000));
  EXPECT_TRUE(absl::IsInvalidArgument(Read(3600, {}, "p:9090")));
}

TEST_F(PrometheusHistoryTest, TheTokenIsSent) {
  fake_.first = [](const HttpRequest& r, int) -> std::optional<HttpResponse> {
    const std::string* token = r.header("Authorization");
    if (token != nullptr && *token == "Bearer secret") return std::nullopt;
    return TextResponse(401, "");
  };
  EXPECT_TRUE(absl::IsUnauthenticated(Read(3600)));
  ClientOptions client;
  client.token = "secret";
  EXPECT_TRUE(Read(3600, client).ok());
}

TEST_F(PrometheusHistoryTest, DenseSeriesAreThinned) {
  fake_.every_s = 1;
  const absl::Status read = Read(3600);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(samples_["cpu0"].size(), 361U);  // number of 10-s cells that overlap (0, 3600]
  EXPECT_EQ(samples_["cpu0"][0].timestamp_ms, (kStart + 9) * 1000);
  samples_.clear();
  options_.thin_seconds = 0;
  ASSERT_TRUE(Read(3600).ok());
  EXPECT_EQ(samples_["cpu0"].size(), 3600U);
}

TEST_F(PrometheusHistoryTest, ManySamplesMakeChunksShorter) {
  options_.max_chunk_samples = 100;
  ASSERT_TRUE(Read(7200).ok());
  EXPECT_THAT(events_, ::testing::Contains("done 5400"));
  EXPECT_THAT(events_, ::testing::Contains("done 6300"));
  EXPECT_EQ(samples_["cpu0"].size(), 240U);
}

TEST_F(PrometheusHistoryTest, ItStopsWhenAskedAndWhenTheReceiverFails) {
  sink_.should_stop = [this] { return progress_.done_seconds >= 3600; };
  EXPECT_TRUE(absl::IsCancelled(Read(9000)));
  EXPECT_EQ(events_.back(), "begin 7200");
  sink_.should_stop = nullptr;
  samples_.clear();
  sink_.on_chunk_done = [](Timestamp) { return absl::InternalError("disk full"); };
  EXPECT_EQ(Read(9000), absl::InternalError("disk full"));
  sink_.on_series = [](auto, auto) { return absl::InternalError("no room"); };
  EXPECT_EQ(Read(9000), absl::InternalError("no room"));
}

TEST_F(PrometheusHistoryTest, NothingToReadIsFine) {
  EXPECT_TRUE(Read(0).ok());
  EXPECT_TRUE(Read(-5).ok());
  EXPECT_TRUE(events_.empty());
  fake_.series_of.clear();
  EXPECT_TRUE(Read(600).ok());
  EXPECT_THAT(events_, ElementsAre("begin 600", "done 600"));
}

TEST(HistoryProgress, Sentences) {
  HistoryProgress p;
  p.total_seconds = 14 * kDaySeconds;
  p.done_seconds = 3 * kDaySeconds + 5000;
  p.samples = 12'400'000;
  EXPECT_EQ(p.Sentence(), "3 of 14 days, 12.4 M samples");
  p.samples = 2100;
  EXPECT_EQ(p.Sentence(), "3 of 14 days, 2.1 k samples");
}

TEST(PrometheusHistory, NoRulesIsAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(PrometheusHistory::Create("http://127.0.0.1:1", {}, {}, {}).status()));
}

}  // namespace
}  // namespace taut::server
