// Fuzzes the remote-write receiver with arbitrary bodies. A body is rejected or accepted, every sample is counted
// under one outcome, and accepted samples result in valid windows.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/ingest/ingest.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

constexpr int64_t kNowMs = 1'700'000'400'000;

// Mapping rules in which the first letter of a metric selects its kind, so that the fuzzer reaches all kinds. The
// built-in rules precede these rules.
server::MappingRules Rules() {
  using enum server::SeriesKind;
  std::vector<server::MappingRule> rules = server::BuiltinRules();
  const auto add = [&rules](const char* metric, server::SeriesKind kind, double scale) {
    rules.push_back({metric, metric, {}, kind, "{a|__name__}", "{b|__name__}", "{c}", scale});
  };
  add("c*", kCpuSecondsTotal, 1);
  add("g*", kCpuCores, 0.5);
  add("m*", kMemoryBytes, 1);
  add("n*", kMemoryBytes, -1);
  add("q*", kCpuLimitCores, 1);
  add("l*", kMemoryLimitBytes, 1);
  add("o*", kOomTotal, 1);
  rules.push_back({"pods", "p*", {}, kCpuCores, "{namespace}/{owner}", "{pod}", "", 1});
  rules.push_back(
      {"owners", "w*", {}, kOwner, "{namespace}/{kind}/{name}", "{owner_kind}/{owner_name}", "", 1});
  return *server::MappingRules::Compile(std::move(rules));
}

void CheckWindow(const ClosedWindow& w) {
  for (size_t i = 0; i < w.jobs.size(); ++i) {
    const JobWindow& job = w.jobs[i].window;
    Require(i == 0 || w.jobs[i - 1].job < w.jobs[i].job);
    Require(job.num_tasks > 0 && job.first_task + job.num_tasks <= w.tasks.size());
    Require(job.first_bucket + job.num_buckets <= w.cpu_buckets.size());
    for (uint32_t t = job.first_task; t < job.first_task + job.num_tasks; ++t) {
      const TaskWindow& task = w.tasks[t];
      Require(task.cpu_peak_cores >= 0 || task.memory_peak_bytes >= 0);
      // Means and peaks are rounded to float separately, so a mean may exceed the peak by a rounding error.
      Require(task.cpu_mean_cores <= task.cpu_peak_cores * 1.0001F || task.cpu_mean_cores < 0);
      Require(task.memory_mean_bytes <= task.memory_peak_bytes * 1.0001F || task.memory_mean_bytes < 0);
      Require(!std::isnan(task.cpu_mean_cores) && !std::isnan(task.memory_mean_bytes));
    }
    for (uint32_t b = job.first_bucket; b < job.first_bucket + job.num_buckets; ++b) {
      Require(w.cpu_buckets[b].weight > 0);
      Require(b == job.first_bucket || w.cpu_buckets[b - 1].bucket < w.cpu_buckets[b].bucket);
    }
  }
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const server::MappingRules rules = Rules();
  server::Ingest::Options options;
  options.limits.max_decompressed_bytes = 1 << 20;
  server::Ingest ingest(rules, options);
  // The input is parsed both as a compressed body and as an uncompressed message. Otherwise the fuzzer would have
  // to find valid snappy blocks first.
  const auto written = ingest.Write(bytes, Timestamp{kNowMs * 1000});
  server::RemoteWriteDecoder decoder(options.limits);
  const auto decoded = decoder.DecodeMessage(
      bytes, [&ingest](const server::SeriesView& series) { ingest.Take(series, Timestamp{kNowMs * 1000}); });
  if (written.ok() && decoded.ok()) {
    Require(ingest.counts().total() == written->samples + decoded->samples);
  }
  (void)ingest.TakeOoms();
  ingest.CloseUntil(Timestamp{(kNowMs + 3'600'000) * 1000}, CheckWindow);
  ingest.ForgetIdle(Timestamp{(kNowMs + 7'200'000) * 1000});
  Require(ingest.mapper().counts().mapped_series == 0);
  return 0;
}
