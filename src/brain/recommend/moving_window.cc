#include "brain/recommend/moving_window.h"

#include <algorithm>
#include <cmath>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {

MovingWindowRecommender::MovingWindowRecommender(Resource resource, MovingWindowSettings settings,
                                                 OomSettings oom)
    : resource_(resource),
      settings_(settings),
      oom_(oom),
      histogram_(GridOf(resource),
                 ThrottlesAtLimit(resource) ? settings.cpu_half_life_s : settings.memory_half_life_s),
      average_(histogram_.half_life_s()) {}

void MovingWindowRecommender::Observe(const Signal& signal) {
  if (signal.buckets.empty()) return;
  if (windows_seen_ == 0) first_window_ = signal.window.index;
  last_window_ = signal.window.index;
  ++windows_seen_;
  const int64_t time_s = signal.window.start_s();
  for (const BucketWeight& b : signal.buckets) {
    histogram_.AddToBucket(b.bucket, b.weight, time_s);
  }
  if (ThrottlesAtLimit(resource_) && settings_.job_class == JobClass::kBatch) {
    average_.Add(signal.mean, signal.window);
  }
  if (KillsAtLimit(resource_)) {
    average_.Add(static_cast<double>(signal.tasks.size()), signal.window);
    peak_.Add(signal.window.index, signal.buckets.back().bucket);
  }
}

void MovingWindowRecommender::ObserveOom(const OomEvent& event) {
  const double need = OomBump(event.limit, oom_);
  const Bucket bucket = histogram_.grid().BucketOf(need);
  histogram_.AddToBucket(bucket, 1, event.window.start_s());
  peak_.Add(event.window.index, bucket);
  // The window of the kill may still be open, and the peak must count from this window on.
  if (windows_seen_ > 0) last_window_ = std::max(last_window_, event.window.index);
}

OomTolerance MovingWindowRecommender::tolerance() const {
  if (settings_.oom_tolerance != OomTolerance::kBySize) return settings_.oom_tolerance;
  return average_.Get() >= MovingWindowSettings::kManyTasks ? OomTolerance::kLow : OomTolerance::kMinimal;
}

double MovingWindowRecommender::Statistic() const {
  if (ThrottlesAtLimit(resource_)) {
    switch (settings_.job_class) {
      case JobClass::kBatch:
        return average_.Get();
      case JobClass::kServing:
        return histogram_.Percentile(0.95, PercentileOf::kLoad);
      case JobClass::kServingTolerant:
        return histogram_.Percentile(0.90, PercentileOf::kLoad);
    }
  }
  if (tolerance() == OomTolerance::kLow) return histogram_.Percentile(0.98, PercentileOf::kLoad);
  const auto last_n = static_cast<int32_t>(settings_.peak_days * kWindowsPerDay);
  const std::optional<Bucket> top = peak_.Max(last_window_, last_n);
  // A checkpoint of an older version may have no peaks, because that version stored peaks only for some
  // tolerances.
  const double peak = top.has_value() ? histogram_.grid().UpperBound(*top) : histogram_.Peak();
  if (tolerance() == OomTolerance::kMinimal) return peak;
  return std::max(histogram_.Percentile(0.60, PercentileOf::kLoad), 0.5 * peak);
}

std::string MovingWindowRecommender::StatisticName() const {
  if (ThrottlesAtLimit(resource_)) {
    switch (settings_.job_class) {
      case JobClass::kBatch:
        return "decayed average";
      case JobClass::kServing:
        return "load-adjusted p95";
      case JobClass::kServingTolerant:
        return "load-adjusted p90";
    }
  }
  switch (tolerance()) {
    case OomTolerance::kBySize:
    case OomTolerance::kMinimal:
      return fmt::format("peak of {:g} days", settings_.peak_days);
    case OomTolerance::kLow:
      return "load-adjusted p98";
    case OomTolerance::kIntermediate:
      return fmt::format("larger of load-adjusted p60 and half the peak of {:g} days", settings_.peak_days);
  }
  return {};
}

std::optional<double> MovingWindowRecommender::Recommend(WindowId next) {
  const double age_s = static_cast<double>(next.index - first_window_) * kWindowSeconds;
  if (windows_seen_ == 0 || age_s < settings_.min_history_s) return std::nullopt;
  return Statistic();
}

void MovingWindowRecommender::Explain(Reason& reason) const {
  reason.recommender = "moving_window";
  reason.facts.push_back({"windows seen", static_cast<double>(windows_seen_), ""});
  reason.facts.push_back({"half-life", histogram_.half_life_s() / kHour, "h"});
  reason.facts.push_back({"statistic", StatisticName(), ""});
  if (windows_seen_ == 0) {
    reason.sentence = "No usage has been seen yet, so the owner's limit stays.";
    return;
  }
  const double raw = Statistic();
  reason.facts.push_back({"raw statistic", raw, std::string(UnitName(resource_))});
  reason.facts.push_back({"p50 of usage", histogram_.Percentile(0.5), std::string(UnitName(resource_))});
  reason.facts.push_back(
      {"highest usage still remembered", histogram_.Peak(), std::string(UnitName(resource_))});
  reason.sentence = fmt::format("The {} of the usage, each sample losing half of its weight in {:g} hours.",
                                StatisticName(), histogram_.half_life_s() / kHour);
  reason.why =
      fmt::format("{} of the usage is {}, and a margin", StatisticName(), FormatAmount(resource_, raw));
  reason.steps.push_back({StatisticName(), 0, raw});
}

std::unique_ptr<Recommender> MovingWindowRecommender::Clone() const {
  return std::make_unique<MovingWindowRecommender>(*this);
}

size_t MovingWindowRecommender::state_bytes() const {
  return sizeof(*this) - sizeof(histogram_) - sizeof(peak_) + histogram_.state_bytes() + peak_.state_bytes();
}

void MovingWindowRecommender::Save(ByteWriter& out) const {
  histogram_.Save(out);
  average_.Save(out);
  peak_.Save(out);
  out.Put(first_window_);
  out.Put(last_window_);
  out.Put(windows_seen_);
}

absl::Status MovingWindowRecommender::Load(ByteReader& in) {
  absl::StatusOr<DecayingHistogram> histogram = DecayingHistogram::Load(in, histogram_.grid());
  if (!histogram.ok()) return histogram.status();
  average_.Load(in);
  absl::StatusOr<SlidingMax> peak = SlidingMax::Load(in);
  if (!peak.ok()) return peak.status();
  first_window_ = in.Get<int32_t>();
  last_window_ = in.Get<int32_t>();
  windows_seen_ = in.Get<uint32_t>();
  if (absl::Status s = in.status("moving window"); !s.ok()) return s;
  if (!IsStoredWindow(first_window_) || !IsStoredWindow(last_window_) || !average_.IsPossible()) {
    return absl::DataLossError("moving window: an impossible window or average");
  }
  histogram_ = *std::move(histogram);
  peak_ = *std::move(peak);
  return absl::OkStatus();
}

}  // namespace taut::brain
