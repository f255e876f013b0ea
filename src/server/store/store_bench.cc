// Benchmarks the store's file on the disk of the temporary directory; every commit is durable. Budgets: a pass of
// 100,000 jobs with 20,000 decisions takes 1 s, and the checkpoints of 100,000 jobs take 2 s. Reading a month of
// one job with an empty page cache takes 50 ms, and so does one call of housekeeping.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "benchmark/benchmark.h"
#include "server/store/sample_log_file.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

constexpr WindowId kFirst{20'000 * kWindowsPerDay};

std::unique_ptr<SqliteStore> Open(const TempDir& dir,
                                  SqliteStore::Sync sync = SqliteStore::Sync::kPowerLoss) {
  SqliteStore::Options options;
  options.path = dir.File("store.db");
  options.sync = sync;
  auto store = SqliteStore::Open(options);
  return store.ok() ? *std::move(store) : nullptr;
}

// Makes the kernel read the file from the disk again.
void DropFromPageCache(const TempDir& dir) {
  const int fd = open(dir.File("store.db").c_str(), O_RDONLY);
  fsync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
}

double FileBytes(const TempDir& dir) {
  return static_cast<double>(std::filesystem::file_size(dir.File("store.db")));
}

// Arguments: number of jobs, each with 1 to 3 tasks; number of decisions per pass.
void BM_Commit(benchmark::State& state) {
  const auto jobs = static_cast<uint32_t>(state.range(0));
  const TempDir dir;
  const auto store = Open(dir);
  PassMaker maker(1, jobs, kFirst);
  OwnedPass pass;
  uint64_t decision = 0;
  for (auto _ : state) {
    state.PauseTiming();
    pass.window = maker.Window();
    pass.decisions.clear();
    for (int64_t i = 0; i < state.range(1); ++i) {
      Decision d;
      d.id = ++decision;
      d.job = JobId{static_cast<uint32_t>((i * jobs / state.range(1)) * 5 + 3)};
      d.time_s = pass.window->window.start_s();
      d.before = 1.5;
      d.after = 1.25;
      d.sentence = "lowered from 1.5 to 1.25 cores: the p95 of seven days is 1.1 cores";
      d.reason = std::string(200, 'r');
      pass.decisions.push_back(d);
    }
    const PassRecord view = pass.View();
    state.ResumeTiming();
    if (!store->Commit(view).ok()) return state.SkipWithError("commit");
  }
  state.counters["budget_s"] = 1;
}
BENCHMARK(BM_Commit)
    ->Args({100'000, 0})
    ->Args({100'000, 20'000})
    ->Args({100'000, 200'000})
    ->Iterations(6)
    ->Unit(benchmark::kMillisecond);

// Latency of requests for quota that are stored while a pass commits. Arguments: number of jobs; number of
// decisions per pass.
void BM_AppendBesideCommits(benchmark::State& state) {
  const TempDir dir;
  const auto store = Open(dir);
  PassMaker maker(1, static_cast<uint32_t>(state.range(0)), kFirst);
  std::vector<double> waits_s;
  uint64_t decision = 0;
  for (auto _ : state) {
    state.PauseTiming();
    OwnedPass pass;
    pass.window = maker.Window();
    for (int64_t i = 0; i < state.range(1); ++i) {
      Decision& d = pass.decisions.emplace_back();
      d.id = ++decision;
      d.job = JobId{static_cast<uint32_t>(i)};
      d.sentence = "lowered from 1.5 to 1.25 cores: the p95 of seven days is 1.1 cores";
      d.reason = std::string(200, 'r');
    }
    const PassRecord view = pass.View();
    std::atomic<bool> done{false};
    std::thread requests([&] {
      const RequestLogEntry entry{1, 10, "ann", std::string(300, 'r')};
      while (!done) {
        const auto begin = std::chrono::steady_clock::now();
        if (!store->states().requests().Append({&entry, 1}).ok()) return;
        waits_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    state.ResumeTiming();
    const absl::Status committed = store->Commit(view);
    done = true;
    requests.join();
    if (!committed.ok()) return state.SkipWithError("commit");
  }
  std::ranges::sort(waits_s);
  state.counters["appends"] = static_cast<double>(waits_s.size());
  state.counters["p50_ms"] = 1000 * waits_s[waits_s.size() / 2];
  state.counters["longest_ms"] = 1000 * waits_s.back();
}
BENCHMARK(BM_AppendBesideCommits)
    ->Args({10, 0})
    ->Args({100'000, 20'000})
    ->Args({1'000'000, 20'000})
    ->Iterations(6)
    ->Unit(benchmark::kMillisecond);

// Replaces a state. Argument: size of the state in bytes.
void BM_PutState(benchmark::State& state) {
  const TempDir dir;
  const auto store = Open(dir);
  const std::string bytes(static_cast<size_t>(state.range(0)), 's');
  for (auto _ : state) {
    if (!store->states().Put("machines", bytes).ok()) return state.SkipWithError("put");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PutState)->Arg(100'000)->Arg(16 << 20)->Iterations(20)->Unit(benchmark::kMillisecond);

// Writes the samples of a tick, in requests of 64 KiB, to files or, for comparison, to rows. Argument: number
// of requests.
constexpr size_t kRequestBytes = size_t{64} << 10;
void BM_LogSamples(benchmark::State& state) {
  const TempDir dir;
  const auto log = SampleLogFile::Open({.path = dir.File("store.db")});
  if (!log.ok()) return state.SkipWithError("open");
  const std::string body(kRequestBytes, 's');
  int64_t now_s = 1'700'000'000;
  for (auto _ : state) {
    const Timestamp now = Timestamp::FromSeconds(++now_s);
    for (int64_t i = 0; i < state.range(0); ++i) (*log)->Append({now, now, body});
    if (!(*log)->Flush(false).ok()) return state.SkipWithError("flush");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int64_t>(kRequestBytes));
}
void BM_LogSamplesAsRows(benchmark::State& state) {
  const TempDir dir;
  const auto store = Open(dir);
  const RequestLogEntry request{1, 10, "", std::string(kRequestBytes, 's')};
  const std::vector<RequestLogEntry> tick(static_cast<size_t>(state.range(0)), request);
  for (auto _ : state) {
    if (!store->states().requests().Append(tick).ok()) return state.SkipWithError("append");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int64_t>(kRequestBytes));
}
BENCHMARK(BM_LogSamples)->Arg(16)->Iterations(200)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LogSamplesAsRows)->Arg(16)->Iterations(200)->Unit(benchmark::kMillisecond);

// Writes checkpoints. Argument: number of jobs. A chunk has 512 jobs of 4 KiB each.
void BM_WriteCheckpoints(benchmark::State& state) {
  const TempDir dir;
  const auto store = Open(dir);
  std::vector<Checkpoint> checkpoints;
  for (uint32_t chunk = 0; chunk * 512 < state.range(0); ++chunk) {
    checkpoints.push_back({chunk, kFirst, std::string(512 * 4096, static_cast<char>(chunk))});
  }
  PassRecord pass;
  pass.checkpoints = checkpoints;
  for (auto _ : state) {
    if (!store->Commit(pass).ok()) return state.SkipWithError("commit");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4096);
}
BENCHMARK(BM_WriteCheckpoints)->Arg(100'000)->Iterations(2)->Unit(benchmark::kMillisecond);

void BM_RestoreCheckpoints(benchmark::State& state) {
  const TempDir dir;
  {
    const auto store = Open(dir);
    for (uint32_t chunk = 0; chunk * 512 < state.range(0); ++chunk) {
      const Checkpoint checkpoint{chunk, kFirst, std::string(512 * 4096, static_cast<char>(chunk))};
      PassRecord pass;
      pass.checkpoints = {&checkpoint, 1};
      if (!store->Commit(pass).ok()) return state.SkipWithError("commit");
    }
  }
  for (auto _ : state) {
    state.PauseTiming();
    DropFromPageCache(dir);
    state.ResumeTiming();
    const auto store = Open(dir);
    size_t bytes = 0;
    const auto ends = store->Restore({[](const JobRecord&) { return absl::OkStatus(); },
                                      [](const SettingChange&) { return absl::OkStatus(); },
                                      [&bytes](const Checkpoint& c) {
                                        bytes += c.bytes.size();
                                        return absl::OkStatus();
                                      }});
    if (!ends.ok() || bytes < static_cast<size_t>(state.range(0)) * 4096)
      return state.SkipWithError("restore");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4096);
  state.counters["budget_s"] = 2;
}
BENCHMARK(BM_RestoreCheckpoints)->Arg(100'000)->Iterations(3)->Unit(benchmark::kMillisecond);

// Reads the windows that a start processes again. Arguments: number of jobs; number of windows.
void BM_ReadWindows(benchmark::State& state) {
  const TempDir dir;
  const auto store = Open(dir);
  PassMaker maker(1, static_cast<uint32_t>(state.range(0)), kFirst);
  for (int64_t i = 0; i < state.range(1); ++i) {
    const ClosedWindow w = maker.Window();
    PassRecord pass;
    pass.window = &w;
    if (!store->Commit(pass).ok()) return state.SkipWithError("commit");
  }
  for (auto _ : state) {
    size_t jobs = 0;
    const absl::Status read = store->ReadWindows({kFirst.index - 1}, [&jobs](const ClosedWindow& w) {
      jobs += w.jobs.size();
      return absl::OkStatus();
    });
    if (!read.ok() || jobs == 0) return state.SkipWithError("read");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(BM_ReadWindows)->Args({100'000, 12})->Unit(benchmark::kMillisecond);

// Reads one job's month. Argument: number of jobs in the store, each with 30 days of 288 windows. The last 30
// hours are in window blocks, which is the longest time before their conversion.
void BM_JobMonth(benchmark::State& state) {
  const auto jobs = static_cast<uint32_t>(state.range(0));
  const TempDir dir;
  double worst_s = 0, worst_cpu_s = 0, regroup_s = 0;
  constexpr int32_t kWindows = 30 * kWindowsPerDay;
  constexpr WindowId kBegin{kFirst.index + 71};
  {
    const auto store = Open(dir, SqliteStore::Sync::kProcess);
    PassMaker maker(1, jobs, kBegin);
    for (int32_t i = 0; i < kWindows; ++i) {
      const ClosedWindow w = maker.Window();
      PassRecord pass;
      pass.window = &w;
      if (!store->Commit(pass).ok()) return state.SkipWithError("commit");
      if (i % 24 != 0) continue;
      for (bool more = true; more;) {
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t cpu = std::clock();
        more = *store->Maintain(w.window);
        const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        worst_s = std::max(worst_s, s);
        const double cpu_s = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
        worst_cpu_s = std::max(worst_cpu_s, cpu_s);
        regroup_s += cpu_s;
      }
    }
  }
  uint32_t job = 0;
  for (auto _ : state) {
    state.PauseTiming();
    DropFromPageCache(dir);
    const auto store = Open(dir);
    DropFromPageCache(dir);
    job = (job + 37) % jobs;
    state.ResumeTiming();
    const auto days = store->JobDays(JobId{job * 5 + 3}, kBegin, {kBegin.index + kWindows});
    if (!days.ok() || days->size() != 31) return state.SkipWithError("read");
  }
  state.counters["budget_s"] = 0.05;
  state.counters["bytes/job-window"] = FileBytes(dir) / kWindows / static_cast<double>(jobs);
  state.counters["worst_maintain_ms"] = worst_s * 1000;
  state.counters["worst_maintain_cpu_ms"] = worst_cpu_s * 1000;
  state.counters["regrouped_job_windows/cpu_s"] =
      28.75 * kWindowsPerDay * static_cast<double>(jobs) / regroup_s;
}
BENCHMARK(BM_JobMonth)->Arg(1'000)->Iterations(20)->Unit(benchmark::kMillisecond);

// Reads a month of the account by days, the input of a month's bill. Argument: number of jobs. Budget: 5 s for
// 100,000.
void BM_AccountMonth(benchmark::State& state) {
  const TempDir dir;
  const auto store = Open(dir, SqliteStore::Sync::kProcess);
  std::vector<AccountEntry> entries;
  for (uint32_t job = 0; job < state.range(0); ++job) {
    AccountEntry& e = entries.emplace_back(AccountEntry{.job = JobId{job}});
    for (AccountAmounts& a : e.of)
      a = {.usage = 90'000'000 + job,
           .allocation = 300'000'000,
           .billed = 300'000'000,
           .owner = 400'000'000,
           .would_be = 150'000'000,
           .windows = kWindowsPerDay,
           .windows_without_allocation = 0};
  }
  ClosedWindow closed;
  for (int32_t day = 0; day < 30; ++day) {
    closed.window = WindowId{kFirst.index + (day + 1) * kWindowsPerDay - 1};
    PassRecord pass;
    pass.window = &closed;
    pass.account = entries;
    if (!store->Commit(pass).ok()) state.SkipWithError("the pass was refused");
    while (*store->Maintain(closed.window)) {
    }
  }
  uint64_t usage = 0;
  for (auto _ : state) {
    const absl::Status read = store->ReadAccount(kFirst, closed.window.next(),
                                                 [&](const AccountSpan&, std::span<const AccountEntry> of) {
                                                   for (const AccountEntry& e : of) usage += e.of[0].usage;
                                                 });
    if (!read.ok()) state.SkipWithError("the account was not read");
  }
  benchmark::DoNotOptimize(usage);
}
BENCHMARK(BM_AccountMonth)->Arg(100'000)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::server
