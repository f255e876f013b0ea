// Benchmarks remote write from memory on one core, with requests of 500 series with one sample each, as
// Prometheus sends them. Budgets: decoding >= 2 M samples/s; decoding, mapping and folding into windows >= 1
// M samples/s; closing a window of 200,000 series in a second.
#include "benchmark/benchmark.h"
#include "server/ingest/ingest.h"
#include "server/ingest/load_fixture.h"

namespace taut::server {
namespace {

constexpr int64_t kStartMs = 1'700'000'100'000;  // start of a window
constexpr int64_t kScrapeMs = 15'000;

void Report(benchmark::State& state, uint64_t samples, uint64_t bytes, double budget) {
  state.SetItemsProcessed(static_cast<int64_t>(samples));
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["budget_samples_per_s"] = budget;
}

// Argument: 1 for all 16 labels of a usual cluster, 0 for 8 of these labels.
void BM_Decode(benchmark::State& state) {
  const std::vector<std::string> bodies = CadvisorScrape(20'000, state.range(0) == 1).Bodies(kStartMs);
  RemoteWriteDecoder decoder;
  uint64_t samples = 0, bytes = 0;
  for (auto _ : state) {
    for (const std::string& body : bodies) {
      uint64_t mix = 0;
      const auto counts = decoder.Decode(body, [&mix](const SeriesView& s) {
        mix += s.fingerprint + static_cast<uint64_t>(s.samples[0].timestamp_ms);
      });
      benchmark::DoNotOptimize(mix);
      if (!counts.ok() || counts->samples != 500) return state.SkipWithError("decode");
      samples += counts->samples;
      bytes += body.size();
    }
  }
  Report(state, samples, bytes, 2e6);
}
BENCHMARK(BM_Decode)->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

Ingest NewIngest() { return Ingest(*MappingRules::Compile(BuiltinRules()), {}); }

// Arguments: number of series; 1 for 16 labels, 0 for 8. Every series is known before the measurement begins.
void BM_DecodeToWindows(benchmark::State& state) {
  const auto series = static_cast<uint32_t>(state.range(0));
  const int scrapes = 4'000'000 / static_cast<int>(series) / 5 + 2;
  std::vector<std::vector<std::string>> bodies;
  CadvisorScrape scrape(series, state.range(1) == 1);
  for (int i = 0; i < scrapes; ++i) bodies.push_back(scrape.Bodies(kStartMs + i * kScrapeMs));
  uint64_t samples = 0, bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Ingest ingest = NewIngest();
    for (int i = 0; i < scrapes; ++i) {
      const Timestamp now{(kStartMs + i * kScrapeMs) * 1000};
      if (i == 1) state.ResumeTiming();
      for (const std::string& body : bodies[static_cast<size_t>(i)]) {
        if (!ingest.Write(body, now).ok()) return state.SkipWithError("write");
        bytes += i > 0 ? body.size() : 0;
      }
    }
    samples += uint64_t{series} * static_cast<uint64_t>(scrapes - 1);
    if (ingest.counts().accepted != uint64_t{series} * static_cast<uint64_t>(scrapes)) {
      return state.SkipWithError("not every sample was accepted");
    }
    state.counters["bytes/series"] =
        static_cast<double>(ingest.windows().state_bytes()) / static_cast<double>(series);
  }
  Report(state, samples, bytes, 1e6);
}
BENCHMARK(BM_DecodeToWindows)
    ->Args({20'000, 1})
    ->Args({200'000, 1})
    ->Args({200'000, 0})
    ->Unit(benchmark::kMillisecond);

// Argument: number of series, each with one window of 15-second samples.
void BM_CloseWindow(benchmark::State& state) {
  const auto series = static_cast<uint32_t>(state.range(0));
  uint64_t closed = 0;
  CadvisorScrape scrape(series, false);
  for (auto _ : state) {
    state.PauseTiming();
    Ingest ingest = NewIngest();
    for (int64_t t = kStartMs; t <= kStartMs + 300'000; t += kScrapeMs) {
      for (const std::string& body : scrape.Bodies(t)) (void)ingest.Write(body, Timestamp{t * 1000});
    }
    state.ResumeTiming();
    uint64_t tasks = 0;
    ingest.CloseUntil(Timestamp{(kStartMs + 420'000) * 1000},
                      [&](const ClosedWindow& w) { tasks += w.tasks.size(); });
    if (tasks != series / 2) return state.SkipWithError("not every task has its window");
    closed += series;
  }
  state.SetItemsProcessed(static_cast<int64_t>(closed));
  state.counters["budget_series_per_s"] = 200e3;
}
BENCHMARK(BM_CloseWindow)->Arg(20'000)->Iterations(3)->Unit(benchmark::kMillisecond);

// New series: labels are read, rules matched, and names assigned.
void BM_NewSeries(benchmark::State& state) {
  const std::vector<std::string> bodies = CadvisorScrape(20'000).Bodies(kStartMs);
  uint64_t samples = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Ingest ingest = NewIngest();
    state.ResumeTiming();
    for (const std::string& body : bodies) (void)ingest.Write(body, Timestamp{kStartMs * 1000});
    if (ingest.mapper().counts().mapped_series != 20'000)
      return state.SkipWithError("not every series is mapped");
    samples += 20'000;
  }
  state.SetItemsProcessed(static_cast<int64_t>(samples));
}
BENCHMARK(BM_NewSeries)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::server
