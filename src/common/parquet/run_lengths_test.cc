#include "common/parquet/run_lengths.h"

#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut {
namespace {

std::string RunBytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes) out += static_cast<char>(b);
  return out;
}

std::string RunsOf(const std::vector<uint32_t>& values, int width) {
  std::string out;
  AppendRunLengths(values, width, &out);
  return out;
}

// Decodes as specified; stops after `count` values, because the last group may be padded.
std::vector<uint32_t> ReadRuns(std::string_view bytes, int width, size_t count) {
  std::vector<uint32_t> out;
  size_t at = 0;
  const auto byte = [&] { return static_cast<uint64_t>(static_cast<unsigned char>(bytes.at(at++))); };
  while (out.size() < count) {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
      const uint64_t b = byte();
      header |= (b & 0x7FU) << shift;
      if (b < 0x80) break;
    }
    if ((header & 1U) == 0) {
      uint64_t value = 0;
      for (int i = 0; i < (width + 7) / 8; ++i) value |= byte() << (8 * i);
      out.insert(out.end(), header >> 1U, static_cast<uint32_t>(value));
      continue;
    }
    const size_t values = (header >> 1U) * 8, from = at * 8;
    at += values * static_cast<size_t>(width) / 8;
    for (size_t i = 0; i < values; ++i) {
      uint64_t value = 0;
      for (size_t bit = 0; bit < static_cast<size_t>(width); ++bit) {
        const size_t place = from + i * static_cast<size_t>(width) + bit;
        value |= uint64_t{static_cast<unsigned char>(bytes.at(place / 8)) >> (place % 8) & 1U} << bit;
      }
      out.push_back(static_cast<uint32_t>(value));
    }
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_LT(out.size(), count + 8);
  out.resize(count);
  return out;
}

TEST(RunLengths, AreTheExampleOfTheSpecification) {
  // The numbers 0 to 7 are packed in 3 bits each.
  EXPECT_EQ(RunsOf({0, 1, 2, 3, 4, 5, 6, 7}, 3), RunBytes({0x03, 0x88, 0xC6, 0xFA}));
}

TEST(RunLengths, ARunOfEightIsALength) {
  EXPECT_EQ(RunsOf(std::vector<uint32_t>(8, 1), 1), RunBytes({0x10, 0x01}));
  EXPECT_EQ(RunsOf(std::vector<uint32_t>(100, 300), 9), RunBytes({0xC8, 0x01, 0x2C, 0x01}));
  EXPECT_EQ(RunsOf(std::vector<uint32_t>(7, 1), 1), RunBytes({0x03, 0x7F})) << "packed, and filled with a 0";
}

TEST(RunLengths, ValuesBeforeARunTakeFromItWhatTheirGroupLacks) {
  std::vector<uint32_t> values = {1, 0};
  values.insert(values.end(), 14, 1);
  EXPECT_EQ(RunsOf(values, 1), RunBytes({0x03, 0xFD, 0x10, 0x01}));
}

TEST(RunLengths, NothingIsNothing) { EXPECT_EQ(RunsOf({}, 1), ""); }

TEST(RunLengths, WidthsHoldEveryNumberBelow) {
  EXPECT_EQ(BitWidthOf(0), 1);
  EXPECT_EQ(BitWidthOf(1), 1);
  EXPECT_EQ(BitWidthOf(2), 1);
  EXPECT_EQ(BitWidthOf(3), 2);
  EXPECT_EQ(BitWidthOf(256), 8);
  EXPECT_EQ(BitWidthOf(257), 9);
  EXPECT_EQ(BitWidthOf(uint64_t{1} << 32), 32);
}

RC_GTEST_PROP(RunLengths, AreReadBackAsTheyWere, ()) {
  const int width = *rc::gen::inRange(1, 33);
  std::vector<uint32_t> values;
  for (const auto& [value, times] : *rc::gen::arbitrary<std::vector<std::pair<uint32_t, uint8_t>>>())
    values.insert(values.end(), times % 20 + 1U, static_cast<uint32_t>(value & ((uint64_t{1} << width) - 1)));
  RC_ASSERT(ReadRuns(RunsOf(values, width), width, values.size()) == values);
}

}  // namespace
}  // namespace taut
