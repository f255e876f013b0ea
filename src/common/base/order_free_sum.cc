#include "common/base/order_free_sum.h"

#include <algorithm>
#include <utility>

namespace taut {
namespace {

constexpr int32_t kLowestBand = -34, kHighestBand = 32;  // bands of the exponents of finite doubles
constexpr int64_t kHighest = int64_t{1} << 54;           // exclusive bound of a band's upper 64 bits

}  // namespace

absl::int128& OrderFreeSum::BandAt(int32_t number) {
  const auto at = std::ranges::lower_bound(bands_, number, {}, &Band::number);
  if (at != bands_.end() && at->number == number) return at->units;
  return bands_.insert(at, {number, 0})->units;
}

void OrderFreeSum::Save(ByteWriter& out) const {
  out.PutVarint(bands_.size());
  for (const Band& band : bands_) {
    out.Put(band.number);
    out.Put(absl::Int128High64(band.units));
    out.Put(absl::Int128Low64(band.units));
  }
}

bool OrderFreeSum::Load(ByteReader& in) {
  const uint64_t count = in.GetVarint();
  if (count > kHighestBand - kLowestBand + 1) return false;
  std::vector<Band> read(count);
  for (size_t i = 0; i < read.size(); ++i) {
    read[i].number = in.Get<int32_t>();
    const auto high = in.Get<int64_t>();
    read[i].units = absl::MakeInt128(high, in.Get<uint64_t>());
    const bool ascends = i == 0 || read[i].number > read[i - 1].number;
    if (!ascends || read[i].number < kLowestBand || read[i].number > kHighestBand) return false;
    // A larger band, which would need more than 2^33 terms, could overflow when parts are merged.
    if (high >= kHighest || high <= -kHighest) return false;
  }
  if (in.failed()) return false;
  bands_ = std::move(read);
  return true;
}

}  // namespace taut
