#include "common/parquet/compact_writer.h"

#include <limits>

#include "gtest/gtest.h"

namespace taut {
namespace {

// The expected bytes were derived by hand from the protocol's specification.
std::string CompactBytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes) out += static_cast<char>(b);
  return out;
}

TEST(CompactWriter, NumbersAreZigZagVarints) {
  std::string bytes;
  CompactWriter out(&bytes);
  out.BeginStruct();
  out.Int32(1, 0);
  out.Int32(2, -1);
  out.Int32(3, 1);
  out.Int32(4, 64);    // zigzag code 128, which needs two bytes
  out.Int32(5, -300);  // zigzag code 599
  out.Int64(6, std::numeric_limits<int64_t>::min());
  out.Int64(7, std::numeric_limits<int64_t>::max());
  out.EndStruct();
  EXPECT_EQ(bytes, CompactBytes({0x15, 0x00, 0x15, 0x01, 0x15, 0x02, 0x15, 0x80, 0x01, 0x15, 0xD7, 0x04,  //
                                 0x16, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01,        //
                                 0x16, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00}));
}

TEST(CompactWriter, AFieldFarFromTheLastHasItsOwnId) {
  std::string bytes;
  CompactWriter out(&bytes);
  out.BeginStruct();
  out.Bool(15, true);   // the greatest delta in the half byte
  out.Bool(31, false);  // delta 16, one above the greatest
  out.Text(32, "ab");
  out.EndStruct();
  EXPECT_EQ(bytes, CompactBytes({0xF1, 0x02, 0x3E, 0x18, 0x02, 'a', 'b', 0x00}));
}

TEST(CompactWriter, IdsCountAnewInEachStruct) {
  std::string bytes;
  CompactWriter out(&bytes);
  out.BeginStruct();
  out.Int32(3, 1);
  out.BeginStruct(int16_t{4});
  out.Int32(1, 2);
  out.BeginStruct(int16_t{2});
  out.EndStruct();
  out.EndStruct();
  out.Int32(5, 3);  // delta 1 after field 4; the inner struct's ids do not matter
  out.EndStruct();
  EXPECT_EQ(bytes, CompactBytes({0x35, 0x02, 0x1C, 0x15, 0x04, 0x1C, 0x00, 0x00, 0x15, 0x06, 0x00}));
}

TEST(CompactWriter, ListsHaveTheirSizeInTheHeaderOrAfterIt) {
  std::string bytes;
  CompactWriter out(&bytes);
  out.BeginStruct();
  out.BeginList(1, CompactType::kInt32, 2);
  out.Int32Element(3);
  out.Int32Element(-3);
  out.BeginList(2, CompactType::kText, 15);
  for (int i = 0; i < 15; ++i) out.TextElement("");
  out.BeginList(3, CompactType::kStruct, 1);
  out.BeginStruct();
  out.Bool(1, true);
  out.EndStruct();
  out.EndStruct();
  EXPECT_EQ(bytes, CompactBytes({0x19, 0x25, 0x06, 0x05, 0x19, 0xF8, 0x0F}) + std::string(15, '\0') +
                       CompactBytes({0x19, 0x1C, 0x11, 0x00, 0x00}));
}

}  // namespace
}  // namespace taut
