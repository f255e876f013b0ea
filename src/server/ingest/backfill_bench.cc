// Benchmarks the parsing of a response, per sample.
#include <benchmark/benchmark.h>

#include "common/base/strings.h"
#include "server/ingest/query_answer.h"

namespace taut::server {
namespace {

// Parses an hour of containers that are scraped every 30 s.
void BM_ParseAnswer(benchmark::State& state) {
  constexpr int kSeries = 1000, kSamples = 120;
  std::string body = R"({"status":"success","data":{"resultType":"matrix","result":[)";
  for (int s = 0; s < kSeries; ++s) {
    StrAppend(
        &body, s == 0 ? "" : ",",
        R"({"metric":{"__name__":"container_cpu_usage_seconds_total","container":"main","cpu":"total",)",
        R"("id":"/kubepods/burstable/pod3f6f7a51-6f2e-4c0e-9b6b/)", s,
        R"(","instance":"10.0.0.7:10250","job":"kubelet","namespace":"shop","node":"node-17",)",
        R"("pod":"checkout-6d5f9c7b8-)", s, R"("},"values":[)");
    for (int i = 0; i < kSamples; ++i) {
      StrAppend(&body, i == 0 ? "" : ",", "[", 1'700'000'000 + i * 30, ".", 100 + s % 900, R"(,")",
                1234.567891 * (i + s), R"("])");
    }
    body += "]}";
  }
  body += "]}}";
  QueryAnswerParser parser;
  uint64_t samples = 0;
  for (auto _ : state) {
    const absl::Status status =
        parser.Parse(body, [&samples](std::span<const LabelView>, std::span<const RemoteSample> s) {
          samples += s.size();
          return absl::OkStatus();
        });
    if (!status.ok()) state.SkipWithError("not read");
  }
  state.SetItemsProcessed(static_cast<int64_t>(samples));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * body.size()));
}
BENCHMARK(BM_ParseAnswer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::server
