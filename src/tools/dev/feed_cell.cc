#include "tools/dev/feed_cell.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "common/base/name_template.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "tools/dev/feed_names.h"

namespace taut::tools {
namespace {

constexpr int64_t kFactsEveryWindows = 3;  // limits and owners are sent again after this number of windows
constexpr double kDeploysPerWindow = 1.0 / (10 * kWindowsPerDay);
// chance that a task whose memory peak is above its limit is killed in the window
constexpr double kKillShare = 0.125;
constexpr double kAfterRestart = 0.55;  // memory after a restart, as a share of a warm task's memory
constexpr uint64_t kTasksPerNode = 30;
constexpr std::string_view kContainer = "app";  // name of the container of each pod
constexpr double kMemoryOfLoad = 0.4;           // share of a task's memory that is proportional to its load

// Encodes an amount from 2^-16 to 2^48 as a logarithm of 16 bits, with a relative error below 0.04 %.
uint16_t PackAmount(float amount) {
  const double code = (std::log2(std::max(static_cast<double>(amount), 1e-5)) + 16) * 1024;
  return static_cast<uint16_t>(std::clamp(std::round(code), 0.0, 65535.0));
}
double UnpackAmount(uint16_t code) { return std::exp2(code / 1024.0 - 16); }

uint64_t Mix(uint64_t x) {  // the finalizer of splitmix64
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
double Uniform(uint64_t draw) { return static_cast<double>(draw >> 11) * 0x1.0p-53; }

// Purpose of a draw. Each purpose has its own random stream.
enum : uint64_t { kName = 1, kKind, kPodName, kSetName, kPlace, kDeploy, kUsage, kKill };

std::string_view TierOf(Sensitivity sensitivity) {
  switch (sensitivity) {
    case Sensitivity::kMostSensitive:
    case Sensitivity::kSensitive:
      return "serving";
    case Sensitivity::kBatch:
      return "batch";
    default:
      return "best-effort";
  }
}

}  // namespace

uint64_t FeedCell::Draw(uint64_t a, uint64_t b, uint64_t c) const {
  return Mix(Mix(Mix(options_.seed ^ a << 56) ^ b) ^ c);
}

int64_t FeedCell::StepMs(const Steps& s, int step) const {
  return (options_.start_s + s.window * kWindowSeconds) * 1000 + kWindowSeconds * 1000 * step / s.steps;
}

int64_t FeedBytes(int jobs, int days) {
  constexpr int64_t kBytesOfJobDay = 8192;  // measured value; 200 jobs and 42 days need 66 MB
  return kBytesOfJobDay * std::max(jobs, 0) * std::max(days, 0);
}

int FeedDays(int jobs, int history_days) {
  constexpr int kMost = 42;
  const int64_t fit = kFeedBytes / std::max<int64_t>(FeedBytes(jobs, 1), 1);
  return std::clamp(std::max(history_days, static_cast<int>(std::min<int64_t>(fit, kMost))), 1, kMost);
}

absl::StatusOr<std::unique_ptr<FeedCell>> FeedCell::Generate(const FeedCellOptions& options) {
  std::unique_ptr<FeedCell> cell(new FeedCell(options));
  cell->windows_ = int64_t{options.days} * kWindowsPerDay;
  cell->cluster_ = StrCat("cell-", options.seed);
  GenerateOptions generate;
  generate.jobs = options.jobs;
  generate.days = options.days;
  generate.seed = options.seed;
  generate.max_tasks = options.max_tasks;
  const absl::Status status = GenerateJobs(generate, [&cell](const GeneratedJob& job) {
    cell->AddJob(job);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  cell->NameJobs();
  return cell;
}

void FeedCell::AddJob(const GeneratedJob& job) {
  Job& out = jobs_.emplace_back();
  out.number = job.id.value;
  out.tasks = job.tasks;
  out.limits = job.limits;
  out.tier = TierOf(job.info.sensitivity);
  out.rows.reserve(job.rows.size());
  for (const GeneratedJob::Row& r : job.rows) {
    if (r.task == 0) out.windows.push_back(WindowId::Of(Timestamp::FromSeconds(r.start_s)).index);
    out.rows.push_back({PackAmount(r.cpu_mean), PackAmount(r.cpu_peak), PackAmount(r.memory_mean),
                        PackAmount(r.memory_peak)});
  }
  programs_.push_back(job.info.logical_name);
}

void FeedCell::NameJobs() {
  std::map<std::string, FeedName> names;
  std::set<std::string> taken;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    const auto [it, is_new] = names.try_emplace(programs_[i]);
    if (is_new) {
      const FeedName drawn = DrawFeedName(Draw(kName, job.number));
      it->second = drawn;
      for (int n = 2; !taken.insert(StrCat(it->second.name_space, "/", it->second.name)).second; ++n)
        it->second.name = StrCat(drawn.name, "-v", n);
    }
    job.name_space = it->second.name_space;
    job.name = it->second.name;
    const int64_t span = job.windows.back() - job.windows.front() + 1;
    const bool sometimes = static_cast<int64_t>(job.windows.size()) * 10 < span * 6;
    if (sometimes || (job.tier == "batch" && span * 10 < windows_ * 6)) {
      job.owner = Owner::kCronJob;
    } else if (Uniform(Draw(kKind, job.number)) < 0.15) {
      job.owner = Owner::kStatefulSet;
    }
  }
  programs_.clear();
}

absl::Status FeedCell::Scrape(const Steps& steps, size_t max_series, SendFn send) {
  for (Job& job : jobs_) {
    if (!ChangePods(job, steps)) continue;
    for (uint32_t t = 0; t < job.set->pods.size(); ++t) {
      AddUsage(job, t, job.set->pods[t], steps);
      if (used_ < max_series) continue;
      if (absl::Status s = Flush(send); !s.ok()) return s;
    }
  }
  return Flush(send);
}

absl::Status FeedCell::Flush(SendFn send) {
  if (used_ == 0) return absl::OkStatus();
  for (size_t i = 0; i < used_; ++i) samples_ += series_[i].samples.size();
  const absl::Status status = send(std::span<const server::RemoteSeries>(series_.data(), used_));
  used_ = 0;
  ended_.clear();
  return status;
}

bool FeedCell::ChangePods(Job& job, const Steps& s) {
  const int64_t lap = s.window / windows_;
  const auto window = static_cast<int32_t>(s.window % windows_);
  const bool again = lap != job.lap;
  if (again) job.next = 0;
  job.lap = lap;
  while (job.next < job.windows.size() && job.windows[job.next] < window) ++job.next;
  const bool runs = job.next < job.windows.size() && job.windows[job.next] == window;
  if (s.from != 0 && job.set != nullptr) return runs;
  const int64_t now_ms = StepMs(s, s.from);
  bool deploy = false;
  if (runs && job.set != nullptr && job.owner != Owner::kCronJob) {
    deploy = Uniform(Draw(kDeploy, job.number, static_cast<uint64_t>(s.window))) < kDeploysPerWindow;
    deploys_ += deploy ? 1 : 0;
  }
  if (job.set != nullptr && (!runs || again || deploy)) EndPods(job, now_ms);
  if (!runs) return false;
  const bool starts = job.set == nullptr;
  if (starts) StartPods(job, s.window);
  const bool grew = !starts && ScalePods(job, s.window, now_ms);
  if (starts || grew || s.window % kFactsEveryWindows == 0) AddFacts(job, now_ms);
  return true;
}

void FeedCell::StartPods(Job& job, int64_t window) {
  job.set = std::make_unique<PodSet>();
  PodSet& set = *job.set;
  const int64_t minute = (options_.start_s + window * kWindowSeconds) / 60;
  set.name = job.name;
  if (job.owner == Owner::kDeployment)
    StrAppend(&set.name, "-", DrawTemplateHash(Draw(kSetName, job.number, static_cast<uint64_t>(window))));
  if (job.owner == Owner::kCronJob) StrAppend(&set.name, "-", minute);
  set.pods.resize(PodsOf(job));
  for (uint32_t t = 0; t < set.pods.size(); ++t) StartPod(job, window, t, set.pods[t]);
}

void FeedCell::StartPod(const Job& job, int64_t window, uint32_t number, Pod& pod) const {
  const auto begin = static_cast<uint64_t>(window);
  const uint64_t draw = Draw(kPodName, job.number << 20 | number, begin);
  const bool numbered = job.owner == Owner::kStatefulSet;
  pod.name = numbered ? StrCat(job.set->name, "-", number) : StrCat(job.set->name, "-", DrawPodSuffix(draw));
  const uint64_t node = Draw(kPlace, job.number << 20 | number, begin) % (jobs_.size() / kTasksPerNode + 1);
  pod.node = StrCat("node-", node);
  pod.instance = StrCat("10.0.", node / 250, ".", node % 250 + 1, ":10250");
  pod.offset_ms = static_cast<int64_t>(draw % (kMaxOffsetSeconds * 1000));
}

bool FeedCell::ScalePods(Job& job, int64_t window, int64_t time_ms) {
  std::vector<Pod>& pods = job.set->pods;
  const uint32_t wanted = job.owner == Owner::kCronJob ? job.tasks : PodsOf(job);
  const auto now = static_cast<uint32_t>(pods.size());
  if (wanted < now) {
    auto ended = std::make_unique<PodSet>();
    ended->pods.assign(std::make_move_iterator(pods.begin() + wanted), std::make_move_iterator(pods.end()));
    pods.resize(wanted);
    EndPodsOf(job, std::move(ended), time_ms);
  }
  pods.resize(wanted);
  for (uint32_t t = now; t < wanted; ++t) StartPod(job, window, t, pods[t]);
  return wanted > now;
}

bool FeedCell::SetTasks(std::string_view name, std::optional<uint32_t> tasks) {
  constexpr uint32_t kMostPods = 1000;
  bool found = false;
  for (Job& job : jobs_) {
    if (job.owner == Owner::kCronJob) continue;
    const std::string_view kind = job.owner == Owner::kStatefulSet ? "statefulset" : "deployment";
    const std::string pods = StrCat(cluster_, "/", job.name_space, "/", kind, "/", job.name);
    if (name != pods && name != StrCat(pods, "/", kContainer)) continue;
    job.ordered = tasks.has_value() ? std::optional(std::clamp(*tasks, 1U, kMostPods)) : std::nullopt;
    found = true;
  }
  return found;
}

void FeedCell::EndPods(Job& job, int64_t time_ms) { EndPodsOf(job, std::move(job.set), time_ms); }

void FeedCell::EndPodsOf(const Job& job, std::unique_ptr<PodSet> set, int64_t time_ms) {
  for (const Pod& pod : set->pods) {
    const server::RemoteSample end{server::StaleMarker(), time_ms};
    AddContainerSeries("container_cpu_usage_seconds_total", job, pod).samples.push_back(end);
    AddContainerSeries("container_memory_working_set_bytes", job, pod).samples.push_back(end);
    if (options_.ooms) AddContainerSeries("container_oom_events_total", job, pod).samples.push_back(end);
  }
  ended_.push_back(std::move(set));
}

void FeedCell::AddUsage(const Job& job, uint32_t task, Pod& pod, const Steps& s) {
  const Row& row = job.rows[job.next * job.tasks + task % job.tasks];
  // The running pods share the job's load equally. A fixed part of a pod's memory is proportional to the pod's
  // load.
  const double share = static_cast<double>(job.tasks) / static_cast<double>(job.set->pods.size());
  const double memory = 1 + kMemoryOfLoad * (share - 1);
  const double row_cpu = UnpackAmount(row.cpu_mean), peak = memory * UnpackAmount(row.memory_peak);
  const double cpu = share * row_cpu, mean = std::min(memory * UnpackAmount(row.memory_mean), peak);
  const GeneratedJob::LimitChange& limits = LimitAt(job, StepMs(s, s.from));
  const double limit = limits.memory_bytes;
  // Use 0.7 of the distance from mean to peak: the rate over a step varies less than the usage of single seconds.
  const double swing = 0.7 * std::min(UnpackAmount(row.cpu_peak) / row_cpu - 1, 1.5);
  const auto draw = [&](int step) {
    return Draw(kUsage, job.number << 20 | task,
                static_cast<uint64_t>(s.window) << 6 | static_cast<uint64_t>(step));
  };
  double middle = 0;
  for (int k = 0; k < s.steps; ++k) middle += Uniform(draw(k)) / s.steps;
  const int peak_step = static_cast<int>(draw(63) % static_cast<uint64_t>(s.steps));
  const bool kill = options_.ooms && peak > limit && Uniform(draw(62)) < kKillShare;
  // Add the metrics one after the other: adding a series may move series_ in memory, which invalidates the
  // reference to the previous series.
  const double seconds = static_cast<double>(kWindowSeconds) / s.steps;
  const double kills_before = pod.oom_kills;
  const Pod before = pod;
  server::RemoteSeries& cpu_series = AddContainerSeries("container_cpu_usage_seconds_total", job, pod);
  for (int k = s.from; k < s.to; ++k) {
    if (std::exchange(pod.killed, false)) {
      pod.cpu_seconds = 0;
      ++pod.oom_kills;
      ++oom_kills_;
    }
    cpu_series.samples.push_back({pod.cpu_seconds, StepMs(s, k) + pod.offset_ms});
    double cores = cpu * std::max(0.1, 1 + swing * (Uniform(draw(k)) - middle));
    if (options_.ooms) cores = std::min(cores, double{limits.cpu_cores});
    pod.cpu_seconds += cores * seconds;
    pod.killed = kill && k == peak_step;
  }
  server::RemoteSeries& memory_series = AddContainerSeries("container_memory_working_set_bytes", job, pod);
  bool killed = before.killed;
  for (int k = s.from; k < s.to; ++k) {
    double value = k == peak_step ? peak : mean - 0.5 * (peak - mean) * Uniform(draw(k));
    if (killed) value *= kAfterRestart;
    if (options_.ooms) value = std::min(value, limit);
    memory_series.samples.push_back({std::round(value), StepMs(s, k) + pod.offset_ms});
    killed = kill && k == peak_step;
  }
  if (!options_.ooms || (s.from != 0 && pod.oom_kills == kills_before)) return;
  AddContainerSeries("container_oom_events_total", job, pod)
      .samples.push_back({pod.oom_kills, StepMs(s, s.to - 1) + pod.offset_ms});
}

const GeneratedJob::LimitChange& FeedCell::LimitAt(const Job& job, int64_t time_ms) const {
  const int64_t in_cell = (time_ms / 1000 - options_.start_s) % (windows_ * kWindowSeconds);
  size_t i = 0;
  while (i + 1 < job.limits.size() && job.limits[i + 1].from_s <= in_cell) ++i;
  return job.limits[i];
}

void FeedCell::AddLimits(const Job& job, const Pod& pod, int64_t time_ms) {
  const GeneratedJob::LimitChange& limit = LimitAt(job, time_ms);
  const auto add = [&](std::string_view resource, std::string_view unit, double value) {
    AddFact({{kMetricNameLabel, "kube_pod_container_resource_limits"},
             {"cluster", cluster_},
             {"container", kContainer},
             {"job", "kube-state-metrics"},
             {"namespace", job.name_space},
             {"node", pod.node},
             {"pod", pod.name},
             {"resource", resource},
             {"unit", unit}},
            value, time_ms);
  };
  add("cpu", "core", static_cast<double>(limit.cpu_cores));
  add("memory", "byte", static_cast<double>(limit.memory_bytes));
}

void FeedCell::AddFacts(const Job& job, int64_t time_ms) {
  const bool cron = job.owner == Owner::kCronJob, numbered = job.owner == Owner::kStatefulSet;
  const std::string_view kind = cron ? "Job" : numbered ? "StatefulSet" : "ReplicaSet";
  const auto owner = [&](std::string_view metric, std::string_view child, std::string_view child_name,
                         std::string_view owner_kind, std::string_view owner_name) {
    AddFact({{kMetricNameLabel, metric},
             {"cluster", cluster_},
             {"job", "kube-state-metrics"},
             {"namespace", job.name_space},
             {"owner_is_controller", "true"},
             {"owner_kind", owner_kind},
             {"owner_name", owner_name},
             {child, child_name}},
            1, time_ms);
  };
  if (cron) owner("kube_job_owner", "job_name", job.set->name, "CronJob", job.name);
  if (!cron && !numbered) owner("kube_replicaset_owner", "replicaset", job.set->name, "Deployment", job.name);
  for (const Pod& pod : job.set->pods) {
    owner("kube_pod_owner", "pod", pod.name, kind, job.set->name);
    AddLimits(job, pod, time_ms);
  }
}

void FeedCell::AddFact(std::initializer_list<LabelView> labels, double value, int64_t time_ms) {
  AddSeries(labels).samples.push_back({value, time_ms});
}

server::RemoteSeries& FeedCell::AddSeries(std::initializer_list<LabelView> labels) {
  if (used_ == series_.size()) series_.emplace_back();
  server::RemoteSeries& out = series_[used_++];
  out.labels.assign(labels);
  std::sort(out.labels.begin(), out.labels.end(),
            [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  out.samples.clear();
  return out;
}

server::RemoteSeries& FeedCell::AddContainerSeries(std::string_view metric, const Job& job, const Pod& pod) {
  return AddSeries({{kMetricNameLabel, metric},
                    {"cluster", cluster_},
                    {"container", kContainer},
                    {"instance", pod.instance},
                    {"job", "kubelet"},
                    {"namespace", job.name_space},
                    {"node", pod.node},
                    {"pod", pod.name},
                    {"tier", job.tier}});
}

}  // namespace taut::tools
