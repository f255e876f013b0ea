#include "brain/recommend/report_tools.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <vector>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/base/quantile.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr int kMaxSlices = 400;

// Runs a tool once per slice, the time between two runs. Slices are numbered by the day in which they begin.
class DailyRun {
 public:
  explicit DailyRun(int32_t window_of_day) : window_of_day_(window_of_day) {}

  int32_t SliceOf(int32_t window) const {
    return static_cast<int32_t>(FloorDiv(int64_t{window} - window_of_day_, kWindowsPerDay));
  }
  void Begin(int32_t window) {
    if (!begun_) last_ = SliceOf(window);
    begun_ = true;
  }
  // Returns true, once per slice, if the tool runs before window `next`.
  bool IsDue(int32_t next) {
    if (!begun_ || SliceOf(next) <= last_) return false;
    last_ = SliceOf(next);
    return true;
  }
  void Save(ByteWriter& out) const {
    out.Put<uint8_t>(begun_ ? 1 : 0);
    out.Put(last_);
  }
  bool Load(ByteReader& in) {
    begun_ = in.Get<uint8_t>() != 0;
    last_ = in.Get<int32_t>();
    return IsStoredDay(last_);
  }

 private:
  int32_t window_of_day_;
  bool begun_ = false;
  int32_t last_ = 0;  // slice of the last run, or of the first window
};

void SaveLimit(const std::optional<double>& limit, ByteWriter& out) { out.Put(limit.value_or(-1.0)); }
bool LoadLimit(ByteReader& in, std::optional<double>& limit) {
  const auto value = in.Get<double>();
  limit = value >= 0 ? std::optional(value) : std::nullopt;
  return value == -1 || IsStoredAmount(value);
}

class KrrRecommender final : public Recommender {
 public:
  KrrRecommender(Resource resource, const KrrSettings& settings, int32_t decision_window)
      : resource_(resource), settings_(settings), run_(decision_window) {}

  void Observe(const Signal& signal) override {
    if (signal.tasks.empty()) return;
    run_.Begin(signal.window.index);
    Slice& slice = SliceAt(signal.window.index);
    slice.task_windows += static_cast<uint32_t>(signal.tasks.size());
    slice.peak = std::max(slice.peak, static_cast<float>(signal.peak));
    if (!ThrottlesAtLimit(resource_)) return;
    for (const TaskUsage& t : signal.tasks) PodOf(t.task).Add(slice.number, t.mean);
  }
  void ObserveOom(const OomEvent& event) override {
    run_.Begin(event.window.index);
    Slice& slice = SliceAt(event.window.index);
    slice.oom = std::max(slice.oom, static_cast<float>(event.limit));
  }
  std::optional<double> Recommend(WindowId next) override {
    if (!run_.IsDue(next.index)) return limit_;
    DropBefore(run_.SliceOf(next.index) - static_cast<int32_t>(settings_.days));
    double points = 0;
    for (const Slice& s : slices_) points += kPointsPerWindow * s.task_windows;
    if (points < settings_.min_points) return limit_;  // KRR reports "?" and the limit stays
    limit_ = ThrottlesAtLimit(resource_) ? CpuRequest() : MemoryRequest();
    return limit_;
  }
  void Explain(Reason& reason) const override {
    reason.recommender = "krr";
    const bool cpu = ThrottlesAtLimit(resource_);
    reason.sentence =
        cpu ? fmt::format("KRR's simple strategy: the highest p{:g} of a task over {:g} days, once a day.",
                          100 * settings_.cpu_percentile, settings_.days)
            : fmt::format("KRR's simple strategy: the highest usage of {:g} days and {:.0f} %, once a day.",
                          settings_.days, 100 * settings_.memory_margin);
    if (!limit_.has_value()) return;
    reason.why =
        cpu ? "KRR: the 95th percentile of the task that needs most" : "KRR: the highest usage, and a margin";
    reason.steps.push_back({cpu ? "percentile and minimum" : "peak, margin and minimum", 0, *limit_});
  }
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<KrrRecommender>(*this); }
  size_t state_bytes() const override {
    size_t bytes = sizeof(*this) + slices_.size() * sizeof(Slice);
    for (const auto& [task, pod] : pods_) bytes += pod.bytes();
    return bytes;
  }
  void Save(ByteWriter& out) const override;
  absl::Status Load(ByteReader& in) override;

 private:
  // KRR's default step: one point every 75 s.
  static constexpr double kPointsPerWindow = kWindowSeconds / 75.0;

  struct Slice {
    int32_t number = 0;
    uint32_t task_windows = 0;
    float peak = 0;
    float oom = 0;  // highest limit at which a task was killed; 0: no kill
  };
  // The CPU samples of one task, in the order of time.
  struct Pod {
    std::vector<float> samples;
    std::vector<std::pair<int32_t, uint32_t>> counts;  // slices and the numbers of their samples

    void Add(int32_t slice, float sample) {
      if (counts.empty() || counts.back().first != slice) counts.emplace_back(slice, 0);
      ++counts.back().second;
      samples.push_back(sample);
    }
    void DropBefore(int32_t slice) {
      size_t gone = 0;
      size_t dropped = 0;
      while (gone < counts.size() && counts[gone].first < slice) dropped += counts[gone++].second;
      counts.erase(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(gone));
      samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(dropped));
    }
    size_t bytes() const {
      return sizeof(*this) + samples.capacity() * sizeof(float) + counts.capacity() * sizeof(counts[0]);
    }
  };

  Slice& SliceAt(int32_t window) {
    const int32_t number = run_.SliceOf(window);
    if (slices_.empty() || slices_.back().number < number) slices_.push_back({.number = number});
    return slices_.back();
  }
  Pod& PodOf(uint32_t task) { return pods_[task]; }
  void DropBefore(int32_t slice) {
    while (!slices_.empty() && slices_.front().number < slice) slices_.pop_front();
    for (auto& [task, pod] : pods_) pod.DropBefore(slice);
    std::erase_if(pods_, [](const auto& entry) { return entry.second.samples.empty(); });
  }
  double CpuRequest() const {
    double highest = 0;
    std::vector<float> sorted;
    for (const auto& [task, pod] : pods_) {
      sorted = pod.samples;
      highest = std::max(highest, InterpolatedQuantile(sorted, settings_.cpu_percentile));
    }
    return std::max(highest, settings_.min_cpu_cores);
  }
  double MemoryRequest() const {
    double peak = 0;
    double oom = 0;
    for (const Slice& s : slices_) {
      peak = std::max<double>(peak, s.peak);
      oom = std::max<double>(oom, s.oom);
    }
    return std::max(
        {peak * (1 + settings_.memory_margin), oom * (1 + settings_.oom_margin), settings_.min_memory_bytes});
  }

  Resource resource_;
  KrrSettings settings_;
  DailyRun run_;
  std::optional<double> limit_;
  std::deque<Slice> slices_;
  std::map<uint32_t, Pod> pods_;  // CPU samples by task; empty for memory
};

void KrrRecommender::Save(ByteWriter& out) const {
  run_.Save(out);
  SaveLimit(limit_, out);
  out.PutVarint(slices_.size());
  for (const Slice& s : slices_) {
    out.Put(s.number);
    out.Put(s.task_windows);
    out.Put(s.peak);
    out.Put(s.oom);
  }
  out.PutVarint(pods_.size());
  for (const auto& [task, pod] : pods_) {
    out.PutVarint(task);
    out.PutVarint(pod.counts.size());
    size_t next = 0;
    for (const auto& [slice, count] : pod.counts) {
      out.Put(slice);
      out.PutVarint(count);
      for (uint32_t i = 0; i < count; ++i) out.Put(pod.samples[next++]);
    }
  }
}

absl::Status KrrRecommender::Load(ByteReader& in) {
  bool possible = run_.Load(in);
  possible = LoadLimit(in, limit_) && possible;
  slices_.clear();
  pods_.clear();
  const uint64_t slices = in.GetVarint();
  if (in.failed() || slices > kMaxSlices) return absl::DataLossError("krr: more days than it keeps");
  for (uint64_t i = 0; i < slices; ++i) {
    Slice s{.number = in.Get<int32_t>()};
    s.task_windows = in.Get<uint32_t>();
    s.peak = in.Get<float>();
    s.oom = in.Get<float>();
    possible = possible && IsStoredDay(s.number) && IsStoredAmount(s.peak) && IsStoredAmount(s.oom) &&
               (slices_.empty() || slices_.back().number < s.number);
    slices_.push_back(s);
  }
  const uint64_t pods = in.GetVarint();
  for (uint64_t i = 0; i < pods && !in.failed(); ++i) {
    Pod& pod = pods_[static_cast<uint32_t>(in.GetVarint())];
    const uint64_t counts = in.GetVarint();
    for (uint64_t c = 0; c < counts && !in.failed(); ++c) {
      const auto slice = in.Get<int32_t>();
      const uint64_t count = in.GetVarint();
      possible = possible && IsStoredDay(slice) && count > 0;
      for (uint64_t n = 0; n < count && !in.failed(); ++n) {
        const auto sample = in.Get<float>();
        possible = possible && IsStoredAmount(sample);
        pod.Add(slice, sample);
      }
    }
  }
  if (absl::Status s = in.status("krr"); !s.ok()) return s;
  return possible ? absl::OkStatus() : absl::DataLossError("krr: an impossible day or sample");
}

class CraneRecommender final : public Recommender {
 public:
  CraneRecommender(Resource resource, const CraneSettings& settings, const OomSettings& oom,
                   int32_t decision_window)
      : resource_(resource),
        settings_(settings),
        oom_(oom),
        bucket_(InCores(resource) ? 0.1 : 100 * kMiB),
        run_(decision_window) {}

  void Observe(const Signal& signal) override {
    if (signal.tasks.empty()) return;
    run_.Begin(signal.window.index);
    const int32_t number = run_.SliceOf(signal.window.index);
    if (slices_.empty() || slices_.back().number < number) slices_.push_back({number, {}});
    for (const TaskUsage& t : signal.tasks) {
      const double value = ThrottlesAtLimit(resource_) ? t.mean : t.peak;
      // A sample is weighted by its value, so that the result is a percentile of load instead of time.
      slices_.back().weights[BucketOf(value)] += std::max(kMinWeight, value);
    }
  }
  void ObserveOom(const OomEvent& event) override {
    run_.Begin(event.window.index);
    oom_window_ = event.window.index;
    oom_need_ = OomBump(event.limit, oom_);
  }
  std::optional<double> Recommend(WindowId next) override {
    if (!run_.IsDue(next.index)) return limit_;
    const int32_t first = run_.SliceOf(next.index) - static_cast<int32_t>(settings_.days);
    while (!slices_.empty() && slices_.front().number < first) slices_.pop_front();
    if (slices_.empty()) return limit_;
    percentile_ = Percentile();
    limit_ = percentile_ * (1 + settings_.margin);
    const auto protected_windows = static_cast<int32_t>(settings_.oom_days * kWindowsPerDay);
    if (oom_need_ > 0 && next.index - oom_window_ <= protected_windows) limit_ = std::max(*limit_, oom_need_);
    return limit_;
  }
  void Explain(Reason& reason) const override {
    reason.recommender = "crane";
    reason.sentence = fmt::format(
        "Crane's resource recommendation: p{:g} of the load of {:g} days and {:.0f} %, once a day.",
        100 * settings_.percentile, settings_.days, 100 * settings_.margin);
    if (!limit_.has_value()) return;
    reason.why =
        fmt::format("Crane: the {:g}th percentile of the load, and a margin", 100 * settings_.percentile);
    const double with_margin = percentile_ * (1 + settings_.margin);
    reason.steps.push_back({"percentile", 0, percentile_});
    reason.steps.push_back({"margin", percentile_, with_margin});
    if (*limit_ > with_margin) reason.steps.push_back({"need after an OOM kill", with_margin, *limit_});
  }
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<CraneRecommender>(*this); }
  size_t state_bytes() const override {
    size_t entries = 0;
    for (const Slice& s : slices_) entries += s.weights.size();
    return sizeof(*this) + slices_.size() * sizeof(Slice) + entries * 4 * sizeof(double);
  }
  void Save(ByteWriter& out) const override {
    run_.Save(out);
    SaveLimit(limit_, out);
    out.Put(percentile_);
    out.Put(oom_window_);
    out.Put(oom_need_);
    out.PutVarint(slices_.size());
    for (const Slice& s : slices_) {
      out.Put(s.number);
      out.PutVarint(s.weights.size());
      for (const auto& [bucket, weight] : s.weights) {
        out.PutVarint(static_cast<uint64_t>(bucket));
        out.Put(weight);
      }
    }
  }
  absl::Status Load(ByteReader& in) override {
    bool possible = run_.Load(in);
    possible = LoadLimit(in, limit_) && possible;
    percentile_ = in.Get<double>();
    oom_window_ = in.Get<int32_t>();
    oom_need_ = in.Get<double>();
    possible =
        possible && IsStoredAmount(percentile_) && IsStoredWindow(oom_window_) && IsStoredAmount(oom_need_);
    slices_.clear();
    const uint64_t slices = in.GetVarint();
    if (in.failed() || slices > kMaxSlices) return absl::DataLossError("crane: more days than it keeps");
    for (uint64_t i = 0; i < slices; ++i) {
      Slice s{in.Get<int32_t>(), {}};
      const uint64_t entries = in.GetVarint();
      if (in.failed() || entries > kBuckets) return absl::DataLossError("crane: more buckets than there are");
      for (uint64_t e = 0; e < entries; ++e) {
        const uint64_t bucket = in.GetVarint();
        const auto weight = in.Get<double>();
        possible = possible && bucket < kBuckets && IsStoredAmount(weight);
        s.weights[static_cast<int>(std::min<uint64_t>(bucket, kBuckets - 1))] = weight;
      }
      possible = possible && IsStoredDay(s.number) && (slices_.empty() || slices_.back().number < s.number);
      slices_.push_back(std::move(s));
    }
    if (absl::Status s = in.status("crane"); !s.ok()) return s;
    return possible ? absl::OkStatus() : absl::DataLossError("crane: an impossible day or weight");
  }

 private:
  // Linear buckets of 0.1 cores up to 100 cores, or of 100 MiB up to 1000 * 100 MiB. The last bucket has no
  // upper bound.
  static constexpr int kBuckets = 1001;
  static constexpr double kMinWeight = 1e-5;

  struct Slice {
    int32_t number = 0;
    std::map<int, double> weights;
  };

  int BucketOf(double value) const {
    return static_cast<int>(std::clamp(value / bucket_, 0.0, static_cast<double>(kBuckets - 1)));
  }
  double Percentile() const {
    std::map<int, double> weights;
    double total = 0;
    for (const Slice& s : slices_) {
      for (const auto& [bucket, weight] : s.weights) {
        weights[bucket] += weight;
        total += weight;
      }
    }
    double sum = 0;
    int at = weights.rbegin()->first;
    for (const auto& [bucket, weight] : weights) {
      sum += weight;
      if (sum < settings_.percentile * total) continue;
      at = bucket;
      break;
    }
    return bucket_ * std::min(at + 1, kBuckets - 1);
  }

  Resource resource_;
  CraneSettings settings_;
  OomSettings oom_;
  double bucket_;  // width of a bucket, cores or bytes
  DailyRun run_;
  std::optional<double> limit_;
  double percentile_ = 0;
  int32_t oom_window_ = 0;
  double oom_need_ = 0;  // assumed need after the last kill, cores or bytes; 0: no task was killed
  std::deque<Slice> slices_;
};

}  // namespace

std::unique_ptr<Recommender> NewKrrRecommender(Resource resource, const KrrSettings& settings,
                                               int32_t decision_window) {
  return std::make_unique<KrrRecommender>(resource, settings, decision_window);
}
std::unique_ptr<Recommender> NewCraneRecommender(Resource resource, const CraneSettings& settings,
                                                 const OomSettings& oom, int32_t decision_window) {
  return std::make_unique<CraneRecommender>(resource, settings, oom, decision_window);
}

}  // namespace taut::brain
