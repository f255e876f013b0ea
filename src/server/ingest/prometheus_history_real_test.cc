// Tests that two days of synthetic history are read from Debian's Prometheus, mapped and folded. Skipped with
// a message if Prometheus is not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/base/strings.h"
#include "common/testing/programs.h"
#include "common/testing/temp_dir.h"
#include "server/ingest/ingest.h"
#include "server/ingest/prometheus_history.h"
#include "server/ingest/series_selection.h"

namespace taut::server {
namespace {

constexpr int64_t kRealStart = 1'700'006'400;  // start of a day
constexpr int64_t kDays = 2;
constexpr int64_t kStep = 30;
// The pod's first container ends halfway through the history.
constexpr int64_t kDies = kRealStart + kDaySeconds;

// Creates blocks from argv[1]/in.txt and serves them on a free loopback port, which it prints. Ends when
// argv[1]/stop exists or a time limit is reached.
constexpr char kServe[] = R"py(
import os, signal, socket, subprocess, sys, time, urllib.request
out = sys.argv[1]
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.run(['promtool', 'tsdb', 'create-blocks-from', 'openmetrics', f'{out}/in.txt', f'{out}/data'],
               check=True, timeout=60, **quiet)
with socket.socket() as s:
    s.bind(('127.0.0.1', 0)); port = s.getsockname()[1]
with open(f'{out}/prometheus.yml', 'w') as f: f.write('global: {scrape_interval: 1m}\n')
p = subprocess.Popen(['prometheus', f'--config.file={out}/prometheus.yml', f'--storage.tsdb.path={out}/data',
                      '--storage.tsdb.retention.time=100y', '--query.max-samples=1500',
                      f'--web.listen-address=127.0.0.1:{port}'], **quiet)
try:
    for _ in range(300):
        try:
            if urllib.request.urlopen(f'http://127.0.0.1:{port}/-/ready', timeout=5).status == 200: break
        except OSError: time.sleep(0.1)
    else: sys.exit(1)
    print(port, flush=True)
    for _ in range(1200):
        if os.path.exists(f'{out}/stop'): break
        time.sleep(0.1)
finally:
    p.send_signal(signal.SIGTERM)
    try: p.wait(20)
    except subprocess.TimeoutExpired: p.kill()
)py";

void WriteOpenMetrics(const std::filesystem::path& path) {
  std::ofstream out(path);
  const auto series = [&out](const std::string& name, int64_t until, double (*value)(int64_t)) {
    for (int64_t t = kRealStart; t < until; t += kStep) {
      out << StrCat(name, " ", value(t - kRealStart), " ", t, ".250\n");
    }
  };
  constexpr int64_t kEnd = kRealStart + kDays * kDaySeconds;
  out << "# TYPE container_cpu_usage_seconds counter\n";
  for (const auto& [container, until] : {std::pair{"a", kDies}, std::pair{"b", kEnd}}) {
    series(
        StrCat("container_cpu_usage_seconds_total{namespace=\"ns\",pod=\"p\",container=\"", container, "\"}"),
        until, [](int64_t s) { return static_cast<double>(s) * 0.5; });
  }
  out << "# TYPE container_memory_working_set_bytes gauge\n";
  series("container_memory_working_set_bytes{namespace=\"ns\",pod=\"p\",container=\"b\"}", kEnd,
         [](int64_t s) { return 1e9 + static_cast<double>(s); });
  // No rule matches the pod's sum and the other metric.
  series("container_memory_working_set_bytes{namespace=\"ns\",pod=\"p\"}", kEnd, [](int64_t) { return 5e9; });
  out << "# TYPE other gauge\n";
  series("other", kEnd, [](int64_t) { return 1.0; });
  out << "# TYPE kube_pod_owner gauge\n";
  series(
      "kube_pod_owner{namespace=\"ns\",pod=\"p\",owner_kind=\"StatefulSet\",owner_name=\"db\","
      "owner_is_controller=\"true\"}",
      kEnd, [](int64_t) { return 1.0; });
  out << "# EOF\n";
}

class RealPrometheus {
 public:
  RealPrometheus() {
    WriteOpenMetrics(dir_.File("in.txt"));
    pipe_ = popen(StrCat("python3 ", dir_.Write("serve.py", kServe), " ", dir_.path()).c_str(), "r");
    if (pipe_ != nullptr && std::fscanf(pipe_, "%d", &port_) != 1) port_ = 0;
  }
  ~RealPrometheus() {
    dir_.Write("stop", "now");
    if (pipe_ != nullptr) pclose(pipe_);
  }
  RealPrometheus(const RealPrometheus&) = delete;
  RealPrometheus& operator=(const RealPrometheus&) = delete;
  int port() const { return port_; }

 private:
  const TempDir dir_;
  FILE* pipe_ = nullptr;
  int port_ = 0;
};

// The index stores the start and the end of each series. Only selected series are read.
void CheckSeriesOf(PrometheusHistory& history) {
  const auto series = [&](int64_t from_s, int64_t to_s, SeriesSelection* selection) {
    std::vector<std::string> found;
    const absl::Status s =
        history.ReadSeries(history.selectors(), Timestamp::FromSeconds(from_s), Timestamp::FromSeconds(to_s),
                           nullptr, [&](std::span<const LabelView> labels) {
                             const std::string_view metric = LabelValue(labels, "__name__");
                             found.push_back(StrCat(metric, " ", LabelValue(labels, "container")));
                             if (selection != nullptr && LabelValue(labels, "container") == "b")
                               selection->Add(labels);
                             return absl::OkStatus();
                           });
    EXPECT_TRUE(s.ok()) << s;
    std::ranges::sort(found);
    return found;
  };
  using ::testing::ElementsAre;
  SeriesSelection selection;
  EXPECT_THAT(series(kRealStart, kRealStart + 3600, &selection),
              ElementsAre("container_cpu_usage_seconds_total a", "container_cpu_usage_seconds_total b",
                          "container_memory_working_set_bytes ", "container_memory_working_set_bytes b",
                          "kube_pod_owner "));
  EXPECT_THAT(series(kDies + 3 * 3600, kDies + 4 * 3600, nullptr),
              ElementsAre("container_cpu_usage_seconds_total b", "container_memory_working_set_bytes ",
                          "container_memory_working_set_bytes b", "kube_pod_owner "));
  EXPECT_TRUE(series(kRealStart - 7200, kRealStart - 3600, nullptr).empty());
  history.Select(selection.Narrow(history.selectors()));
  HistorySink sink;
  std::map<std::string, size_t> samples;
  sink.on_series = [&](std::span<const LabelView> labels, std::span<const RemoteSample> of) {
    samples[StrCat(LabelValue(labels, "__name__"), " ", LabelValue(labels, "container"))] += of.size();
    return absl::OkStatus();
  };
  const absl::Status read =
      history.Read(Timestamp::FromSeconds(kRealStart), Timestamp::FromSeconds(kRealStart + 3600), sink);
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_THAT(samples, ElementsAre(testing::Pair("container_cpu_usage_seconds_total b", 3600 / kStep),
                                   testing::Pair("container_memory_working_set_bytes b", 3600 / kStep)));
}

TEST(RealPrometheus, ItsHistoryBecomesWindowsOfJobs) {
  for (const char* program : {"prometheus", "promtool", "python3"}) {
    if (!HasProgram(program)) GTEST_SKIP() << program << " is not installed: no real history was read";
  }
  const RealPrometheus server;
  ASSERT_GT(server.port(), 0) << "Prometheus did not start";

  Ingest ingest(*MappingRules::Compile(BuiltinRules()), {});
  std::map<int32_t, ClosedWindow> windows;
  Timestamp now;
  HistorySink sink;
  sink.on_chunk_begin = [&now](Timestamp end) { now = end; };
  sink.on_series = [&](auto labels, auto samples) {
    ingest.Take({labels, samples, Fingerprint(labels)}, now);
    return absl::OkStatus();
  };
  sink.on_chunk_done = [&](Timestamp watermark) {
    ingest.CloseUntil(watermark, [&](const ClosedWindow& w) { windows[w.window.index] = w; });
    return absl::OkStatus();
  };
  HistoryProgress progress;
  sink.on_progress = [&progress](const HistoryProgress& p) { progress = p; };
  HistoryOptions options;
  // 1,440 samples in two series of CPU exceed the limit, so the time is halved.
  options.chunk_seconds = 6 * 3600;
  auto history =
      PrometheusHistory::Create(StrCat("http://127.0.0.1:", server.port()), {}, BuiltinRules(), options);
  ASSERT_TRUE(history.ok()) << history.status();
  const Timestamp from = Timestamp::FromSeconds(kRealStart - 3600);
  const Timestamp to = Timestamp::FromSeconds(kRealStart + kDays * kDaySeconds + 3600);
  const absl::Status read = (*history)->Read(from, to, sink);
  ASSERT_TRUE(read.ok()) << read;

  const uint64_t per_day = kDaySeconds / kStep;
  EXPECT_EQ(progress.samples, per_day * (1 + 2 + 2 + 2 + 2));
  EXPECT_EQ(ingest.counts().total(), progress.samples);
  EXPECT_EQ(ingest.counts().too_late + ingest.counts().out_of_order + ingest.counts().duplicates +
                ingest.counts().far_future + ingest.counts().over_capacity,
            0U);
  EXPECT_THAT(ingest.mapper().jobs().Names(), ::testing::ElementsAre("ns/statefulset/db"));
  EXPECT_EQ(windows.size(), static_cast<size_t>(kDays) * kWindowsPerDay);
  const auto cpu = [&](int64_t at) {
    return windows.at(WindowId::Of(Timestamp::FromSeconds(at)).index).tasks.at(0).cpu_mean_cores;
  };
  EXPECT_NEAR(cpu(kRealStart + 7200), 1.0, 1e-3);
  // The ended container's part has no data; it must not appear as usage with rate 0.
  EXPECT_NEAR(cpu(kDies + 300), 0.5, 1e-3);
  EXPECT_NEAR(cpu(kRealStart + kDays * kDaySeconds - 300), 0.5, 1e-3);
  CheckSeriesOf(**history);
}

}  // namespace
}  // namespace taut::server
