#include "brain/economy/promise_ledger.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr int64_t kRunGapS = 3600;
constexpr int64_t kMostSeconds = int64_t{1} << 40;  // bound on times in a saved state

}  // namespace

std::string_view Name(PromiseVerdict verdict) {
  switch (verdict) {
    case PromiseVerdict::kKept:
      return "kept";
    case PromiseVerdict::kBroken:
      return "broken";
    case PromiseVerdict::kUndecided:
      break;
  }
  return "undecided";
}

ShareInterval WilsonInterval(double hits, double n, double z) {
  if (!(n > 0)) return {};
  const double p = hits / n, z2 = z * z;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt(std::max(0.0, p * (1 - p) / n + z2 / (4 * n * n)));
  return {std::clamp(middle - half, 0.0, 1.0), std::clamp(middle + half, 0.0, 1.0)};
}

absl::Status PromiseLedger::Add(const Promise& p) {
  const auto bad = [](std::string_view what, double value, std::string_view allowed) {
    return absl::InvalidArgumentError(
        fmt::format("a promise's {} is {:g}; allowed: {}", what, value, allowed));
  };
  if (p.horizon_s < step_s_)
    return bad("horizon in seconds", static_cast<double>(p.horizon_s), fmt::format("{} or more", step_s_));
  if (p.start_s <= now_s_)
    return bad("start", static_cast<double>(p.start_s),
               fmt::format("after {}, which has been observed", now_s_));
  if (!(p.amount >= 0) || !std::isfinite(p.amount)) return bad("amount", p.amount, "0 or more");
  if (!(p.level > 0 && p.level < 1)) return bad("level", p.level, "between 0 and 1");
  open_.push_back(outcomes_.size());
  outcomes_.push_back({.promise = p});
  return absl::OkStatus();
}

PromiseLedger::Tier& PromiseLedger::TierOf(int tier) {
  for (Tier& t : tiers_) {
    if (t.tier == tier) return t;
  }
  return tiers_.emplace_back(Tier{.tier = tier});
}

PromiseLedger::Miss& PromiseLedger::MissOf(int tier, double level) {
  for (Miss& m : misses_) {
    if (m.tier == tier && m.level == level) return m;
  }
  return misses_.emplace_back(Miss{.tier = tier, .level = level});
}

void PromiseLedger::CloseUntil(int64_t time_s, std::optional<int> tier) {
  std::erase_if(open_, [&](size_t i) {
    PromiseOutcome& o = outcomes_[i];
    if (tier.has_value() && o.promise.tier != *tier) return false;
    o.complete = o.promise.start_s + o.promise.horizon_s <= time_s;
    return o.complete;
  });
}

absl::Status PromiseLedger::Observe(int64_t time_s, int tier, double available) {
  Tier& t = TierOf(tier);
  if (time_s < now_s_ || time_s <= t.last_s)
    return absl::InvalidArgumentError(fmt::format(
        "availability of tier {} at {}; allowed: after {}, not before {}", tier, time_s, t.last_s, now_s_));
  t.last_s = time_s;
  now_s_ = time_s;
  CloseUntil(time_s, std::nullopt);
  for (size_t i : open_) {
    PromiseOutcome& o = outcomes_[i];
    if (o.promise.tier != tier || o.promise.start_s > time_s || std::isnan(available)) continue;
    ++o.measured;
    o.worst = std::min(o.worst, available);
    if (available >= o.promise.amount) continue;
    ++o.missed;
    Miss& m = MissOf(tier, o.promise.level);
    if (!m.any || time_s - m.last_s > kRunGapS) ++o.runs;
    m.any = true;
    m.last_s = time_s;
  }
  // The last step of a horizon completes the promises of this tier, but other tiers may still observe the step.
  CloseUntil(time_s + step_s_, tier);
  return absl::OkStatus();
}

void PromiseLedger::FindOpen() {
  open_.clear();
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    if (!outcomes_[i].complete) open_.push_back(i);
  }
}

void PromiseLedger::ForgetBefore(int64_t time_s) {
  const size_t gone = std::erase_if(outcomes_, [time_s](const PromiseOutcome& o) {
    return o.promise.start_s + o.promise.horizon_s <= time_s;
  });
  if (gone > 0) FindOpen();
}

void PromiseLedger::SetBack(int64_t time_s) {
  std::erase_if(outcomes_, [time_s](const PromiseOutcome& o) {
    return o.promise.start_s + o.promise.horizon_s > time_s;
  });
  now_s_ = std::min(now_s_, time_s - 1);
  for (Tier& t : tiers_) t.last_s = std::min(t.last_s, time_s - 1);
  for (Miss& m : misses_) m.last_s = std::min(m.last_s, time_s - 1);
  FindOpen();
}

KeptSummary PromiseLedger::Summarize(int tier, double level) const {
  KeptSummary s;
  double sum = 0, squares = 0;
  s.least_amount = std::numeric_limits<double>::infinity();
  for (const PromiseOutcome& o : outcomes_) {
    if (!o.complete || o.promise.tier != tier || o.promise.level != level) continue;
    if (o.measured == 0) {
      ++s.unmeasured_promises;
      continue;
    }
    ++s.promises;
    s.promises_kept += o.kept() ? 1 : 0;
    s.steps += o.measured;
    s.missed_steps += o.missed;
    sum += o.promise.amount;
    squares += o.promise.amount * o.promise.amount;
    s.least_amount = std::min(s.least_amount, o.promise.amount);
  }
  if (s.promises == 0) {
    s.least_amount = 0;
    return s;
  }
  const auto n = static_cast<double>(s.promises), steps = static_cast<double>(s.steps);
  s.mean_amount = sum / n;
  if (s.mean_amount > 0)
    s.amount_variation =
        std::sqrt(std::max(0.0, squares / n - s.mean_amount * s.mean_amount)) / s.mean_amount;
  s.promises_interval = WilsonInterval(static_cast<double>(s.promises_kept), n);
  // The prior is one run of missed steps that lasts an hour: without misses, the mean length of a run is unknown.
  const double hour = std::max(1.0, 3600.0 / static_cast<double>(step_s_));
  double runs = 1;
  for (const PromiseOutcome& o : outcomes_) {
    if (o.promise.tier == tier && o.promise.level == level) runs += static_cast<double>(o.runs);
  }
  s.run_steps = std::max(1.0, (static_cast<double>(s.missed_steps) + hour) / runs);
  s.kept_time = 1 - static_cast<double>(s.missed_steps) / steps;
  const double independent = steps / s.run_steps;
  s.time_interval = WilsonInterval(s.kept_time * independent, independent);
  if (s.time_interval.low >= level) s.verdict = PromiseVerdict::kKept;
  if (s.time_interval.high < level) s.verdict = PromiseVerdict::kBroken;
  return s;
}

void PromiseLedger::Save(ByteWriter& out) const {
  out.Put(step_s_);
  out.Put(now_s_);
  out.PutVarint(tiers_.size());
  for (const Tier& t : tiers_) {
    out.Put(int32_t{t.tier});
    out.Put(t.last_s);
  }
  out.PutVarint(misses_.size());
  for (const Miss& m : misses_) {
    out.Put(int32_t{m.tier});
    out.Put(m.level);
    out.Put(m.last_s);
    out.Put(uint8_t{m.any});
  }
  out.PutVarint(outcomes_.size());
  for (const PromiseOutcome& o : outcomes_) {
    out.Put(o.promise.start_s);
    out.Put(o.promise.horizon_s);
    out.Put(int32_t{o.promise.tier});
    out.Put(o.promise.amount);
    out.Put(o.promise.level);
    out.PutVarint(static_cast<uint64_t>(o.measured));
    out.PutVarint(static_cast<uint64_t>(o.missed));
    out.PutVarint(static_cast<uint64_t>(o.runs));
    out.Put(o.worst);
    out.Put(uint8_t{o.complete});
  }
}

absl::StatusOr<PromiseLedger> PromiseLedger::Load(ByteReader& in) {
  PromiseLedger out(in.Get<int64_t>());
  out.now_s_ = in.Get<int64_t>();
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) {
    Tier& t = out.tiers_.emplace_back();
    t.tier = in.Get<int32_t>();
    t.last_s = in.Get<int64_t>();
  }
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) {
    Miss& m = out.misses_.emplace_back();
    m.tier = in.Get<int32_t>();
    m.level = in.Get<double>();
    m.last_s = in.Get<int64_t>();
    m.any = in.Get<uint8_t>() != 0;
  }
  bool sound = out.step_s_ > 0;
  for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) {
    PromiseOutcome& o = out.outcomes_.emplace_back();
    o.promise.start_s = in.Get<int64_t>();
    o.promise.horizon_s = in.Get<int64_t>();
    o.promise.tier = in.Get<int32_t>();
    o.promise.amount = in.Get<double>();
    o.promise.level = in.Get<double>();
    o.measured = static_cast<int64_t>(in.GetVarint());
    o.missed = static_cast<int64_t>(in.GetVarint());
    o.runs = static_cast<int64_t>(in.GetVarint());
    o.worst = in.Get<double>();
    o.complete = in.Get<uint8_t>() != 0;
    const Promise& p = o.promise;
    sound = sound && p.amount >= 0 && std::isfinite(p.amount) && p.level > 0 && p.level < 1 &&
            p.horizon_s >= out.step_s_ && p.horizon_s < kMostSeconds && std::abs(p.start_s) < kMostSeconds &&
            o.runs >= 0 && o.runs <= o.missed && o.missed <= o.measured &&
            o.measured <= p.horizon_s / out.step_s_ + 1 && !std::isnan(o.worst);
  }
  if (absl::Status s = in.status("a ledger of promises"); !s.ok()) return s;
  if (!sound) return absl::DataLossError("a ledger of promises with one that cannot be");
  out.FindOpen();
  return out;
}

std::string Explain(const KeptSummary& s, double level) {
  if (s.promises == 0) return fmt::format("no promise of {:g} % has been completed", 100 * level);
  return fmt::format(
      "kept {:.3f} % of {} steps, {:.3f} to {:.3f} % with 95 % confidence ({:.3g} steps are one sample); {} "
      "of {} promises kept; promised {:g} %: {}",
      100 * s.kept_time, s.steps, 100 * s.time_interval.low, 100 * s.time_interval.high, s.run_steps,
      s.promises_kept, s.promises, 100 * level, Name(s.verdict));
}

}  // namespace taut::brain
