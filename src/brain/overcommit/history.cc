#include "brain/overcommit/history.h"

#include <cmath>

namespace taut::brain {

MachineWindow Sum(std::span<const TaskLoad> tasks) {
  MachineWindow out;
  out.tasks = tasks;
  for (const TaskLoad& t : tasks) {
    out.limit += t.limit;
    if (!t.measured()) continue;
    out.measured_limit += t.limit;
    out.usage += t.capped();
  }
  return out;
}

void WindowRing::Advance(WindowId window) {
  if (last_ == window.index) return;
  if (last_ == INT32_MIN) last_ = window.index - 1;
  const auto behind = static_cast<int64_t>(window.index) - last_;
  if (behind >= static_cast<int64_t>(values_.size())) {
    std::ranges::fill(values_, kAbsent);
  } else {
    for (int32_t w = last_ + 1; w <= window.index; ++w) values_[Slot({w})] = kAbsent;
  }
  last_ = std::max(last_, window.index);
}

float WindowRing::Highest() const { return *std::ranges::max_element(values_); }

float WindowRing::HighestOfLast(size_t windows) const {
  float out = kAbsent;
  for (size_t i = 0; i < std::min(windows, values_.size()); ++i)
    out = std::max(out, values_[Slot({last_ - static_cast<int32_t>(i)})]);
  return out;
}

float WindowRing::HighestOfHours(size_t windows, size_t day, size_t days) const {
  float out = kAbsent;
  for (size_t d = 1; d <= days && d * day <= values_.size(); ++d) {
    for (size_t i = 1; i <= std::min(windows, day); ++i)
      out = std::max(out, values_[Slot({last_ + static_cast<int32_t>(i) - static_cast<int32_t>(d * day)})]);
  }
  return out;
}

size_t WindowRing::PresentOfLast(size_t windows) const {
  size_t out = 0;
  for (size_t i = 0; i < std::min(windows, values_.size()); ++i)
    out += values_[Slot({last_ - static_cast<int32_t>(i)})] >= 0 ? 1 : 0;
  return out;
}

void WindowRing::Save(ByteWriter& out) const {
  out.Put(last_);
  out.PutVarint(seen_);
  for (size_t i = 0; i < values_.size(); i += 8) {
    uint8_t present = 0;
    for (size_t k = i; k < std::min(i + 8, values_.size()); ++k)
      present |= static_cast<uint8_t>((values_[k] >= 0 ? 1 : 0) << (k - i));
    out.Put(present);
  }
  for (const float v : values_) {
    if (v >= 0) out.Put(v);
  }
}

absl::Status WindowRing::Load(ByteReader& in) {
  last_ = in.Get<int32_t>();
  seen_ = in.GetVarint();
  if (last_ != INT32_MIN && !IsWindow(last_))
    return absl::DataLossError("the history of a machine has no time");
  std::vector<uint8_t> present((values_.size() + 7) / 8);
  for (uint8_t& bits : present) bits = in.Get<uint8_t>();
  for (size_t i = 0; i < values_.size(); ++i) {
    values_[i] = (present[i / 8] >> (i % 8) & 1) != 0 ? in.Get<float>() : kAbsent;
    if (!std::isfinite(values_[i]) || (values_[i] < 0 && values_[i] != kAbsent))
      return absl::DataLossError("the history of a machine has a value that is none");
  }
  return in.status("the history of a machine");
}

Spread SpreadOf(std::span<const float> values) {
  Spread out;
  double sum = 0;
  for (const float v : values) {
    if (v < 0) continue;
    sum += v;
    ++out.n;
  }
  if (out.n == 0) return out;
  out.mean = sum / static_cast<double>(out.n);
  if (out.n < 2) return out;
  double squares = 0;
  for (const float v : values) {
    if (v >= 0) squares += (v - out.mean) * (v - out.mean);
  }
  out.deviation = std::sqrt(squares / static_cast<double>(out.n - 1));
  return out;
}

}  // namespace taut::brain
