#include "brain/replicas/hpa.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "brain/replicas/hpa_metrics.h"
#include "brain/replicas/stored_values.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr size_t kMostEvents = 1'000'000;  // maximum number of events in a saved list; a window has far fewer

// Marks the part of a state for metrics in addition to the load. No other field at this position can have this
// value.
constexpr uint32_t kMetricsMark = 0x4D455452;

double Seconds(Timestamp t) { return static_cast<double>(t.us) / kMicrosPerSecond; }

}  // namespace

HpaPolicy::HpaPolicy(const HpaSettings& settings, const ReplicaBounds& bounds)
    : settings_(settings), bounds_(bounds) {
  for (const HpaMetric& m : settings_.metrics.list) {
    signals_.push_back(m.signal);
    if (m.target == HpaMetric::Target::kUtilization) signals_.push_back(m.signal + "_limit");
  }
}

std::optional<double> HpaPolicy::ValueOf(std::string_view signal, const LoadSample& sample) const {
  for (size_t i = 0; i < std::min(signals_.size(), sample.signals.size()); ++i) {
    const double value = sample.signals[i];
    if (signals_[i] == signal && std::isfinite(value) && value >= 0) return value;
  }
  return std::nullopt;
}

std::optional<int> HpaPolicy::ProposalOf(const HpaMetric& metric, const LoadSample& sample) const {
  const std::optional<double> value = ValueOf(metric.signal, sample);
  if (!value.has_value()) return std::nullopt;
  switch (metric.target) {
    case HpaMetric::Target::kAverageValue:
      return ProposeHpaAverageValue(current_, *value, metric.value, settings_.tolerance);
    case HpaMetric::Target::kValue:
      return ProposeHpaValue(current_, sample.ready, *value, metric.value, settings_.tolerance);
    case HpaMetric::Target::kUtilization:
      break;
  }
  const std::optional<double> limit = ValueOf(metric.signal + "_limit", sample);
  if (sample.ready == 0 || limit.value_or(0) <= 0) return std::nullopt;
  return ProposeHpaEven(current_, sample.ready, *value / (*limit * sample.ready), sample.starting,
                        metric.value, settings_.tolerance)
      .count;
}

void HpaPolicy::ProposeOfLoad(const LoadSample& sample) {
  if (sample.ready > 0) {
    proposal_ = ProposeHpaEven(current_, sample.ready, *sample.load / (sample.capacity * sample.ready),
                               sample.starting, settings_.target, settings_.tolerance);
  } else {
    proposal_ = {current_, 1, false};
  }
}

bool HpaPolicy::Propose(const LoadSample& sample) {
  const HpaMetrics& more = settings_.metrics;
  missing_ = 0;
  std::optional<int> most;
  if (!more.without_load && sample.load.has_value() && (more.list.empty() || sample.ready > 0)) {
    ProposeOfLoad(sample);
    most = proposal_.count;
    decisive_ = 0;
  } else if (!more.without_load) {
    missing_ |= 1;
  }
  for (size_t i = 0; i < more.list.size(); ++i) {
    const std::optional<int> count = ProposalOf(more.list[i], sample);
    if (!count.has_value()) missing_ |= 2U << i;
    if (!count.has_value() || (most.has_value() && *count <= *most)) continue;
    most = count;
    proposal_ = {*count, 1, true};
    decisive_ = static_cast<int>(i) + 1;
  }
  return most.has_value() && (missing_ == 0 || *most >= current_);
}

int HpaPolicy::Decide(const LoadSample& sample) {
  const double now = Seconds(sample.at);
  current_ = sample.count();
  held_ = !Propose(sample);
  if (held_) return decided_ = bounds_.Clamp(current_);
  Forget(now);
  const int desired = bounds_.Clamp(proposal_.count);
  stable_ = StabilizeHpa(now, current_, desired, advice_, settings_.up.stabilization_s,
                         settings_.down.stabilization_s);
  advice_.push_back({now, desired});
  decided_ = stable_;
  if (stable_ > current_) decided_ = std::min(stable_, HpaUpLimit(now, current_, ups_, downs_, settings_.up));
  if (stable_ < current_)
    decided_ = std::max(stable_, HpaDownLimit(now, current_, ups_, downs_, settings_.down));
  decided_ = bounds_.Clamp(decided_);
  if (decided_ > current_) ups_.push_back({now, decided_ - current_});
  if (decided_ < current_) downs_.push_back({now, current_ - decided_});
  return decided_;
}

void HpaPolicy::Forget(double now_s) {
  double period = 0;
  for (const HpaDirection* d : {&settings_.up, &settings_.down}) {
    for (const HpaRate& r : d->rates) period = std::max(period, static_cast<double>(r.period_s));
  }
  const double window = std::max(settings_.up.stabilization_s, settings_.down.stabilization_s);
  std::erase_if(advice_, [&](const HpaAdvice& a) { return a.at_s <= now_s - window; });
  std::erase_if(ups_, [&](const HpaChange& c) { return c.at_s <= now_s - period; });
  std::erase_if(downs_, [&](const HpaChange& c) { return c.at_s <= now_s - period; });
}

std::string HpaPolicy::HeldSentence() const {
  if (settings_.metrics.list.empty())
    return fmt::format("The load was not measured, so the count stays {}.", decided_);
  std::vector<std::string_view> names;
  if ((missing_ & 1) != 0) names.emplace_back("load");
  for (size_t i = 0; i < settings_.metrics.list.size(); ++i) {
    if ((missing_ >> (i + 1) & 1) != 0) names.emplace_back(settings_.metrics.list[i].signal);
  }
  return fmt::format("Not measured: {}. Without all metrics the count does not fall, so it stays {}.",
                     Join(names, ", "), decided_);
}

void HpaPolicy::Explain(Reason& reason) const {
  reason.recommender = "hpa";
  if (held_) {
    reason.sentence = HeldSentence();
    return;
  }
  if (decisive_ > 0) {
    const std::string& signal = settings_.metrics.list[static_cast<size_t>(decisive_) - 1].signal;
    reason.sentence = fmt::format(
        "{} asks for the most of all metrics: {}, {} after the stabilisation window, {} within the rate limits.",
        signal, Counted(static_cast<uint64_t>(proposal_.count), "task"), stable_, decided_);
    reason.facts.push_back({"proposed", static_cast<double>(proposal_.count), "tasks"});
    return;
  }
  reason.sentence =
      proposal_.known
          ? fmt::format(
                "Utilisation is {:.2f} times the target of {:.0f} %: {} for the load, {} after the "
                "stabilisation window, {} within the rate limits.",
                proposal_.ratio, settings_.target * 100,
                Counted(static_cast<uint64_t>(proposal_.count), "task"), stable_, decided_)
          : fmt::format("No task is ready, so the count stays {}.", decided_);
  reason.facts.push_back({"ratio to the target", proposal_.ratio, ""});
  reason.facts.push_back({"proposed", static_cast<double>(proposal_.count), "tasks"});
}

void HpaPolicy::Save(ByteWriter& out) const {
  out.PutVarint(advice_.size());
  for (const HpaAdvice& a : advice_) {
    out.Put(a.at_s);
    out.Put(a.count);
  }
  for (const std::vector<HpaChange>* list : {&ups_, &downs_}) {
    out.PutVarint(list->size());
    for (const HpaChange& c : *list) {
      out.Put(c.at_s);
      out.Put(c.change);
    }
  }
  out.Put(proposal_.count);
  out.Put(proposal_.ratio);
  out.Put(static_cast<uint8_t>(proposal_.known));
  for (const int v : {current_, stable_, decided_}) out.Put(v);
  out.Put(static_cast<uint8_t>(held_));
  if (settings_.metrics.list.empty()) return;  // this return keeps the format of versions without metrics
  out.Put(kMetricsMark);
  out.PutString(HpaMetricsText(settings_.metrics));
  out.Put(missing_);
  out.Put(decisive_);
}

absl::Status HpaPolicy::Load(ByteReader& in) {
  StoredValues values(in);
  HpaPolicy fresh(settings_, bounds_);
  for (size_t n = values.Size(kMostEvents); n > 0 && values.ok(); --n) {
    const double at_s = values.Finite();
    fresh.advice_.push_back({at_s, values.Count()});
  }
  for (std::vector<HpaChange>* list : {&fresh.ups_, &fresh.downs_}) {
    int64_t sum = 0;  // sum of the changes; bounded, because Decide computes the sum as an int
    for (size_t n = values.Size(kMostEvents); n > 0 && values.ok(); --n) {
      const double at_s = values.Finite();
      list->push_back({at_s, values.Count()});
      sum += list->back().change;
    }
    values.Require(sum <= kMostStoredTasks);
  }
  fresh.proposal_.count = values.Within(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  fresh.proposal_.ratio = values.Finite();
  fresh.proposal_.known = values.Bool();
  for (int* v : {&fresh.current_, &fresh.stable_, &fresh.decided_}) *v = values.Count();
  fresh.held_ = values.Bool();
  if (absl::Status s = fresh.LoadMetrics(in); !s.ok()) return s;
  if (absl::Status s = values.status("hpa"); !s.ok()) return s;
  *this = std::move(fresh);
  return absl::OkStatus();
}

// Loads the state of the metrics. If the metrics have changed since Save, only the explanation of the last
// decision is lost.
absl::Status HpaPolicy::LoadMetrics(ByteReader& in) {
  ByteReader ahead = in;
  if (ahead.remaining() < sizeof(kMetricsMark) || ahead.Get<uint32_t>() != kMetricsMark)
    return absl::OkStatus();
  const std::string_view text = ahead.GetString();
  StoredValues values(ahead);
  const auto missing = values.Within<uint32_t>(0, (2U << 8) - 1);
  const auto decisive = values.Within<int>(0, 8);
  if (absl::Status s = values.status("hpa"); !s.ok()) return s;
  in = ahead;
  if (text != HpaMetricsText(settings_.metrics)) return absl::OkStatus();
  if (decisive > static_cast<int>(settings_.metrics.list.size()))
    return absl::DataLossError("hpa: invalid value");
  missing_ = missing;
  decisive_ = decisive;
  return absl::OkStatus();
}

size_t HpaPolicy::state_bytes() const {
  return sizeof(*this) + advice_.capacity() * sizeof(HpaAdvice) +
         (ups_.capacity() + downs_.capacity()) * sizeof(HpaChange);
}

}  // namespace taut::brain
