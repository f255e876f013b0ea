#include "common/parquet/parquet_writer.h"

#include <zstd.h>

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using testing::HasSubstr;

std::string FileBytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes) out += static_cast<char>(b);
  return out;
}

// A page so small that each number of its header is one byte long.
struct ReadPage {
  std::string header, body;
};
ReadPage NextPage(std::string_view* file) {
  const auto size_at = [&](size_t i) { return static_cast<unsigned char>((*file)[i]) / 2U; };
  EXPECT_EQ((*file)[0], 0x15);
  const size_t raw = size_at(3), packed = size_at(5);
  // The header of a data page contains four numbers of its own, and the header of a dictionary page contains two.
  const size_t header = (*file)[1] == 0 ? 17 : 13;
  ReadPage out{std::string(file->substr(0, header)), std::string(raw, '\0')};
  EXPECT_EQ(ZSTD_decompress(out.body.data(), raw, file->data() + header, packed), raw);
  file->remove_prefix(header + packed);
  return out;
}

class ParquetWriterTest : public testing::Test {
 protected:
  ByteSink sink_ = [this](std::string_view bytes) { file_ += bytes; };
  std::string file_;
};

TEST_F(ParquetWriterTest, AFileWithoutRowsIsItsSchema) {
  ParquetWriter out({{"a", ParquetKind::kText, true}}, sink_);
  ASSERT_TRUE(out.Finish().ok());
  // The expected bytes were derived by hand from the specification.
  const std::string footer =
      FileBytes({0x15, 0x04, 0x19, 0x2C, 0x48, 0x06}) + "schema" +
      FileBytes({0x15, 0x02, 0x00, 0x15, 0x0C, 0x25, 0x02, 0x18, 0x01, 'a',  0x25, 0x00,
                 0x4C, 0x1C, 0x00, 0x00, 0x00, 0x16, 0x00, 0x19, 0x0C, 0x28, 0x08}) +
      "Tautline" + FileBytes({0x00});
  EXPECT_EQ(file_, "PAR1" + footer + FileBytes({static_cast<int>(footer.size()), 0, 0, 0}) + "PAR1");
}

TEST_F(ParquetWriterTest, TextsThatDifferArePlain) {
  ParquetWriter out({{"a"}}, sink_);
  out.Text("x");
  out.Text("");
  ASSERT_TRUE(out.Finish().ok());
  std::string_view rest = std::string_view(file_).substr(4);
  const ReadPage page = NextPage(&rest);
  EXPECT_EQ(page.body, FileBytes({1, 0, 0, 0, 'x', 0, 0, 0, 0}));
  EXPECT_EQ(page.header.substr(6),
            FileBytes({0x2C, 0x15, 0x04, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00}));
}

TEST_F(ParquetWriterTest, TextsThatRepeatAreIndicesAndNullsLevels) {
  ParquetWriter out({{"a", ParquetKind::kText, true}}, sink_);
  for (int i = 0; i < 8; ++i) out.Text("x");
  out.Null();
  out.Text("y");
  ASSERT_TRUE(out.Finish().ok());
  std::string_view rest = std::string_view(file_).substr(4);
  const ReadPage dictionary = NextPage(&rest), data = NextPage(&rest);
  EXPECT_EQ(dictionary.body, FileBytes({1, 0, 0, 0, 'x', 1, 0, 0, 0, 'y'}));
  EXPECT_EQ(dictionary.header.substr(6), FileBytes({0x4C, 0x15, 0x04, 0x15, 0x00, 0x00, 0x00}));
  // Levels: 8 times 1, then 0 and 1 in one group; indices of 1 bit: 8 times 0, then 1.
  EXPECT_EQ(data.body, FileBytes({4, 0, 0, 0, 0x10, 0x01, 0x03, 0x02, 1, 0x10, 0x00, 0x03, 0x01}));
  EXPECT_EQ(data.header.substr(6),
            FileBytes({0x2C, 0x15, 0x14, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00}));
}

TEST_F(ParquetWriterTest, DecimalsHaveTheirHighestByteFirst) {
  ParquetWriter out({{"d", ParquetKind::kDecimal, false, 6}, {"t", ParquetKind::kTimeMillis}}, sink_);
  out.Number(-2);
  out.Number(258);
  ASSERT_TRUE(out.Finish().ok());
  std::string_view rest = std::string_view(file_).substr(4);
  EXPECT_EQ(NextPage(&rest).body, std::string(8, '\xFF') + '\xFE');
  EXPECT_EQ(NextPage(&rest).body, FileBytes({2, 1, 0, 0, 0, 0, 0, 0}));
}

TEST_F(ParquetWriterTest, BytesThatAreNotUtf8AreReplaced) {
  ParquetWriter out({{"a"}}, sink_);
  out.Text("b\xFF\xC3\xA9");
  ASSERT_TRUE(out.Finish().ok());
  std::string_view rest = std::string_view(file_).substr(4);
  EXPECT_EQ(NextPage(&rest).body, FileBytes({6, 0, 0, 0}) + "b\xEF\xBF\xBD\xC3\xA9");
}

TEST_F(ParquetWriterTest, RowGroupsAreBounded) {
  size_t most = 0, held = 0;
  const size_t kGroupBytes = size_t{1} << 20;
  ParquetWriter out({{"a"}}, [&](std::string_view bytes) { held = bytes.empty() ? held : 0; },
                    {.group_rows = 1'000'000, .group_bytes = kGroupBytes});
  for (int i = 0; i < 100'000; ++i) {
    const std::string text(100, static_cast<char>('a' + i % 26));
    out.Text(text + std::to_string(i));
    held += text.size();
    most = std::max(most, held);
  }
  ASSERT_TRUE(out.Finish().ok());
  EXPECT_LE(most, kGroupBytes) << "bytes were written before that many waited";
}

TEST_F(ParquetWriterTest, ACellThatDoesNotFitIsNamed) {
  const auto error = [this](auto put) {
    ParquetWriter out({{"a"}, {"b", ParquetKind::kDecimal, true, 6}}, sink_);
    put(out);
    return std::string(out.Finish().message());
  };
  EXPECT_THAT(error([](ParquetWriter& out) { out.Null(); }), HasSubstr("column a cannot hold a null"));
  EXPECT_THAT(error([](ParquetWriter& out) { out.Number(1); }), HasSubstr("column a cannot hold a number"));
  EXPECT_THAT(error([](ParquetWriter& out) { out.Text("x"); }), HasSubstr("ends before column b"));
  EXPECT_THAT(error([](ParquetWriter& out) {
                out.Text("x");
                out.Text("y");
              }),
              HasSubstr("column b cannot hold a text"));
  EXPECT_THAT(error([](ParquetWriter& out) { out.Text(std::string((size_t{64} << 20) + 1, 'x')); }),
              HasSubstr("at most 67108864"));
}

}  // namespace
}  // namespace taut
