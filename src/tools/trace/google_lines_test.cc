// Tests that Google 2019 tables in the output formats of bq result in the same rows as JSON lines.
#include "tools/trace/google_lines.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "common/base/strings.h"
#include "tools/trace/trace_test_files.h"

namespace taut::tools {
namespace {

constexpr std::string_view kTableLines =
    R"({"start_time":"600000000","end_time":"900000000","collection_id":"77","instance_index":"0","average_usage":{"cpus":0.01,"memory":0.02},"maximum_usage":{"cpus":0.03}}
{"start_time":"900000000","end_time":"1200000000","collection_id":"77","instance_index":"0","average_usage":{"cpus":0.01,"memory":0.02},"maximum_usage":{"cpus":0.03}}
)";
constexpr std::string_view kTableArray = R"([
  {
    "start_time": "600000000",
    "end_time": "900000000",
    "collection_id": "77",
    "instance_index": "0",
    "user": "a \" } ] {",
    "average_usage": {
      "cpus": "0.01",
      "memory": "0.02"
    },
    "maximum_usage": {"cpus": 0.03}
  },
  {"start_time": "900000000", "end_time": "1200000000", "collection_id": "77", "instance_index": "0",
   "average_usage": {"cpus": 0.01, "memory": 0.02}, "maximum_usage": {"cpus": 0.03}}
]
)";
constexpr std::string_view kTableCsv =
    "start_time,end_time,collection_id,instance_index,average_usage.cpus,average_usage_memory,maximum_usage."
    "cpus,user\n"
    "600000000,900000000,77,0,0.01,0.02,0.03,\"a, b\"\n"
    "900000000,1200000000,77,0,0.01,0.02,0.03,\n";

std::string RowsRead(std::string_view name, std::string_view text) {
  const TempDir dir;
  ReadResult r = ReadPaths({dir.Write(std::string(name), text)});
  EXPECT_TRUE(r.status.ok()) << r.status;
  EXPECT_EQ(r.AllSkipped(), 0U);
  std::string out;
  for (const UsageRow& row : r.sink.rows)
    out += StrCat(r.sink.jobs[row.job.value].name, " ", row.start.us, " ", row.end.us, " ",
                  row.cpu_mean_cores.value_or(-1), " ", row.memory_mean_bytes.value_or(-1), " ",
                  row.cpu_max_cores.value_or(-1), "\n");
  return out;
}

TEST(GoogleLines, ArraysAndFlatCsvAreReadAsLinesAre) {
  const std::string rows = RowsRead("instance_usage.json", kTableLines);
  EXPECT_EQ(std::ranges::count(rows, '\n'), 2);
  std::string one_line(kTableArray);
  std::erase(one_line, '\n');
  EXPECT_EQ(RowsRead("instance_usage.json", kTableArray), rows);
  EXPECT_EQ(RowsRead("results.json", kTableArray), rows) << "by its columns";
  EXPECT_EQ(RowsRead("results.json", one_line), rows);
  EXPECT_EQ(RowsRead("results.csv", kTableCsv), rows);
  EXPECT_EQ(RowsRead("instance_usage.csv", kTableCsv), rows);
}

TEST(GoogleLines, AnArrayMayBeLongerThanALineMayBe) {
  std::string array = "[";
  for (int i = 0; i < 20'000; ++i)
    array +=
        StrCat(i > 0 ? "," : "", R"({"start_time":")", 600000000LL + 300000000LL * i, R"(","end_time":")",
               900000000LL + 300000000LL * i, R"(","collection_id":"77","average_usage":{"cpus":0.01}})");
  const std::string rows = RowsRead("bq.json", array + "]");
  EXPECT_EQ(std::ranges::count(rows, '\n'), 20'000);
}

}  // namespace
}  // namespace taut::tools
