// Tests that the bodies which Debian's Prometheus sends about itself are decoded, mapped and folded. Skipped
// with a message if Prometheus is not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "common/base/strings.h"
#include "common/testing/programs.h"
#include "common/testing/temp_dir.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

// Starts a receiver and a Prometheus on free loopback ports, stores `argv[2]` bodies as files 0, 1, ... in
// argv[1], and ends both processes.
constexpr char kCapture[] = R"py(
import http.server, os, signal, socket, subprocess, sys, threading
out, wanted = sys.argv[1], int(sys.argv[2])
done, lock, kept = threading.Event(), threading.Lock(), 0
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global kept
        body = self.rfile.read(int(self.headers['Content-Length']))
        ok = (self.headers['Content-Encoding'] == 'snappy' and
              self.headers['X-Prometheus-Remote-Write-Version'] == '0.1.0')
        with lock:
            if ok and kept < wanted:
                with open(os.path.join(out, str(kept)), 'wb') as f: f.write(body)
                kept += 1
            if kept == wanted: done.set()
        self.send_response(204); self.end_headers()
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
with socket.socket() as s:
    s.bind(('127.0.0.1', 0)); port = s.getsockname()[1]
config = os.path.join(out, 'prometheus.yml')
with open(config, 'w') as f:
    f.write(f"""global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: prometheus
    static_configs: [{{targets: ['127.0.0.1:{port}']}}]
remote_write:
  - url: http://127.0.0.1:{server.server_port}/api/v1/write
    queue_config: {{batch_send_deadline: 1s}}
""")
p = subprocess.Popen(['prometheus', f'--config.file={config}', f'--storage.tsdb.path={out}/data',
                      f'--web.listen-address=127.0.0.1:{port}'],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    sys.exit(0 if done.wait(60) else 1)
finally:
    p.send_signal(signal.SIGTERM)
    try: p.wait(20)
    except subprocess.TimeoutExpired: p.kill()
)py";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Prometheus, ItsBodiesAreReadMappedAndFolded) {
  if (!HasProgram("prometheus")) GTEST_SKIP() << "prometheus is not installed: its bodies were not read";
  if (!HasProgram("python3"))
    GTEST_SKIP() << "python3 is not installed: nobody to receive Prometheus's bodies";
  const TempDir dir;
  const std::string capture = dir.Write("capture.py", kCapture);
  constexpr int kBodies = 6;
  const int status = std::system(StrCat("python3 ", capture, " ", dir.path(), " ", kBodies).c_str());
  ASSERT_EQ(status, 0) << "Prometheus sent fewer than " << kBodies << " bodies in a minute";

  Ingest ingest(*MappingRules::Compile(BuiltinRules()), {});
  uint64_t samples = 0;
  int64_t newest_ms = 0;
  bool has_up = false;
  for (int i = 0; i < kBodies; ++i) {
    const std::string body = ReadFile(dir.File(StrCat(i)));
    RemoteWriteDecoder decoder;
    const auto counts = decoder.Decode(body, [&](const SeriesView& s) {
      EXPECT_TRUE(std::is_sorted(s.labels.begin(), s.labels.end(),
                                 [](const LabelView& a, const LabelView& b) { return a.name < b.name; }));
      EXPECT_EQ(s.fingerprint, Fingerprint(s.labels));
      newest_ms = std::max(newest_ms, s.samples.back().timestamp_ms);
      has_up |= LabelValue(s.labels, "__name__") == "up" && LabelValue(s.labels, "job") == "prometheus";
    });
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_EQ(counts->refused_series, 0U) << counts->first_refusal;
    const auto written = ingest.Write(body, Timestamp{newest_ms * 1000});
    ASSERT_TRUE(written.ok()) << written.status();
    samples += written->samples;
  }
  EXPECT_TRUE(has_up);
  EXPECT_GT(samples, 500U);
  EXPECT_EQ(ingest.counts().total(), samples);
  EXPECT_GT(ingest.counts().accepted, 1U);
  EXPECT_EQ(ingest.counts().far_future + ingest.counts().too_late + ingest.counts().refused, 0U);
  // Prometheus's own process is a job of one task.
  EXPECT_THAT(ingest.mapper().jobs().Names(), ::testing::ElementsAre("prometheus"));
  float memory = 0;
  ingest.CloseUntil(Timestamp{(newest_ms + 3'600'000) * 1000}, [&memory](const ClosedWindow& w) {
    memory = std::max(memory, w.tasks.at(0).memory_peak_bytes);
  });
  EXPECT_GT(memory, 10e6F);
  EXPECT_LT(memory, 2e9F);
}

}  // namespace
}  // namespace taut::server
