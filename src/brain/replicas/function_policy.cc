#include "brain/replicas/function_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "brain/replicas/ceil_of.h"
#include "brain/replicas/stored_values.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/counted.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr size_t kMostShown = 120;  // highest number of characters of an expression in a reason

// Largest change of the count, in tasks, that max_step never limits. A mistake in the function would cause a
// larger change.
constexpr double kFewTasks = 100;

constexpr uint32_t kLoadMissing = 1, kCapacityMissing = 2;
constexpr int kSignalBit = 2;

std::optional<TargetExpression> Parsed(const ReplicaSettings& settings, std::string& invalid) {
  absl::StatusOr<TargetExpression> parsed =
      TargetExpression::Parse(settings.function.target, settings.signals);
  if (parsed.ok()) return *std::move(parsed);
  invalid = Message(parsed.status());
  return std::nullopt;
}

// Returns empty statistics of the load, followed by statistics of each named signal.
std::vector<SpanStatistics> SpansOf(const std::optional<TargetExpression>& expression, double step_s) {
  const int signals = expression.has_value() ? static_cast<int>(expression->signals().size()) : 0;
  std::vector<SpanStatistics> out;
  for (int signal = -1; signal < signals; ++signal) {
    std::vector<LoadSpan> its;
    for (const LoadSpan& s : expression.has_value() ? expression->spans() : std::span<const LoadSpan>()) {
      if (s.signal == signal) its.push_back(s);
    }
    out.emplace_back(its, step_s);
  }
  return out;
}

std::string Shown(std::string_view expression) {
  if (expression.size() <= kMostShown) return std::string(expression);
  return StrCat(expression.substr(0, kMostShown), " ...");
}

bool Usable(double x) { return std::isfinite(x) && x >= 0; }

}  // namespace

FunctionPolicy::FunctionPolicy(const ReplicaSettings& settings)
    : settings_(settings.function),
      known_signals_(settings.signals),
      smoothing_(settings.autopilot),
      step_s_(settings.step_s),
      bounds_(settings.bounds),
      expression_(Parsed(settings, invalid_)),
      spans_(SpansOf(expression_, step_s_)),
      span_values_(expression_.has_value() ? expression_->spans().size() : 0),
      signal_values_(spans_.size() - 1),
      smoother_(smoothing_) {}

int FunctionPolicy::Decide(const LoadSample& sample) {
  const int64_t at_s = FloorDiv(sample.at.us, kMicrosPerSecond);
  int count = sample.count();
  basis_ = Choose(sample, count);
  decided_ = bounds_.Clamp(count);
  Remember(at_s, decided_);
  return decided_;
}

FunctionPolicy::Basis FunctionPolicy::Choose(const LoadSample& sample, int& count) {
  const int64_t at_s = FloorDiv(sample.at.us, kMicrosPerSecond);
  const auto window = static_cast<int64_t>(
      FloorDiv(sample.at.us, static_cast<int64_t>(smoothing_.average_s * kMicrosPerSecond)));
  // The count must not decay for the time in which it was held.
  const int64_t passed = window_.has_value() ? std::max<int64_t>(window - *window_, 0) : 0;
  window_ = window;
  if (!expression_.has_value()) return Basis::kInvalid;
  if (!TakeInputs(at_s, sample)) {
    if (!heard_s_.has_value()) heard_s_ = at_s;
    silent_s_ = static_cast<double>(std::max<int64_t>(at_s - *heard_s_, 0));
    if (silent_s_ <= settings_.silent_s) return Basis::kAbsent;
    count = std::max(count, SafeCount());
    return Basis::kSilent;
  }
  heard_s_ = at_s;
  silent_s_ = 0;
  value_ = Evaluate(sample);
  if (!Usable(value_)) return Basis::kNoCount;
  const double step = std::max(sample.count() * settings_.max_step, sample.count() + kFewTasks);
  is_limited_ = value_ > step;
  smoother_.Push(window, passed, bounds_.Clamp(std::min(CeilOf(value_), std::floor(step))), sample.count());
  count = smoother_.Count(sample);
  return Basis::kFunction;
}

bool FunctionPolicy::TakeInputs(int64_t at_s, const LoadSample& sample) {
  missing_ = 0;
  if (sample.load.has_value() && Usable(*sample.load)) {
    spans_[0].Observe(at_s, *sample.load);
  } else if (expression_->reads_load()) {
    missing_ |= kLoadMissing;
  }
  if (expression_->reads_capacity() && !(sample.capacity > 0)) missing_ |= kCapacityMissing;
  for (size_t i = 0; i < signal_values_.size(); ++i) {
    const double value = i < sample.signals.size() ? sample.signals[i] : -1;
    if (Usable(value)) {
      signal_values_[i] = value;
      spans_[i + 1].Observe(at_s, value);
    } else {
      missing_ |= 1U << (kSignalBit + i);
    }
  }
  return missing_ == 0;
}

double FunctionPolicy::Evaluate(const LoadSample& sample) {
  const int64_t at_s = FloorDiv(sample.at.us, kMicrosPerSecond);
  const int64_t day = FloorDiv(at_s, int64_t{kDaySeconds});
  const int64_t weekday = ((day + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday; Sunday is 0
  const int64_t hour = (at_s - day * kDaySeconds) / 3600;
  // Values() of a signal has the order of the signal's spans in the expression. Each value is copied to its
  // span.
  for (size_t signal = 0; signal < spans_.size(); ++signal) {
    const double* next = spans_[signal].Values().data();
    const std::span<const LoadSpan> all = expression_->spans();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].signal + 1 == static_cast<int>(signal)) span_values_[i] = *next++;
    }
  }
  return expression_->Evaluate({sample.load.value_or(0), sample.capacity, static_cast<double>(sample.ready),
                                static_cast<double>(sample.starting), static_cast<double>(sample.count()),
                                static_cast<double>(hour), static_cast<double>(weekday)},
                               signal_values_, span_values_);
}

void FunctionPolicy::Remember(int64_t at_s, int count) {
  const int64_t hour = FloorDiv(at_s, int64_t{3600});
  if (!hour_.has_value()) hour_ = hour;
  const auto passed = static_cast<size_t>(std::clamp<int64_t>(hour - *hour_, 0, kHours));
  std::shift_left(highest_.begin(), highest_.end(), static_cast<ptrdiff_t>(passed));
  std::fill(highest_.end() - static_cast<ptrdiff_t>(passed), highest_.end(), 0);
  if (passed > 0) hour_ = hour;
  highest_.back() = std::max(highest_.back(), count);
}

int FunctionPolicy::SafeCount() const { return *std::ranges::max_element(highest_); }

std::string FunctionPolicy::MissingText(std::string_view was, std::string_view were) const {
  std::vector<std::string_view> names;
  if ((missing_ & kLoadMissing) != 0) names.emplace_back("the load");
  if ((missing_ & kCapacityMissing) != 0) names.emplace_back("the capacity of a task");
  for (size_t i = 0; i < signals().size(); ++i) {
    if ((missing_ >> (kSignalBit + i) & 1) != 0) names.push_back(signals()[i]);
  }
  std::string out = StrCat(Join(names, " and "), " ", names.size() > 1 ? were : was);
  // Capitalises "the", but not the name of a signal.
  if (out.starts_with("the ")) out[0] = 'T';
  return out;
}

void FunctionPolicy::Explain(Reason& reason) const {
  reason.recommender = "function";
  const std::string held = fmt::format("so the count stays {}.", decided_);
  switch (basis_) {
    case Basis::kInvalid:
    case Basis::kNoCount:
      reason.sentence = StrCat(NoNumber(), ", ", held);
      return;
    case Basis::kAbsent:
      reason.sentence = fmt::format("{} not measured, {}", MissingText("was", "were"), held);
      return;
    case Basis::kSilent:
      reason.sentence = fmt::format(
          "{} not been measured for {:.3g} h, so the count is {}: at least the highest of the last day.",
          MissingText("has", "have"), silent_s_ / 3600, decided_);
      return;
    case Basis::kFunction:
      break;
  }
  reason.sentence = fmt::format("\"{}\" is {:.6g}: {} after {}smoothing.", Shown(settings_.target), value_,
                                Counted(static_cast<uint64_t>(decided_), "task"),
                                is_limited_ ? "the bound of a step (function.max_step) and " : "");
  reason.facts.push_back({"value of function.target", value_, "tasks"});
  for (size_t i = 0; i < signals().size(); ++i) reason.facts.push_back({signals()[i], signal_values_[i], ""});
}

std::string FunctionPolicy::NoNumber() const {
  if (basis_ == Basis::kInvalid) return StrCat("function.target is invalid (", invalid_, ")");
  if (basis_ != Basis::kNoCount) return "";
  return fmt::format("\"{}\" is {:.6g}, not a number of tasks", Shown(settings_.target), value_);
}

std::span<const std::string> FunctionPolicy::signals() const {
  return expression_.has_value() ? expression_->signals() : std::span<const std::string>();
}

bool FunctionPolicy::reads_load() const { return !expression_.has_value() || expression_->reads_load(); }

std::unique_ptr<ReplicaPolicy> FunctionPolicy::Clone() const {
  ReplicaSettings settings;
  settings.function = settings_;
  settings.signals = known_signals_;
  settings.autopilot = smoothing_;
  settings.step_s = step_s_;
  settings.bounds = bounds_;
  // The copy is created from the settings, because an expression refers to its own values.
  auto copy = std::make_unique<FunctionPolicy>(settings);
  copy->spans_ = spans_;
  copy->signal_values_ = signal_values_;
  copy->missing_ = missing_;
  copy->smoother_ = smoother_;
  copy->window_ = window_;
  copy->heard_s_ = heard_s_;
  copy->hour_ = hour_;
  copy->highest_ = highest_;
  copy->basis_ = basis_;
  copy->value_ = value_;
  copy->silent_s_ = silent_s_;
  copy->decided_ = decided_;
  copy->is_limited_ = is_limited_;
  return copy;
}

// Fields that depend on settings precede the other fields, so that Load can reject a state of other settings.
void FunctionPolicy::Save(ByteWriter& out) const {
  out.PutString(settings_.target);
  out.Put(smoothing_.average_s);
  out.Put(spans_[0].slot_s());
  spans_[0].Save(out);
  smoother_.SaveRecommendations(out);
  smoother_.SaveFigures(out);
  PutOptional(window_, out);
  PutOptional(heard_s_, out);
  PutOptional(hour_, out);
  for (const int count : highest_) out.Put(count);
  out.Put(static_cast<uint8_t>(basis_));
  out.Put(value_);
  out.Put(silent_s_);
  out.Put(decided_);
  SaveSignals(out);
}

// Writes nothing for an expression without signals, which keeps the format of older states.
void FunctionPolicy::SaveSignals(ByteWriter& out) const {
  if (signals().empty()) return;
  out.Put(missing_);
  for (size_t i = 0; i < signal_values_.size(); ++i) {
    out.Put(signal_values_[i]);
    out.Put(spans_[i + 1].slot_s());
    spans_[i + 1].Save(out);
  }
}

absl::Status FunctionPolicy::Load(ByteReader& in) {
  const std::string_view target = in.GetString();
  if (!in.failed() && target != settings_.target)
    return absl::InvalidArgumentError("function: the state is of another function.target");
  StoredValues values(in);
  if (values.Finite() != smoothing_.average_s && !in.failed())
    return absl::InvalidArgumentError("function: the state has another averaging window");
  std::vector<SpanStatistics> spans = SpansOf(expression_, step_s_);
  const auto load_spans = [&](SpanStatistics& its) {
    const bool same = values.Within<int64_t>(1, INT64_MAX) == its.slot_s();
    if (same) its.Load(values);
    return same || !values.ok();
  };
  const absl::Status another_step = absl::InvalidArgumentError("function: the state has another step");
  if (!load_spans(spans[0])) return another_step;
  CountSmoother smoother(smoothing_);
  smoother.LoadRecommendations(values);
  smoother.LoadFigures(values);
  const std::optional<int64_t> window = values.OptionalStep();
  const std::optional<int64_t> heard_s = values.OptionalStep();
  const std::optional<int64_t> hour = values.OptionalStep();
  std::array<int, kHours> highest{};
  for (int& count : highest) count = values.Count();
  const auto basis = static_cast<Basis>(values.Within<uint8_t>(0, static_cast<uint8_t>(Basis::kSilent)));
  const auto value = in.Get<double>();  // this value is only displayed, so that infinity and NaN are valid
  const double silent_s = values.Amount();
  const int decided = values.Count();
  uint32_t missing = basis == Basis::kAbsent || basis == Basis::kSilent ? kLoadMissing : 0;
  std::vector<double> signal_values(signal_values_.size());
  if (!signals().empty()) missing = values.Within<uint32_t>(0, (1U << (kSignalBit + signals().size())) - 1);
  for (size_t i = 0; i < signal_values.size(); ++i) {
    signal_values[i] = values.Amount();
    if (!load_spans(spans[i + 1])) return another_step;
  }
  if (absl::Status s = values.status("function"); !s.ok()) return s;
  spans_ = std::move(spans);
  signal_values_ = std::move(signal_values);
  missing_ = missing;
  smoother_ = std::move(smoother);
  window_ = window;
  heard_s_ = heard_s;
  hour_ = hour;
  highest_ = highest;
  basis_ = basis;
  value_ = value;
  silent_s_ = silent_s;
  decided_ = decided;
  return absl::OkStatus();
}

size_t FunctionPolicy::state_bytes() const {
  size_t spans = spans_.capacity() * sizeof(SpanStatistics) +
                 (span_values_.capacity() + signal_values_.capacity()) * sizeof(double);
  for (const SpanStatistics& s : spans_) spans += s.heap_bytes();
  for (const std::string& name : known_signals_) spans += sizeof(name) + name.capacity();
  return sizeof(*this) + settings_.target.capacity() + (expression_.has_value() ? expression_->bytes() : 0) +
         spans + smoother_.heap_bytes();
}

}  // namespace taut::brain
