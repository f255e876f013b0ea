#include "brain/recommend/wrappers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/recommend/stored_values.h"
#include "common/base/boxed.h"
#include "common/model/oom_bump.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

void AddStep(Reason& reason, std::string_view kind, std::string what, std::optional<double> before,
             std::optional<double> after) {
  if (!after.has_value()) return;
  reason.steps.push_back({std::move(what), before.value_or(0), *after, std::string(kind)});
}

// Sets the explained limit unless an outer wrapper has set it. The explanation thus has the limit of the
// outermost wrapper.
void SetLimit(Reason& reason, std::optional<double> limit) {
  if (!reason.limit.has_value()) reason.limit = limit;
}

class MarginWrapper final : public RecommenderWrapper {
 public:
  MarginWrapper(std::unique_ptr<Recommender> in, MarginSchedule schedule, double scale)
      : RecommenderWrapper(std::move(in)), schedule_(schedule), scale_(scale) {}

  std::optional<double> Recommend(WindowId next) override {
    before_ = inner().Recommend(next);
    if (!before_.has_value()) return std::nullopt;
    return *before_ * Factor();
  }
  void Explain(Reason& reason) const override {
    if (before_.has_value()) SetLimit(reason, *before_ * Factor());
    inner().Explain(reason);
    if (!before_.has_value()) return;
    AddStep(reason, "margin", fmt::format("margin {:.1f} %", 100 * (Factor() - 1)), before_,
            *before_ * Factor());
  }
  std::unique_ptr<Recommender> Clone() const override {
    return std::make_unique<MarginWrapper>(inner().Clone(), schedule_, scale_);
  }

 private:
  double Factor() const {
    // The factor is recomputed only after a change of the limit, because the schedule's logarithm is too slow for
    // every window.
    if (*before_ != factor_for_) {
      factor_for_ = *before_;
      factor_ = 1 + scale_ * schedule_.At(*before_);
    }
    return factor_;
  }

  MarginSchedule schedule_;
  double scale_;
  std::optional<double> before_;
  mutable double factor_for_ = -1;
  mutable double factor_ = 1;
};

class HoldWrapper final : public RecommenderWrapper {
 public:
  HoldWrapper(std::unique_ptr<Recommender> in, int windows)
      : RecommenderWrapper(std::move(in)), windows_(std::clamp(windows, 1, kMaxHoldWindows)) {}

  std::optional<double> Recommend(WindowId next) override {
    before_ = inner().Recommend(next);
    if (!before_.has_value()) return std::nullopt;
    // The ring is a strictly falling sequence of (limit, window): its front is the highest limit of the last
    // windows_.
    if (size_ > 0 && ring_[size_ - 1].window > next.index) size_ = 0;  // the loaded state is of a later time
    while (size_ > 0 && ring_[size_ - 1].limit <= *before_) --size_;
    // a second call for this window replaces the first
    if (size_ > 0 && ring_[size_ - 1].window == next.index) --size_;
    ring_[size_++] = {*before_, next.index};
    int expired = 0;
    while (ring_[expired].window <= next.index - windows_) ++expired;
    if (expired > 0) {
      std::copy(ring_.begin() + expired, ring_.begin() + size_, ring_.begin());
      size_ -= expired;
    }
    return ring_[0].limit;
  }
  void Explain(Reason& reason) const override {
    if (before_.has_value() && size_ > 0) SetLimit(reason, ring_[0].limit);
    inner().Explain(reason);
    if (!before_.has_value() || size_ == 0 || ring_[0].limit <= *before_) return;
    AddStep(reason, "hold", fmt::format("highest of the last {} min", windows_ * kWindowSeconds / 60),
            before_, ring_[0].limit);
  }
  std::unique_ptr<Recommender> Clone() const override {
    return std::make_unique<HoldWrapper>(inner().Clone(), windows_);  // a new run starts without held limits
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }
  void Save(ByteWriter& out) const override {
    inner().Save(out);
    out.PutVarint(static_cast<uint64_t>(size_));
    for (int i = 0; i < size_; ++i) {
      out.Put(ring_[i].window);
      out.Put(ring_[i].limit);
    }
  }
  absl::Status Load(ByteReader& in) override {
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    const uint64_t size = in.GetVarint();
    if (size > static_cast<uint64_t>(windows_))
      return absl::DataLossError("hold: more entries than it can have");
    bool possible = true;
    for (uint64_t i = 0; i < size; ++i) {
      ring_[i].window = in.Get<int32_t>();
      ring_[i].limit = in.Get<double>();
      possible = possible && IsStoredWindow(ring_[i].window) && IsStoredAmount(ring_[i].limit) &&
                 (i == 0 || (ring_[i].window > ring_[i - 1].window && ring_[i].limit < ring_[i - 1].limit));
    }
    if (absl::Status s = in.status("hold"); !s.ok()) return s;
    if (!possible) return absl::DataLossError("hold: no falling sequence of limits");
    size_ = static_cast<int>(size);
    return absl::OkStatus();
  }

 private:
  // Entries hold doubles, because a float of a multiple of the granularity is not an exact multiple, and
  // rounding up would add a whole step.
  struct Entry {
    double limit = 0;
    int32_t window = 0;
  };
  int windows_;
  int size_ = 0;
  std::array<Entry, kMaxHoldWindows + 1> ring_{};
  std::optional<double> before_;
};

class OomFloorWrapper final : public RecommenderWrapper {
 public:
  OomFloorWrapper(std::unique_ptr<Recommender> in, OomSettings settings)
      : RecommenderWrapper(std::move(in)), settings_(settings) {}

  void ObserveOom(const OomEvent& event) override {
    inner().ObserveOom(event);
    const auto hold = static_cast<int32_t>(settings_.hold_s / kWindowSeconds);
    double bumped = OomBump(event.limit, settings_);
    // A second kill within an hour at the raised limit means that the need is far above this limit, so raise
    // twice as far.
    const bool again = until_ != INT32_MIN && event.window.index - (until_ - hold) <= kWindowsPerHour &&
                       event.limit >= 0.99 * floor_;
    if (again) bumped = OomBump(bumped, settings_);
    const int32_t until = event.window.index + hold;
    if (event.window.index >= until_ || bumped >= floor_) {
      floor_ = bumped;
      until_ = until;
    }
  }
  std::optional<double> Recommend(WindowId next) override {
    before_ = inner().Recommend(next);
    holds_ = next.index < until_ && before_.value_or(0) < floor_;
    return holds_ ? std::optional<double>(floor_) : before_;
  }
  void Explain(Reason& reason) const override {
    SetLimit(reason, holds_ ? std::optional(floor_) : before_);
    inner().Explain(reason);
    if (!holds_) return;
    AddStep(reason, "oom_floor", "floor after an out-of-memory kill", before_, floor_);
    reason.why = fmt::format("out-of-memory kill: not lower for {:g} days", settings_.hold_s / kDay);
  }
  std::unique_ptr<Recommender> Clone() const override {
    auto copy = std::make_unique<OomFloorWrapper>(inner().Clone(), settings_);
    copy->floor_ = floor_;
    copy->until_ = until_;
    return copy;
  }
  void Save(ByteWriter& out) const override {
    inner().Save(out);
    out.Put(floor_);
    out.Put(until_);
  }
  absl::Status Load(ByteReader& in) override {
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    floor_ = in.Get<double>();
    until_ = in.Get<int32_t>();
    if (absl::Status s = in.status("OOM floor"); !s.ok()) return s;
    return IsStoredAmount(floor_) ? absl::OkStatus() : absl::DataLossError("OOM floor: no possible limit");
  }

 private:
  OomSettings settings_;
  double floor_ = 0;
  int32_t until_ = INT32_MIN;  // the floor applies to windows before this window
  bool holds_ = false;
  std::optional<double> before_;
};

std::string BoundOf(std::string_view end, const std::string& by) {
  return by.empty() ? fmt::format("{} bound set for the job", end) : fmt::format("{} bound by {}", end, by);
}

class BoundsWrapper final : public RecommenderWrapper {
 public:
  BoundsWrapper(std::unique_ptr<Recommender> in, BoundSettings bounds)
      : RecommenderWrapper(std::move(in)),
        lower_(bounds.lower),
        upper_(bounds.upper),
        granularity_(bounds.granularity) {
    if (bounds.lower_by.empty() && bounds.upper_by.empty()) return;
    bound_by_ = BoundBy{std::move(bounds.lower_by), std::move(bounds.upper_by)};
  }

  std::optional<double> Recommend(WindowId next) override {
    before_ = inner().Recommend(next);
    if (!before_.has_value()) return std::nullopt;
    return Bounded(Rounded(*before_));
  }
  std::optional<ProvisionalLimit> Provisional(WindowId next) const override {
    std::optional<ProvisionalLimit> out = inner().Provisional(next);
    if (out.has_value()) out->limit = Bounded(Rounded(out->limit));
    return out;
  }
  void Explain(Reason& reason) const override {
    if (before_.has_value()) SetLimit(reason, Bounded(Rounded(*before_)));
    inner().Explain(reason);
    if (!before_.has_value()) return;
    const double rounded = Rounded(*before_);
    if (rounded != *before_) AddStep(reason, "rounding", "rounding up", before_, rounded);
    const double bounded = Bounded(rounded);
    if (bounded > rounded) AddStep(reason, "lower_bound", BoundOf("lower", lower_by()), rounded, bounded);
    if (bounded < rounded) AddStep(reason, "upper_bound", BoundOf("upper", upper_by()), rounded, bounded);
    if (bounded != rounded) reason.why = reason.steps.back().what;
  }
  std::unique_ptr<Recommender> Clone() const override {
    return std::make_unique<BoundsWrapper>(
        inner().Clone(), BoundSettings{lower_, upper_, granularity_, lower_by(), upper_by()});
  }

 private:
  double Rounded(double limit) const {
    if (granularity_ <= 0) return limit;
    // Limits that already are a multiple, up to rounding noise, stay unchanged.
    return std::ceil(limit / granularity_ - 1e-9) * granularity_;
  }
  double Bounded(double limit) const {
    if (lower_.has_value()) limit = std::max(limit, *lower_);
    if (upper_.has_value()) limit = std::min(limit, *upper_);
    return limit;
  }
  std::string lower_by() const { return bound_by_.has_value() ? bound_by_->lower : ""; }
  std::string upper_by() const { return bound_by_.has_value() ? bound_by_->upper : ""; }

  // BoundSettings::lower_by and upper_by. The texts are on the heap to save memory: most bounds are the owner's
  // and have no text, and each job has two wrappers with bounds.
  struct BoundBy {
    std::string lower, upper;
  };
  std::optional<double> lower_, upper_;
  double granularity_;
  Boxed<BoundBy> bound_by_;
  std::optional<double> before_;
};

}  // namespace

double OomBump(double limit, const OomSettings& settings) {
  return taut::OomBump(limit, settings.bump_ratio, settings.bump_bytes);
}

double LimitAfterOverrun(double usage, Resource resource, const OomSettings& settings) {
  return KillsAtLimit(resource) ? OomBump(usage, settings) : settings.bump_ratio * usage;
}

std::unique_ptr<Recommender> WithMargin(std::unique_ptr<Recommender> inner, MarginSchedule schedule,
                                        double scale) {
  return std::make_unique<MarginWrapper>(std::move(inner), schedule, scale);
}
std::unique_ptr<Recommender> WithHold(std::unique_ptr<Recommender> inner, int windows) {
  return std::make_unique<HoldWrapper>(std::move(inner), windows);
}
std::unique_ptr<Recommender> WithOomFloor(std::unique_ptr<Recommender> inner, OomSettings settings) {
  return std::make_unique<OomFloorWrapper>(std::move(inner), settings);
}
std::unique_ptr<Recommender> WithBounds(std::unique_ptr<Recommender> inner, BoundSettings bounds) {
  return std::make_unique<BoundsWrapper>(std::move(inner), bounds);
}

}  // namespace taut::brain
