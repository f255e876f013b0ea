#include "replicas/hpa.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "replicas/stored_values.h"

namespace taut {
namespace {

constexpr int64_t kMostTasks = 1'000'000'000;
constexpr size_t kMostEvents = 1'000'000;  // far more than any window has

double Seconds(Timestamp t) { return static_cast<double>(t.us) / kMicrosPerSecond; }

}  // namespace

int HpaPolicy::Decide(const LoadSample& sample) {
  const double now = Seconds(sample.at);
  current_ = sample.count();
  held_ = !sample.load.has_value();
  if (held_) return decided_ = bounds_.Clamp(current_);
  Forget(now);
  if (sample.ready > 0) {
    proposal_ = ProposeHpaEven(current_, sample.ready, *sample.load / (sample.capacity * sample.ready),
                               sample.starting, settings_.target, settings_.tolerance);
  } else {
    proposal_ = {current_, 1, false};
  }
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

void HpaPolicy::Explain(Reason& reason) const {
  reason.recommender = "hpa";
  if (held_) {
    reason.sentence = fmt::format("The load was not measured, so the count stays {}.", decided_);
    return;
  }
  reason.sentence =
      proposal_.known
          ? fmt::format(
                "Utilisation is {:.2f} times the target of {:.0f} %: {} tasks for the load, {} after the "
                "stabilisation window, {} within the rate limits.",
                proposal_.ratio, settings_.target * 100, proposal_.count, stable_, decided_)
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
}

absl::Status HpaPolicy::Load(ByteReader& in) {
  StoredValues values(in);
  HpaPolicy fresh(settings_, bounds_);
  for (size_t n = values.Size(kMostEvents); n > 0 && values.ok(); --n) {
    const double at_s = values.Finite();
    fresh.advice_.push_back({at_s, values.Count()});
  }
  for (std::vector<HpaChange>* list : {&fresh.ups_, &fresh.downs_}) {
    int64_t sum = 0;  // Decide adds them up as an int
    for (size_t n = values.Size(kMostEvents); n > 0 && values.ok(); --n) {
      const double at_s = values.Finite();
      list->push_back({at_s, values.Count()});
      sum += list->back().change;
    }
    values.Require(sum <= kMostTasks);
  }
  fresh.proposal_.count = values.Within(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  fresh.proposal_.ratio = values.Finite();
  fresh.proposal_.known = values.Bool();
  for (int* v : {&fresh.current_, &fresh.stable_, &fresh.decided_}) *v = values.Count();
  fresh.held_ = values.Bool();
  if (absl::Status s = values.status("hpa"); !s.ok()) return s;
  *this = std::move(fresh);
  return absl::OkStatus();
}

size_t HpaPolicy::state_bytes() const {
  return sizeof(*this) + advice_.capacity() * sizeof(HpaAdvice) +
         (ups_.capacity() + downs_.capacity()) * sizeof(HpaChange);
}

}  // namespace taut
