// Benchmarks the conversion of CSV text in memory to rows, on one core and without disk or gzip. Budget: at least
// 1 GB/s of text.
#include <string>

#include "benchmark/benchmark.h"
#include "common/base/random.h"
#include "fmt/format.h"
#include "tools/trace/format_reader.h"

namespace taut::tools {
namespace {

constexpr double kBudgetBytesPerSecond = 1e9;
constexpr size_t kTextBytes = size_t{8} << 20;

class CountingSink final : public TraceSink {
 public:
  void OnJob(JobId, const JobInfo&) override { ++jobs; }
  void OnUsage(const UsageRow& row) override {
    ++rows;
    cpu += row.cpu_mean_cores.value_or(0);
    memory += row.memory_mean_bytes.value_or(0);
  }
  void OnLimit(JobId, Timestamp, std::optional<float>, std::optional<float>) override {}
  uint64_t jobs = 0, rows = 0;
  double cpu = 0, memory = 0;
};

// Reads the text in blocks of about 1 MiB, as LineBlocks does.
void Run(benchmark::State& state, std::unique_ptr<FormatReader> (*make)(const ReadContext&), int table,
         const std::string& text, uint64_t rows) {
  std::string padded = text + std::string(LineBlocks::kPadding, '\0');
  const TraceOptions options;
  for (auto _ : state) {
    CountingSink sink;
    ReadReport report;
    const auto reader = make({options, sink, report});
    bool ok = reader->BeginFile("bench.csv", table).ok();
    std::string_view rest = std::string_view(padded).substr(0, text.size());
    for (uint64_t line = 1; !rest.empty();) {
      const size_t end =
          rest.size() <= (size_t{1} << 20) ? rest.size() : rest.rfind('\n', size_t{1} << 20) + 1;
      ok &= reader->ReadLines({LineBlock::Kind::kLines, rest.substr(0, end), line}).ok();
      line = 2;
      rest.remove_prefix(end);
    }
    ok &= reader->Finish().ok();
    if (!ok || sink.rows != rows || report.rows_used != rows) state.SkipWithError("not all rows were read");
    benchmark::DoNotOptimize(sink.cpu + sink.memory);
  }
  const auto bytes = static_cast<double>(text.size());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(text.size()));
  state.counters["ns/row"] =
      benchmark::Counter(static_cast<double>(rows) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["of budget"] =
      benchmark::Counter(bytes / kBudgetBytesPerSecond, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_BitbrainsCompact(benchmark::State& state) {
  Rng rng(1);
  std::string text = "vm,ts_s,cores,cpu_cap_mhz,cpu_mhz,mem_cap_kb,mem_kb\n";
  uint64_t rows = 0;
  for (int vm = 1; text.size() < kTextBytes; ++vm) {
    for (int i = 0; i < 8900; ++i, ++rows) {
      text += fmt::format("{},{},2,5852.0,{:.1f},8218624,{}\n", vm, 1372629804 + 300 * i, rng.Pareto(10, 0.9),
                          rng.Below(8'000'000));
    }
  }
  Run(state, NewBitbrainsCompactReader, 0, text, rows);
}
BENCHMARK(BM_BitbrainsCompact)->Unit(benchmark::kMillisecond);

void BM_BitbrainsOriginal(benchmark::State& state) {
  Rng rng(1);
  std::string text = "Timestamp [ms];\tCPU cores;\tmore\n";
  uint64_t rows = 0;
  for (; text.size() < kTextBytes; ++rows) {
    text += fmt::format(
        "{};\t2;\t5851.9989;\t{};\t1.5;\t8218624.0;\t{:.1f};\t{};\t21.733333333333334;\t0.2;\t1.4\n",
        1372629804 + 300 * rows, 5851.9989 * rng.Uniform(), rng.Uniform(0, 8e6), rng.Uniform());
  }
  Run(state, NewBitbrainsReader, 0, text, rows);
}
BENCHMARK(BM_BitbrainsOriginal)->Unit(benchmark::kMillisecond);

void BM_Google2011Usage(benchmark::State& state) {
  Rng rng(1);
  std::string text;
  uint64_t rows = 0;
  for (int64_t job = 0; text.size() < kTextBytes; ++job) {
    for (uint64_t task = 0; task <= static_cast<uint64_t>(job % 40); ++task, ++rows) {
      text += fmt::format(
          "600000000,900000000,{},{},{},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},2.861e-06,0.0001869,{:.4g},"
          "0.0003567,"
          "{:.4g},0.007243,0,1,0\n",
          3418309 + 5 * job, task, 4155527081 + task, rng.Pareto(0.0005, 1), rng.Uniform(), rng.Uniform(),
          rng.Pareto(0.0001, 1), rng.Pareto(0.0001, 1), 1 + rng.Uniform(), 0.3 + rng.Pareto(0.0005, 1),
          rng.Uniform(1, 5));
    }
  }
  Run(state, NewGoogle2011Reader, 2, text, rows);
}
BENCHMARK(BM_Google2011Usage)->Unit(benchmark::kMillisecond);

// Rows of all tasks at one time precede the rows at the next time, as in the export of a monitoring system. The
// text covers at least a dozen times.
void BM_GenericCsv(benchmark::State& state) {
  Rng rng(1);
  std::string text = "time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n";
  uint64_t rows = 0;
  for (int64_t t = 0; text.size() < 3 * kTextBytes; t += 300) {
    for (int job = 0; job < state.range(0); ++job) {
      for (int task = 0; task < 3; ++task, ++rows) {
        text +=
            fmt::format("{},service-{},{},{:.4f},{},{},{}\n", 1372629600 + t, job, task, rng.Pareto(0.05, 1),
                        rng.Below(8'000'000'000), 1 + job % 7, (1 + job % 16) * 536'870'912LL);
      }
    }
  }
  Run(state, NewGenericCsvReader, 0, text, rows);
}
BENCHMARK(BM_GenericCsv)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

void BM_AlibabaMachines(benchmark::State& state) {
  Rng rng(1);
  std::string text;
  uint64_t rows = 0;
  for (int m = 1; text.size() < kTextBytes; ++m) {
    for (int i = 1; i <= 6000; ++i, ++rows) {
      text += fmt::format("m_{},{},{},{},,,{:.2f},{:.2f},{}\n", m, i * 60, rng.Below(100), rng.Below(100),
                          rng.Uniform(0, 99), rng.Uniform(0, 99), rng.Below(100));
    }
  }
  Run(state, NewAlibaba2018Reader, 3, text, rows);
}
BENCHMARK(BM_AlibabaMachines)->Unit(benchmark::kMillisecond);

void BM_AzureReadings(benchmark::State& state) {
  Rng rng(1);
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back(fmt::format("{:064x}", rng.Next()));
  std::string text;
  uint64_t rows = 0;
  for (int64_t t = 0; text.size() < kTextBytes; t += 300) {
    for (const std::string& name : names) {
      text += fmt::format("{},{},{:.6f},{:.6f},{:.6f}\n", t, name, rng.Uniform(0, 5), rng.Uniform(9, 99),
                          rng.Uniform(1, 9));
      ++rows;
    }
  }
  Run(state, NewAzureReader, 1, text, rows);
}
BENCHMARK(BM_AzureReadings)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::tools
