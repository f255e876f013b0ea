// Fuzzes the parsers of checkpoints, and of the records in checkpoints, with arbitrary bytes. The bytes are
// rejected, or result in a record that can be saved and loaded again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/histogram/checkpoint.h"
#include "common/histogram/decay_bank.h"
#include "common/histogram/decaying_histogram.h"
#include "common/histogram/sliding_max.h"
#include "common/histogram/window_histogram.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

template <typename Record>
std::string Saved(const Record& record) {
  std::string bytes;
  ByteWriter out(&bytes);
  record.Save(out);
  return bytes;
}

void ReadDecaying(std::string_view bytes, const Grid& grid) {
  ByteReader in(bytes);
  auto h = DecayingHistogram::Load(in, grid);
  if (!h.ok()) return;
  const std::string saved = Saved(*h);
  ByteReader again(saved);
  Require(DecayingHistogram::Load(again, grid).ok());
  for (const PercentileOf of : {PercentileOf::kTime, PercentileOf::kLoad})
    Require(h->Percentile(0.95, of) <= h->Peak());
  h->Add(1e9, 1.0, 1'000'000);
  Require(!std::isnan(h->Mean()));
}

void ReadWindow(std::string_view bytes, const Grid& grid) {
  ByteReader in(bytes);
  const auto h = WindowHistogram::Load(in, grid);
  if (!h.ok()) return;
  const std::string saved = Saved(*h);
  ByteReader again(saved);
  Require(WindowHistogram::Load(again, grid).ok());
  Require(h->Percentile(0.95, PercentileOf::kLoad) <= h->Peak());
}

void ReadMax(std::string_view bytes) {
  ByteReader in(bytes);
  const auto max = SlidingMax::Load(in);
  if (!max.ok()) return;
  const std::string saved = Saved(*max);
  ByteReader again(saved);
  const auto twin = SlidingMax::Load(again);
  Require(twin.ok() && twin->Max(INT32_MAX, INT32_MAX) == max->Max(INT32_MAX, INT32_MAX));
}

void ReadBank(std::string_view bytes) {
  static const DecayRates rates = DecayRates::FromHalfLives(std::vector<double>{3600, 86'400, 604'800});
  DecayBank bank(rates);
  ByteReader in(bytes);
  if (!bank.Load(in).ok()) return;
  BankShares shares;
  bank.Shares(&shares);
  bank.Step(1, std::vector<BucketShare>{{100, 1.0F}});
  bank.Shares(&shares);
  for (const float share : shares.over) Require(share >= 0 && share < 1.01F);
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto opened = OpenCheckpoint(bytes, size_t{1} << 20);
  if (opened.ok()) Require(OpenCheckpoint(SealCheckpoint(*opened)).value() == *opened);
  for (const Grid* grid : {&Grid::Cpu(), &Grid::Memory()}) {
    ReadDecaying(bytes, *grid);
    ReadWindow(bytes, *grid);
  }
  ReadMax(bytes);
  ReadBank(bytes);
  return 0;
}
