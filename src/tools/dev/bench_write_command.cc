// taut-dev bench-write: measures the samples per second that a remote-write receiver accepts, end to end.
#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/ingest/load_fixture.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"
#include "tools/dev/commands.h"
#include "tools/dev/remote_sender.h"

namespace taut::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kSeriesPerRequest = 500;
constexpr size_t kMaxPreparedBytes = size_t{512} << 20;
constexpr double kAsFastInterval_s = 15;  // time between two scrapes if no rate is set

struct Body {
  std::string bytes;
  uint32_t samples = 0;
};
// Requests of one connection in order of time. All samples of a series use the same connection.
using BodyLane = std::vector<Body>;

struct WriterResult {
  absl::Status status;
  uint64_t samples = 0;  // samples in requests with a 2xx response
  std::vector<double> latency_ms;
  std::map<int, uint64_t> statuses;
};

// Encodes the requests before the measurement, so that encoding does not slow down the sender. There are enough
// requests for the whole measurement, unless their size reaches kMaxPreparedBytes.
std::vector<BodyLane> Prepare(const BenchWriteArgs& args) {
  std::vector<server::CadvisorRequest> requests;
  for (uint32_t first = 0; first < args.series; first += kSeriesPerRequest)
    requests.emplace_back(first, std::min(kSeriesPerRequest, args.series - first));
  const double interval_s = args.rate > 0 ? args.series / args.rate : kAsFastInterval_s;
  const double scrapes = args.rate > 0 ? args.seconds / interval_s + 1 : 1e9;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t begin_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  std::vector<BodyLane> lanes(static_cast<size_t>(args.connections));
  size_t bytes = 0;
  for (int64_t i = 0; static_cast<double>(i) < scrapes && bytes < kMaxPreparedBytes; ++i) {
    // No receiver accepts more than about 5 million samples per second, so more requests would not be sent.
    if (static_cast<double>(i) * args.series > args.seconds * 5e6) break;
    for (size_t m = 0; m < requests.size() && !Interrupted(); ++m) {
      const double ahead_ms = static_cast<double>(i) * interval_s * 1000;
      BodyLane& lane = lanes[m % lanes.size()];
      lane.push_back({requests[m].Body(begin_ms + static_cast<int64_t>(ahead_ms)), requests[m].series()});
      bytes += lane.back().bytes.size();
    }
  }
  return lanes;
}

void SendLane(const BenchWriteArgs& args, const BodyLane& lane, RemoteSender sender, WriterResult& result) {
  const Clock::time_point begin = Clock::now();
  const double rate = args.rate / args.connections;
  uint64_t due_samples = 0;
  for (const Body& body : lane) {
    if (rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(due_samples) / rate);
      if (!SleepUntil(begin + std::chrono::duration_cast<Clock::duration>(due))) return;
    }
    const Clock::time_point sent = Clock::now();
    if (Interrupted() || sent - begin > std::chrono::duration<double>(args.seconds)) return;
    due_samples += body.samples;
    const absl::StatusOr<int> status = sender.SendOnce(body.bytes);
    if (!status.ok()) {
      result.status = status.status();
      return;
    }
    result.latency_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - sent).count());
    ++result.statuses[*status];
    if (*status / 100 == 2) result.samples += body.samples;
  }
}

Json Summary(const BenchWriteArgs& args, std::vector<WriterResult>& results, double seconds) {
  std::vector<double> latency;
  std::map<std::string, uint64_t> statuses;
  uint64_t samples = 0;
  for (const WriterResult& r : results) {
    latency.insert(latency.end(), r.latency_ms.begin(), r.latency_ms.end());
    for (const auto& [status, n] : r.statuses) statuses[std::to_string(status)] += n;
    samples += r.samples;
  }
  std::sort(latency.begin(), latency.end());
  const auto at = [&latency](double share) {
    const auto i = static_cast<size_t>(share * static_cast<double>(latency.size()));
    return latency.empty() ? 0.0 : latency[std::min(i, latency.size() - 1)];
  };
  return {{"series", args.series},
          {"connections", args.connections},
          {"rate_wanted", args.rate},
          {"seconds", seconds},
          {"samples", samples},
          {"samples_per_second", static_cast<double>(samples) / std::max(seconds, 1e-9)},
          {"requests", latency.size()},
          {"latency_ms", {{"p50", at(0.5)}, {"p99", at(0.99)}, {"max", at(1)}}},
          {"statuses", statuses}};
}

std::string SummaryText(const Json& s) {
  std::string out = fmt::format(
      "{} samples/s: {} samples of {} series in {} requests over {} connections in {:.2f} s\n"
      "latency of a request: p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms\n",
      FormatCount(static_cast<uint64_t>(s["samples_per_second"].get<double>())),
      FormatCount(s["samples"].get<uint64_t>()), FormatCount(s["series"].get<uint64_t>()),
      FormatCount(s["requests"].get<uint64_t>()), s["connections"].get<int>(), s["seconds"].get<double>(),
      s["latency_ms"]["p50"].get<double>(), s["latency_ms"]["p99"].get<double>(),
      s["latency_ms"]["max"].get<double>());
  for (const auto& [status, n] : s["statuses"].items())
    StrAppend(&out, "answers ", status, ": ", FormatCount(n.get<uint64_t>()), "\n");
  return out;
}

absl::Status Check(const BenchWriteArgs& args) {
  if (args.series < 1 || args.series > 4'000'000)
    return absl::InvalidArgumentError("--bench-series: expected 1 to 4000000");
  if (args.connections < 1 || args.connections > 64)
    return absl::InvalidArgumentError("--connections: expected 1 to 64");
  if (!(args.rate >= 0) || !(args.seconds > 0 && args.seconds <= 3600))
    return absl::InvalidArgumentError(
        "--rate: expected 0 or more; --seconds: expected more than 0, at most 3600");
  return absl::OkStatus();
}

absl::Status BenchWrite(const BenchWriteArgs& args) {
  if (absl::Status s = Check(args); !s.ok()) return s;
  std::vector<RemoteSender> senders;
  for (int i = 0; i < args.connections; ++i) {
    auto client = Connect(args.connection);
    if (!client.ok()) return client.status();
    senders.emplace_back(std::move(*client));
  }
  if (absl::Status s = senders.front().Send(server::EncodeWriteRequest({})); !s.ok()) return s;
  const std::vector<BodyLane> lanes = Prepare(args);
  std::vector<WriterResult> results(lanes.size());
  const Clock::time_point begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < lanes.size(); ++i) {
      threads.emplace_back(
          [&args, &lane = lanes[i], &result = results[i], sender = std::move(senders[i])]() mutable {
            SendLane(args, lane, std::move(sender), result);
          });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const Json summary = Summary(args, results, seconds);
  Show(args.output, summary, [&] { return SummaryText(summary); });
  for (const WriterResult& r : results) {
    if (!r.status.ok()) return r.status;
  }
  return Interrupted() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

}  // namespace

int RunBenchWrite(const BenchWriteArgs& args) {
  CatchInterrupts();
  const absl::Status status = BenchWrite(args);
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitPartial;
  PrintError(Message(status));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
