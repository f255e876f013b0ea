// A simulated cell as a Prometheus would report it: pods with names, counters, limits, deploys and OOM kills.
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
  int max_tasks = 40;  // of one job
  bool ooms = false;   // tasks above their owner's limit are sometimes killed
  // Unix seconds of the cell's first window, a multiple of 300. Moves times, and the due minutes in the names
  // of cron jobs' pods; changes nothing else.
  int64_t start_s = 0;
};

// The length of the data set of `jobs` jobs that no one chose: 42 days, or fewer where they would take more than
// kFeedBytes, but not less than `history_days`.
int FeedDays(int jobs, int history_days);
inline constexpr int64_t kFeedBytes = int64_t{1} << 30;
// About what a data set takes in memory.
int64_t FeedBytes(int jobs, int days);

// Labels and metrics are those of cAdvisor and kube-state-metrics, as the built-in mapping rules read them.
// One object, one thread. 8 bytes a task and window, and about 2 KB a pod.
class FeedCell {
 public:
  // InvalidArgument as Check(GenerateOptions).
  static absl::StatusOr<std::unique_ptr<FeedCell>> Generate(const FeedCellOptions& options);

  // Some steps of one window: it is cut into `steps` equal ones, each scraped at its begin (and some seconds,
  // each pod its own).
  struct Steps {
    int64_t window = 0;  // of the cell; after the last the cell begins again, with new pods
    int steps = 5, from = 0, to = 5;
  };
  // From the next window on this many pods share the load of a job; absent: as many as the data has. `name` as
  // tautd calls it. False: no such job, or one that is not scaled, as a CronJob.
  bool SetTasks(std::string_view name, std::optional<uint32_t> tasks);
  // Calls `send` with the series of these steps, at most max_series at a time; the span is good during the
  // call. Windows and steps must be taken in time order, none twice. Stops at the first error of `send`.
  // About 0.2 us a sample.
  absl::Status Scrape(const Steps& steps, size_t max_series,
                      absl::FunctionRef<absl::Status(std::span<const server::RemoteSeries>)> send);

  int64_t windows() const { return windows_; }
  int64_t start_s() const { return options_.start_s; }
  size_t num_jobs() const { return jobs_.size(); }
  uint64_t samples() const { return samples_; }  // sent so far
  uint64_t oom_kills() const { return oom_kills_; }
  uint64_t deploys() const { return deploys_; }

  // The longest that a pod is scraped after the begin of its step.
  static constexpr int64_t kMaxOffsetSeconds = 5;

 private:
  enum class Owner : uint8_t { kDeployment, kStatefulSet, kCronJob };
  struct Row {  // amounts as the code of their logarithm
    uint16_t cpu_mean = 0, cpu_peak = 0, memory_mean = 0, memory_peak = 0;
  };
  struct Pod {
    std::string name, node, instance;
    int64_t offset_ms = 0;
    double cpu_seconds = 0;
    double oom_kills = 0;
    bool killed = false;  // in the step before
  };
  struct PodSet {
    std::string name;  // of the ReplicaSet or Job that owns the pods; a StatefulSet's own
    std::vector<Pod> pods;
  };
  struct Job {
    Owner owner = Owner::kDeployment;
    std::string name_space, name, tier;
    uint64_t number = 0;
    uint32_t tasks = 1;               // of the data
    std::optional<uint32_t> ordered;  // that run instead
    std::vector<GeneratedJob::LimitChange> limits;
    std::vector<int32_t> windows;  // ascending
    std::vector<Row> rows;         // `tasks` for each of windows
    // Now.
    size_t next = 0;              // into windows
    int64_t lap = 0;              // of the cell
    std::unique_ptr<PodSet> set;  // null: does not run
  };
  using SendFn = absl::FunctionRef<absl::Status(std::span<const server::RemoteSeries>)>;

  explicit FeedCell(const FeedCellOptions& options) : options_(options) {}
  void AddJob(const GeneratedJob& job);
  void NameJobs();
  // Whether the job runs in this window; its pods begin and end as they should.
  bool ChangePods(Job& job, const Steps& s);
  void StartPods(Job& job, int64_t window);
  void StartPod(const Job& job, int64_t window, uint32_t number, Pod& pod) const;
  void EndPods(Job& job, int64_t time_ms);
  void EndPodsOf(const Job& job, std::unique_ptr<PodSet> set, int64_t time_ms);
  // To as many as are ordered; true: some began.
  bool ScalePods(Job& job, int64_t window, int64_t time_ms);
  static uint32_t PodsOf(const Job& job) { return job.ordered.value_or(job.tasks); }
  void AddUsage(const Job& job, uint32_t task, Pod& pod, const Steps& s);
  void AddFacts(const Job& job, int64_t time_ms);
  void AddLimits(const Job& job, const Pod& pod, int64_t time_ms);
  void AddFact(std::initializer_list<LabelView> labels, double value, int64_t time_ms);
  // The labels up to the end; samples are the caller's.
  server::RemoteSeries& AddSeries(std::initializer_list<LabelView> labels);
  server::RemoteSeries& AddContainerSeries(std::string_view metric, const Job& job, const Pod& pod);
  absl::Status Flush(SendFn send);
  const GeneratedJob::LimitChange& LimitAt(const Job& job, int64_t time_ms) const;
  uint64_t Draw(uint64_t a, uint64_t b, uint64_t c = 0) const;
  int64_t StepMs(const Steps& s, int step) const;

  const FeedCellOptions options_;
  int64_t windows_ = 0;
  std::string cluster_;
  std::vector<std::string> programs_;  // of the jobs, until they are named
  std::vector<Job> jobs_;
  std::vector<server::RemoteSeries> series_;  // the first used_ are in use; kept for their memory
  size_t used_ = 0;
  std::vector<std::unique_ptr<PodSet>> ended_;  // whose names series_ still holds
  uint64_t samples_ = 0, oom_kills_ = 0, deploys_ = 0;
};

}  // namespace taut::tools
