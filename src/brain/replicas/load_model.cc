#include "brain/replicas/load_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace taut::brain {
namespace {

// Offset in tasks, added before logarithms, because loads far below one task require no precision.
constexpr double kLogOffset = 0.5;
// Bins of error / spread, from kLowest on in steps of kBinWidth.
constexpr double kLowest = -4;
constexpr double kBinWidth = 0.25;
// Constants that were selected on the loads listed in docs/algorithms/replicas.md.
constexpr double kPriorVariance = 1;
constexpr double kMemorySteps = 5000;  // memory of the regressions, in steps
constexpr double kErrorMemory = 3000;  // memory of the errors, in steps of the error's regime
constexpr double kMeanClip = 4;        // bound on errors for the regression of the mean, in spreads
constexpr double kSizeClip = 6;        // bound on errors for the regression of the spread, in spreads
constexpr double kCalm = 0.4;  // ratio of the spread to its long-term mean below which the regime is calm
constexpr double kWide = 1.0;  // ratio of the spread to its long-term mean from which the regime is wide
// Bound on stored logarithms, sizes and weights; real values are far below.
constexpr double kMostStored = 1e6;
constexpr double kLeastSpread = 0.001;
// Loads of a week are stored in units of 1/1024 of the logarithm, in half the bytes of a float. kWeekScale
// scales the features of a week down, because their weights are learnt late. 0.1 was the best of 0.1, 0.3 and 1
// on the traces input2 and input12.
constexpr double kWeekUnit = 1.0 / 1024, kWeekScale = 0.1;
constexpr int16_t kNoWeek = INT16_MIN;
constexpr int kWeekDays = 7, kWeekReach = 3;
constexpr double kMostOfWeek = 31;  // bound of a stored logarithm
constexpr float kNever = -99;       // marks a time of the day without a value

// Returns step mod size in 0..size-1, also for steps before 1970.
size_t PlaceIn(int64_t step, int64_t size) { return static_cast<size_t>(((step % size) + size) % size); }

int BinOf(double z) { return static_cast<int>(std::clamp((z - kLowest) / kBinWidth, 0.0, kErrorBins - 1.0)); }

void Sum(const std::array<float, kErrorBins>& counts, std::array<float, kErrorBins>& above) {
  double total = 0, sum = 0;
  for (const float c : counts) total += c;
  for (size_t b = kErrorBins; b-- > 0;) {
    sum += counts[b];
    above[b] = static_cast<float>(sum / total);
  }
}

}  // namespace

double LoadForecast::Median() const { return std::max(0.0, std::exp(centre) - kLogOffset); }

double LoadForecast::ChanceAbove(double tasks) const {
  const double z = (std::log(tasks + kLogOffset) - centre) / spread;
  const double at = (z - kLowest) / kBinWidth;
  if (at <= 0) return 1;
  const auto bin = static_cast<size_t>(at);
  if (bin + 1 >= kErrorBins) {  // beyond all observed errors the chance halves per spread
    return (*above)[kErrorBins - 1] * std::exp2(-(at - kErrorBins + 1) * kBinWidth);
  }
  const double share = at - static_cast<double>(bin);
  return (*above)[bin] * (1 - share) + (*above)[bin + 1] * share;
}

double LoadForecast::WithChanceAbove(double chance) const {
  const auto load_at = [this](double z) { return std::max(0.0, std::exp(centre + z * spread) - kLogOffset); };
  // Bisection is valid because ChanceAbove falls with the load.
  double low = kLowest, high = kLowest + kBinWidth * (kErrorBins - 1);
  for (int i = 0; i < 20; ++i) {
    const double middle = (low + high) / 2;
    (ChanceAbove(load_at(middle)) > chance ? low : high) = middle;
  }
  return load_at(low);
}

template <int N>
OnlineRegression<N>::OnlineRegression(double prior_variance, double memory_steps)
    : forget_(1 - 1 / memory_steps), most_variance_(prior_variance) {
  Reset();
}

template <int N>
void OnlineRegression<N>::Reset() {
  p_.fill(0);
  for (size_t i = 0; i < N; ++i) p_[i * N + i] = most_variance_;
}

template <int N>
double OnlineRegression<N>::Predict(const std::array<double, N>& x) const {
  double sum = 0;
  for (size_t i = 0; i < N; ++i) sum += w_[i] * x[i];
  return sum;
}

template <int N>
void OnlineRegression<N>::Learn(const std::array<double, N>& x, double error) {
  std::array<double, N> px{};
  double xpx = forget_;
  for (size_t i = 0; i < N; ++i) {
    for (size_t j = 0; j < N; ++j) px[i] += p_[i * N + j] * x[j];
    xpx += x[i] * px[i];
  }
  if (xpx > 0) {
    for (size_t i = 0; i < N; ++i) w_[i] += px[i] / xpx * error;
  }
  double trace = 0;
  for (size_t i = 0; i < N; ++i) {
    for (size_t j = 0; j < N; ++j) p_[i * N + j] -= px[i] * px[j] / xpx;
    trace += p_[i * N + i];
  }
  // After very many steps, rounding can make the matrix indefinite, which makes predictions useless.
  if (!(xpx > 0) || !(trace > 0) || !std::isfinite(trace)) {
    Reset();
    return;
  }
  // The matrix is divided only while its trace is bounded, because directions without excitation would grow
  // without limit.
  if (trace / forget_ < most_variance_ * N) {
    for (double& v : p_) v /= forget_;
  }
}

template class OnlineRegression<13>;
template class OnlineRegression<6>;

LoadModel::Head::Head(int ahead_steps, int slots)
    : ahead(ahead_steps),
      mean(kPriorVariance, kMemorySteps),
      scale(kPriorVariance, kMemorySteps),
      pending(static_cast<size_t>(ahead_steps) + 1),
      size_profile(static_cast<size_t>(slots), -1.0F) {
  // The initial errors are approximately normal, until the model has observed its own errors.
  for (Errors& e : errors) {
    for (int b = 0; b < kErrorBins; ++b) {
      const double z = kLowest + b * kBinWidth;
      e.counts[static_cast<size_t>(b)] = static_cast<float>(std::exp(-z * z / 3.2) * 10);
    }
    Sum(e.counts, e.above);
  }
  scale.SetWeight(1, 0.3);
  scale.SetWeight(2, 0.4);
  scale.SetWeight(4, 0.3);
}

LoadModel::Pending& LoadModel::Head::PendingFor(int64_t step) {
  return pending[PlaceIn(step, static_cast<int64_t>(pending.size()))];
}

LoadModel::LoadModel(int slots_per_day, int steps_ahead)
    : slots_(slots_per_day),
      profile_(static_cast<size_t>(slots_per_day)),
      yesterday_(static_cast<size_t>(slots_per_day), kNever),
      week_(kWeekDays * static_cast<size_t>(slots_per_day), kNoWeek),
      week_before_(kNoWeek),
      days_(static_cast<size_t>(slots_per_day)),
      heads_{Head(1, slots_per_day), Head(steps_ahead, slots_per_day)} {}

size_t LoadModel::Slot(int64_t step) const { return PlaceIn(step, slots_); }

size_t LoadModel::WeekSlot(int64_t step) const { return PlaceIn(step, kWeekDays * int64_t{slots_}); }

std::optional<double> LoadModel::WeekAt(int64_t then) const {
  int sum = 0;
  for (int i = 0; i < kWeekReach; ++i) {
    const int16_t x = week_[WeekSlot(then + i)];
    if (x == kNoWeek) return std::nullopt;
    sum += x;
  }
  return kWeekUnit * sum / kWeekReach;
}

double LoadModel::Smooth(const std::vector<float>& profile, int64_t step, int reach) const {
  double sum = 0;
  int n = 0;
  for (int i = -reach; i <= reach; ++i) {
    const size_t slot = Slot(step + i);
    if (days_[slot] == 0 || profile[slot] == kNever) continue;
    sum += profile[slot];
    ++n;
  }
  return n > 0 ? sum / n : mean60_;
}

void LoadModel::Observe(int64_t step, double load) {
  const double x = std::log(load + kLogOffset);
  if (observed_ == 0) {
    recent_.fill(x);
    mean5_ = mean15_ = mean60_ = x;
  }
  // The order matters: learn from the forecast for this step, update the features, make the next forecast.
  for (Head& head : heads_) Learn(head, step, x);
  for (size_t i = recent_.size() - 1; i > 0; --i) recent_[i] = recent_[i - 1];
  recent_[0] = x;
  mean5_ += (x - mean5_) / 4;
  mean15_ += (x - mean15_) / 12;
  mean60_ += (x - mean60_) / 50;
  const size_t slot = Slot(step);
  yesterday_[slot] = static_cast<float>(x);
  int16_t& week = week_[WeekSlot(step)];
  week_before_ = week;
  week = static_cast<int16_t>(std::lround(std::clamp(x, -kMostOfWeek, kMostOfWeek) / kWeekUnit));
  const double rate = std::max(1.0 / (days_[slot] + 1), 0.2);
  profile_[slot] += static_cast<float>(rate * (x - profile_[slot]));
  days_[slot] = static_cast<uint8_t>(std::min(days_[slot] + 1, 200));
  ++observed_;
  for (Head& head : heads_) Forecast(head, step);
}

void LoadModel::Learn(Head& head, int64_t step, double x) {
  Pending& p = head.PendingFor(step);
  if (p.step != step) return;
  const double error = x - p.base - p.predicted;
  const double size = std::fabs(error);
  const double clip = kMeanClip * p.spread;
  // Clips outliers, because a single outlier would dominate the regression for hours.
  head.mean.Learn(p.x, std::clamp(error, -clip, clip));
  const double size_clip = kSizeClip * p.spread;
  head.scale.Learn(p.s, std::min(size, size_clip) - head.scale.Predict(p.s));
  const double z = error / p.spread;
  Head::Errors& errors = head.errors[p.regime];
  const auto forget = static_cast<float>(1 - 1 / kErrorMemory);
  for (float& h : errors.counts) h *= forget;
  errors.counts[static_cast<size_t>(BinOf(z))] += 1;
  Sum(errors.counts, errors.above);
  head.last_size = size;
  head.short_size += (size - head.short_size) / 8;
  head.mid_size += (size - head.mid_size) / 60;
  head.long_size += (size - head.long_size) / 1440;
  float& profile = head.size_profile[Slot(step)];
  profile = profile < 0 ? static_cast<float>(size) : profile + static_cast<float>(0.25 * (size - profile));
}

LoadModel::Features LoadModel::FeaturesAt(int64_t step, int64_t then) const {
  const double x = recent_[0];
  const bool known = days_[Slot(then)] > 0 && yesterday_[Slot(then)] != kNever;
  const double now5 = Smooth(profile_, step, 2);
  Features f{};
  f[0] = 0.1;
  f[1] = x - recent_[1];
  f[2] = x - mean5_;
  f[3] = mean5_ - mean15_;
  f[4] = mean15_ - mean60_;
  if (known) {
    f[5] = Smooth(profile_, then, 2) - now5;
    f[6] = profile_[Slot(then)] - now5;
    f[7] = x - now5;
    f[8] = yesterday_[Slot(then)] - x;
    f[9] = Smooth(profile_, then, 10) - x;
    f[10] = std::max(profile_[Slot(then - 1)], profile_[Slot(then + 1)]) - now5;
  }
  // Features from one week ago: the load relative to the current load, and the change of the load from that time
  // to the forecast's time.
  if (const std::optional<double> week = WeekAt(then); week.has_value() && week_before_ != kNoWeek) {
    f[11] = kWeekScale * (*week - x);
    f[12] = kWeekScale * (*week - week_before_ * kWeekUnit);
  }
  return f;
}

LoadModel::ScaleFeatures LoadModel::SizesAt(const Head& head, int64_t then) const {
  double profile = 0, peak = 0, n = 0;
  for (int i = -3; i <= 3; ++i) {
    const float s = head.size_profile[Slot(then + i)];
    if (s < 0) continue;
    profile += s;
    peak = std::max<double>(peak, s);
    ++n;
  }
  profile = n > 0 ? profile / n : head.mid_size;
  peak = n > 0 ? peak : head.mid_size;
  return {head.last_size, head.short_size, head.mid_size, head.long_size, profile, peak};
}

void LoadModel::Forecast(Head& head, int64_t step) {
  const int64_t then = step + head.ahead;
  const double x = recent_[0];
  Pending& p = head.PendingFor(then);
  p.step = then;
  p.x = FeaturesAt(step, then);
  p.base = x;
  p.predicted = std::clamp(head.mean.Predict(p.x), -3.0, 3.0);
  p.s = SizesAt(head, then);
  // The lower bound keeps the spread from collapsing after calm hours, because a collapsed spread makes every
  // error an outlier.
  p.spread = std::clamp(head.scale.Predict(p.s), 0.3 * std::min(head.mid_size, head.long_size) + 0.003, 3.0);
  const double wide = p.spread / head.long_size;
  p.regime = wide < kCalm ? 0 : wide < kWide ? 1 : 2;
  head.centre = x + p.predicted;
  head.spread = p.spread;
  head.regime = p.regime;
}

// ---- Saving and loading. Within the bounds below, sums over the state stay finite. ----

template <int N>
void OnlineRegression<N>::Save(ByteWriter& out) const {
  for (const double v : w_) out.Put(v);
  for (const double v : p_) out.Put(v);
}

template <int N>
void OnlineRegression<N>::Load(StoredValues& in) {
  in.Fill(std::span<double>(w_), -kMostStored, kMostStored);
  in.Fill(std::span<double>(p_), -kMostStored, kMostStored);
}

void LoadModel::Head::Save(ByteWriter& out) const {
  mean.Save(out);
  scale.Save(out);
  for (const Pending& p : pending) {
    out.Put(p.step);
    for (const double v : p.x) out.Put(v);
    for (const double v : p.s) out.Put(v);
    for (const double v : {p.base, p.predicted, p.spread}) out.Put(v);
    out.Put(static_cast<uint8_t>(p.regime));
  }
  for (const Errors& e : errors) {
    for (const float c : e.counts) out.Put(c);
  }
  for (const float v : size_profile) out.Put(v);
  for (const double v : {short_size, mid_size, long_size, last_size, centre, spread}) out.Put(v);
  out.Put(static_cast<uint8_t>(regime));
}

void LoadModel::Head::Load(StoredValues& in) {
  const auto regime_of = [&in] { return size_t{in.Within<uint8_t>(0, kRegimes - 1)}; };
  mean.Load(in);
  scale.Load(in);
  for (Pending& p : pending) {
    p.step = in.Step();
    in.Fill(std::span<double>(p.x), -kMostStored, kMostStored);
    in.Fill(std::span<double>(p.s), 0.0, kMostStored);
    p.base = in.Within(-kMostStored, kMostStored);
    p.predicted = in.Within(-3.0, 3.0);
    p.spread = in.Within(0.0, 3.0);
    p.regime = regime_of();
    in.Require(p.step == Pending().step || p.spread >= kLeastSpread);
  }
  for (Errors& e : errors) {
    in.Fill(std::span<float>(e.counts), 0.0F, static_cast<float>(kMostStored));
    in.Require(std::ranges::any_of(e.counts, [](float c) { return c > 0; }));
    Sum(e.counts, e.above);
  }
  in.Fill(std::span<float>(size_profile), -1.0F, static_cast<float>(kMostStored));
  for (double* v : {&short_size, &mid_size, &long_size, &last_size}) *v = in.Within(0.0, kMostStored);
  centre = in.Within(-kMostStored, kMostStored);
  spread = in.Within(kLeastSpread, 3.0);
  regime = regime_of();
}

void LoadModel::Save(ByteWriter& out) const {
  out.Put(observed_);
  for (const double v : {recent_[0], recent_[1], mean5_, mean15_, mean60_}) out.Put(v);
  for (const std::vector<float>* list : {&profile_, &yesterday_}) {
    for (const float v : *list) out.Put(v);
  }
  for (const int16_t x : week_) out.Put(x);
  out.Put(week_before_);
  for (const uint8_t d : days_) out.Put(d);
  for (const Head& head : heads_) head.Save(out);
}

void LoadModel::Load(StoredValues& in) {
  observed_ = in.Within<int64_t>(0, INT64_MAX / 2);
  for (double* v : {&recent_[0], &recent_[1], &mean5_, &mean15_, &mean60_})
    *v = in.Within(-kMostStored, kMostStored);
  constexpr auto kMost = static_cast<float>(kMostStored);
  for (std::vector<float>* list : {&profile_, &yesterday_}) in.Fill(std::span(*list), -kMost, kMost);
  in.Fill(std::span(week_), kNoWeek, std::numeric_limits<int16_t>::max());
  week_before_ = in.Within(kNoWeek, std::numeric_limits<int16_t>::max());
  for (uint8_t& d : days_) d = in.Within<uint8_t>(0, 200);
  for (Head& head : heads_) head.Load(in);
}

size_t LoadModel::state_bytes() const {
  size_t out = sizeof(*this) + (profile_.size() + yesterday_.size()) * sizeof(float) +
               week_.size() * sizeof(int16_t) + days_.size();
  for (const Head& h : heads_)
    out += h.size_profile.size() * sizeof(float) + h.pending.size() * sizeof(Pending);
  return out;
}

}  // namespace taut::brain
