// Compares the fast parsers of numbers and rows with slow, simple parsers.
#include "tools/trace/csv_number.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "tools/trace/csv_reader.h"

namespace taut::tools {
namespace {

// Parses `text`. The digits after its end must not be parsed.
NumberKind Decimal(const std::string& text, double& out) {
  const std::string padded = text + "9.9.9999999999999999";
  return ParseDecimal(padded.data(), padded.data() + text.size(), out);
}
NumberKind Integer(const std::string& text, int64_t& out) {
  const std::string padded = text + "99999999999999999999";
  return ParseInteger(padded.data(), padded.data() + text.size(), out);
}

TEST(ParseDecimalTest, TakesWhatIsANumberAndNothingElse) {
  double out = 0;
  for (const auto& [text, value] :
       std::vector<std::pair<std::string, double>>{{"0", 0},
                                                   {"7", 7},
                                                   {"5.", 5},
                                                   {".5", 0.5},
                                                   {"0.1", 0.1},
                                                   {"1.6703488E7", 16703488},
                                                   {"29.259994499999998", 29.259994499999998},
                                                   {"123456789012345", 123456789012345.0},
                                                   {"9999999999999999", 9999999999999999.0},
                                                   {"+3", 3},
                                                   {" 4\t", 4},
                                                   {"1e-400", 0},
                                                   {"-0", 0},
                                                   {"000000000000000.5", 0.5}}) {
    ASSERT_EQ(Decimal(text, out), NumberKind::kNumber) << text;
    EXPECT_EQ(out, value) << text;
    EXPECT_FALSE(std::signbit(out));
  }
  for (const char* text : {".", "-1", "nan", "inf", "-inf", "1e400", "1.2.3", "1,2", "0x1", "1 2", "--1",
                           "+-1", "e5", "12a", "1234567890123456a", "\x01", "\xb0"}) {
    EXPECT_EQ(Decimal(text, out), NumberKind::kBad) << text;
  }
  for (const char* text : {"", " ", "\t \t"}) EXPECT_EQ(Decimal(text, out), NumberKind::kEmpty);
}

RC_GTEST_PROP(ParseDecimalTest, RoundsLikeTheLibrary, ()) {
  const auto digits = *rc::gen::container<std::string>(rc::gen::inRange('0', static_cast<char>('9' + 1)));
  RC_PRE(!digits.empty() && digits.size() < 30);
  std::string text = digits;
  if (*rc::gen::arbitrary<bool>()) text.insert(*rc::gen::inRange<size_t>(0, text.size() + 1), 1, '.');
  double out = -1;
  RC_ASSERT(Decimal(text, out) == NumberKind::kNumber);
  RC_ASSERT(out == std::strtod(text.c_str(), nullptr));
}

RC_GTEST_PROP(ParseDecimalTest, AnyBytesAreJudgedLikeTheSlowWay, (std::string text)) {
  double fast = 0, slow = 0;
  const std::string copy = text;
  const NumberKind kind = ParseDecimalSlow(copy.data(), copy.data() + copy.size(), slow);
  RC_ASSERT(Decimal(text, fast) == kind);
  if (kind == NumberKind::kNumber) RC_ASSERT(fast == slow);
}

RC_GTEST_PROP(ParseIntegerTest, ReadsBackEveryInteger, (int64_t value)) {
  int64_t out = 0;
  RC_ASSERT(Integer(fmt::format("{}", value), out) == NumberKind::kNumber);
  RC_ASSERT(out == value);
}

TEST(ParseIntegerTest, KnowsItsEnds) {
  int64_t out = 0;
  EXPECT_EQ(Integer("9223372036854775807", out), NumberKind::kNumber);
  EXPECT_EQ(out, INT64_MAX);
  EXPECT_EQ(Integer("9223372036854775808", out), NumberKind::kBad);
  EXPECT_EQ(Integer("1.5", out), NumberKind::kBad);
  EXPECT_EQ(Integer("", out), NumberKind::kEmpty);
  EXPECT_EQ(Integer("9999999999999999", out), NumberKind::kNumber);
  EXPECT_EQ(out, 9'999'999'999'999'999);
}

using Rows = std::vector<std::vector<std::string>>;

// Returns the rows that CsvIndex finds, each preceded by its line number.
Rows Fast(const std::string& lines, char separator) {
  const std::string padded = lines + std::string(64, ',');
  Rows out;
  CsvIndex index(separator);
  const absl::Status status =
      index.ForEachRow(std::string_view(padded).substr(0, lines.size()), 1, [&](const CsvRow& row) {
        std::vector<std::string> fields = {fmt::format("{}", row.line())};
        for (int i = 0; i < row.size(); ++i) fields.emplace_back(row[i]);
        out.push_back(fields);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok());
  return out;
}

Rows Plain(const std::string& lines, char separator) {
  Rows out;
  std::vector<std::string> fields = {"1", ""};
  int line = 1;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == '\n') {
      if (fields.back().ends_with('\r')) fields.back().pop_back();
      if (fields.size() > 2 || !fields[1].empty()) out.push_back(fields);
      fields = {fmt::format("{}", ++line), ""};
    } else if (lines[i] == separator) {
      fields.emplace_back();
    } else {
      fields.back() += lines[i];
    }
  }
  return out;
}

RC_GTEST_PROP(CsvIndexTest, FindsTheSameFieldsAsThePlainWay, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::element('a', ',', '\n', '\r', '1', ',', 'b', '\n'));
  const int copies = *rc::gen::inRange(1, 40);
  std::string lines;
  for (int i = 0; i < copies; ++i) lines += text;
  lines += '\n';
  RC_ASSERT(Fast(lines, ',') == Plain(lines, ','));
}

TEST(CsvIndexTest, PiecesAndLongLinesJoinWithoutASeam) {
  for (const size_t length : {100, 16'383, 16'384, 16'385, 50'000}) {
    std::string lines = "a,b\n";
    for (int i = 0; i < 5; ++i)
      lines += std::string(length, 'x') + "," + std::string(i, 'y') + "\nq,r,s\n\r\n";
    EXPECT_EQ(Fast(lines, ','), Plain(lines, ',')) << length;
  }
  const std::string many = std::string(100'000, ',') + "\n1\n";
  EXPECT_EQ(Fast(many, ',').front().size(), 100'002U);
}

TEST(NameTableTest, NumbersStayTheSameInAnyOrder) {
  NameTable names;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(names.Number(fmt::format("name-{}", i)), i);
    for (uint32_t i = 100; i-- > 0;) EXPECT_EQ(names.Number(fmt::format("name-{}", i)), i);
  }
  EXPECT_EQ(names.size(), 100U);
  EXPECT_EQ(names.name(17), "name-17");
}

}  // namespace
}  // namespace taut::tools
