// Tests of the CPU usage of task starts, which is kept apart from other usage of a window.
#include "server/ingest/start_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "common/base/strings.h"
#include "common/model/start_usage.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kWindowBegin = 1'700'000'100;  // start of a window, seconds
static_assert(kWindowBegin % kWindowSeconds == 0);

std::vector<StartSpan> SpansOf(std::vector<RemoteSample> samples, int64_t startup_s) {
  SeriesBinding binding;
  binding.kind = SeriesKind::kStartTime;
  for (RemoteSample& s : samples) {
    s.value += kWindowBegin;
    s.timestamp_ms += kWindowBegin * 1000;
  }
  const FoldSeries series[] = {{&binding, samples}};
  std::vector<StartSpan> out;
  FindStartSpans(series, startup_s * 1000, kWindowBegin * 1000, (kWindowBegin + 300) * 1000, out);
  for (StartSpan& span : out) span = {span.begin_ms - kWindowBegin * 1000, span.end_ms - kWindowBegin * 1000};
  return out;
}

TEST(StartSpans, AreCutToTheWindowAndJoined) {
  EXPECT_THAT(SpansOf({{10, 20'000}}, 60), ElementsAre(StartSpan{10'000, 70'000}));
  EXPECT_THAT(SpansOf({{-30, 20'000}}, 60), ElementsAre(StartSpan{0, 30'000}));
  EXPECT_THAT(SpansOf({{280, 290'000}}, 60), ElementsAre(StartSpan{280'000, 300'000}));
  EXPECT_THAT(SpansOf({{-60, 20'000}}, 60), IsEmpty());
  EXPECT_THAT(SpansOf({{300, 310'000}}, 60), IsEmpty());
  // A start is reported twice, a second start overlaps it, and a third is separate.
  EXPECT_THAT(SpansOf({{0, 15'000}, {0, 30'000}, {40, 45'000}, {200, 210'000}}, 60),
              ElementsAre(StartSpan{0, 100'000}, StartSpan{200'000, 260'000}));
}

TEST(StartSpans, AStartThatCannotBeIsNone) {
  // A start at time 0, which means unknown.
  EXPECT_THAT(SpansOf({{-double(kWindowBegin), 20'000}}, 60), IsEmpty());
  EXPECT_THAT(SpansOf({{100, 20'000}}, 60), IsEmpty());  // a start by a clock that is far ahead
  // The clock of the start is slightly ahead.
  EXPECT_THAT(SpansOf({{70, 20'000}}, 60), ElementsAre(StartSpan{70'000, 130'000}));
  EXPECT_THAT(SpansOf({{1e15, 20'000}}, 60), IsEmpty());
}

RC_GTEST_PROP(StartSpans, AreAscendingApartAndWithin, ()) {
  std::vector<RemoteSample> samples;
  int64_t at = -100;
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    at += *rc::gen::inRange(1, 60);
    samples.push_back({double(at - *rc::gen::inRange(0, 50)), at * 1000});
  }
  const std::vector<StartSpan> spans = SpansOf(samples, *rc::gen::inRange(1, 400));
  int64_t end = -1;
  for (const StartSpan& span : spans) {
    RC_ASSERT(span.begin_ms >= 0 && span.begin_ms > end && span.begin_ms < span.end_ms &&
              span.end_ms <= 300'000);
    end = span.end_ms;
  }
}

// One job with one task, from counters of CPU seconds every 15 s.
class Start : public ::testing::Test {
 protected:
  static std::vector<MappingRule> Rules() {
    return {{"cpu", "cpu", {}, SeriesKind::kCpuSecondsTotal, "{j}", "{t}", "", 1},
            {"memory", "memory", {}, SeriesKind::kMemoryBytes, "{j}", "{t}", "", 1},
            {"limit", "limit", {}, SeriesKind::kCpuLimitCores, "{j}", "{t}", "", 1},
            {"started", "started", {}, SeriesKind::kStartTime, "{j}", "{t}", "", 1}};
  }
  void Send(const std::string& metric, double second, double value, const std::string& task = "a") {
    const RemoteSeries series{{{"__name__", metric}, {"j", "web"}, {"t", task}},
                              {{value, kWindowBegin * 1000 + std::llround(second * 1000)}}};
    ASSERT_TRUE(
        ingest_.Write(EncodeWriteRequest({&series, 1}), Timestamp::FromSeconds(kWindowBegin + 900)).ok());
  }
  // Usage is 3 cores until `until`, then half a core.
  void Run(double until, double end, const std::string& task = "a", double from = 0) {
    double used = 0;
    for (double s = from; s <= end; s += 15) {
      Send("cpu", s, used, task);
      used += 15 * (s < until ? 3 : 0.5);
    }
  }
  const ClosedWindow& Close() {
    ingest_.CloseUntil(Timestamp::FromSeconds(kWindowBegin + 300 + 120),
                       [this](ClosedWindow&& w) { closed_ = std::move(w); });
    return closed_;
  }
  void Ask(int32_t seconds) { ingest_.SetStartups({{0, seconds}}); }

  Ingest ingest_{*MappingRules::Compile(Rules()), {}};
  ClosedWindow closed_;
};

TEST_F(Start, IsKeptApartFromTheRestOfTheWindow) {
  Ask(120);
  Send("started", 5, kWindowBegin);
  Send("limit", 5, 4);
  Run(120, 300);
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.jobs.size(), 1U);
  ASSERT_EQ(w.tasks.size(), 1U);
  EXPECT_FLOAT_EQ(w.tasks[0].cpu_mean_cores, 0.5);
  EXPECT_FLOAT_EQ(w.tasks[0].cpu_peak_cores, 0.5);
  float seconds = 0;
  for (const BucketWeight& b : w.cpu_buckets) seconds += b.weight;
  EXPECT_FLOAT_EQ(seconds, 180);
  EXPECT_EQ(w.jobs[0].window.cpu_limit_cores, 4);
  ASSERT_EQ(w.starts.size(), 1U);
  EXPECT_FLOAT_EQ(w.starts[0].peak_cores, 3);
  EXPECT_FALSE(w.starts[0].is_all);
  EXPECT_FLOAT_EQ(w.tasks[0].cpu_mean_cores + w.starts[0].more_cores, (120 * 3 + 180 * 0.5F) / 300);
  const StartSums sums = StartsOf(w.signals);
  EXPECT_FLOAT_EQ(sums.peak_cores, 3);
  EXPECT_EQ(w.jobs[0].window.num_signals, 3U);
}

TEST_F(Start, OfAllOfTheWindowLeavesNoCpuUsageAndNotZero) {
  Ask(600);
  Send("started", 5, kWindowBegin);
  Send("limit", 5, 4);
  Send("memory", 10, 1e9);
  Run(120, 300);
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.tasks.size(), 1U);
  EXPECT_EQ(w.tasks[0].cpu_mean_cores, kAbsent);
  EXPECT_EQ(w.tasks[0].cpu_peak_cores, kAbsent);
  EXPECT_GT(w.tasks[0].memory_peak_bytes, 0);
  EXPECT_THAT(w.cpu_buckets, IsEmpty());
  EXPECT_EQ(w.jobs[0].window.cpu_limit_cores, 4);  // the owner's limit is known in spite of the start
  ASSERT_EQ(w.starts.size(), 1U);
  EXPECT_TRUE(w.starts[0].is_all);
  EXPECT_FLOAT_EQ(w.starts[0].more_cores, (120 * 3 + 180 * 0.5F) / 300);
}

TEST_F(Start, WithCpuAloneTheJobIsStillInTheWindow) {
  Ask(600);
  Send("started", 5, kWindowBegin);
  Run(120, 300);
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.jobs.size(), 1U);
  EXPECT_THAT(w.tasks, IsEmpty());
  EXPECT_FLOAT_EQ(StartsOf(w.signals).peak_cores, 3);
}

TEST_F(Start, ARateThatReachesIntoItIsItsOwn) {
  Ask(60);
  Send("started", 140, kWindowBegin + 130);  // the container was restarted: its counter begins at 0 again
  double used = 0;
  for (int s = 0; s <= 120; s += 15, used += 7.5) Send("cpu", s, used);
  used = 0;
  for (int s = 135; s <= 300; s += 15, used += s < 190 ? 45 : 7.5) Send("cpu", s, used);
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.tasks.size(), 1U);
  EXPECT_FLOAT_EQ(w.tasks[0].cpu_peak_cores, 0.5);
  ASSERT_EQ(w.starts.size(), 1U);
  EXPECT_FLOAT_EQ(w.starts[0].peak_cores, 3);
}

TEST_F(Start, OfOneTaskLeavesTheOthersAsTheyAre) {
  Ask(600);
  Send("started", 5, kWindowBegin, "a");
  Send("started", 5, kWindowBegin - 86'400, "b");
  Run(120, 300, "a");
  Run(0, 300, "b");
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.tasks.size(), 1U);
  EXPECT_FLOAT_EQ(w.tasks[0].cpu_mean_cores, 0.5);
  EXPECT_EQ(w.starts.size(), 1U);
}

TEST_F(Start, IsUsageAsAnyWhereNoJobAsksForIt) {
  Send("started", 5, kWindowBegin);
  EXPECT_EQ(ingest_.counts().unmapped, 1U);
  EXPECT_EQ(ingest_.mapper().counts().unmapped_series, 1U);
  Run(120, 300);
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.tasks.size(), 1U);
  EXPECT_FLOAT_EQ(w.tasks[0].cpu_mean_cores, (120 * 3 + 180 * 0.5F) / 300);
  EXPECT_THAT(w.starts, IsEmpty());
  EXPECT_THAT(w.signals, IsEmpty());
  EXPECT_FALSE(ingest_.mapper().jobs().FactsOf(JobId{0}).knows_starts);
}

TEST_F(Start, ASeriesThatCameBeforeItWasAskedForIsTakenThen) {
  Run(120, 300);
  Send("started", 5, kWindowBegin);
  Ask(600);
  Send("started", 20, kWindowBegin);
  EXPECT_EQ(ingest_.mapper().counts().unmapped_series, 0U);
  EXPECT_TRUE(ingest_.mapper().jobs().FactsOf(JobId{0}).knows_starts);
  EXPECT_EQ(Close().starts.size(), 1U);
}

// Wherever a start divides a window, no usage of the window is lost or counted twice.
RC_GTEST_PROP(StartProperty, ThePartsOfAWindowAddUpToIt, ()) {
  const int from_s = *rc::gen::inRange(-200, 300), window_s = *rc::gen::inRange(1, 600);
  std::vector<double> used = {0};
  for (int i = 0; i < 20; ++i) used.push_back(used.back() + *rc::gen::inRange(0, 60));
  const auto fold = [&](bool apart) {
    Ingest ingest(
        *MappingRules::Compile({{"cpu", "cpu", {}, SeriesKind::kCpuSecondsTotal, "{j}", "{t}", "", 1},
                                {"s", "s", {}, SeriesKind::kStartTime, "{j}", "{t}", "", 1},
                                {"m", "m", {}, SeriesKind::kMemoryBytes, "{j}", "{t}", "", 1}}),
        {});
    if (apart) ingest.SetStartups({{0, window_s}});
    const auto send = [&](const char* metric, double second, double value) {
      const RemoteSeries series{{{"__name__", metric}, {"j", "web"}, {"t", "a"}},
                                {{value, kWindowBegin * 1000 + std::llround(second * 1000)}}};
      RC_ASSERT(
          ingest.Write(EncodeWriteRequest({&series, 1}), Timestamp::FromSeconds(kWindowBegin + 900)).ok());
    };
    for (size_t i = 0; i < used.size(); ++i) send("cpu", 15.0 * static_cast<double>(i), used[i]);
    send("m", 5, 1e9);
    send("s", 299, kWindowBegin + from_s);
    ClosedWindow closed;
    ingest.CloseUntil(Timestamp::FromSeconds(kWindowBegin + 420),
                      [&](ClosedWindow&& w) { closed = std::move(w); });
    return closed;
  };
  const ClosedWindow whole = fold(false), cut = fold(true);
  RC_ASSERT(whole.tasks.size() == 1U && cut.tasks.size() == 1U);
  const double mean = whole.tasks[0].cpu_mean_cores, peak = whole.tasks[0].cpu_peak_cores;
  if (cut.starts.empty()) {
    RC_ASSERT(cut.tasks[0].cpu_mean_cores == whole.tasks[0].cpu_mean_cores);
    return;
  }
  const double rest = cut.tasks[0].cpu_mean_cores, more = cut.starts[0].more_cores;
  RC_ASSERT(cut.starts[0].is_all == (rest < 0));
  RC_ASSERT(std::max(cut.tasks[0].cpu_peak_cores, cut.starts[0].peak_cores) == whole.tasks[0].cpu_peak_cores);
  RC_ASSERT(more >= 0 && peak >= mean - 1e-5);
  // A start that used less than the rest adds nothing.
  RC_ASSERT(std::abs(std::max(rest, 0.0) + more - std::max(mean, rest)) < 1e-4);
}

TEST_F(Start, OfATaskThatAnAgentMeasuresIsItsWholeWindow) {
  Ask(120);
  const auto slot = ingest_.TaskSlot("web", "a", {}, Timestamp::FromSeconds(kWindowBegin));
  ASSERT_TRUE(slot.has_value());
  Send("started", 255, kWindowBegin + 250);
  ReportedWindow window;
  window.window = WindowId{static_cast<int32_t>(kWindowBegin / kWindowSeconds)};
  window.figures = {.cpu_mean_cores = 1, .cpu_peak_cores = 2, .memory_mean_bytes = 5, .memory_peak_bytes = 6};
  window.cpu_buckets = {{10, 300}};
  window.report = {.managed = true, .cpu_steady = true, .cpu_limit_cores = 2, .cpu_periods = 9};
  ASSERT_TRUE(ingest_.TakeWindow(*slot, window, Timestamp::FromSeconds(kWindowBegin + 300)));
  const ClosedWindow& w = Close();
  ASSERT_EQ(w.tasks.size(), 1U);
  EXPECT_EQ(w.tasks[0].cpu_mean_cores, kAbsent);
  EXPECT_EQ(w.tasks[0].memory_peak_bytes, 6);
  EXPECT_THAT(w.cpu_buckets, IsEmpty());
  ASSERT_EQ(w.starts.size(), 1U);
  EXPECT_EQ(w.starts[0].peak_cores, 2);
  EXPECT_EQ(w.starts[0].more_cores, 1);
  ASSERT_EQ(w.reports.size(), 1U);
  EXPECT_EQ(w.reports[0].cpu_limit_cores, kAbsent);
  EXPECT_FALSE(w.reports[0].cpu_steady);
}

}  // namespace
}  // namespace taut::server
