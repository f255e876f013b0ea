#include "brain/recommend/start_boost.h"

#include <algorithm>
#include <cmath>

#include "brain/recommend/stored_values.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr double kPerCore = 1000;  // millicores per core, the unit of limits

double NeedOf(double peak, bool cut) {
  return peak * (cut ? StartPeaks::kCutFactor : 1 + MarginSchedule::For(Resource::kCpu).At(peak));
}

}  // namespace

void StartPeaks::Add(WindowId window, double peak_cores, std::optional<double> limit) {
  if (!IsStoredAmount(peak_cores) || !IsStoredWindow(window.index)) return;
  const bool cut = limit.has_value() && peak_cores >= kCutShare * *limit;
  const bool goes_on = !starts_.empty() && window.index >= starts_.back().last &&
                       window.index - starts_.back().last <= 1 &&
                       window.index - starts_.back().first < kMostWindows;
  if (!goes_on) {
    if (starts_.size() == kMostStarts) starts_.erase(starts_.begin());
    starts_.push_back({window.index, window.index, 0, false});
  }
  Start& start = starts_.back();
  start.last = window.index;
  const auto peak = static_cast<float>(peak_cores);
  if (NeedOf(peak, cut) > NeedOf(start.peak, start.cut) || (peak == start.peak && cut)) {
    start.peak = peak;
    start.cut = cut;
  }
}

std::optional<StartPeaks::Highest> StartPeaks::highest() const {
  std::optional<Highest> out;
  for (const Start& start : starts_) {
    const double need = NeedOf(start.peak, start.cut);
    if (!out.has_value() || need > out->need) out = {start.peak, start.cut, need};
  }
  return out;
}

void StartPeaks::Save(ByteWriter& out) const {
  out.PutVarint(starts_.size());
  for (const Start& start : starts_) {
    out.Put(start.first);
    out.Put(start.last);
    out.Put(start.peak);
    out.Put(static_cast<uint8_t>(start.cut));
  }
}

absl::Status StartPeaks::Load(ByteReader& in) {
  starts_.clear();
  const uint64_t size = in.GetVarint();
  bool good = size <= kMostStarts;
  for (uint64_t i = 0; i < size && good; ++i) {
    Start start;
    start.first = in.Get<int32_t>();
    start.last = in.Get<int32_t>();
    start.peak = in.Get<float>();
    start.cut = in.Get<uint8_t>() != 0;
    good = !in.failed() && IsStoredWindow(start.first) && IsStoredWindow(start.last) &&
           start.first <= start.last && IsStoredAmount(start.peak);
    starts_.push_back(start);
  }
  if (good && !in.failed()) return absl::OkStatus();
  starts_.clear();
  return absl::DataLossError("corrupt peaks of starts");
}

std::optional<StartBoost> BoostFor(const StartPeaks& peaks, double steady, std::optional<double> factor,
                                   const BoundSettings& bounds) {
  StartBoost out{.steady = steady, .highest = peaks.highest(), .starts = peaks.size(), .bounded_by = {}};
  if (out.highest.has_value()) {
    out.cores = out.highest->need;
  } else if (factor.has_value()) {
    out.factor = *factor;
    out.cores = steady * *factor;
  }
  if (out.cores > steady * StartBoost::kMostFactor) {
    out.cores = steady * StartBoost::kMostFactor;
    out.bounded_by = StrCat("a start gets at most ", StartBoost::kMostFactor, " times the limit in force");
  }
  // The tolerance keeps rounding noise above a whole millicore from adding a millicore.
  out.cores = std::ceil(out.cores * kPerCore - 1e-6) / kPerCore;
  if (bounds.upper.has_value() && out.cores > *bounds.upper) {
    out.cores = *bounds.upper;
    out.bounded_by = bounds.upper_by.empty() ? "cpu.upper" : bounds.upper_by;
  }
  return out.cores > steady ? std::optional(std::move(out)) : std::nullopt;
}

void ExplainBoost(const std::optional<StartBoost>& boost, double steady, double window_s,
                  std::string_view why_not, Reason& reason) {
  const auto cores = [](double amount) { return FormatAmount(Resource::kCpu, amount); };
  std::string& text = reason.sentence;
  StrAppend(&text, text.empty() ? "" : " ", "In the first ", DurationText(std::llround(window_s)),
            " after its start a task ", why_not.empty() ? "gets " : "would get ");
  reason.facts.push_back({"start-up window", window_s, "s"});
  if (!boost.has_value()) {
    StrAppend(&text, "no more than ", cores(steady));
  } else if (!boost->highest.has_value()) {
    StrAppend(&text, cores(boost->cores), ": ", boost->factor, " times ", cores(steady),
              ", as no start was seen yet");
  } else {
    const StartPeaks::Highest& highest = *boost->highest;
    StrAppend(&text, cores(boost->cores), ": ");
    if (boost->starts == 1) {
      text += "the last start";
    } else {
      StrAppend(&text, "the highest of the last ", boost->starts, " starts");
    }
    StrAppend(&text, " used ", cores(highest.peak));
    if (highest.cut) {
      StrAppend(&text, ", all that it was given, and gets ", StartPeaks::kCutFactor, " times as much");
    } else {
      text += ", and a margin is added";
    }
    reason.facts.push_back({"highest usage of a start", highest.peak, "cores"});
  }
  if (boost.has_value()) {
    if (!boost->bounded_by.empty()) StrAppend(&text, "; bounded: ", boost->bounded_by);
    reason.facts.push_back({"start-up limit", boost->cores, "cores"});
  }
  StrAppend(&text, " (cpu.startup_window", why_not.empty() ? "" : "; ", why_not, ").");
}

}  // namespace taut::brain
