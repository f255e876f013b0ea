#include "common/base/random.h"

#include <bit>
#include <numbers>

namespace taut {
namespace {

uint64_t SplitMix(uint64_t& x) {
  x += 0x9e3779b97f4a7c15ULL;
  uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : s_) word = SplitMix(seed);
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(s_[1] * 5, 7) * 9;
  const uint64_t t = s_[1] << 17;
  s_[2] ^= s_[0];
  s_[3] ^= s_[1];
  s_[1] ^= s_[2];
  s_[0] ^= s_[3];
  s_[2] ^= t;
  s_[3] = std::rotl(s_[3], 45);
  return result;
}

uint64_t Rng::Below(uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(Next()) * n) >> 64);
}

double Rng::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  const double angle = 2.0 * std::numbers::pi * Uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Rng Rng::Fork(uint64_t stream) const {
  uint64_t mix = s_[0] ^ (stream * 0xd1342543de82ef95ULL);
  return Rng(SplitMix(mix));
}

void Rng::Save(ByteWriter& out) const {
  for (const uint64_t word : s_) out.Put(word);
  out.Put(spare_);
  out.Put(static_cast<uint8_t>(has_spare_));
}

bool Rng::Load(ByteReader& in) {
  for (uint64_t& word : s_) word = in.Get<uint64_t>();
  spare_ = in.Get<double>();
  has_spare_ = in.Get<uint8_t>() != 0;
  return !in.failed();
}

}  // namespace taut
