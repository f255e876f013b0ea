#include "server/pool/capacity_service.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "brain/economy/offers.h"

namespace taut::server {
namespace {

constexpr int32_t kHoursPerDay = 24, kHoursPerWeek = 168;
constexpr int32_t kFirstMonday = 4 * kHoursPerDay;  // the Unix epoch was a Thursday
// Weight of a full history in steps. With a half-life of 120 days, the hours of kCapacityHours weigh about 0.75 of
// their number.
constexpr double kMostSteps = 0.75 * kCapacityHours;

double Nan() { return std::numeric_limits<double>::quiet_NaN(); }

// Returns the larger of bought and allocated amount.
std::optional<double> SoldOf(const CapacityAmounts& a, size_t tier) {
  if (tier >= a.allocated.size()) return std::nullopt;
  return std::max(a.allocated[tier], tier < a.bought.size() ? a.bought[tier] : 0);
}

}  // namespace

double PromiseOfTier(const CapacityTier& tier) { return std::clamp(tier.promise, 0.5, 0.99999); }

CapacityService::CapacityService(std::vector<CapacityTier> tiers) : tiers_(std::move(tiers)) {
  const std::lock_guard lock(mutex_);
  MakeQuotes();
  Publish();
}

void CapacityService::Clear() {
  const std::lock_guard lock(mutex_);
  lines_ = CapacityLines();
  ledgers_.clear();
  hour_.reset();
  window_.reset();
  latest_.reset();
  quotes_.clear();
  quotes_due_ = false;
  MakeQuotes();
  CollectPromises();
  Publish();
}

std::optional<WindowId> CapacityService::window() const {
  const std::lock_guard lock(mutex_);
  return window_;
}

void CapacityService::OnWindow(const CellCapacity& window) {
  if (window.window.index < 0) return;
  const std::lock_guard lock(mutex_);
  const int32_t hour = window.window.index / kWindowsPerHour;
  if (window_.has_value() && window.window <= *window_) {
    if (window_->index - window.window.index <= kWindowsPerHour) return;
    SetBack(hour);
  }
  AddToHour(window, Close::kLate);
  latest_ = window;
  if (window.window.index % kWindowsPerHour == kWindowsPerHour - 1) CloseHour(Close::kOnTime);
  MakeDueQuotes();
  Publish();
}

void CapacityService::OnPastWindow(const CellCapacity& window) {
  if (window.window.index < 0) return;
  const std::lock_guard lock(mutex_);
  if (window_.has_value() && window.window <= *window_) return;
  quotes_due_ = true;
  AddToHour(window, Close::kPast);
  if (window.window.index % kWindowsPerHour == kWindowsPerHour - 1) CloseHour(Close::kPast);
}

// Makes the quotes once after all past hours, because thousands of past hours may arrive together.
void CapacityService::MakeDueQuotes() {
  if (!std::exchange(quotes_due_, false)) return;
  MakeQuotes();
  CollectPromises();
}

// Adds a window to its hour. If the window belongs to another hour, closes the open hour as `before` states.
void CapacityService::AddToHour(const CellCapacity& window, Close before) {
  const int32_t hour = window.window.index / kWindowsPerHour;
  if (hour_.has_value() && *hour_ != hour) CloseHour(before);
  if (!hour_.has_value()) open_ = HourOfCapacity();
  hour_ = hour;
  open_.Add(window, tiers_);
  window_ = window.window;
}

void CapacityService::Show(const CellCapacity& window) {
  const std::lock_guard lock(mutex_);
  latest_ = window;
  Publish();
}

// Sets the clock back to `hour`. Deletes later hours, which a wrong clock added.
void CapacityService::SetBack(int32_t hour) {
  hour_.reset();
  quotes_.clear();
  quotes_due_ = true;  // without quotes, slack tiers would count as reserved until the hour closes
  lines_.CutFrom(hour);
  for (HorizonLedger& horizon_ledger : ledgers_) horizon_ledger.ledger.SetBack(int64_t{hour} * 3600);
}

// Closes the open hour. kOnTime: its last window has closed. kLate: the next hour has begun, and some windows of
// the hour are missing. No promise is made with kLate, because the promise would cover time that has already
// passed. kPast: the hour was added with OnPastWindow(), so neither quotes nor promises are made.
void CapacityService::CloseHour(Close how) {
  const int32_t hour = *hour_;
  hour_.reset();
  lines_.Put(hour, open_);
  Observe(hour);
  if (how == Close::kPast) return Forget(hour);
  quotes_due_ = false;
  MakeQuotes();
  if (how == Close::kOnTime) MakePromises(hour + 1);
  Forget(hour);
  CollectPromises();
}

void CapacityService::Observe(int32_t hour) {
  for (HorizonLedger& horizon_ledger : ledgers_) {
    const auto tier = std::ranges::find(tiers_, horizon_ledger.tier, &CapacityTier::name);
    if (tier == tiers_.end()) continue;
    const std::optional<double> capacity = lines_.At(hour, horizon_ledger.resource, CapacityLine::kCapacity);
    const std::optional<double> higher =
        lines_.HigherUse(hour, horizon_ledger.resource, tiers_, static_cast<size_t>(tier - tiers_.begin()));
    const double available = capacity.has_value() && higher.has_value() ? *capacity - *higher : Nan();
    // Hours ascend, so Observe() accepts each hour. If a restored state contradicts this, discard the ledger.
    if (!horizon_ledger.ledger.Observe(int64_t{hour} * 3600, 0, available).ok())
      horizon_ledger.ledger = brain::PromiseLedger(3600);
  }
}

CapacityService::HorizonLedger& CapacityService::LedgerOf(const std::string& tier, Resource r,
                                                          size_t horizon) {
  for (HorizonLedger& horizon_ledger : ledgers_) {
    if (horizon_ledger.tier == tier && horizon_ledger.resource == r && horizon_ledger.horizon == horizon)
      return horizon_ledger;
  }
  HorizonLedger& added = ledgers_.emplace_back();
  added.tier = tier;
  added.resource = r;
  added.horizon = horizon;
  return added;
}

const CapacityService::HorizonLedger* CapacityService::FindLedger(const std::string& tier, Resource r,
                                                                  size_t horizon) const {
  for (const HorizonLedger& horizon_ledger : ledgers_) {
    if (horizon_ledger.tier == tier && horizon_ledger.resource == r && horizon_ledger.horizon == horizon)
      return &horizon_ledger;
  }
  return nullptr;
}

// Capacity and usage of higher tiers for one tier and resource by hour; NaN: unknown. The series start on the
// Monday before the first hour, so that seasons are aligned with weeks.
struct CapacityService::Series {
  int32_t origin = 0;
  std::vector<double> capacity, higher;
};

void CapacityService::MakeQuotes() {
  const std::vector<Quoted> before = std::exchange(quotes_, {});
  measured_hours_ = {};
  const int32_t first = lines_.first(), end = lines_.end();
  Series series;
  series.origin =
      static_cast<int32_t>(FloorDiv(first - kFirstMonday, kHoursPerWeek)) * kHoursPerWeek + kFirstMonday;
  const auto hours = static_cast<size_t>(end - series.origin);
  for (const Resource r : kResources) {
    series.capacity.assign(hours, Nan());
    for (int32_t h = first; h < end; ++h) {
      const std::optional<double> known = lines_.At(h, r, CapacityLine::kCapacity);
      if (!known.has_value()) continue;
      series.capacity[static_cast<size_t>(h - series.origin)] = *known;
      measured_hours_[static_cast<size_t>(r)] += lines_.At(h, r, CapacityLine::kUsage).has_value() ? 1 : 0;
    }
    for (size_t t = 0; t < tiers_.size(); ++t) {
      if (tiers_[t].sale != brain::TierSale::kSlack) continue;
      series.higher.assign(hours, Nan());
      for (int32_t h = first; h < end; ++h)
        series.higher[static_cast<size_t>(h - series.origin)] =
            lines_.HigherUse(h, r, tiers_, t).value_or(Nan());
      for (size_t horizon = 0; horizon < kCapacityHorizons.size(); ++horizon) {
        const bool daily = kCapacityHorizons[horizon].hours > kHoursPerDay;
        const int32_t until = daily ? end / kHoursPerDay * kHoursPerDay : end;
        const auto known = std::ranges::find_if(before, [&](const Quoted& q) {
          return q.tier == t && q.horizon == horizon && q.resource == r && q.until == until;
        });
        quotes_.push_back({t, horizon, r, until,
                           known != before.end() ? known->quote : QuoteOf(t, r, horizon, series, until)});
      }
    }
  }
}

// Returns the quote at hour `until`, which depends on all earlier hours and on the promises made in these hours.
brain::Quote CapacityService::QuoteOf(size_t tier, Resource r, size_t horizon, const Series& series,
                                      int32_t until) const {
  brain::Quote none;
  none.refusal = brain::Refusal::kHorizonUnseen;
  const auto hours = static_cast<size_t>(std::max(0, until - series.origin));
  brain::ActuaryOptions options;
  options.capacity = 0;
  for (size_t i = 0; i < hours; ++i) {
    if (series.capacity[i] > options.capacity) options.capacity = series.capacity[i];
  }
  options.step_s = 3600;
  options.horizon_steps = kCapacityHorizons[horizon].hours;
  options.promise = PromiseOfTier(tiers_[tier]);
  absl::StatusOr<brain::Actuary> actuary = brain::Actuary::Make(options);
  if (!actuary.ok()) return none;  // the capacity is unknown
  const HorizonLedger* horizon_ledger = FindLedger(tiers_[tier].name, r, horizon);
  size_t next = 0;
  for (size_t i = 0; i < hours; ++i) {
    const int64_t now_s = (int64_t{series.origin} + static_cast<int64_t>(i)) * 3600;
    if (horizon_ledger != nullptr) {
      const std::span<const brain::PromiseOutcome> made = horizon_ledger->ledger.outcomes();
      while (next < made.size() && made[next].promise.start_s < now_s) ++next;
      if (next < made.size() && made[next].promise.start_s == now_s)
        actuary->Promised(made[next].promise.amount);
    }
    actuary->Observe(series.capacity[i], series.higher[i]);
  }
  return actuary->Ask();
}

void CapacityService::MakePromises(int32_t hour) {
  const int64_t start_s = int64_t{hour} * 3600;
  for (const Quoted& quoted : quotes_) {
    const CapacityHorizon& horizon = kCapacityHorizons[quoted.horizon];
    if (quoted.quote.refused() || (horizon.hours >= kHoursPerDay && start_s % kDaySeconds != 0)) continue;
    HorizonLedger& horizon_ledger = LedgerOf(tiers_[quoted.tier].name, quoted.resource, quoted.horizon);
    const std::span<const brain::PromiseOutcome> made = horizon_ledger.ledger.outcomes();
    const bool open = !made.empty() && made.back().promise.start_s + made.back().promise.horizon_s > start_s;
    if (open) continue;
    const brain::Promise promise{start_s, horizon.seconds(), 0, quoted.quote.amount,
                                 PromiseOfTier(tiers_[quoted.tier])};
    // If the promise contradicts the restored ledger, discard the ledger.
    if (!horizon_ledger.ledger.Add(promise).ok()) horizon_ledger.ledger = brain::PromiseLedger(3600);
  }
}

void CapacityService::Forget(int32_t hour) {
  const int64_t now_s = int64_t{hour} * 3600;
  for (HorizonLedger& horizon_ledger : ledgers_)
    horizon_ledger.ledger.ForgetBefore(now_s - int64_t{kCapacityHorizons[horizon_ledger.horizon].keep_days} *
                                                   kDaySeconds);
  std::erase_if(ledgers_,
                [](const HorizonLedger& horizon_ledger) { return horizon_ledger.ledger.outcomes().empty(); });
}

void CapacityService::CollectPromises() {
  shown_.clear();
  for (size_t t = 0; t < tiers_.size(); ++t) {
    for (size_t horizon = 0; horizon < kCapacityHorizons.size(); ++horizon) {
      for (const Resource r : kResources) {
        const HorizonLedger* horizon_ledger = FindLedger(tiers_[t].name, r, horizon);
        if (horizon_ledger == nullptr) continue;
        const std::span<const brain::PromiseOutcome> made = horizon_ledger->ledger.outcomes();
        for (size_t i = 0; i < std::min(kShownPromises, made.size()); ++i)
          shown_.push_back({t, horizon, r, made[made.size() - 1 - i]});
      }
    }
  }
}

void CapacityService::FillReady(const brain::Quote& quote, size_t horizon, CapacityOffer& offer) const {
  const brain::Evidence& e = quote.evidence;
  const int64_t now_s = int64_t{lines_.end()} * 3600;
  const int32_t hours = kCapacityHorizons[horizon].hours + kHoursPerDay;
  switch (quote.refusal) {
    case brain::Refusal::kHorizonUnseen: {
      // The first forecast requires a measured day before it.
      offer.never = hours > kCapacityHours;
      const int64_t first_s = int64_t{lines_.first()} * 3600;
      if (offer.measured && !offer.never)
        offer.ready_s = std::max(first_s + int64_t{hours} * 3600, now_s + 3600);
      break;
    }
    case brain::Refusal::kTooFewSamples: {
      offer.never = e.needed * e.steps_per_sample > kMostSteps;
      const double more = (e.needed - e.independent) * e.steps_per_sample;
      if (!offer.never) offer.ready_s = now_s + 3600 * std::max<int64_t>(1, std::llround(std::ceil(more)));
      break;
    }
    case brain::Refusal::kUnmeasured:
      offer.ready_s = now_s + int64_t{kHoursPerDay} / 2 * 3600;
      break;
    case brain::Refusal::kNone:
    case brain::Refusal::kNothingLeft:
      break;
  }
}

std::vector<CapacityOffer> CapacityService::Offers() const {
  std::vector<CapacityOffer> out;
  const auto fill = [&](CapacityOffer& offer, const brain::TierOffer& of) {
    const CapacityAmounts* now = latest_.has_value() ? &latest_->amounts(offer.resource) : nullptr;
    if (now != nullptr) offer.sold = SoldOf(*now, offer.tier);
    if (!offer.sellable.has_value() || !offer.sold.has_value()) return;
    offer.left = of.left;
    offer.oversold = of.oversold;
  };
  for (const Resource r : kResources) {
    const CapacityAmounts* now = latest_.has_value() ? &latest_->amounts(r) : nullptr;
    for (size_t horizon = 0; horizon < kCapacityHorizons.size(); ++horizon) {
      std::vector<brain::TierSales> sales;
      for (size_t t = 0; t < tiers_.size(); ++t) {
        if (tiers_[t].sale == brain::TierSale::kSpare) continue;
        brain::TierSales& of = sales.emplace_back();
        of.tier = static_cast<int>(t);
        of.sold = now != nullptr ? SoldOf(*now, t).value_or(0) : 0;
        for (const Quoted& quoted : quotes_) {
          if (quoted.tier == t && quoted.horizon == horizon && quoted.resource == r) of.quote = quoted.quote;
        }
      }
      const std::optional<double> capacity = now != nullptr ? now->capacity : std::nullopt;
      const brain::PoolOffer pool = brain::OfferOf(capacity.value_or(0), sales);
      for (size_t i = 0; i < sales.size(); ++i) {
        const auto t = static_cast<size_t>(sales[i].tier);
        const bool reserved = !sales[i].quote.has_value();
        if (reserved && horizon > 0) continue;
        CapacityOffer& offer = out.emplace_back();
        offer.tier = t;
        offer.resource = r;
        offer.promise = reserved ? tiers_[t].promise : PromiseOfTier(tiers_[t]);
        offer.measured = measured_hours_[static_cast<size_t>(r)] > 0;
        if (reserved) {
          if (capacity.has_value()) offer.sellable = pool.tiers[i].sellable;
        } else {
          offer.horizon = horizon;
          offer.refusal = sales[i].quote->refusal;
          offer.evidence = sales[i].quote->evidence;
          if (!sales[i].quote->refused() || offer.refusal == brain::Refusal::kNothingLeft)
            offer.sellable = sales[i].quote->amount;
          FillReady(*sales[i].quote, horizon, offer);
          const HorizonLedger* horizon_ledger = FindLedger(tiers_[t].name, r, horizon);
          if (horizon_ledger != nullptr) offer.kept = horizon_ledger->ledger.Summarize(0, offer.promise);
        }
        fill(offer, pool.tiers[i]);
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const CapacityOffer& a, const CapacityOffer& b) {
    return std::pair(a.tier, a.horizon.value_or(0)) < std::pair(b.tier, b.horizon.value_or(0));
  });
  return out;
}

void CapacityService::Publish() {
  auto view = std::make_shared<CapacityView>();
  view->latest = latest_;
  view->tiers = tiers_;
  view->offers = Offers();
  view->promises = shown_;
  view->measured_hours = measured_hours_;
  if (lines_.first() < lines_.end()) view->first_s = int64_t{lines_.first()} * 3600;
  view->bytes = lines_.bytes();
  for (const HorizonLedger& horizon_ledger : ledgers_)
    view->bytes += horizon_ledger.ledger.outcomes().size_bytes();
  const std::lock_guard lock(view_mutex_);
  view_ = std::move(view);
}

std::shared_ptr<const CapacityView> CapacityService::View() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

CapacityHistory CapacityService::History(int64_t from_s, int64_t to_s, int64_t resolution_s) const {
  CapacityHistory out;
  out.resolution_s = resolution_s;
  const std::lock_guard lock(mutex_);
  const int64_t first_s = std::max(from_s, int64_t{lines_.first()} * 3600);
  const int64_t end_s = std::min(to_s, int64_t{lines_.end()} * 3600);
  for (int64_t at = FloorDiv(first_s, resolution_s) * resolution_s; at < end_s; at += resolution_s) {
    out.time_s.push_back(at);
    for (const Resource r : kResources) {
      for (const CapacityLine line : kCapacityLines) {
        double low = 0, high = 0, sum = 0;
        int32_t n = 0;
        for (int64_t h = at / 3600; h < (at + resolution_s) / 3600; ++h) {
          const std::optional<double> value = lines_.At(static_cast<int32_t>(h), r, line);
          if (!value.has_value()) continue;
          low = n == 0 ? *value : std::min(low, *value);
          high = n == 0 ? *value : std::max(high, *value);
          sum += *value;
          ++n;
        }
        std::optional<double> shown;
        if (n > 0) {
          shown = line == CapacityLine::kCapacity                                       ? low
                  : line == CapacityLine::kUsagePeak || line == CapacityLine::kForecast ? high
                                                                                        : sum / n;
        }
        out.lines[static_cast<size_t>(r)][static_cast<size_t>(line)].push_back(shown);
      }
    }
  }
  return out;
}

}  // namespace taut::server
