#include "brain/recommend/level_values.h"

#include <algorithm>
#include <bit>

#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

constexpr size_t kStep = 8;  // growth of the allocation, in values

bool SameBits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

}  // namespace

void LevelValues::Set(const All& values) {
  const auto differs_from = [](float v) { return [v](float other) { return !SameBits(v, other); }; };
  const auto first = std::find_if(values.begin(), values.end(), differs_from(values.front()));
  const auto last =
      std::find_if(values.rbegin(), std::make_reverse_iterator(first), differs_from(values.back())).base();
  low_ = values.front();
  high_ = values.back();
  below_ = static_cast<uint8_t>(first - values.begin());
  const auto size = static_cast<size_t>(last - first);
  const size_t room = (size + kStep - 1) / kStep * kStep;
  if (size > middle_.capacity() || room + 2 * kStep < middle_.capacity()) {
    middle_ = std::vector<float>();
    middle_.reserve(room);
  }
  middle_.assign(first, last);
}

void LevelValues::Get(All& out) const {
  const auto middle = std::fill_n(out.begin(), below_, low_);
  std::fill(std::copy(middle_.begin(), middle_.end(), middle), out.end(), high_);
}

float LevelValues::At(int level) const {
  if (level < below_) return low_;
  const auto at = static_cast<size_t>(level - below_);
  return at < middle_.size() ? middle_[at] : high_;
}

void LevelValues::Save(ByteWriter& out) const {
  out.Put(below_);
  out.Put(static_cast<uint8_t>(middle_.size()));
  out.Put(low_);
  out.Put(high_);
  for (const float v : middle_) out.Put(v);
}

absl::Status LevelValues::Load(ByteReader& in) {
  LevelValues read;
  read.below_ = in.Get<uint8_t>();
  const auto size = in.Get<uint8_t>();
  read.low_ = in.Get<float>();
  read.high_ = in.Get<float>();
  bool possible = read.below_ + size <= kLevels && IsStoredAmount(read.low_) && IsStoredAmount(read.high_);
  if (possible) read.middle_.reserve(size);
  for (int i = 0; i < size && possible; ++i) {
    read.middle_.push_back(in.Get<float>());
    possible = IsStoredAmount(read.middle_.back());
  }
  if (absl::Status s = in.status("the costs of levels"); !s.ok()) return s;
  if (!possible) return absl::DataLossError("the costs of levels: an impossible cost");
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut::brain
