// Tests of FeedCell and of taut-dev feed: the receiver accepts all samples, and equal seeds result in equal
// samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "common/base/strings.h"
#include "common/net/http_server.h"
#include "server/ingest/ingest.h"
#include "tools/cli/cli.h"
#include "tools/dev/commands.h"
#include "tools/dev/feed_cell.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;

server::MappingRules Rules() { return *server::MappingRules::Compile(server::BuiltinRules()); }

std::vector<std::string> Bodies(const FeedCellOptions& options, int64_t first, int64_t windows, int steps) {
  auto cell = FeedCell::Generate(options);
  EXPECT_TRUE(cell.ok()) << cell.status();
  std::vector<std::string> out;
  for (int64_t w = first; w < first + windows; ++w) {
    const absl::Status s =
        (*cell)->Scrape({w, steps, 0, steps}, 500, [&out](std::span<const server::RemoteSeries> series) {
          EXPECT_LE(series.size(), 700U);
          out.push_back(server::EncodeWriteMessage(series));
          return absl::OkStatus();
        });
    EXPECT_TRUE(s.ok()) << s;
  }
  return out;
}

FeedCellOptions SmallCell() {
  FeedCellOptions options;
  options.jobs = 20;
  options.days = 2;
  options.max_tasks = 6;
  options.start_s = 1'800'000'000;
  options.ooms = true;
  return options;
}

TEST(FeedCellTest, TheSameSeedGivesTheSameBytes) {
  EXPECT_EQ(Bodies(SmallCell(), 0, 300, 2), Bodies(SmallCell(), 0, 300, 2));
  FeedCellOptions other = SmallCell();
  other.seed = 2;
  EXPECT_NE(Bodies(SmallCell(), 0, 3, 2), Bodies(other, 0, 3, 2));
}

// Checks that a receiver has no reason to reject a sample, over the whole cell and the start of its first
// repetition.
TEST(FeedCellTest, EverySampleFitsItsSeries) {
  const FeedCellOptions options = SmallCell();
  server::Ingest ingest(Rules(), {});
  server::RemoteWriteDecoder decoder;
  std::map<std::string, double> owners_limit;
  uint64_t job_windows = 0;
  for (const std::string& message : Bodies(options, 0, 3 * kWindowsPerDay, 5)) {
    const auto decoded = decoder.DecodeMessage(message, [&](const server::SeriesView& s) {
      ingest.Take(s, Timestamp::FromSeconds(options.start_s + 4 * kDaySeconds));
    });
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_EQ(decoded->refused_series, 0U) << decoded->first_refusal;
    ingest.CloseUntil(ingest.windows().newest_sample(), [&](const ClosedWindow&) { ++job_windows; });
  }
  const server::IngestCounts& c = ingest.counts();
  EXPECT_GT(c.accepted, 10'000U);
  EXPECT_GT(c.facts, 0U);
  EXPECT_GT(c.stale_markers, 0U);
  EXPECT_EQ(c.total(), c.accepted + c.facts + c.stale_markers);
  EXPECT_GT(job_windows, 800U);
  EXPECT_EQ(ingest.windows().fold_counts().events.implausible_rates, 0U);
  for (const std::string& name : ingest.mapper().jobs().Names()) {
    EXPECT_THAT(name, testing::MatchesRegex("cell-1/[a-z]+/[a-z]+/[a-z]+-[a-z]+(-v[0-9]+)?"));
  }
}

// The ordered number of pods may change from window to window. The pods always share the whole load.
TEST(FeedCellTest, AsManyPodsAsAreOrderedShareTheLoad) {
  FeedCellOptions options = SmallCell();
  options.ooms = false;
  auto cell = FeedCell::Generate(options);
  ASSERT_TRUE(cell.ok()) << cell.status();
  server::Ingest ingest(Rules(), {});
  server::RemoteWriteDecoder decoder;
  // For each job, the number of tasks and their total CPU cores by window.
  std::map<std::string, std::vector<std::pair<size_t, double>>> seen;
  std::string scaled;
  for (int64_t w = 0; w < 40; ++w) {
    if (w == 10) {
      for (const auto& [name, windows] : seen) {
        if (windows.size() == 9 && windows[8].first >= 2 && (*cell)->SetTasks(name, 12)) scaled = name;
        if (!scaled.empty()) break;
      }
    }
    if (w == 20) (*cell)->SetTasks(scaled, 1);
    if (w == 30) (*cell)->SetTasks(scaled, std::nullopt);
    ASSERT_TRUE((*cell)
                    ->Scrape({w, 5, 0, 5}, 500,
                             [&](std::span<const server::RemoteSeries> series) {
                               const auto decoded = decoder.DecodeMessage(
                                   server::EncodeWriteMessage(series), [&](const server::SeriesView& s) {
                                     ingest.Take(s, Timestamp::FromSeconds(options.start_s + kDaySeconds));
                                   });
                               EXPECT_TRUE(decoded.ok());
                               return absl::OkStatus();
                             })
                    .ok());
    ingest.CloseUntil(ingest.windows().newest_sample(), [&](const ClosedWindow& closed) {
      for (const JobWindowData& job : closed.jobs) {
        double cores = 0;
        size_t tasks = 0;
        for (const TaskWindow& t :
             std::span(closed.tasks).subspan(job.window.first_task, job.window.num_tasks)) {
          cores += std::max(t.cpu_mean_cores, 0.0F);
          ++tasks;
        }
        seen[std::string(ingest.mapper().jobs().name(job.job))].emplace_back(tasks, cores);
      }
    });
  }
  ASSERT_FALSE(scaled.empty());
  const auto& windows = seen[scaled];
  ASSERT_GE(windows.size(), 38U);
  EXPECT_EQ(windows[15].first, 12U);
  EXPECT_EQ(windows[25].first, 1U);
  EXPECT_EQ(windows[35].first, windows[5].first);
  EXPECT_NEAR(windows[15].second / windows[5].second, 1, 0.5) << "the load is that of the job";
  EXPECT_NEAR(windows[25].second / windows[15].second, 1, 0.5);
  EXPECT_FALSE((*cell)->SetTasks("cell-1/none/deployment/none", 3));
  EXPECT_EQ(ingest.counts().total(),
            ingest.counts().accepted + ingest.counts().facts + ingest.counts().stale_markers);
}

class FeedServer {
 public:
  explicit FeedServer(int refusals = 0) : refusals_(refusals), ingest_(Rules(), {}) {
    auto server = HttpServer::Start({}, [this](const HttpRequest& r) { return Handle(r); });
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }
  std::string url() const { return StrCat("http://127.0.0.1:", server_->port()); }
  void Stop() { server_->Stop(); }

  std::vector<int32_t> windows;
  std::set<uint32_t> jobs;
  server::IngestCounts counts() const { return ingest_.counts(); }
  int answer = 204;
  std::atomic<int> asked{0};
  std::string decisions = R"({"decisions":[]})";

 private:
  HttpResponse Handle(const HttpRequest& r) {
    const std::lock_guard lock(mutex_);
    if (answer != 204)
      return JsonResponse(answer, R"({"error":"clock is wall: samples of the past are late"})");
    if (refusals_ > 0 && refusals_-- % 2 == 0) {
      HttpResponse busy = TextResponse(429, "busy");
      busy.headers.push_back({"Retry-After", "0"});
      return busy;
    }
    if (r.path == "/api/v1/decisions") {
      ++asked;
      const bool older = std::ranges::any_of(r.query, [](const auto& q) { return q.name == "before"; });
      return JsonResponse(200, older ? R"({"decisions":[]})" : decisions);
    }
    EXPECT_EQ(r.path, "/api/v1/write");
    EXPECT_NE(r.header("Content-Encoding"), nullptr);
    const auto result = ingest_.Write(r.body, Timestamp::FromSeconds(int64_t{1} << 33));
    if (!result.ok()) return TextResponse(400, std::string(Message(result.status())));
    // A request without samples only checks the connection.
    if (result->samples == 0) return TextResponse(204, "");
    ingest_.CloseUntil(ingest_.windows().newest_sample(), [this](const ClosedWindow& w) {
      windows.push_back(w.window.index);
      for (const auto& job : w.jobs) jobs.insert(job.job.value);
    });
    return TextResponse(204, "");
  }

  std::mutex mutex_;
  int refusals_;
  server::Ingest ingest_;
  std::unique_ptr<HttpServer> server_;
};

FeedArgs SmallFeed(const FeedServer& server) {
  FeedArgs args;
  args.connection.server = server.url();
  args.jobs = 20;
  args.days = 2;
  args.history = "6h";
  args.live = "30m";
  args.speed = 100'000;
  args.quiet = true;
  return args;
}

TEST(FeedTest, HistoryAndLifeArriveAsWindowsWithoutAGap) {
  FeedServer server;
  EXPECT_EQ(RunFeed(SmallFeed(server)), kExitOk);
  server.Stop();
  ASSERT_GE(server.windows.size(), 76U);
  EXPECT_EQ(server.windows.back() - server.windows.front() + 1, static_cast<int32_t>(server.windows.size()));
  EXPECT_GT(server.jobs.size(), 5U);
  EXPECT_EQ(server.counts().too_late, 0U);
  EXPECT_EQ(server.counts().out_of_order, 0U);
}

TEST(FeedTest, FollowsTheOrdersOfTheServer) {
  FeedServer server;
  server.decisions =
      R"({"decisions":[{"id":7,"job":"cell-1/none/deployment/none","kind":"set","after":3},{"id":6,"kind":"would_set"}]})";
  FeedArgs args = SmallFeed(server);
  args.follow = true;
  EXPECT_EQ(RunFeed(args), kExitOk);
  EXPECT_EQ(server.asked, 7) << "once in each of six windows, and for the page before the first";
  server.Stop();
  FeedServer other;  // a server without tautd's API
  other.decisions = "{}";
  args.connection.server = other.url();
  EXPECT_EQ(RunFeed(args), kExitOk);
}

TEST(FeedTest, AReceiverThatIsBusyLosesNothing) {
  FeedServer calm, busy(20);
  FeedArgs args = SmallFeed(calm);
  args.history = "1h";
  args.live = "0";
  EXPECT_EQ(RunFeed(args), kExitOk);
  args.connection.server = busy.url();
  EXPECT_EQ(RunFeed(args), kExitOk);
  calm.Stop();
  busy.Stop();
  EXPECT_EQ(calm.counts(), busy.counts());
}

TEST(FeedTest, EndsWhenNobodyListensOrTheReceiverRefuses) {
  FeedServer server;
  server.answer = 400;
  EXPECT_EQ(RunFeed(SmallFeed(server)), kExitFailed);
  server.Stop();
  EXPECT_EQ(RunFeed(SmallFeed(server)), kExitFailed);
}

TEST(FeedTest, RefusesArgumentsThatCannotBe) {
  FeedServer server;
  for (const auto& [history, every, speed] :
       {std::tuple("3d", "1m", 1.0), {"soon", "1m", 1.0}, {"1h", "7s", 1.0}, {"1h", "1m", 0.0}}) {
    FeedArgs args = SmallFeed(server);
    args.history = history;
    args.every = every;
    args.speed = speed;
    EXPECT_EQ(RunFeed(args), kExitUsage) << history << " " << every << " " << speed;
  }
}

TEST(FeedDays, KeepsToItsMemory) {
  EXPECT_EQ(FeedDays(200, 21), 42);
  EXPECT_EQ(FeedDays(10'000, 0), 13);
  EXPECT_LE(FeedBytes(10'000, FeedDays(10'000, 0)), kFeedBytes);
  EXPECT_EQ(FeedDays(10'000, 21), 21) << "which the command then refuses";
  EXPECT_EQ(FeedDays(100'000'000, 0), 1);
  EXPECT_EQ(FeedDays(200, 50), 42);
  EXPECT_EQ(FeedDays(0, 0), 42);
}

}  // namespace
}  // namespace taut::tools
