// WithFloor: lower bounds of a limit.
#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

class FloorWrapper final : public RecommenderWrapper {
 public:
  FloorWrapper(std::unique_ptr<Recommender> in, FloorSettings settings)
      : RecommenderWrapper(std::move(in)), settings_(settings) {}

  void Observe(const Signal& signal) override {
    RecommenderWrapper::Observe(signal);
    if (signal.tasks.empty()) return;
    owner_ = static_cast<float>(signal.owner_limit.value_or(-1));
    const int32_t window = signal.window.index;
    if (first_window_ == kNever) first_window_ = window;
    if (last_window_ == kNever || window - last_window_ > kAwayWindows) {
      starting_until_ = window + FloorSettings::kStartWindows;
      peaks_[1] = std::exchange(peaks_[0], 0.0F);
    }
    if (window < starting_until_) peaks_[0] = std::max(peaks_[0], static_cast<float>(signal.peak));
    last_window_ = window;
    peak_ = std::max(peak_, static_cast<float>(signal.peak));
    ++windows_;
  }
  std::optional<double> Recommend(WindowId next) override {
    before_ = inner().Recommend(next);
    if (!before_.has_value()) return before_;
    wide_ = Widened(*before_, next);
    return std::max({*before_, Floor(), wide_});
  }
  std::optional<ProvisionalLimit> Provisional(WindowId next) const override {
    if (settings_.min_history_s <= 0 || windows_ == 0) return std::nullopt;
    ProvisionalLimit out{.peak = double{peak_}, .factor = ProvisionalFactor(windows_), .windows = windows_};
    const double wide = out.peak * out.factor;
    out.limit = std::max(Floor(), owner_ >= 0 ? std::min(wide, std::max(double{owner_}, out.peak)) : wide);
    const auto history = static_cast<int32_t>(std::ceil(settings_.min_history_s / kWindowSeconds));
    out.first_limit = WindowId{std::max(next.index, first_window_ + history)};
    return out;
  }
  void Explain(Reason& reason) const override {
    const bool holds = before_.has_value() && Floor() > *before_ && Floor() >= wide_;
    const bool widens = before_.has_value() && !holds && wide_ > *before_;
    if (!reason.limit.has_value()) reason.limit = holds ? Floor() : widens ? std::optional(wide_) : before_;
    inner().Explain(reason);
    if (widens) {
      reason.why =
          fmt::format("wider because the job has less than {} days of history", FloorSettings::kYoungDays);
      reason.steps.push_back({reason.why, *before_, wide_, "young"});
    }
    if (!holds) return;
    const bool start = StartPeak() > settings_.least;
    reason.why = start ? "not below what the program used when it started" : "not below the least limit";
    reason.steps.push_back({reason.why, *before_, Floor(), start ? "start" : "least"});
  }
  std::unique_ptr<Recommender> Clone() const override {
    auto copy = std::make_unique<FloorWrapper>(inner().Clone(), settings_);
    copy->peaks_ = peaks_;
    copy->owner_ = owner_;
    copy->first_window_ = first_window_;
    copy->peak_ = peak_;
    copy->windows_ = windows_;
    return copy;
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }
  void Save(ByteWriter& out) const override {
    inner().Save(out);
    for (const float v : {peaks_[0], peaks_[1], owner_}) out.Put(v);
    out.Put(last_window_);
    out.Put(starting_until_);
    out.Put(first_window_);
    out.Put(peak_);
    out.Put(windows_);
  }
  absl::Status Load(ByteReader& in) override {
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    first_window_ = -kMaxStoredWindow;
    if (in.remaining() == 0) return absl::OkStatus();  // the checkpoint is older than the floors
    for (float* v : {&peaks_[0], &peaks_[1], &owner_}) *v = in.Get<float>();
    last_window_ = in.Get<int32_t>();
    starting_until_ = in.Get<int32_t>();
    // Versions without the margin for young jobs wrote no first window: treat the job as not young.
    first_window_ = in.remaining() > 0 ? in.Get<int32_t>() : -kMaxStoredWindow;
    // Versions without provisional limits wrote no windows: count windows from now on.
    const bool knows_windows = in.remaining() > 0;
    peak_ = knows_windows ? in.Get<float>() : 0;
    windows_ = knows_windows ? in.Get<int32_t>() : 0;
    if (absl::Status s = in.status("floor"); !s.ok()) return s;
    bool possible = (owner_ == -1 || IsStoredAmount(owner_)) && IsStoredAmount(peak_) && windows_ >= 0;
    for (const float v : peaks_) possible = possible && IsStoredAmount(v);
    for (const int32_t w : {last_window_, starting_until_, first_window_})
      possible = possible && (w == kNever || IsStoredWindow(w));
    return possible ? absl::OkStatus() : absl::DataLossError("floor: invalid amount or window");
  }

 private:
  static constexpr int32_t kNever = INT32_MIN;
  static constexpr int32_t kAwayWindows = 2;

  double StartPeak() const { return settings_.keep_start ? double{std::max(peaks_[0], peaks_[1])} : 0.0; }
  double Floor() const {
    const double floor = std::max(settings_.least, StartPeak());
    return owner_ >= 0 ? std::min(floor, double{owner_}) : floor;
  }

  // Returns the widened limit of a young job, at most the owner's limit; 0 if the limit is not widened.
  double Widened(double limit, WindowId next) const {
    if (settings_.young_margin <= 0 || first_window_ == kNever) return 0;
    const int32_t days = (next.index - first_window_) / kWindowsPerDay;
    if (days >= FloorSettings::kYoungDays || inner().OverrunChance(limit).has_value()) return 0;
    const double wide = limit * (1 + settings_.young_margin * (days < 2 ? 2.0 : days < 4 ? 1.0 : 0.5));
    return owner_ >= 0 ? std::min(wide, double{owner_}) : wide;
  }

  FloorSettings settings_;
  std::array<float, 2> peaks_{};  // highest usage of the last start and of the start before; 0: none
  float owner_ = -1;              // owner's limit; < 0: none
  int32_t last_window_ = kNever;  // last measured window
  int32_t starting_until_ = kNever;
  int32_t first_window_ = kNever;  // first measured window
  float peak_ = 0;                 // highest usage of all measured windows
  int32_t windows_ = 0;            // number of measured windows
  double wide_ = 0;                // widened limit of the last Recommend; 0: not widened
  std::optional<double> before_;
};

}  // namespace

std::unique_ptr<Recommender> WithFloor(std::unique_ptr<Recommender> inner, FloorSettings settings) {
  return std::make_unique<FloorWrapper>(std::move(inner), settings);
}

}  // namespace taut::brain
