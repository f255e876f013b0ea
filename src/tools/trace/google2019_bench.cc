// Benchmarks reading lines of instance_usage from memory. Budget: at least 0.45 GB/s of JSON per core, with all
// fields that the reader uses.
#include <string>

#include "benchmark/benchmark.h"
#include "simdjson.h"
#include "tools/trace/generate.h"
#include "tools/trace/google2019.h"
#include "tools/trace/google2019_real_row.h"
#include "tools/trace/job_days.h"

namespace taut::tools {
namespace {

// Returns 64 MB of one real line, followed by the padding. Numbers in a real line have more digits than in a
// generated one.
const std::string& RealLines() {
  static const std::string* const lines = [] {
    auto* out = new std::string();
    while (out->size() < 64'000'000) out->append(kRealRow).append("\n");
    const size_t size = out->size();
    out->append(Google2019Parser::kPadding, ' ');
    out->resize(size);  // keep the padding allocated after the end
    return out;
  }();
  return *lines;
}

// Returns about 64 MB of generated lines, followed by the padding.
const std::string& Lines() {
  static const std::string* const lines = [] {
    auto* out = new std::string();
    const GenerateOptions options{.jobs = 1000, .days = 1};
    // An error status ends the generation when there are enough bytes.
    absl::Status s = GenerateJobs(options, [out](const GeneratedJob& job) {
      for (const GeneratedJob::Row& row : job.rows)
        AppendGoogle2019Usage(job, row, TraceOptions(), false, *out);
      return out->size() < 64'000'000 ? absl::OkStatus() : absl::CancelledError("enough");
    });
    (void)s;
    const size_t size = out->size();
    out->append(Google2019Parser::kPadding, ' ');
    out->resize(size);  // keep the padding allocated after the end
    return out;
  }();
  return *lines;
}

class NullSink final : public TraceSink {
 public:
  void OnJob(JobId, const JobInfo&) override {}
  void OnUsage(const UsageRow& row) override { benchmark::DoNotOptimize(row.cpu_mean_cores); }
  void OnLimit(JobId, Timestamp, std::optional<float>, std::optional<float>) override {}
};

void Report(benchmark::State& state, const std::string& lines, uint64_t rows) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * lines.size()));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * rows));
  state.counters["budget_bytes_per_s"] = 0.45e9;
}

// Argument: 1 for the real line, 0 for generated lines.
void BM_ParseInstanceUsage(benchmark::State& state) {
  const std::string& lines = state.range(0) == 1 ? RealLines() : Lines();
  const TraceOptions options;
  uint64_t rows = 0;
  for (auto _ : state) {
    NullSink sink;
    ReadReport report;
    Google2019Parser parser(options, sink, report);
    if (!parser.ParseLines(GoogleTable::kInstanceUsage, "bench", 1, lines).ok()) state.SkipWithError("parse");
    rows = report.rows_used;
    if (rows != report.rows) return state.SkipWithError("rows were skipped");
  }
  Report(state, lines, rows);
}
BENCHMARK(BM_ParseInstanceUsage)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_ParseAndFoldInstanceUsage(benchmark::State& state) {
  const std::string& lines = Lines();
  const TraceOptions options;
  uint64_t rows = 0;
  for (auto _ : state) {
    JobDayStore store({});
    ReadReport report;
    Google2019Parser parser(options, store, report);
    if (!parser.ParseLines(GoogleTable::kInstanceUsage, "bench", 1, lines).ok()) state.SkipWithError("parse");
    rows = report.rows_used;
  }
  Report(state, lines, rows);
}
BENCHMARK(BM_ParseAndFoldInstanceUsage)->Unit(benchmark::kMillisecond);

// Benchmarks a lower bound: simdjson's structural index of each line, without parsing a value.
void BM_IndexOnly(benchmark::State& state) {
  const std::string& lines = Lines();
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    for (size_t p = 0; p < lines.size();) {
      const size_t newline = lines.find('\n', p);
      simdjson::ondemand::document document;
      if (parser.iterate(lines.data() + p, newline - p, lines.size() - p + 64).get(document)) {
        return state.SkipWithError("parse");
      }
      p = newline + 1;
    }
  }
  Report(state, lines, 0);
}
BENCHMARK(BM_IndexOnly)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::tools
