#include "brain/recommend/vpa.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr double kGrowth = 1.05;
constexpr double kEpsilon = 0.001 * 0.1;  // a bucket with less weight counts as empty
// exponent at which weights are rescaled: a new sample would weigh more than 2^100
constexpr double kMaxExponent = 100;
constexpr double kCpuWeight = 0.1;
constexpr double kSamplesPerDay = 1440;
// Defaults of the VPA's updater.
constexpr int32_t kUpdaterWindows = 12 * kWindowsPerHour;
constexpr double kUpdaterDifference = 0.1;
// Flag in the stored number of samples: the checkpoint contains the updater's state.
constexpr uint32_t kHasApplied = 1U << 31U;

}  // namespace

VpaHistogram::VpaHistogram(double first, double half_life_s)
    : first_(first), half_life_s_(half_life_s), weights_(kBuckets, 0.0) {}

absl::StatusOr<VpaHistogram> VpaHistogram::OfCheckpoint(double first, double half_life_s,
                                                        std::span<const Weight> weights, double total,
                                                        int64_t reference_s) {
  VpaHistogram out(first, half_life_s);
  double sum = 0;
  for (const Weight& w : weights) {
    if (w.bucket < 0 || w.bucket >= kBuckets)
      return absl::InvalidArgumentError(StrCat("bucket ", w.bucket, ": expected 0 to ", kBuckets - 1));
    sum += w.weight;
  }
  if (!IsStoredAmount(total) || (sum > 0) != (total > 0))
    return absl::InvalidArgumentError(StrCat("totalWeight ", total, " of weights that add up to ", sum));
  if (sum == 0) return out;
  for (const Weight& w : weights) out.weights_[static_cast<size_t>(w.bucket)] += w.weight * (total / sum);
  out.total_ = total;
  out.reference_s_ = reference_s;
  out.started_ = true;
  return out;
}

double VpaHistogram::BucketStart(double first, int n) {
  return first * (std::pow(kGrowth, n) - 1) / (kGrowth - 1);
}

int VpaHistogram::BucketOf(double value) const {
  if (value < first_) return 0;
  const int n = static_cast<int>(std::log(value * (kGrowth - 1) / first_ + 1) / std::log(kGrowth));
  return std::min(n, kBuckets - 1);
}

void VpaHistogram::Rescale(int64_t time_s) {
  // The reference moves by whole half-lives, so that the factor is an exact power of two.
  const auto half_life = static_cast<int64_t>(half_life_s_);
  const int64_t reference = FloorDiv(time_s, half_life) * half_life;
  const double factor = std::exp2(static_cast<double>(reference_s_ - reference) / half_life_s_);
  for (double& w : weights_) w *= factor;
  total_ *= factor;
  reference_s_ = reference;
}

void VpaHistogram::Add(double value, double weight, int64_t time_s) {
  if (!started_) {
    reference_s_ = time_s;
    started_ = true;
  }
  double exponent = static_cast<double>(time_s - reference_s_) / half_life_s_;
  if (exponent > kMaxExponent) {
    Rescale(time_s);
    exponent = static_cast<double>(time_s - reference_s_) / half_life_s_;
  }
  const double scaled = weight * std::exp2(exponent);
  double& bucket = weights_[static_cast<size_t>(BucketOf(value))];
  // Removing a sample may leave rounding noise, which must not become a negative weight.
  const double before = bucket;
  bucket = std::max(0.0, bucket + scaled);
  total_ += bucket - before;
}

bool VpaHistogram::empty() const {
  return std::none_of(weights_.begin(), weights_.end(), [](double w) { return w >= kEpsilon; });
}

double VpaHistogram::Percentile(double p) const {
  int first = 0;
  int last = kBuckets - 1;
  while (first < kBuckets && weights_[static_cast<size_t>(first)] < kEpsilon) ++first;
  if (first == kBuckets) return 0;
  while (weights_[static_cast<size_t>(last)] < kEpsilon) --last;
  const double threshold = p * total_;
  double sum = 0;
  int n = first;
  for (; n < last; ++n) {
    sum += weights_[static_cast<size_t>(n)];
    if (sum >= threshold) break;
  }
  return n < kBuckets - 1 ? BucketStart(first_, n + 1) : BucketStart(first_, n);
}

void VpaHistogram::Save(ByteWriter& out) const {
  out.Put(reference_s_);
  out.Put<uint8_t>(started_ ? 1 : 0);
  out.Put(total_);  // the unrounded total, because cumulative weights may equal a percentile's threshold
  uint64_t used = 0;
  for (double w : weights_) used += w > 0 ? 1 : 0;
  out.PutVarint(used);
  for (int i = 0; i < kBuckets; ++i) {
    if (weights_[static_cast<size_t>(i)] <= 0) continue;
    out.Put<uint8_t>(static_cast<uint8_t>(i));
    out.Put(weights_[static_cast<size_t>(i)]);
  }
}

absl::Status VpaHistogram::Load(ByteReader& in) {
  reference_s_ = in.Get<int64_t>();
  started_ = in.Get<uint8_t>() != 0;
  const auto total = in.Get<double>();
  const uint64_t used = in.GetVarint();
  if (used > kBuckets) return absl::DataLossError("VPA histogram: more buckets than there are");
  std::fill(weights_.begin(), weights_.end(), 0.0);
  double sum = 0;
  for (uint64_t i = 0; i < used; ++i) {
    const auto n = in.Get<uint8_t>();
    const auto w = in.Get<double>();
    if (n >= kBuckets || !IsStoredAmount(w)) return absl::DataLossError("VPA histogram: impossible bucket");
    weights_[n] = w;
    sum += w;
  }
  if (absl::Status s = in.status("VPA histogram"); !s.ok()) return s;
  constexpr int64_t kMaxTime = int64_t{kMaxStoredWindow} * kWindowSeconds;
  if (reference_s_ < -kMaxTime || reference_s_ > kMaxTime ||
      !(std::abs(sum - total) <= 1e-6 * sum + kEpsilon)) {
    return absl::DataLossError("VPA histogram: weights that do not add up");
  }
  total_ = total;
  return absl::OkStatus();
}

VpaEstimate VpaBounds(double p50, double p90, double p95, double confidence_days, double minimum,
                      double margin) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double with_margin = 1 + margin;
  VpaEstimate e;
  e.target = std::max(minimum, p90 * with_margin);
  const double low = confidence_days > 0 ? std::pow(1 + 0.001 / confidence_days, -2.0) : 0;
  const double high = confidence_days > 0 ? 1 + 1 / confidence_days : infinity;
  e.lower = std::max(minimum, p50 * with_margin * low);
  e.upper = std::max(minimum, p95 * with_margin * high);
  return e;
}

VpaEstimate EstimateOf(const VpaHistogram& histogram, Resource resource, const VpaSettings& settings,
                       double confidence_days) {
  const double minimum = InCores(resource) ? settings.min_cpu_cores : settings.min_memory_bytes;
  return VpaBounds(histogram.Percentile(settings.lower_percentile), histogram.Percentile(settings.percentile),
                   histogram.Percentile(settings.upper_percentile), confidence_days, minimum,
                   settings.margin);
}

namespace {

constexpr double kMostBytes = 1e15;  // bytes; above the last bucket

class VpaRecommender final : public Recommender {
 public:
  VpaRecommender(Resource resource, VpaSettings settings, OomSettings oom)
      : resource_(resource),
        settings_(settings),
        oom_(oom),
        histogram_(InCores(resource) ? VpaHistogram::kFirstCpu : VpaHistogram::kFirstMemory,
                   settings.half_life_s) {}

  void Observe(const Signal& signal) override {
    if (signal.tasks.empty()) return;
    if (samples_ == 0) first_window_ = signal.window.index;
    last_window_ = signal.window.index;
    samples_ += static_cast<uint32_t>(signal.tasks.size());
    const int64_t time_s = signal.window.start_s();
    for (const TaskUsage& t : signal.tasks) {
      if (ThrottlesAtLimit(resource_)) {
        histogram_.Add(t.mean, kCpuWeight, time_s);
      } else {
        AddPeak(t.task, t.peak, time_s);
      }
    }
  }
  void ObserveOom(const OomEvent& event) override {
    // Repeated kills multiply the peak, which must stay within the histogram.
    const double need = std::min(OomBump(std::max(event.limit, PeakOf(event.task)), oom_), kMostBytes);
    AddPeak(event.task, need, event.window.start_s());
    applied_ = -1;  // every OOM counts as a "quick" OOM, after which the updater does not wait
  }
  // A running container receives the target by the updater's rules (docs/references.md, "Kubernetes VPA"). The
  // target applies at once if the container's request is outside [lower, upper]. Otherwise the target applies if
  // the container has run for 12 h and the target differs by 10 %.
  std::optional<double> Recommend(WindowId next) override {
    if (samples_ == 0) return std::nullopt;
    const VpaEstimate e = Estimate();
    const bool outside = applied_ < e.lower || applied_ > e.upper;
    const bool old = next.index - applied_window_ >= kUpdaterWindows;
    if (applied_ < 0 || outside || (old && std::abs(e.target - applied_) >= kUpdaterDifference * applied_)) {
      if (e.target != applied_) applied_window_ = next.index;
      applied_ = e.target;
    }
    return applied_;
  }
  void Explain(Reason& reason) const override {
    reason.recommender = "vpa";
    reason.sentence = "What the Kubernetes VPA would set: the 90th percentile of the last days and 15 %.";
    const std::string unit(UnitName(resource_));
    const VpaEstimate e = Estimate();
    reason.facts.push_back({"samples", static_cast<double>(samples_), ""});
    reason.facts.push_back({"confidence", ConfidenceDays(), "days"});
    reason.facts.push_back({"lower bound", e.lower, unit});
    reason.facts.push_back({"upper bound", e.upper, unit});
    const double p90 = histogram_.Percentile(settings_.percentile);
    reason.why = fmt::format("p90 of the usage is {}, and a margin", FormatAmount(resource_, p90));
    reason.steps.push_back({"p90", 0, p90});
    reason.steps.push_back({"margin 15 % and minimum", p90, e.target});
    if (applied_ >= 0 && applied_ != e.target) {
      reason.steps.push_back(
          {"the updater leaves what is within the bounds and near the target", e.target, applied_});
    }
  }
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<VpaRecommender>(*this); }
  size_t state_bytes() const override {
    return sizeof(*this) + VpaHistogram::kBuckets * sizeof(double) + peaks_.capacity() * sizeof(DayPeak);
  }
  void Save(ByteWriter& out) const override {
    histogram_.Save(out);
    out.Put(first_window_);
    out.Put(last_window_);
    out.Put(samples_ | kHasApplied);
    out.Put(applied_);
    out.Put(applied_window_);
    out.PutVarint(peaks_.size());
    for (const DayPeak& p : peaks_) {
      out.PutVarint(p.task);
      out.Put(p.window_end_s);
      out.Put(p.peak);
    }
  }
  absl::Status Load(ByteReader& in) override {
    if (absl::Status s = histogram_.Load(in); !s.ok()) return s;
    first_window_ = in.Get<int32_t>();
    last_window_ = in.Get<int32_t>();
    samples_ = in.Get<uint32_t>();
    applied_ = -1;
    if ((samples_ & kHasApplied) != 0) {
      samples_ &= ~kHasApplied;
      applied_ = in.Get<double>();
      applied_window_ = in.Get<int32_t>();
    }
    const uint64_t size = in.GetVarint();
    if (in.failed() || size > in.remaining()) return absl::DataLossError("VPA: fewer peaks than announced");
    bool possible = IsStoredWindow(first_window_) && IsStoredWindow(last_window_) &&
                    IsStoredWindow(applied_window_) && (applied_ == -1 || IsStoredAmount(applied_));
    peaks_.clear();
    for (uint64_t i = 0; i < size; ++i) {
      DayPeak p;
      p.task = static_cast<uint32_t>(in.GetVarint());
      p.window_end_s = in.Get<int64_t>();
      p.peak = in.Get<double>();
      const auto end =
          static_cast<int32_t>(std::clamp<int64_t>(p.window_end_s / kWindowSeconds, INT32_MIN, INT32_MAX));
      possible = possible && IsStoredWindow(end) && IsStoredAmount(p.peak) &&
                 (peaks_.empty() || peaks_.back().task < p.task);
      peaks_.push_back(p);
    }
    if (absl::Status s = in.status("VPA"); !s.ok()) return s;
    return possible ? absl::OkStatus() : absl::DataLossError("VPA: an impossible window or peak");
  }

 private:
  // The memory peak of one container in its current 24 h window.
  struct DayPeak {
    uint32_t task = 0;
    int64_t window_end_s = 0;
    double peak = 0;
  };

  DayPeak& FindPeak(uint32_t task, int64_t time_s) {
    auto it = std::lower_bound(peaks_.begin(), peaks_.end(), task,
                               [](const DayPeak& p, uint32_t id) { return p.task < id; });
    if (it == peaks_.end() || it->task != task) it = peaks_.insert(it, {task, time_s, 0});
    return *it;
  }
  double PeakOf(uint32_t task) const {
    for (const DayPeak& p : peaks_) {
      if (p.task == task) return p.peak;
    }
    return 0;
  }
  void AddPeak(uint32_t task, double value, int64_t time_s) {
    DayPeak& p = FindPeak(task, time_s);
    if (time_s < p.window_end_s) {
      if (value <= p.peak) return;
      // A higher peak of the same 24 h window replaces the lower peak, even if the lower peak is 0 bytes.
      histogram_.Add(p.peak, -1, p.window_end_s);
    } else {
      const auto window = static_cast<int64_t>(settings_.memory_window_s);
      p.window_end_s += ((time_s - p.window_end_s) / window + 1) * window;
    }
    p.peak = value;
    histogram_.Add(value, 1, p.window_end_s);
  }
  double ConfidenceDays() const {
    const double days = static_cast<double>(last_window_ - first_window_) / kWindowsPerDay;
    // A 5-minute window counts as five one-minute samples of the VPA.
    return std::min(days, samples_ * (kWindowSeconds / 60.0) / kSamplesPerDay);
  }
  VpaEstimate Estimate() const { return EstimateOf(histogram_, resource_, settings_, ConfidenceDays()); }

  Resource resource_;
  VpaSettings settings_;
  OomSettings oom_;
  VpaHistogram histogram_;
  std::vector<DayPeak> peaks_;  // peaks in ascending order of tasks
  double applied_ = -1;         // request that the updater has set; < 0: none
  int32_t applied_window_ = 0;
  int32_t first_window_ = 0;
  int32_t last_window_ = 0;
  uint32_t samples_ = 0;
};

}  // namespace

std::unique_ptr<Recommender> NewVpaRecommender(Resource resource, VpaSettings settings, OomSettings oom) {
  return std::make_unique<VpaRecommender>(resource, settings, oom);
}

}  // namespace taut::brain
