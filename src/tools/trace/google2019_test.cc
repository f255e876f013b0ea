// Tests of the Google v3 reader: a real line, the special cases of docs/reference/traces.md, and round trips of
// generated cells.
#include "tools/trace/google2019.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/trace/generate.h"
#include "tools/trace/google2019_real_row.h"
#include "tools/trace/job_days.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct KeptRow {
  UsageRow row;
  std::vector<float> percentiles, fractions;
};
struct KeptLimit {
  uint32_t job;
  int64_t us;
  std::optional<float> cpu, memory;
  bool operator==(const KeptLimit&) const = default;
};

class KeepingSink final : public TraceSink {
 public:
  void OnJob(JobId id, const JobInfo& info) override {
    EXPECT_EQ(id.value, jobs.size());
    jobs.push_back(info);
  }
  void OnUsage(const UsageRow& row) override {
    EXPECT_LT(row.job.value, jobs.size());
    rows.push_back({row,
                    {row.cpu_percentiles_cores.begin(), row.cpu_percentiles_cores.end()},
                    {row.cpu_fractions.begin(), row.cpu_fractions.end()}});
  }
  void OnLimit(JobId id, Timestamp t, std::optional<float> cpu, std::optional<float> memory) override {
    EXPECT_LT(id.value, jobs.size());
    limits.push_back({id.value, t.us, cpu, memory});
  }

  std::vector<JobInfo> jobs;
  std::vector<KeptRow> rows;
  std::vector<KeptLimit> limits;
};

class Google2019Test : public testing::Test {
 protected:
  absl::Status Parse(GoogleTable table, std::string_view lines) {
    if (parser_ == nullptr) parser_ = std::make_unique<Google2019Parser>(options_, sink_, report_);
    std::string padded(lines);
    padded.append(Google2019Parser::kPadding, 'x');  // bytes after the lines must not affect the result
    return parser_->ParseLines(table, "shard.json", 1, std::string_view(padded).substr(0, lines.size()));
  }
  void Usage(std::string_view lines) { ASSERT_TRUE(Parse(GoogleTable::kInstanceUsage, lines).ok()); }
  void Events(std::string_view lines) { ASSERT_TRUE(Parse(GoogleTable::kInstanceEvents, lines).ok()); }
  uint64_t Skipped(const std::string& cause) { return report_.skipped[cause].count; }

  TraceOptions options_;
  KeepingSink sink_;
  ReadReport report_;
  std::unique_ptr<Google2019Parser> parser_;
};

TEST_F(Google2019Test, TakesARealRow) {
  Usage(kRealRow);
  ASSERT_THAT(sink_.rows, SizeIs(1));
  const UsageRow& row = sink_.rows[0].row;
  EXPECT_EQ(sink_.jobs[0].name, "330587238433");
  EXPECT_EQ(row.task, 111U);
  EXPECT_EQ(row.start.us, 1'838'400'000'000);
  EXPECT_EQ(row.end.us, 1'838'700'000'000);
  EXPECT_FLOAT_EQ(*row.cpu_mean_cores, 0.008392333984375F * 64);
  EXPECT_FLOAT_EQ(*row.cpu_max_cores, 0.04791259765625F * 64);
  EXPECT_FLOAT_EQ(*row.memory_mean_bytes, 0.0094757080078125F * 256 * 1024 * 1024 * 1024);
  EXPECT_FLOAT_EQ(*row.memory_peak_bytes, 0.019378662109375F * 256 * 1024 * 1024 * 1024);
  EXPECT_EQ(row.memory_limit_bytes, std::nullopt);  // an assigned_memory of 0 means "unknown"
  const std::vector<float>& p = sink_.rows[0].percentiles;
  ASSERT_THAT(p, SizeIs(20));
  EXPECT_TRUE(std::is_sorted(p.begin(), p.end()));
  EXPECT_FLOAT_EQ(p[9], 0.021942138671875F * 64);   // 90th percentile
  EXPECT_FLOAT_EQ(p[10], 0.022308349609375F * 64);  // 91st percentile, the first of the tail
  EXPECT_FLOAT_EQ(p[19], 0.04779052734375F * 64);   // 100th percentile
  EXPECT_FLOAT_EQ(sink_.rows[0].fractions[10], 0.91F);
  EXPECT_EQ(report_.rows, 1U);
  EXPECT_EQ(report_.rows_used, 1U);
  EXPECT_THAT(report_.skipped, IsEmpty());
}

TEST_F(Google2019Test, IntegersMayBeNumbersFieldsMayBeMissingOrNullAndInAnyOrder) {
  Usage(
      R"({"average_usage":{"memory":0.5},"end_time":600000000,"collection_id":7,"start_time":"300000000"}
{"collection_id":"7","start_time":300000000,"end_time":600000000,"instance_index":null,"alloc_collection_id":null,"average_usage":{"cpus":0.25,"memory":null},"maximum_usage":null,"cpu_usage_distribution":[],"tail_cpu_usage_distribution":null,"assigned_memory":null,"new_field":{"a":[1,{"b":2}]}}
)");
  ASSERT_THAT(sink_.rows, SizeIs(2));
  EXPECT_THAT(sink_.jobs, SizeIs(1));
  EXPECT_EQ(sink_.rows[0].row.cpu_mean_cores, std::nullopt);
  EXPECT_EQ(*sink_.rows[0].row.memory_mean_bytes, 128.0F * 1024 * 1024 * 1024);
  EXPECT_EQ(*sink_.rows[1].row.cpu_mean_cores, 16.0F);
  EXPECT_EQ(sink_.rows[1].row.memory_mean_bytes, std::nullopt);
  EXPECT_THAT(sink_.rows[1].percentiles, IsEmpty());
}

TEST_F(Google2019Test, AMaximumOfZeroIsNotKnown) {
  Usage(
      R"({"start_time":"0","end_time":"300000000","collection_id":"7","average_usage":{"cpus":0.25,"memory":0.5},)"
      R"("maximum_usage":{"cpus":0,"memory":0.25}})");
  ASSERT_THAT(sink_.rows, SizeIs(1));  // a row that starts at 0 is valid
  EXPECT_EQ(sink_.rows[0].row.cpu_max_cores, std::nullopt);
  EXPECT_EQ(sink_.rows[0].row.memory_peak_bytes, std::nullopt);
  parser_->Finish();
  EXPECT_THAT(report_.warnings, ElementsAre(HasSubstr("1 maxima")));
}

constexpr std::string_view kAllocAndTask =
    R"({"start_time":"300000000","end_time":"600000000","collection_id":"1","collection_type":"1","alloc_collection_id":"0","average_usage":{"cpus":0.5}}
{"start_time":"300000000","end_time":"600000000","collection_id":"2","collection_type":"0","alloc_collection_id":"1","average_usage":{"cpus":0.5}}
{"start_time":"300000000","end_time":"600000000","collection_id":"3","collection_type":"0","alloc_collection_id":"0","average_usage":{"cpus":0.5}}
)";

TEST_F(Google2019Test, CountsTheTasksInAnAllocNotTheAlloc) {
  Usage(kAllocAndTask);
  ASSERT_THAT(sink_.jobs, SizeIs(2));
  EXPECT_EQ(sink_.jobs[0].name, "2");
  EXPECT_EQ(sink_.jobs[1].name, "3");
  EXPECT_EQ(Skipped("alloc instance: its tasks are counted"), 1U);
}

TEST_F(Google2019Test, OrTheAllocIfAsked) {
  options_.google_count_allocs = true;
  Usage(kAllocAndTask);
  ASSERT_THAT(sink_.jobs, SizeIs(2));
  EXPECT_EQ(sink_.jobs[0].name, "1");
  EXPECT_EQ(sink_.jobs[1].name, "3");
  EXPECT_EQ(Skipped("task in an alloc: the alloc is counted"), 1U);
}

std::string UsageLine(std::string_view start, std::string_view end, std::string_view rest) {
  return "{\"start_time\":\"" + std::string(start) + "\",\"end_time\":\"" + std::string(end) +
         "\",\"collection_id\":\"5\"," + std::string(rest) + "}\n";
}

TEST_F(Google2019Test, SkipsAndCountsWhatMakesNoSense) {
  options_.from_s = 300;
  options_.to_s = 900;
  const std::string_view usage = R"("average_usage":{"cpus":0.5})";
  Usage(UsageLine("9223372036854775807", "9223372036854775807", usage) +  //
        UsageLine("600000000", "600000000", usage) +                      //
        UsageLine("600000000", "9000000000000000000", usage) +            //
        UsageLine("299999999", "600000000", usage) +                      // row before from_s
        UsageLine("300000000", "600000000", usage) +                      // row that is used
        // Row that is used, because to_s is exclusive
        UsageLine("899999999", "900000000", usage) + UsageLine("900000000", "901000000", usage) +  //
        UsageLine("600000000", "900000000", R"("average_usage":{"cpus":-0.5})") +
        UsageLine("600000000", "900000000", R"("instance_index":"-1","average_usage":{"cpus":0.5})") +
        UsageLine("600000000", "900000000", R"("sample_rate":1)") + "{}\n\n \n");
  EXPECT_EQ(report_.rows, 11U);
  EXPECT_EQ(report_.rows_used, 2U);
  EXPECT_EQ(sink_.rows.size(), 2U);
  EXPECT_EQ(Skipped("starts after the end of the trace"), 1U);
  EXPECT_EQ(Skipped("ends before it starts"), 1U);
  EXPECT_EQ(Skipped("time out of range"), 1U);
  EXPECT_EQ(Skipped("outside the requested time range"), 2U);
  EXPECT_EQ(Skipped("negative usage"), 1U);
  EXPECT_EQ(Skipped("instance_index out of range"), 1U);
  EXPECT_EQ(Skipped("no usage in the row"), 1U);
  EXPECT_EQ(Skipped("no start_time, end_time or collection_id"), 1U);
}

TEST_F(Google2019Test, ABrokenLineCostsNoOther) {
  const std::string good = UsageLine("300000000", "600000000", R"("average_usage":{"cpus":0.5})");
  std::string lines = good;
  std::string expected_bad;
  uint64_t bad = 0;
  // Cut the valid line at every byte, like an interrupted write.
  for (size_t cut = 1; cut + 2 < good.size(); ++cut, ++bad) lines += good.substr(0, cut) + "\n" + good;
  for (const std::string_view text :
       {"}", "[1,2]", "\"text\"", "{\"start_time\":}", "nul", "\x01\xff", "{\"a\":\"\\u12\"}"}) {
    lines += std::string(text) + "\n" + good;
    bad += 1;
  }
  lines += good.substr(0, good.size() - 1) + good;  // two objects in one line
  lines += good;
  ++bad;
  Usage(lines);
  // No prefix of the line is a complete object, so every prefix is invalid.
  EXPECT_EQ(report_.rows - report_.rows_used, bad);
  EXPECT_EQ(sink_.rows.size(), bad + 1);
  uint64_t counted = 0;
  for (const auto& [cause, what] : report_.skipped) counted += what.count;
  EXPECT_EQ(counted, bad);
  ASSERT_FALSE(report_.skipped["not a JSON object"].examples.empty());
  EXPECT_THAT(report_.skipped["not a JSON object"].examples[0], HasSubstr("shard.json:2: {"));
}

TEST_F(Google2019Test, AFieldOfTheWrongTypeIsAnErrorOfItsOwn) {
  Usage(UsageLine("300000000", "600000000", R"("average_usage":{"cpus":{}})") +
        UsageLine("300000000", "600000000", R"("average_usage":3)") +
        UsageLine("3e", "600000000", R"("average_usage":{"cpus":0.5})") +
        UsageLine("300000000", "600000000", R"("instance_index":"99999999999999999999")"));
  EXPECT_EQ(report_.rows_used, 0U);
  EXPECT_EQ(Skipped("a field's value is not of its type"), 4U);
}

TEST_F(Google2019Test, StrictMindsBadRowsNotUnwantedOnes) {
  options_.strict = true;
  options_.to_s = 1000;
  Usage(kAllocAndTask);
  Usage(UsageLine("1000000000", "1300000000", R"("average_usage":{"cpus":0.5})"));
  EXPECT_EQ(report_.rows, 4U);
  EXPECT_EQ(report_.rows_used, 2U);
}

TEST_F(Google2019Test, StrictStopsAtTheFirstBadLine) {
  options_.strict = true;
  const absl::Status status = Parse(GoogleTable::kInstanceUsage, std::string(kRealRow) + "\n{broken\n");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("shard.json:2: not a JSON object: {broken"));
}

TEST_F(Google2019Test, EventsGiveLimitsNameClassAndPriority) {
  ASSERT_TRUE(
      Parse(
          GoogleTable::kCollectionEvents,
          R"({"time":"0","type":"0","collection_id":"5","scheduling_class":"3","priority":"200","collection_logical_name":"bG9n/aWM=","user":"eA=="}
{"time":"0","type":"0","collection_id":"6","priority":25,"collection_logical_name":null}
)")
          .ok());
  Events(
      R"({"time":"0","type":"0","collection_id":"5","instance_index":"0","resource_request":{"cpus":0.25,"memory":0.5}}
{"time":"0","type":"3","collection_id":"5","instance_index":"1","resource_request":{"cpus":0.25,"memory":0.5}}
{"time":"700000000","type":"10","collection_id":"5","instance_index":"1","resource_request":{"cpus":0.5,"memory":0.5}}
{"time":"800000000","type":"7","collection_id":"5","instance_index":"1","resource_request":{"cpus":0.125,"memory":0.5}}
{"time":"9223372036854775807","type":"9","collection_id":"5","instance_index":"1","resource_request":{"cpus":0.125}}
{"time":"0","type":"0","collection_id":"6","instance_index":"1","resource_request":{"cpus":0,"memory":0}}
{"time":"0","type":"0","collection_id":"99","instance_index":"1","resource_request":{"cpus":0.5}}
)");
  const std::string usage = R"("average_usage":{"cpus":0.5},"assigned_memory":0.125)";
  std::string other = UsageLine("300000000", "600000000", usage);
  other.replace(other.find("\"5\""), 3, "\"6\"");
  Usage(UsageLine("300000000", "600000000", usage) + other);
  Events(R"({"time":"900000000","type":"9","collection_id":"5","resource_request":{"memory":0.25}})");
  ASSERT_THAT(sink_.jobs, SizeIs(2));  // collection 99 has no usage
  EXPECT_EQ(sink_.jobs[0].logical_name, "bG9n/aWM=");
  EXPECT_EQ(sink_.jobs[0].sensitivity, Sensitivity::kMostSensitive);
  EXPECT_EQ(sink_.jobs[0].priority, 200);
  EXPECT_EQ(sink_.jobs[1].sensitivity, Sensitivity::kUnknown);
  EXPECT_EQ(sink_.jobs[1].priority, 25);
  constexpr float kUnit = 256.0F * 1024 * 1024 * 1024;
  EXPECT_THAT(sink_.limits, ElementsAre(KeptLimit{0, 0, 16.0F, 0.5F * kUnit},
                                        KeptLimit{0, 700'000'000, 32.0F, 0.5F * kUnit},
                                        KeptLimit{0, 900'000'000, std::nullopt, 0.25F * kUnit}));
  // The request is known, so the kernel's limit is ignored.
  EXPECT_EQ(sink_.rows[0].row.memory_limit_bytes, std::nullopt);
  EXPECT_EQ(sink_.rows[1].row.memory_limit_bytes, 0.125F * kUnit);
}

TEST_F(Google2019Test, AnOddDistributionIsLeftOutWithAWarning) {
  Usage(UsageLine("0", "300000000", R"("average_usage":{"cpus":0.5},"cpu_usage_distribution":[0.25,0.5])"));
  ASSERT_THAT(sink_.rows, SizeIs(1));
  EXPECT_THAT(sink_.rows[0].percentiles, IsEmpty());
  parser_->Finish();
  EXPECT_THAT(report_.warnings, ElementsAre(HasSubstr("1 rows have a CPU distribution")));
}

std::string Gunzip(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string packed((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(packed.data());
  state.avail_in = static_cast<uint32_t>(packed.size());
  std::string out;
  std::vector<uint8_t> block(1 << 20);
  do {
    state.next_out = block.data();
    state.avail_out = static_cast<uint32_t>(block.size());
    EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
    out.append(reinterpret_cast<const char*>(block.data()), block.size() - state.avail_out);
  } while (state.avail_out == 0);
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH);
  return out;
}

// Returns true if the values differ by at most half a unit of the tenth binary digit, or of 2^-20 of the largest
// machine.
bool Near(float a, float b, double unit) { return std::abs(a - b) <= b / 1000 + unit * 0x1p-20; }

void ExpectSameTasks(const JobDay& got, const JobDay& want, const TraceOptions& units) {
  ASSERT_EQ(got.tasks.size(), want.tasks.size());
  for (size_t t = 0; t < got.tasks.size(); ++t) {
    const TaskWindow &g = got.tasks[t], &w = want.tasks[t];
    ASSERT_EQ(g.task, w.task);
    ASSERT_TRUE(Near(g.cpu_mean_cores, w.cpu_mean_cores, units.unit_cpu_cores));
    ASSERT_TRUE(Near(g.cpu_peak_cores, w.cpu_peak_cores, units.unit_cpu_cores));
    ASSERT_TRUE(Near(g.memory_mean_bytes, w.memory_mean_bytes, units.unit_memory_bytes));
    ASSERT_TRUE(Near(g.memory_peak_bytes, w.memory_peak_bytes, units.unit_memory_bytes));
  }
}

double CpuSeconds(const JobDay& job, const JobWindow& window) {
  double seconds = 0;
  for (uint32_t b = 0; b < window.num_buckets; ++b)
    seconds += job.cpu_buckets[window.first_bucket + b].weight;
  return seconds;
}

void ExpectSameWindows(const JobDay& got, const JobDay& want, const TraceOptions& units) {
  ASSERT_EQ(got.windows.size(), want.windows.size());
  for (size_t i = 0; i < got.windows.size(); ++i) {
    const JobWindow &g = got.windows[i], &w = want.windows[i];
    ASSERT_EQ(g.window, w.window);
    ASSERT_EQ(g.num_tasks, w.num_tasks);
    ASSERT_NEAR(CpuSeconds(got, g), CpuSeconds(want, w), 1e-3 * CpuSeconds(want, w));
    // Limits from events are in force from the next window on, and limits from rows from the row's window on. In
    // the window of a change, the two limits may differ.
    if (i == 0 || want.windows[i - 1].memory_limit_bytes != w.memory_limit_bytes) continue;
    ASSERT_TRUE(Near(g.cpu_limit_cores, w.cpu_limit_cores, units.unit_cpu_cores));
    ASSERT_TRUE(Near(g.memory_limit_bytes, w.memory_limit_bytes, units.unit_memory_bytes));
  }
}

// A generated cell has the same jobs, windows, usage and limits after it is written to files and read, except for
// rounding.
TEST(Google2019RoundTrip, AMadeUpCellComesBackFromItsFiles) {
  const GenerateOptions options{.jobs = 60, .days = 3, .start_s = 600};
  const TraceOptions units;
  JobDayStore straight({}), read({});
  ASSERT_TRUE(GenerateCell(options, straight).ok());
  const auto directory = std::filesystem::path(testing::TempDir()) / "taut_google2019_round_trip";
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(WriteGeneratedGoogle2019(options, units, directory, 10'000).ok());

  std::vector<std::pair<GoogleTable, std::string>> shards;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    shards.emplace_back(GoogleTableOfName(entry.path().string()).value(), entry.path().string());
  }
  std::sort(shards.begin(), shards.end());
  ASSERT_GT(shards.size(), 5U);
  ReadReport report;
  Google2019Parser parser(units, read, report);
  for (const auto& [table, path] : shards) {
    std::string text = Gunzip(path);
    EXPECT_EQ(GoogleTableOfLine(text.substr(0, text.find('\n'))), table);
    const size_t size = text.size();
    text.append(Google2019Parser::kPadding, ' ');
    ASSERT_TRUE(parser.ParseLines(table, path, 1, std::string_view(text).substr(0, size)).ok());
  }
  parser.Finish();
  std::filesystem::remove_all(directory);
  EXPECT_GT(report.rows_used, 20'000U);
  EXPECT_THAT(report.warnings, IsEmpty());
  ASSERT_THAT(report.skipped, SizeIs(1));
  EXPECT_EQ(report.skipped["alloc instance: its tasks are counted"].count, report.rows - report.rows_used);

  ASSERT_TRUE(straight.Finish().ok());
  ASSERT_TRUE(read.Finish().ok());
  ASSERT_EQ(read.jobs().size(), straight.jobs().size());
  for (size_t j = 0; j < read.jobs().size(); ++j) {
    EXPECT_EQ(read.jobs()[j].logical_name, straight.jobs()[j].logical_name);
    EXPECT_EQ(read.jobs()[j].sensitivity, straight.jobs()[j].sensitivity);
    EXPECT_EQ(read.jobs()[j].priority, straight.jobs()[j].priority);
  }
  ASSERT_EQ(read.days(), straight.days());
  for (const int32_t day : read.days()) {
    const std::vector<JobDay> got = *read.LoadDay(day), want = *straight.LoadDay(day);
    ASSERT_EQ(got.size(), want.size());
    for (size_t j = 0; j < got.size(); ++j) {
      ASSERT_NO_FATAL_FAILURE(ExpectSameTasks(got[j], want[j], units));
      ASSERT_NO_FATAL_FAILURE(ExpectSameWindows(got[j], want[j], units));
    }
  }
}

TEST(GoogleTableOf, KnowsNamesAndKeys) {
  EXPECT_EQ(GoogleTableOfName("/a/instance_usage-000000000003.json.gz"), GoogleTable::kInstanceUsage);
  EXPECT_EQ(GoogleTableOfName("instance_events-000000000000.json"), GoogleTable::kInstanceEvents);
  EXPECT_EQ(GoogleTableOfName("collection_events.json.gz"), GoogleTable::kCollectionEvents);
  EXPECT_EQ(GoogleTableOfName("machine_events-0.json"), GoogleTable::kMachineEvents);
  EXPECT_EQ(GoogleTableOfName("instance_usage.csv"), std::nullopt);
  EXPECT_EQ(GoogleTableOfName("instance_usage.json/other.json"), std::nullopt);
  EXPECT_EQ(GoogleTableOfLine(kRealRow), GoogleTable::kInstanceUsage);
  EXPECT_EQ(GoogleTableOfLine(R"({"time":"0","collection_id":"1","instance_index":"0"})"),
            GoogleTable::kInstanceEvents);
  EXPECT_EQ(GoogleTableOfLine(R"({"time":"0","collection_id":"1","user":"0"})"),
            GoogleTable::kCollectionEvents);
  EXPECT_EQ(GoogleTableOfLine(R"({"time":"0","machine_id":"1","type":"1"})"), GoogleTable::kMachineEvents);
  EXPECT_EQ(GoogleTableOfLine(R"({"time":"0","machine_id":"1","name":"x"})"),
            GoogleTable::kMachineAttributes);
  EXPECT_EQ(GoogleTableOfLine("time,job,task"), std::nullopt);
  EXPECT_EQ(GoogleTableOfLine("\n"), std::nullopt);
}

}  // namespace
}  // namespace taut::tools
