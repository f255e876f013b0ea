// Models the usage in a synthetic cell.
#include "tools/trace/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr double kLargestMachineCores = 64;
constexpr double kLargestMachineBytes = 256 * 1024 * kMiB;

enum class Habit : uint8_t { kServing, kBatch, kCron, kOnce };

double BoundedPareto(Rng& rng, double low, double high, double alpha) {
  const double tail = std::pow(low / high, alpha);
  return low * std::pow(1.0 - rng.Uniform() * (1.0 - tail), -1.0 / alpha);
}

double LogNormal(Rng& rng, double median, double sigma) { return median * std::exp(sigma * rng.Normal()); }

// Properties that all runs of one program share.
struct Program {
  Habit habit = Habit::kServing;
  std::string logical_name;
  Sensitivity sensitivity = Sensitivity::kUnknown;
  int priority = 0;
  uint32_t tasks = 1;
  double cpu = 0;     // cores of a task at a load of 1
  double memory = 0;  // bytes of a warm task at a load of 1
  double burst = 0;
  double daily = 0, peak_hour = 0, weekend = 1;
  double growth_per_day = 0;
  double job_noise = 0, task_noise = 0;
  double spikes_per_day = 0;
  double deploy_every_days = 0;
  double leak_per_day = 0;  // growth per day as a share of `memory`
  double warm_up_hours = 0;
  double memory_follows = 0;  // share of the memory that is proportional to the load
  int cron_hour = 0, cron_every_hours = 24, cron_windows = 0;
  int runs = 1;  // number of jobs of the program, one after the other
  bool short_of_memory = false;
  bool in_alloc = false;
};

void DrawKind(Rng& rng, Program& p) {
  const double kind = rng.Uniform();
  if (kind < 0.5) {
    p.habit = Habit::kServing;
    p.sensitivity = rng.Uniform() < 0.4 ? Sensitivity::kMostSensitive : Sensitivity::kSensitive;
    p.priority = rng.Uniform() < 0.05 ? 360 : 200;
  } else if (kind < 0.7) {
    p.habit = Habit::kBatch;
    p.sensitivity = rng.Uniform() < 0.7 ? Sensitivity::kBatch : Sensitivity::kBestEffort;
    p.priority = rng.Uniform() < 0.3 ? 25 : 103 + static_cast<int>(rng.Below(13));
  } else if (kind < 0.85) {
    p.habit = Habit::kCron;
    p.sensitivity = Sensitivity::kBatch;
    p.priority = 117;
  } else {
    p.habit = Habit::kOnce;
    p.sensitivity = Sensitivity::kBatch;
    p.priority = 107;
    p.runs = 1 + static_cast<int>(rng.Below(8));
  }
}

Program DrawProgram(Rng& rng, int number, int max_tasks) {
  Program p;
  p.logical_name = fmt::format("program-{:05}", number);
  DrawKind(rng, p);
  const double cores = BoundedPareto(rng, 0.04, 400, 0.7);  // cores of all tasks of the job together
  const double wanted = LogNormal(rng, std::sqrt(cores / 0.25), 0.5);
  p.tasks = static_cast<uint32_t>(std::clamp(std::ceil(wanted), 1.0, static_cast<double>(max_tasks)));
  p.cpu = std::clamp(cores / p.tasks, 0.005, 16.0);
  p.memory =
      std::clamp(LogNormal(rng, 900 * kMiB * std::pow(p.cpu / 0.2, 0.4), 1.0), 48 * kMiB, 60 * 1024 * kMiB);
  const bool serving = p.habit == Habit::kServing;
  p.burst = rng.Uniform(0.1, serving ? 0.5 : 0.3);
  p.daily = serving ? rng.Uniform(0.1, 0.7) : rng.Uniform(0.0, 0.15);
  p.peak_hour = 14 + 3 * rng.Normal();
  p.weekend = serving ? rng.Uniform(0.55, 1.05) : 1.0;
  p.growth_per_day = 0.004 * rng.Normal();
  p.job_noise = rng.Uniform(0.02, 0.12);
  p.task_noise = rng.Uniform(0.03, 0.15);
  p.spikes_per_day = serving ? rng.Uniform(0.05, 1.0) : rng.Uniform(0.0, 0.4);
  p.deploy_every_days = p.habit == Habit::kOnce ? 1000 : rng.Uniform(3, 25);
  p.leak_per_day = serving && rng.Uniform() < 0.15 ? rng.Uniform(0.01, 0.08) : 0;
  p.warm_up_hours = rng.Uniform(0.2, 12);
  p.memory_follows = rng.Uniform(0.02, 0.3);
  p.cron_hour = static_cast<int>(rng.Below(24));
  p.cron_every_hours = rng.Uniform() < 0.6 ? 24 : rng.Uniform() < 0.5 ? 6 : 1;
  p.cron_windows = 1 + static_cast<int>(rng.Below(8));
  p.short_of_memory = rng.Uniform() < 0.04;
  p.in_alloc = serving && rng.Uniform() < 0.1;
  return p;
}

// Lifetime of a job: [start_s, end_s).
struct Life {
  int64_t start_s = 0, end_s = 0;
};

Life DrawLife(Rng& rng, const Program& p, int run, const GenerateOptions& options) {
  const int64_t begin = options.start_s, length = options.days * kDaySeconds;
  Life life{begin, begin + length};
  if (p.habit == Habit::kOnce) {
    // Runs follow each other with pauses. Each run starts at a random time in the first half of its part of the
    // period.
    const int64_t every = std::max<int64_t>(length / p.runs, 2 * kWindowSeconds);
    life.start_s = begin + run * every + static_cast<int64_t>(rng.Below(static_cast<uint64_t>(every / 2)));
    const double hours = std::clamp(LogNormal(rng, 5, 1.2), 0.3, static_cast<double>(every) / 2 / 3600);
    life.end_s = std::min(life.end_s, life.start_s + static_cast<int64_t>(hours * 3600));
    return life;
  }
  if (rng.Uniform() < 0.2)
    life.start_s += static_cast<int64_t>(rng.Uniform(0, 0.9) * static_cast<double>(length));
  if (rng.Uniform() < 0.1) {
    life.end_s -= static_cast<int64_t>(rng.Uniform(0, 0.9) * static_cast<double>(life.end_s - life.start_s));
  }
  life.end_s = std::max(life.end_s, life.start_s + 60);
  return life;
}

// Simulates one job, window by window.
class JobModel {
 public:
  JobModel(const Program& program, const Life& life, const GenerateOptions& options, Rng rng)
      : p_(program), life_(life), options_(options), rng_(rng) {}

  void Run(GeneratedJob& out);

 private:
  struct Task {
    double weight = 1;  // share of the load, which differs between tasks
    double noise = 0;   // autoregressive noise of the logarithm of CPU
    double memory_noise = 0;
  };

  bool Runs(WindowId window) const;
  void Step(WindowId window);
  void Deploy();
  double Season(WindowId window) const;
  void Emit(WindowId window, GeneratedJob& out);

  const Program& p_;
  const Life life_;
  const GenerateOptions& options_;
  Rng rng_;
  std::vector<Task> tasks_;
  // State of the job in the current window.
  double noise_ = 0, level_ = 1, memory_level_ = 1;
  double spike_ = 1, memory_spike_ = 1;
  int spike_left_ = 0;
  int windows_up_ = 0;  // windows since the last start
  double load_ = 1;
};

bool JobModel::Runs(WindowId window) const {
  if (p_.habit != Habit::kCron) return true;
  const int64_t in_period = (window.start_s() - options_.start_s) / kWindowSeconds;
  const int64_t every = int64_t{p_.cron_every_hours} * kWindowsPerHour;
  const int64_t phase = (in_period - int64_t{p_.cron_hour} * kWindowsPerHour + 24 * kWindowsPerDay) % every;
  return phase < p_.cron_windows;
}

double JobModel::Season(WindowId window) const {
  const int64_t since = window.start_s() - options_.start_s;
  const double hour = static_cast<double>(since % kDaySeconds) / 3600.0;
  const int64_t weekday = (since / kDaySeconds + 2) % 7;  // 0 is Monday
  const double day = std::cos(2 * std::numbers::pi * (hour - p_.peak_hour) / 24);
  const double grown = 1 + p_.growth_per_day * static_cast<double>(since) / kDaySeconds;
  return std::exp(p_.daily * day - p_.daily * p_.daily / 4) * (weekday >= 5 ? p_.weekend : 1.0) * grown;
}

void JobModel::Deploy() {
  level_ = std::clamp(level_ * std::exp(0.1 * rng_.Normal()), 0.5, 2.0);
  memory_level_ = std::clamp(memory_level_ * std::exp(0.02 + 0.06 * rng_.Normal()), 0.6, 1.7);
  windows_up_ = 0;
}

void JobModel::Step(WindowId window) {
  noise_ = 0.97 * noise_ + p_.job_noise * std::sqrt(1 - 0.97 * 0.97) * rng_.Normal();
  if (rng_.Uniform() * p_.deploy_every_days * kWindowsPerDay < 1) Deploy();
  // A leaking program restarts when its memory has grown by half.
  const double days_up = static_cast<double>(windows_up_) / kWindowsPerDay;
  if (p_.leak_per_day * days_up > 0.5) windows_up_ = 0;
  if (spike_left_ > 0 && --spike_left_ == 0) spike_ = memory_spike_ = 1;
  if (spike_left_ == 0 && rng_.Uniform() * kWindowsPerDay < p_.spikes_per_day) {
    spike_ = std::min(rng_.Pareto(1.2, 3), 5.0);
    memory_spike_ = 1 + 0.15 * std::min(spike_ - 1, 2.0) * rng_.Uniform();
    spike_left_ = 1 + static_cast<int>(std::min(rng_.Pareto(0.8, 1.5), 24.0));
  }
  load_ = level_ * Season(window) * std::exp(noise_) * spike_;
}

void JobModel::Emit(WindowId window, GeneratedJob& out) {
  const int64_t start = std::max(window.start_s(), life_.start_s);
  const int64_t end = std::min(window.next().start_s(), life_.end_s);
  const double hours_up = static_cast<double>(windows_up_) / kWindowsPerHour;
  // Memory grows after a start: caches fill, code is compiled, connections are opened.
  const double warm = 1 - 0.55 * std::exp(-hours_up / p_.warm_up_hours);
  const double starting = windows_up_ < 2 ? 1.8 - 0.5 * windows_up_ : 1.0;
  const double leaked = p_.leak_per_day * hours_up / 24;
  const double memory = p_.memory * memory_level_ * memory_spike_ *
                        (warm * (1 - p_.memory_follows) + p_.memory_follows * std::min(load_, 3.0) + leaked);
  const double peak_over_mean = std::exp(2.9 * p_.burst - p_.burst * p_.burst / 2);
  for (uint32_t t = 0; t < tasks_.size(); ++t) {
    Task& task = tasks_[t];
    task.noise = 0.7 * task.noise + p_.task_noise * 0.714 * rng_.Normal();
    task.memory_noise = 0.95 * task.memory_noise + 0.008 * rng_.Normal();
    const double cpu = std::clamp(p_.cpu * task.weight * load_ * starting * std::exp(task.noise), 0.0005,
                                  kLargestMachineCores / 2);
    const double mean = std::clamp(memory * (1 + 0.1 * (task.weight - 1)) * (1 + task.memory_noise), kMiB,
                                   kLargestMachineBytes / 2);
    const double peak = mean * (1.004 + 0.02 * rng_.Uniform() * rng_.Uniform());
    out.rows.push_back({.start_s = start,
                        .end_s = end,
                        .task = t,
                        .cpu_mean = static_cast<float>(cpu),
                        .cpu_peak = static_cast<float>(std::min(cpu * peak_over_mean, kLargestMachineCores)),
                        .memory_mean = static_cast<float>(mean),
                        .memory_peak = static_cast<float>(peak)});
  }
}

void JobModel::Run(GeneratedJob& out) {
  tasks_.resize(p_.tasks);
  for (Task& task : tasks_) task.weight = std::exp(0.08 * rng_.Normal());
  // A job that started before the period has been running for some days.
  if (life_.start_s == options_.start_s) windows_up_ = static_cast<int>(rng_.Below(7 * kWindowsPerDay));
  for (WindowId w = WindowId::Of(Timestamp::FromSeconds(life_.start_s)); w.start_s() < life_.end_s;
       w = w.next()) {
    Step(w);
    if (Runs(w)) {
      Emit(w, out);
      ++windows_up_;
    } else {
      windows_up_ = 0;
    }
  }
}

// Returns the quantile `share` of a column of the rows.
double Percentile(const std::vector<GeneratedJob::Row>& rows, float GeneratedJob::Row::*figure,
                  double share) {
  std::vector<float> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(row.*figure);
  const size_t at =
      std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

// Rounds up to a round number, as owners do. Two digits change the value by at most 5 %, which the drawn slack
// permits.
double RoundUp(double value, double unit) {
  double step = unit;
  while (step * 50 < value) step *= 2;
  return std::ceil(value / step) * step;
}

void AskForLimits(Rng& rng, const Program& p, const Life& life, GeneratedJob& job) {
  const double cpu = Percentile(job.rows, &GeneratedJob::Row::cpu_mean, 0.95);
  const double memory = Percentile(job.rows, &GeneratedJob::Row::memory_peak, 0.95);
  const auto ask = [&](int64_t from) {
    GeneratedJob::LimitChange limit{.from_s = from};
    limit.cpu_cores = static_cast<float>(RoundUp(cpu / (1 - rng.Uniform(0.46, 0.58)), 0.0001));
    limit.memory_bytes = static_cast<float>(RoundUp(memory / (1 - rng.Uniform(0.46, 0.58)), kMiB / 4));
    if (p.short_of_memory) {
      const double enough = Percentile(job.rows, &GeneratedJob::Row::memory_peak, rng.Uniform(0.9, 0.999));
      limit.memory_bytes = static_cast<float>(RoundUp(enough, kMiB / 4));
    }
    job.limits.push_back(limit);
  };
  ask(life.start_s);
  if (life.end_s - life.start_s > 2 * kDaySeconds && rng.Uniform() < 0.1) {
    ask(life.start_s +
        static_cast<int64_t>(rng.Uniform(0.2, 0.8) * static_cast<double>(life.end_s - life.start_s)));
  }
}

}  // namespace

absl::Status Check(const GenerateOptions& options) {
  if (options.jobs < 1 || options.days < 1 || options.max_tasks < 1) {
    return absl::InvalidArgumentError("a generated cell needs at least 1 job, 1 day and 1 task a job");
  }
  if (options.start_s % kWindowSeconds != 0) {
    return absl::InvalidArgumentError(fmt::format("start {} s is not a multiple of 300 s", options.start_s));
  }
  return absl::OkStatus();
}

absl::Status GenerateJobs(const GenerateOptions& options,
                          const std::function<absl::Status(const GeneratedJob&)>& take) {
  if (absl::Status s = Check(options); !s.ok()) return s;
  const Rng root(options.seed);
  uint32_t next_job = 0;
  for (int number = 0; next_job < static_cast<uint32_t>(options.jobs); ++number) {
    Rng program_rng = root.Fork(static_cast<uint64_t>(number));
    const Program program = DrawProgram(program_rng, number, options.max_tasks);
    for (int run = 0; run < program.runs && next_job < static_cast<uint32_t>(options.jobs); ++run) {
      Rng rng = program_rng.Fork(static_cast<uint64_t>(run));
      const Life life = DrawLife(rng, program, run, options);
      GeneratedJob job;
      job.id = JobId{next_job};
      job.info.name = fmt::format("job-{:05}", next_job);
      job.info.logical_name = program.logical_name;
      job.info.sensitivity = program.sensitivity;
      job.info.priority = program.priority;
      job.tasks = program.tasks;
      job.burst = static_cast<float>(program.burst);
      job.in_alloc = program.in_alloc;
      JobModel(program, life, options, rng.Fork(1)).Run(job);
      if (job.rows.empty()) continue;  // a cron job without a run in the period
      AskForLimits(rng, program, life, job);
      ++next_job;
      if (absl::Status s = take(job); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::Status GenerateCell(const GenerateOptions& options, TraceSink& sink) {
  return GenerateJobs(options, [&sink](const GeneratedJob& job) {
    sink.OnJob(job.id, job.info);
    size_t limit = 0;
    for (const GeneratedJob::Row& r : job.rows) {
      while (limit + 1 < job.limits.size() && job.limits[limit + 1].from_s <= r.start_s) ++limit;
      UsageRow row;
      row.job = job.id;
      row.task = r.task;
      row.start = Timestamp::FromSeconds(r.start_s);
      row.end = Timestamp::FromSeconds(r.end_s);
      row.cpu_mean_cores = r.cpu_mean;
      row.cpu_max_cores = r.cpu_peak;
      row.memory_mean_bytes = r.memory_mean;
      row.memory_peak_bytes = r.memory_peak;
      row.cpu_limit_cores = job.limits[limit].cpu_cores;
      row.memory_limit_bytes = job.limits[limit].memory_bytes;
      sink.OnUsage(row);
    }
    return absl::OkStatus();
  });
}

void GeneratedPercentiles(double mean, double burst, std::span<float, 20> out) {
  // Quantiles of the normal distribution at kGeneratedFractions. The first and the last are the extremes of 300
  // samples.
  static constexpr std::array<double, 20> kNormal = {
      -2.9,   -1.2816, -0.8416, -0.5244, -0.2533, 0,      0.2533, .5244,  .8416,  1.2816,
      1.3408, 1.4051,  1.4758,  1.5548,  1.6449,  1.7507, 1.8808, 2.0537, 2.3263, 2.9};
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(mean * std::exp(burst * kNormal[i] - burst * burst / 2));
  }
}

}  // namespace taut::tools
