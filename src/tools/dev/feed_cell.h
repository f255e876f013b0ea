// A simulated cell in the form in which Prometheus reports a cluster: named pods, counters, limits, deploys and
// OOM kills.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/ingest/remote_write.h"
#include "tools/trace/generate.h"

namespace taut::tools {

struct FeedCellOptions {
  int jobs = 200;
  int days = 42;
  uint64_t seed = 1;
  int max_tasks = 40;  // maximum number of tasks of a job
  bool ooms = false;   // true: some tasks with usage above their owner's limit are killed
  // Start of the cell's first window, seconds since the epoch, a multiple of 300. Affects only the timestamps and
  // the minutes in the pod names of cron jobs.
  int64_t start_s = 0;
};

// Returns the default length, in days, of the data set for `jobs` jobs: 42 days, or as many days as fit in
// kFeedBytes, but at least `history_days`.
int FeedDays(int jobs, int history_days);
inline constexpr int64_t kFeedBytes = int64_t{1} << 30;
// Returns the approximate memory of a data set in bytes.
int64_t FeedBytes(int jobs, int days);

// Generates scrapes with the labels and metrics of cAdvisor and kube-state-metrics, which the built-in mapping
// rules read. Not thread-safe. Memory: 8 bytes per task and window, and about 2 KB per pod.
class FeedCell {
 public:
  // Generates the cell. Returns InvalidArgument if Check(GenerateOptions) rejects the options.
  static absl::StatusOr<std::unique_ptr<FeedCell>> Generate(const FeedCellOptions& options);

  // The steps [from, to) of a window that is divided into `steps` equal steps. A pod is scraped once per step,
  // after a delay that is fixed for the pod and at most kMaxOffsetSeconds.
  struct Steps {
    int64_t window = 0;  // window of the cell; after its last window the cell repeats with new pods
    int steps = 5, from = 0, to = 5;
  };
  // Divides the load of the job named `name` in tautd among `tasks` pods, from the next window on. Uses the number
  // in the data if `tasks` is absent. Returns false if the job does not exist or cannot be scaled, such as a
  // CronJob.
  bool SetTasks(std::string_view name, std::optional<uint32_t> tasks);
  // Passes the series of the steps to `send`, about max_series per call. The span is valid during the call.
  // Returns the first error of `send`. REQUIRES: windows and steps ascend, and no step is scraped twice. Cost:
  // about 0.2 us per sample.
  absl::Status Scrape(const Steps& steps, size_t max_series,
                      absl::FunctionRef<absl::Status(std::span<const server::RemoteSeries>)> send);

  int64_t windows() const { return windows_; }
  int64_t start_s() const { return options_.start_s; }
  size_t num_jobs() const { return jobs_.size(); }
  uint64_t samples() const { return samples_; }  // number of samples sent so far
  uint64_t oom_kills() const { return oom_kills_; }
  uint64_t deploys() const { return deploys_; }

  // Maximum delay of a pod's scrape after the beginning of a step, in seconds.
  static constexpr int64_t kMaxOffsetSeconds = 5;

 private:
  enum class Owner : uint8_t { kDeployment, kStatefulSet, kCronJob };
  struct Row {  // usage of a task in a window, encoded by PackAmount()
    uint16_t cpu_mean = 0, cpu_peak = 0, memory_mean = 0, memory_peak = 0;
  };
  struct Pod {
    std::string name, node, instance;
    int64_t offset_ms = 0;
    double cpu_seconds = 0;
    double oom_kills = 0;
    bool killed = false;  // true if the pod was killed in the previous step
  };
  struct PodSet {
    std::string name;  // name of the ReplicaSet or Job that owns the pods, or of the StatefulSet
    std::vector<Pod> pods;
  };
  struct Job {
    Owner owner = Owner::kDeployment;
    std::string name_space, name, tier;
    uint64_t number = 0;
    uint32_t tasks = 1;               // number of tasks in the data set
    std::optional<uint32_t> ordered;  // ordered number of tasks, which replaces `tasks`; absent: no order
    std::vector<GeneratedJob::LimitChange> limits;
    std::vector<int32_t> windows;  // numbers of the windows with usage, ascending
    std::vector<Row> rows;         // usage of all windows: `tasks` rows per window
    // State of the replay:
    size_t next = 0;              // index into `windows` of the next window with usage
    int64_t lap = 0;              // number of repetitions of the cell so far
    std::unique_ptr<PodSet> set;  // null while the job does not run
  };
  using SendFn = absl::FunctionRef<absl::Status(std::span<const server::RemoteSeries>)>;

  explicit FeedCell(const FeedCellOptions& options) : options_(options) {}
  void AddJob(const GeneratedJob& job);
  void NameJobs();
  // Starts, ends and scales the job's pods for a window. Returns true if the job runs in the window.
  bool ChangePods(Job& job, const Steps& s);
  void StartPods(Job& job, int64_t window);
  void StartPod(const Job& job, int64_t window, uint32_t number, Pod& pod) const;
  void EndPods(Job& job, int64_t time_ms);
  void EndPodsOf(const Job& job, std::unique_ptr<PodSet> set, int64_t time_ms);
  // Changes the number of pods to the ordered number. Returns true if pods started.
  bool ScalePods(Job& job, int64_t window, int64_t time_ms);
  static uint32_t PodsOf(const Job& job) { return job.ordered.value_or(job.tasks); }
  void AddUsage(const Job& job, uint32_t task, Pod& pod, const Steps& s);
  void AddFacts(const Job& job, int64_t time_ms);
  void AddLimits(const Job& job, const Pod& pod, int64_t time_ms);
  void AddFact(std::initializer_list<LabelView> labels, double value, int64_t time_ms);
  // Appends a series without samples and returns it with sorted labels. The reference is valid until the next
  // call.
  server::RemoteSeries& AddSeries(std::initializer_list<LabelView> labels);
  server::RemoteSeries& AddContainerSeries(std::string_view metric, const Job& job, const Pod& pod);
  absl::Status Flush(SendFn send);
  const GeneratedJob::LimitChange& LimitAt(const Job& job, int64_t time_ms) const;
  uint64_t Draw(uint64_t a, uint64_t b, uint64_t c = 0) const;
  int64_t StepMs(const Steps& s, int step) const;

  const FeedCellOptions options_;
  int64_t windows_ = 0;
  std::string cluster_;
  std::vector<std::string> programs_;  // name of each job's program; empty after NameJobs()
  std::vector<Job> jobs_;
  // The first used_ elements are in use. The other elements keep their memory for reuse.
  std::vector<server::RemoteSeries> series_;
  size_t used_ = 0;
  std::vector<std::unique_ptr<PodSet>> ended_;  // kept until Flush(), because series_ refers to their names
  uint64_t samples_ = 0, oom_kills_ = 0, deploys_ = 0;
};

}  // namespace taut::tools
