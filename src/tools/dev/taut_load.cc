// taut-load: uses requested amounts of memory and CPU, for tests and the demonstration. The program is small and
// statically linked, and can end after a given time.
#include <fcntl.h>
#include <getopt.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/dev/cpu_debt.h"
#include "tools/dev/shape.h"

namespace taut::tools {
namespace {

constexpr std::string_view kHelp = R"(taut-load generates memory and CPU load that follows a shape.

  taut-load [--memory SHAPE] [--cpu SHAPE] [options]

  --memory SHAPE   bytes to hold, in addition to about 1 MiB of its own
  --cpu SHAPE      cores to use, with as few threads as possible
  --duration TIME  stop after this time (default 10m)
  --speed N        speed-up of day: shapes; a day takes 86400 s / N (default 1)
  --period TIME    length of CPU slices, 1ms to 1s (default 10ms)
  --seed N         seed of the noise in shapes (default 1)
  --report         print target and actual use every second
  --restart        run the load as a child process and restart it 200 ms after it is killed; shapes
                   continue in real time; prints a line per start
  --with-parent    exit when the parent process exits

Shapes, for memory and cpu alike (A, B, R: amounts; T, L: times):
  A                64MiB                    0.3                 constant
  grow:A..B/T      grow:32MiB..256MiB/60s   grow:0.1..0.9/60s   A to B in T, then B
  double:A/T       double:32MiB/20s         double:0.1/20sx3    A, doubled each T, 6 times (or 3: x3), then stays
  leak:R/T         leak:1MiB/s              leak:64MiB+1MiB/s   R more each T, from 0 or the amount before '+'
  spike:A+B/T:L    spike:64MiB+200MiB/30s:2s                    A; from T on A + B for the first L of each T
  duty:A/T:L       duty:0.8/100ms:30%                           A for the first L (or share) of each T, else 0
  step:A..B@T      step:0.2..0.8@30s        fall:400MiB..80MiB@20s   A until T, then B
  day:A..B         day:50MiB..200MiB        day:0.1..0.9        a day's sine from midnight (A) over noon (B)
  and after any    0.5~10%                                      each second up to 10 % more or less
Amounts: B, KiB, MiB, GiB, TiB or cores. Times: 100ms, 20s (or 20), 5m, 1h, and "s" for 1s.

Examples:
  taut-load --memory 64MiB --cpu 0.3
  taut-load --memory double:32MiB/20s --restart --report --duration 5m
  taut-load --memory day:50MiB..200MiB --cpu day:0.1..0.9~5% --speed 288
)";

struct Options {
  std::optional<LoadShape> memory, cpu;
  int64_t duration_us = 600'000'000, period_us = 10'000;
  bool report = false, restart = false, with_parent = false;
};

int64_t ClockUs(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
}
int64_t NowUs() { return ClockUs(CLOCK_MONOTONIC); }
void SleepUntilUs(int64_t at_us) {
  timespec t{};
  t.tv_sec = at_us / 1'000'000;
  t.tv_nsec = at_us % 1'000'000 * 1000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

void Print(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}
int Complain(std::string_view what, int code) {
  const std::string line = StrCat("taut-load: ", what, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
  return code;
}

// Memory that the kernel has allocated, because HeldMemory writes one byte of each page.
class HeldMemory {
 public:
  HeldMemory() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {}
  ~HeldMemory() { Shrink(0); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  // Grows or shrinks the memory towards `bytes`, in whole pages. A call adds at most kStep, so that the caller can
  // react between two calls. Returns false and sets errno if no more memory is available.
  bool Go(double bytes) {
    const auto wanted = static_cast<size_t>(bytes) / page_ * page_;
    if (wanted < held_) Shrink(wanted);
    const size_t now = std::min(wanted, held_ + kStep);
    while (held_ < now) {
      if (held_ == chunks_.size() * kChunk && !AddChunk()) return false;
      chunks_[held_ / kChunk][held_ % kChunk] = 1;
      held_ += page_;
    }
    return true;
  }
  size_t held() const { return held_; }

 private:
  static constexpr size_t kChunk = size_t{4} << 20, kStep = size_t{16} << 20;

  bool AddChunk() {
    void* chunk = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return false;
    // With huge pages, the kernel would allocate 512 times the memory that is written.
    madvise(chunk, kChunk, MADV_NOHUGEPAGE);
    chunks_.push_back(static_cast<volatile char*>(chunk));
    return true;
  }
  void Shrink(size_t wanted) {
    held_ = wanted;
    while (chunks_.size() > (held_ + kChunk - 1) / kChunk) {
      munmap(const_cast<char*>(chunks_.back()), kChunk);
      chunks_.pop_back();
    }
    if (const size_t used = held_ % kChunk; used != 0) {
      madvise(const_cast<char*>(chunks_.back()) + used, kChunk - used, MADV_DONTNEED);
    }
  }

  size_t page_;
  size_t held_ = 0;
  std::vector<volatile char*> chunks_;
};

// Uses the CPU until this thread has used `cpu_us` of CPU time since its start.
void BurnUntil(int64_t cpu_us) {
  volatile uint64_t sink = 1;
  while (ClockUs(CLOCK_THREAD_CPUTIME_ID) < cpu_us) {
    uint64_t x = sink;
    for (int i = 0; i < 2000; ++i) x = x * 6'364'136'223'846'793'005U + 1;
    sink = x;
  }
}

void UseCpu(const LoadShape& cpu, int index, int64_t start_us, int64_t period_us,
            const std::atomic<bool>& stop) {
  CpuDebt debt(std::max<int64_t>(2 * period_us, 50'000));
  int64_t last_us = NowUs();
  int64_t cpu_us = ClockUs(CLOCK_THREAD_CPUTIME_ID);
  while (!stop.load(std::memory_order_relaxed)) {
    SleepUntilUs(std::max(last_us + period_us, NowUs()));
    const int64_t now_us = NowUs();
    const int64_t burn_us = debt.Owe(ShareOfThread(cpu.At(now_us - start_us), index), now_us - last_us);
    last_us = now_us;
    BurnUntil(cpu_us + burn_us);
    // The difference also contains the CPU time of waking up.
    const int64_t before_us = std::exchange(cpu_us, ClockUs(CLOCK_THREAD_CPUTIME_ID));
    debt.Used(cpu_us - before_us);
  }
}

// Prints one line of the report per second.
class Report {
 public:
  Report(const std::optional<LoadShape>& cpu, int64_t start_us)
      : cpu_(cpu), start_us_(start_us), from_us_(NowUs()), cpu_us_(ClockUs(CLOCK_PROCESS_CPUTIME_ID)) {}
  void See(int64_t now_us, double wanted_bytes, size_t held_bytes) {
    const auto length_us = static_cast<double>(now_us - from_us_);
    if (length_us < 1e6) return;
    const int64_t cpu_us = ClockUs(CLOCK_PROCESS_CPUTIME_ID);
    Print(fmt::format("{:.1f}s memory target {:.0f} held {} cpu target {:.3f} used {:.3f}\n",
                      static_cast<double>(now_us - start_us_) / 1e6, wanted_bytes, held_bytes,
                      WantedCores(now_us), static_cast<double>(cpu_us - cpu_us_) / length_us));
    from_us_ = now_us;
    cpu_us_ = cpu_us;
  }

 private:
  // Returns the mean target since the previous line, in cores.
  double WantedCores(int64_t now_us) const {
    if (!cpu_) return 0;
    double sum = 0;
    int samples = 0;
    for (int64_t us = from_us_; us < now_us; us += 1000, ++samples) sum += cpu_->At(us - start_us_);
    return sum / samples;
  }

  const std::optional<LoadShape>& cpu_;
  int64_t start_us_, from_us_, cpu_us_;
};

int RunLoad(const Options& options, int64_t start_us) {
  HeldMemory memory;
  Report report(options.cpu, start_us);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  int code = 0;
  const int64_t tick_us = std::clamp<int64_t>(options.period_us, 20'000, 50'000);
  for (int64_t now_us = NowUs(); now_us - start_us < options.duration_us; now_us = NowUs()) {
    const int64_t t_us = now_us - start_us;
    const double bytes = options.memory ? options.memory->At(t_us) : 0;
    const double cores = options.cpu ? options.cpu->At(t_us) : 0;
    while (ShareOfThread(cores, static_cast<int>(threads.size())) > 0) {
      threads.emplace_back(UseCpu, std::cref(*options.cpu), static_cast<int>(threads.size()), start_us,
                           options.period_us, std::cref(stop));
    }
    if (!memory.Go(bytes)) {
      code = Complain(StrCat("memory limited to ", memory.held(), " bytes: ", std::strerror(errno)), 1);
      break;
    }
    if (options.report) report.See(now_us, bytes, memory.held());
    SleepUntilUs(std::min(now_us + tick_us, start_us + options.duration_us));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return code;
}

// Makes this process the OOM killer's first choice. The OOM killer must kill the load, not the parent process that
// restarts it.
void OfferToOomKiller() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, "1000", 4);
  close(fd);
}

int RunSupervised(const Options& options, int64_t start_us) {
  constexpr int64_t kPauseUs = 200'000;
  int last_signal = 0;
  for (int start = 1; NowUs() - start_us < options.duration_us; ++start) {
    const double t_s = static_cast<double>(NowUs() - start_us) / 1e6;
    Print(start == 1 ? fmt::format("start 1 at {:.1f}s\n", t_s)
                     : fmt::format("start {} after signal {} at {:.1f}s\n", start, last_signal, t_s));
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child < 0) return Complain(StrCat("fork: ", std::strerror(errno)), 1);
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != self) _exit(1);
      OfferToOomKiller();
      std::exit(RunLoad(options, start_us));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
      if (errno != EINTR) return Complain(StrCat("waitpid: ", std::strerror(errno)), 1);
    }
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    last_signal = WTERMSIG(status);
    SleepUntilUs(NowUs() + kPauseUs);
  }
  return 0;
}

absl::Status SetShape(std::string_view text, LoadUnit unit, const LoadShape::Options& how,
                      std::optional<LoadShape>* shape) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<LoadShape> parsed = LoadShape::Parse(text, unit, how);
  if (parsed.ok()) *shape = *parsed;
  return parsed.status();
}

absl::Status SetTime(std::string_view name, std::string_view text, int64_t* us) {
  const absl::StatusOr<int64_t> parsed = ParseLoadTimeUs(text);
  if (!parsed.ok()) return absl::InvalidArgumentError(StrCat(name, ": ", Message(parsed.status())));
  *us = *parsed;
  return absl::OkStatus();
}

absl::Status ReadNumber(int option, std::string_view text, LoadShape::Options* how) {
  const std::optional<double> number = ParseDouble(text);
  if (option == 's' && number && *number > 0 && *number <= 1e6) {
    how->speed = *number;
  } else if (option == 'e' && number && *number >= 0 && *number < 1e15) {
    how->seed = static_cast<uint64_t>(*number);
  } else {
    return absl::InvalidArgumentError(
        option == 's' ? StrCat("--speed: \"", text,
                               "\" is not a factor: expected a number such as 288, at most 1000000")
                      : StrCat("--seed: \"", text, "\" is not a seed: expected a whole number"));
  }
  return absl::OkStatus();
}

// Values of the options before they are parsed. The meaning of a shape depends on --speed and --seed, which may
// follow the shape on the command line.
struct Texts {
  std::string_view memory, cpu;
  LoadShape::Options how;
};

absl::Status TakeOption(int option, char** argv, Options* options, Texts* texts) {
  switch (option) {
    case 'm':
      texts->memory = optarg;
      break;
    case 'c':
      texts->cpu = optarg;
      break;
    case 'd':
      return SetTime("--duration", optarg, &options->duration_us);
    case 'p':
      return SetTime("--period", optarg, &options->period_us);
    case 's':
    case 'e':
      return ReadNumber(option, optarg, &texts->how);
    case 'r':
      options->report = true;
      break;
    case 'a':
      options->restart = true;
      break;
    case 'w':
      options->with_parent = true;
      break;
    case 'h':
      Print(std::string(kHelp));
      std::exit(0);
    case ':':
      return absl::InvalidArgumentError(StrCat(argv[optind - 1], " needs a value; see taut-load --help"));
    default:
      return absl::InvalidArgumentError(
          StrCat("unknown option ", argv[optind - 1], "; see taut-load --help"));
  }
  return absl::OkStatus();
}

absl::Status ReadOptions(int argc, char** argv, Options* options) {
  static const option kOptions[] = {{"memory", required_argument, nullptr, 'm'},
                                    {"cpu", required_argument, nullptr, 'c'},
                                    {"duration", required_argument, nullptr, 'd'},
                                    {"speed", required_argument, nullptr, 's'},
                                    {"period", required_argument, nullptr, 'p'},
                                    {"seed", required_argument, nullptr, 'e'},
                                    {"report", no_argument, nullptr, 'r'},
                                    {"restart", no_argument, nullptr, 'a'},
                                    {"with-parent", no_argument, nullptr, 'w'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {nullptr, 0, nullptr, 0}};
  Texts texts;
  opterr = 0;
  for (int c = 0; (c = getopt_long(argc, argv, ":h", kOptions, nullptr)) != -1;) {
    const absl::Status status = TakeOption(c, argv, options, &texts);
    if (!status.ok()) return status;
  }
  if (optind < argc) {
    return absl::InvalidArgumentError(
        StrCat("\"", argv[optind], "\" is not an option; write --memory SHAPE or --cpu SHAPE"));
  }
  if (texts.memory.empty() && texts.cpu.empty()) {
    return absl::InvalidArgumentError(
        "nothing to do; give --memory 64MiB or --cpu 0.3, see taut-load --help");
  }
  if (options->period_us < 1000 || options->period_us > 1'000'000) {
    return absl::InvalidArgumentError("--period must be from 1ms to 1s");
  }
  const absl::Status status = SetShape(texts.memory, LoadUnit::kBytes, texts.how, &options->memory);
  return status.ok() ? SetShape(texts.cpu, LoadUnit::kCores, texts.how, &options->cpu) : status;
}

int Main(int argc, char** argv) {
  Options options;
  if (const absl::Status status = ReadOptions(argc, argv, &options); !status.ok()) {
    return Complain(Message(status), 2);
  }
  if (options.with_parent) {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;
  }
  if (getpid() == 1) {
    // PID 1 of a container has no default signal handlers. Without handlers, Docker would wait ten seconds and
    // then send SIGKILL.
    for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int which) { _exit(128 + which); });
  }
  const int64_t start_us = NowUs();
  return options.restart ? RunSupervised(options, start_us) : RunLoad(options, start_us);
}

}  // namespace
}  // namespace taut::tools

int main(int argc, char** argv) { return taut::tools::Main(argc, argv); }
