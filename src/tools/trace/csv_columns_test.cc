#include "tools/trace/csv_columns.h"

#include <cmath>
#include <fstream>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct CsvColumnsTest : testing::Test {
  absl::StatusOr<std::vector<std::vector<double>>> Read(const std::string& text,
                                                        std::vector<std::string> names) {
    std::ofstream(path) << text;
    return ReadCsvColumns(path, names);
  }
  std::string ErrorOf(const std::string& text) { return std::string(Message(Read(text, {"use"}).status())); }
  TempDir dir;
  std::string path = dir.File("p.csv");
};

TEST_F(CsvColumnsTest, AreReadByName) {
  const auto columns = Read("time, use ,cap\r\n0,1.5,4\r\n300,,4\n\n600,2e0,4\n", {"cap", "use"});
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_THAT(columns->at(0), ElementsAre(4, 4, 4));
  EXPECT_EQ(columns->at(1).at(0), 1.5);
  EXPECT_TRUE(std::isnan(columns->at(1).at(1)));
  EXPECT_EQ(columns->at(1).at(2), 2);
}

TEST_F(CsvColumnsTest, NamesWhatIsWrong) {
  EXPECT_THAT(ErrorOf("time,used\n1,2\n"), HasSubstr("p.csv: no column \"use\"; did you mean \"used\"?"));
  EXPECT_THAT(ErrorOf("time,use\n1,2\n2,x\n"), HasSubstr("p.csv:3: use: \"x\" is not a finite number"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("cannot be read, or is empty"));
  const std::string name = "use";
  EXPECT_TRUE(absl::IsNotFound(ReadCsvColumns(dir.File("none.csv"), {&name, 1}).status()));
}

}  // namespace
}  // namespace taut::tools
