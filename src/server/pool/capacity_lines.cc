#include "server/pool/capacity_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace taut::server {
namespace {

constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kLeastWindows = kWindowsPerHour / 2;
constexpr size_t kMostTiers = 1000;         // maximum number of tiers that is parsed
constexpr int32_t kMostHours = 10'000'000;  // maximum hour since the Unix epoch that is parsed
constexpr std::string_view kLineNames[] = {"capacity", "reservation", "allocation",
                                           "usage",    "usage_peak",  "forecast"};

size_t SlotOf(int32_t hour) { return static_cast<size_t>(hour % kCapacityHours); }

}  // namespace

std::string_view Name(CapacityLine line) { return kLineNames[static_cast<size_t>(line)]; }

void HourOfCapacity::Figure::Add(const std::optional<double>& value) {
  if (!value.has_value() || !std::isfinite(*value)) return;
  low = windows == 0 ? *value : std::min(low, *value);
  high = windows == 0 ? *value : std::max(high, *value);
  sum += *value;
  ++windows;
}

void HourOfCapacity::Add(const CellCapacity& window, std::span<const CapacityTier> tiers) {
  for (const Resource r : kResources) {
    const CapacityAmounts& from = window.amounts(r);
    Amounts& to = of_[static_cast<size_t>(r)];
    to.capacity.Add(from.capacity);
    to.reservation.Add(from.reservation);
    to.allocation.Add(from.allocation);
    to.usage.Add(from.usage);
    to.forecast.Add(from.forecast);
    if (from.use.size() != tiers.size() || !from.usage.has_value()) continue;
    ++to.use_windows;
    for (size_t t = 0; t < tiers.size(); ++t) {
      auto at = std::ranges::find(to.use, tiers[t].name, &TierUse::tier);
      if (at == to.use.end()) at = to.use.insert(to.use.end(), TierUse{tiers[t].name, 0});
      at->highest = std::max(at->highest, from.use[t]);
    }
  }
}

const HourOfCapacity::Figure& HourOfCapacity::FigureOf(const Amounts& a, CapacityLine line) const {
  switch (line) {
    case CapacityLine::kCapacity:
      return a.capacity;
    case CapacityLine::kReservation:
      return a.reservation;
    case CapacityLine::kAllocation:
      return a.allocation;
    case CapacityLine::kForecast:
      return a.forecast;
    case CapacityLine::kUsage:
    case CapacityLine::kUsagePeak:
      break;
  }
  return a.usage;
}

std::optional<double> HourOfCapacity::Of(Resource r, CapacityLine line) const {
  const Figure& figure = FigureOf(of_[static_cast<size_t>(r)], line);
  if (figure.windows < kLeastWindows) return std::nullopt;
  if (line == CapacityLine::kCapacity) return figure.low;
  if (line == CapacityLine::kUsagePeak || line == CapacityLine::kForecast) return figure.high;
  return figure.sum / figure.windows;
}

std::vector<HourOfCapacity::TierUse> HourOfCapacity::Use(Resource r) const {
  const Amounts& a = of_[static_cast<size_t>(r)];
  return a.use_windows >= kLeastWindows ? a.use : std::vector<TierUse>();
}

void HourOfCapacity::Save(ByteWriter& out) const {
  for (const Amounts& a : of_) {
    for (const Figure* f : {&a.capacity, &a.reservation, &a.allocation, &a.usage, &a.forecast}) {
      out.Put(f->windows);
      out.Put(f->sum);
      out.Put(f->low);
      out.Put(f->high);
    }
    out.Put(a.use_windows);
    out.PutVarint(a.use.size());
    for (const TierUse& use : a.use) {
      out.PutString(use.tier);
      out.Put(use.highest);
    }
  }
}

absl::StatusOr<HourOfCapacity> HourOfCapacity::Load(ByteReader& in) {
  HourOfCapacity out;
  bool sound = true;
  const auto counted = [](int32_t windows) { return windows >= 0 && windows <= kWindowsPerHour; };
  for (Amounts& a : out.of_) {
    for (Figure* f : {&a.capacity, &a.reservation, &a.allocation, &a.usage, &a.forecast}) {
      f->windows = in.Get<int32_t>();
      f->sum = in.Get<double>();
      f->low = in.Get<double>();
      f->high = in.Get<double>();
      sound = sound && counted(f->windows) && std::isfinite(f->sum) && std::isfinite(f->low) &&
              std::isfinite(f->high);
    }
    a.use_windows = in.Get<int32_t>();
    sound = sound && counted(a.use_windows);
    for (uint64_t n = in.GetVarint(); n > 0 && !in.failed(); --n) {
      TierUse& use = a.use.emplace_back();
      use.tier = in.GetString();
      use.highest = in.Get<double>();
      sound = sound && std::isfinite(use.highest);
    }
  }
  if (absl::Status s = in.status("an hour of capacity"); !s.ok()) return s;
  if (!sound) return absl::DataLossError("an hour of capacity that cannot be");
  return out;
}

void CapacityLines::Set(Column& column, int32_t hour, std::optional<double> value) {
  if (!value.has_value() && column.empty()) return;
  if (column.empty()) column.assign(kCapacityHours, kNotKnown);
  column[SlotOf(hour)] = value.has_value() ? static_cast<float>(*value) : kNotKnown;
}

float CapacityLines::Get(const Column& column, int32_t hour) {
  return column.empty() ? kNotKnown : column[SlotOf(hour)];
}

template <typename Fn>
void CapacityLines::ForEachColumn(Fn fn) {
  for (Of& of : of_) {
    for (Column& column : of.lines) fn(column);
    for (TierColumn& tier : of.tiers) fn(tier.use);
  }
}

void CapacityLines::Clear(int32_t hour) {
  ForEachColumn([hour](Column& column) {
    if (!column.empty()) column[SlotOf(hour)] = kNotKnown;
  });
}

void CapacityLines::Put(int32_t hour, const HourOfCapacity& of) {
  if (first_ == end_ || hour - end_ >= kCapacityHours) {
    ForEachColumn([](Column& column) { std::fill(column.begin(), column.end(), kNotKnown); });
    first_ = end_ = hour;
  }
  for (int32_t h = end_; h <= hour; ++h) Clear(h);
  end_ = hour + 1;
  first_ = std::max(first_, end_ - kCapacityHours);
  for (const Resource r : kResources) {
    Of& to = of_[static_cast<size_t>(r)];
    for (const CapacityLine line : kCapacityLines)
      Set(to.lines[static_cast<size_t>(line)], hour, of.Of(r, line));
    for (const HourOfCapacity::TierUse& use : of.Use(r)) {
      auto at = std::ranges::find(to.tiers, use.tier, &TierColumn::tier);
      if (at == to.tiers.end()) at = to.tiers.insert(to.tiers.end(), TierColumn{use.tier, {}});
      Set(at->use, hour, use.highest);
    }
  }
}

void CapacityLines::CutFrom(int32_t hour) {
  for (int32_t h = std::max(first_, hour); h < end_; ++h) Clear(h);
  end_ = std::clamp(hour, first_, end_);
}

std::optional<double> CapacityLines::At(int32_t hour, Resource r, CapacityLine line) const {
  if (hour < first_ || hour >= end_) return std::nullopt;
  const float value = Get(of_[static_cast<size_t>(r)].lines[static_cast<size_t>(line)], hour);
  return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

std::optional<double> CapacityLines::HigherUse(int32_t hour, Resource r, std::span<const CapacityTier> tiers,
                                               size_t before) const {
  if (hour < first_ || hour >= end_) return std::nullopt;
  bool measured = false;
  double sum = 0;
  for (const TierColumn& column : of_[static_cast<size_t>(r)].tiers) {
    const float use = Get(column.use, hour);
    if (std::isnan(use)) continue;
    measured = true;
    const auto at = std::ranges::find(tiers, column.tier, &CapacityTier::name);
    // The current tier of a former tier's jobs is unknown, so count their usage as above all tiers.
    if (at == tiers.end() || static_cast<size_t>(at - tiers.begin()) < before) sum += use;
  }
  return measured ? std::optional(sum) : std::nullopt;
}

size_t CapacityLines::bytes() const {
  size_t floats = 0;
  for (const Of& of : of_) {
    for (const Column& column : of.lines) floats += column.capacity();
    for (const TierColumn& tier : of.tiers) floats += tier.use.capacity();
  }
  return sizeof(*this) + floats * sizeof(float);
}

void CapacityLines::Save(ByteWriter& out) const {
  out.Put(first_);
  out.Put(end_);
  const auto put = [&](const Column& column) {
    out.Put(uint8_t{!column.empty()});
    for (int32_t h = first_; h < end_ && !column.empty(); ++h) out.Put(Get(column, h));
  };
  for (const Of& of : of_) {
    for (const Column& column : of.lines) put(column);
    out.PutVarint(of.tiers.size());
    for (const TierColumn& tier : of.tiers) {
      out.PutString(tier.tier);
      put(tier.use);
    }
  }
}

absl::StatusOr<CapacityLines> CapacityLines::Load(ByteReader& in) {
  CapacityLines out;
  out.first_ = in.Get<int32_t>();
  out.end_ = in.Get<int32_t>();
  if (out.first_ < 0 || out.end_ < out.first_ || out.end_ - out.first_ > kCapacityHours ||
      out.end_ > kMostHours)
    return absl::DataLossError("lines of capacity of no time");
  const auto get = [&](Column& column) {
    if (in.Get<uint8_t>() == 0) return;
    column.assign(kCapacityHours, kNotKnown);
    for (int32_t h = out.first_; h < out.end_; ++h) column[SlotOf(h)] = in.Get<float>();
  };
  for (Of& of : out.of_) {
    for (Column& column : of.lines) get(column);
    const uint64_t tiers = in.GetVarint();
    if (tiers > kMostTiers) return absl::DataLossError("lines of capacity of too many tiers");
    for (uint64_t n = tiers; n > 0 && !in.failed(); --n) {
      TierColumn& tier = of.tiers.emplace_back();
      tier.tier = in.GetString();
      get(tier.use);
    }
  }
  if (absl::Status s = in.status("the lines of capacity"); !s.ok()) return s;
  bool sound = true;
  out.ForEachColumn([&sound](const Column& column) {
    for (const float value : column) sound = sound && !std::isinf(value);
  });
  if (!sound) return absl::DataLossError("lines of capacity that are not finite");
  return out;
}

}  // namespace taut::server
