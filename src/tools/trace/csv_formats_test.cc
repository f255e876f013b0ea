// Tests of all CSV formats: rows from valid lines, and counts of invalid lines.
#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "fmt/format.h"
#include "tools/trace/trace_test_files.h"

namespace taut::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kBitbrainsHeader =
    "Timestamp [ms];\tCPU cores;\tCPU capacity provisioned [MHZ];\tCPU usage [MHZ];\tCPU usage [%];\tMemory "
    "capacity "
    "provisioned [KB];\tMemory usage [KB];\tDisk read throughput [KB/s];\tDisk write throughput "
    "[KB/s];\tNetwork "
    "received throughput [KB/s];\tNetwork transmitted throughput [KB/s]\n";

ReadResult ReadText(std::string_view name, std::string_view text) {
  const TempDir dir;
  return ReadPaths({dir.Write(name, text)});
}

TEST(BitbrainsTest, SecondsScientificNumbersAndOffRows) {
  const ReadResult r = ReadText(
      "17.csv", std::string(kBitbrainsHeader) +
                    "1372629804;\t2;\t5852.0;\t2926.0;\t1.5;\t1.6703488E7;\t1034592.8;\t1;\t2;\t3;\t4\n"
                    "1372630104;\t0;\t0.0;\t0.0;\t0.0;\t1.6703488E7;\t100663.2;\t0;\t0;\t0;\t0\n"
                    "1372630404;\t0;\t0.0;\t0.0;\t0.0;\t0.0;\t0.0;\t0;\t0;\t0;\t0\n"
                    "1372630704;\t4;\t5852.0;\t5852.0;\t1.5;\t0.0;\t0.0;\t1;\t2;\t3;\t4\n");
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.rows.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "17");
  const UsageRow& row = r.sink.rows[0];
  EXPECT_EQ(row.start.seconds(), 1372629804);
  EXPECT_EQ(row.end.seconds(), 1372630104);
  EXPECT_FLOAT_EQ(*row.cpu_mean_cores, 1.0F);
  EXPECT_FLOAT_EQ(*row.cpu_limit_cores, 2.0F);
  EXPECT_FLOAT_EQ(*row.memory_mean_bytes, 1034592.8F * 1024);
  EXPECT_FLOAT_EQ(*row.memory_limit_bytes, 1.6703488e7F * 1024);
  EXPECT_EQ(r.Skipped("vm off"), 2U);
  EXPECT_FALSE(r.sink.rows[1].memory_mean_bytes.has_value()) << "no memory at all is not a usage of 0";
  EXPECT_FALSE(r.sink.rows[1].memory_limit_bytes.has_value());
  EXPECT_EQ(r.report.rows, 4U);
}

TEST(BitbrainsTest, MillisecondsWouldBeUnderstoodToo) {
  const ReadResult r = ReadText(
      "1.csv", std::string(kBitbrainsHeader) + "1372629804000;\t2;\t100;\t50;\t1;\t4;\t2;\t1;\t2;\t3;\t4\n");
  ASSERT_EQ(r.sink.rows.size(), 1U);
  EXPECT_EQ(r.sink.rows[0].start.seconds(), 1372629804);
}

TEST(BitbrainsTest, WrongRowsAreCountedByCause) {
  const ReadResult r = ReadText("c.csv",
                                "vm,ts_s,cores,cpu_cap_mhz,cpu_mhz,mem_cap_kb,mem_kb\n"
                                "1,0,2,100,nan,4,2\n"
                                "1,300,2,100,-5,4,2\n"
                                "1,600,2,100,inf,4,2\n"
                                "1,900,2,100,1e400,4,2\n"
                                "1,1200,2,100,5,4\n"
                                "1,1500,2,100,5,4,2,9\n"
                                "1,,2,100,5,4,2\n"
                                "1,9999999999999999,2,100,5,4,2\n"
                                "1,1800,2,100,5..0,4,2\n"
                                "1,2100,2,100,0x10,4,2\n"
                                "1,2400,2,0,5,4,2\n"
                                "1,2700,,,,4,2\n"
                                "1,3000,2,100,50,,\n");
  ASSERT_TRUE(r.status.ok());
  EXPECT_EQ(r.Skipped("bad number"), 7U);
  EXPECT_EQ(r.Skipped("wrong number of columns"), 2U);
  EXPECT_EQ(r.Skipped("time out of range"), 1U);
  EXPECT_EQ(r.Skipped("no CPU capacity"), 1U);
  ASSERT_EQ(r.sink.rows.size(), 2U);
  EXPECT_FALSE(r.sink.rows[0].cpu_mean_cores.has_value());
  EXPECT_FALSE(r.sink.rows[1].memory_mean_bytes.has_value());
  EXPECT_EQ(r.report.rows, r.report.rows_used + r.AllSkipped());
  EXPECT_EQ(r.report.skipped.at("bad number").examples.size(), 3U);
}

constexpr std::string_view kUsage2011 =
    "600000000,900000000,3418309,0,4155527081,0.001562,0.06787,0.07568,0.001156,0.001503,0.06987,2.861e-06,0."
    "0001869,"
    "0.03967,0.0003567,2.445,0.007243,0,1,0\n"
    "600000000,900000000,3418309,1,329150663,1.568e-03,0.06787,0.07556,0.0003195,0.0007,0.06,5.722e-06,0."
    "0001879,"
    "0,0.0009289,2.1,0.005791,0,1\n";

TEST(Google2011Test, UsageAlone) {
  const ReadResult r = ReadText("part-00000-of-00500.csv.gz", Gzipped(kUsage2011));
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.rows.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "3418309");
  const UsageRow& row = r.sink.rows[0];
  EXPECT_EQ(row.start.us, 600'000'000);
  EXPECT_EQ(row.end.us, 900'000'000);
  EXPECT_FLOAT_EQ(*row.cpu_mean_cores, 0.001562F * 64);
  EXPECT_FLOAT_EQ(*row.cpu_max_cores, 0.03967F * 64);
  const float machine = 256.0F * 1024 * 1024 * 1024;
  EXPECT_FLOAT_EQ(*row.memory_mean_bytes, 0.06787F * machine);
  EXPECT_FLOAT_EQ(*row.memory_peak_bytes, 0.06987F * machine);
  EXPECT_FLOAT_EQ(*row.memory_limit_bytes, 0.07568F * machine) << "what was assigned, for lack of a request";
  EXPECT_EQ(r.sink.rows[1].task, 1U);
  EXPECT_FALSE(r.sink.rows[1].cpu_max_cores.has_value()) << "a maximum of 0 is not known";
  EXPECT_FALSE(r.sink.rows[1].memory_peak_bytes.has_value()) << "a maximum below the mean is wrong";
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("1 maxima")));
}

TEST(Google2011Test, EventsComeFirstWhateverTheirPlace) {
  const TempDir dir;
  dir.Write("x/task_usage/part-00000-of-00500.csv.gz", Gzipped(kUsage2011));
  dir.Write("y/task_events/part-00000-of-00500.csv",
            "0,2,3418309,0,4155527081,0,user,3,9,,,,\n"
            "0,,3418309,1,4155527081,0,user,2,9,0.125,0.07446,0.0004244,0\n"
            "0,,3418309,0,4155527081,1,user,2,9,0.125,0.07446,0.0004244,0\n"
            "700000000,,3418309,0,4155527081,8,user,2,9,0.25,0.07446,0.0004244,0\n"
            "9223372036854775807,,3418309,0,4155527081,4,user,2,9,0.5,0.07446,0.0004244,0\n"
            "1,broken\n");
  dir.Write("z/job_events/part-00000-of-00500.csv", "0,,3418309,0,user,3,IHgt=,wAmg=\n");
  dir.Write("z/machine_events/part-00000-of-00001.csv", "0,5,0,HofLGzk1Or/8Ildj2,0.5,0.2493\n");
  const ReadResult r = ReadPaths({dir.path()});
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.jobs.size(), 1U);
  EXPECT_EQ(r.sink.jobs[0].logical_name, "wAmg=");
  EXPECT_EQ(r.sink.jobs[0].sensitivity, Sensitivity::kSensitive);
  EXPECT_EQ(r.sink.jobs[0].priority, 9);
  ASSERT_EQ(r.sink.limits.size(), 2U) << "repeated requests are not changes";
  EXPECT_EQ(r.sink.limits[0].time_us, 0);
  EXPECT_FLOAT_EQ(*r.sink.limits[0].cpu, 8);
  EXPECT_EQ(r.sink.limits[1].time_us, 700'000'000);
  EXPECT_FLOAT_EQ(*r.sink.limits[1].cpu, 16);
  EXPECT_FALSE(r.sink.rows[0].memory_limit_bytes.has_value()) << "the request counts";
  EXPECT_EQ(r.Skipped("wrong number of columns"), 1U);
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("machine_events"), HasSubstr("maxima")));
}

TEST(Google2011Test, ImpossibleTimesAreSkipped) {
  const std::string rest = ",3418309,0,1,0.1,0.1,,,,,,,,,,,0,1,0\n";
  const ReadResult r = ReadText("task_usage/part.csv", "600000000,900000000" + rest + "900000000,900000000" +
                                                           rest + "9223372036854775807,9223372036854775807" +
                                                           rest + "600000000,9223372036854775807" + rest +
                                                           "600000000,900000000,1,0,1,,,,,,,,,,,,,0,1,0\n");
  EXPECT_EQ(r.sink.rows.size(), 1U);
  EXPECT_EQ(r.Skipped("ends before it starts"), 1U);
  EXPECT_EQ(r.Skipped("starts after the end of the trace"), 1U);
  EXPECT_EQ(r.Skipped("time out of range"), 1U);
  EXPECT_EQ(r.Skipped("no usage in the row"), 1U);
}

TEST(Alibaba2018Test, MachinesAreJobsOfTheirOwn) {
  const ReadResult r = ReadText("machine_usage.csv",
                                "m_1932,386640,50,25,,,43.04,33.08,5\n"
                                "m_1932,386670,101,92,,,43.04,33.08,5\n"
                                "m_1932,386690,-1,-1,,,43.05,33.08,5\n"
                                "m_1932,386700,,,,,43.05,33.08,5\n"
                                "m_1932,0,44,92,,,43.05,33.08,5\n"
                                "m_7,386690,1e9,92,,,43.05,33.08,5\n"
                                "m_7,386690,44,92,,,43.05,33.08,5\n");
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.jobs.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "m_1932");
  ASSERT_EQ(r.sink.rows.size(), 3U);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].cpu_mean_cores, 48);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].cpu_limit_cores, 96);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].memory_mean_bytes, 64.0F * 1024 * 1024 * 1024);
  EXPECT_FALSE(r.sink.rows[1].cpu_mean_cores.has_value());
  EXPECT_EQ(r.sink.rows[0].end.seconds(), 386670) << "the first row covers what the second does";
  EXPECT_EQ(r.sink.rows[1].end.seconds(), 386700);
  EXPECT_EQ(r.sink.rows[2].end.seconds(), 386750) << "a row alone";
  EXPECT_EQ(r.Skipped("no valid usage in the row"), 2U);
  EXPECT_EQ(r.Skipped("time 0: before or after the trace"), 1U);
  EXPECT_EQ(r.Skipped("bad number"), 1U);
}

TEST(Alibaba2018Test, ContainersAreTasksOfTheirDeployUnit) {
  const TempDir dir;
  dir.Write("container_meta.csv",
            "c_1,m_2556,0,app_5052,started,400,800,1.5\n"
            "c_2,m_2556,0,app_5052,started,400,400,1.5\n"
            "c_1,m_2556,5000,app_5052,started,200,200,3\n");
  dir.Write("container_usage.csv",
            "c_2,m_2556,4990,50,50,,,,,,\n"
            "c_1,m_2556,4990,150,50,,,,,,\n"
            "c_1,m_2556,5000,50,50,,,,,,\n"
            "c_3,m_1,5000,50,50,,,,,,\n");
  dir.Write("machine_usage.csv", "m_1932,386640,50,25,,,43.04,33.08,5\n");
  dir.Write("batch_task.csv", "M1,1,j_1,1,Terminated,1,2,100,0.5\n");
  const ReadResult r = ReadPaths({dir.path()});
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.jobs.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "app_5052");
  EXPECT_EQ(r.sink.jobs[1].name, "c_3");
  ASSERT_EQ(r.sink.rows.size(), 4U);
  std::vector<float> cpu(4), limit(4);
  for (const UsageRow& row : r.sink.rows) {
    const size_t i = row.job.value == 1 ? 3 : row.task == 1 ? 0 : row.start.seconds() == 4990 ? 1 : 2;
    cpu[i] = *row.cpu_mean_cores;
    limit[i] = row.cpu_limit_cores.value_or(-1);
  }
  EXPECT_THAT(cpu, ElementsAre(2, 6, 1, 0.5));
  EXPECT_THAT(limit, ElementsAre(4, 8, 2, -1));
  EXPECT_THAT(r.report.warnings,
              ::testing::UnorderedElementsAre(HasSubstr("batch_task"), HasSubstr("machine_usage"),
                                              HasSubstr("1 containers are not in container_meta")));
}

TEST(Alibaba2018Test, OfTwoSizesOfOneTimeTheFirstCounts) {
  const TempDir dir;
  dir.Write("container_meta.csv",
            "c_1,m_1,0,app_1,started,400,400,1.5\n"
            "c_1,m_1,0,app_1,started,400,400,1.5\n"
            "c_1,m_1,0,app_1,started,400,400,99.99\n"
            "c_1,m_1,600,app_1,started,400,400,3\n"
            "c_1,m_1,0,app_1,started,800,800,1.5\n");
  dir.Write("container_usage.csv", "c_1,m_1,300,50,50,,,,,,\nc_1,m_1,600,50,50,,,,,,\n");
  const ReadResult r = ReadPaths({dir.path()});
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.rows.size(), 2U);
  const double unit = 0.01 * TraceOptions().unit_memory_bytes;
  EXPECT_FLOAT_EQ(*r.sink.rows[0].memory_limit_bytes, static_cast<float>(1.5 * unit));
  EXPECT_FLOAT_EQ(*r.sink.rows[1].memory_limit_bytes, static_cast<float>(3 * unit));
  EXPECT_FLOAT_EQ(*r.sink.rows[0].cpu_limit_cores, 4.0F);
  EXPECT_EQ(r.Skipped("another size at the time of an earlier row, which counts"), 2U);
}

TEST(AzureTest, ReadingsWithAHeaderOrShortNames) {
  for (const char* const header :
       {"timestamp,vm id,min cpu,max cpu,avg cpu\n", "Timestamp,\"VM id\",min,max,avg\n"}) {
    const ReadResult r =
        ReadText("export.csv", std::string(header) + "0,vm1,1.5,9.5,4.25\n300,vm1,1.5,9.5,4.25\n");
    ASSERT_TRUE(r.status.ok()) << r.status;
    ASSERT_EQ(r.sink.rows.size(), 2U);
    EXPECT_EQ(r.sink.jobs[0].name, "vm1");
    EXPECT_EQ(r.AllSkipped(), 0U);
  }
  const TempDir dir;
  TraceOptions options;
  options.paths = {dir.Write("export.csv", "0,vm1,1.5,9.5,4.25\n")};
  options.format = TraceFormat::kAzureVm;
  ReadResult r;
  ASSERT_TRUE(ReadTrace(options, r.sink, r.report).ok());
  EXPECT_EQ(r.sink.rows.size(), 1U);
}

TEST(AzureTest, ReadingsWithAndWithoutTheTableOfVms) {
  const std::string known(64, 'a'), large(64, 'b'), unknown(64, 'c');
  const TempDir dir;
  const std::string readings =
      dir.Write("vm_cpu_readings-file-1-of-195.csv",
                fmt::format("0,{},1,50,25\n300,{},1,20,10\n0,{},1,50,25\n0,{},1,2,nan\n", known, large,
                            unknown, known));
  const ReadResult alone = ReadPaths({readings});
  ASSERT_TRUE(alone.status.ok()) << alone.status;
  ASSERT_EQ(alone.sink.rows.size(), 3U);
  EXPECT_FLOAT_EQ(*alone.sink.rows[0].cpu_mean_cores, 0.25F);
  EXPECT_FALSE(alone.sink.rows[0].cpu_limit_cores.has_value());
  EXPECT_THAT(alone.report.warnings, ElementsAre(HasSubstr("3 VMs are not in vmtable")));

  const std::string table =
      dir.Write("vmtable.csv.gz",
                Gzipped(fmt::format("{},sub,dep,558300,1673700,91.77,0.72,20.75,Delay-insensitive,8,32\n"
                                    "{},sub,dep,558300,1673700,91.77,0.72,20.75,Interactive,>24,>64\n"
                                    "{},sub,dep,558300,1673700,91.77,0.72,20.75,Unknown,many,64\n",
                                    known, large, std::string(64, 'd'))));
  const ReadResult r = ReadPaths({readings, table});
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.rows.size(), 3U);
  EXPECT_EQ(r.sink.jobs[0].name, known);
  EXPECT_EQ(r.sink.jobs[0].logical_name, "dep");
  EXPECT_EQ(r.sink.jobs[0].sensitivity, Sensitivity::kBatch);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].cpu_mean_cores, 2);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].cpu_max_cores, 4);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].memory_limit_bytes, 32.0F * 1024 * 1024 * 1024);
  EXPECT_EQ(r.sink.rows[0].end.seconds(), 300);
  EXPECT_FALSE(r.sink.rows[0].memory_mean_bytes.has_value());
  EXPECT_FLOAT_EQ(*r.sink.rows[1].cpu_limit_cores, 30);
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("1 VMs are not in vmtable")));
  EXPECT_EQ(r.Skipped("bad number"), 2U);
}

TEST(GenericCsvTest, ColumnsInAnyOrderCommentsQuotesAndAbsentFigures) {
  const ReadResult r = ReadText("any.csv",
                                "# made by hand\n"
                                "job,cpu_cores,colour,time,memory_limit,task,memory_bytes\n"
                                "\"web, front\",0.5,red,2013-07-01T00:00:00Z,1e9,0,5e8\n"
                                "# a remark, with commas\n"
                                "\"web, front\",,blue,2013-07-01T02:01:00.5+02:00,,0, 7e8 \n"
                                "\"say \"\"hi\"\"\",1,,60,,,\n"
                                "x,,,60,,,\n"
                                ",1,,60,,,\n"
                                "x,1,,yesterday,,,\n"
                                "x,1,,2013-02-30T00:00:00Z,,,\n"
                                "x,1,,2222222222222222220,,,\n"
                                "x,1,,60,,-1,\n");
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.jobs.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "web, front");
  EXPECT_EQ(r.sink.jobs[1].name, "say \"hi\"");
  ASSERT_EQ(r.sink.rows.size(), 3U);
  EXPECT_EQ(r.sink.rows[0].start.seconds(), 1372636800);
  EXPECT_FLOAT_EQ(*r.sink.rows[0].memory_limit_bytes, 1e9F);
  EXPECT_EQ(r.sink.rows[1].start.us, 1372636860'500'000);
  EXPECT_FALSE(r.sink.rows[1].cpu_mean_cores.has_value());
  EXPECT_FLOAT_EQ(*r.sink.rows[1].memory_mean_bytes, 7e8F);
  EXPECT_EQ(r.Skipped("no usage in the row"), 1U);
  EXPECT_EQ(r.Skipped("no job name"), 1U);
  EXPECT_EQ(r.Skipped("bad time"), 3U);
  EXPECT_EQ(r.Skipped("task number out of range"), 1U);
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("column \"colour\" is not used")));
}

// Checks two rows of five minutes for the job "web" with 0.5 cores and 300 MB from 22:10 on.
void ExpectTwoRowsOfWeb(const ReadResult& r, float memory = 3e8F) {
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.rows.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "web");
  EXPECT_EQ(r.AllSkipped(), 0U);
  for (size_t i = 0; i < 2; ++i) {
    const UsageRow& row = r.sink.rows[i];
    EXPECT_EQ(row.start.seconds(), 1'699'999'800 + 300 * static_cast<int64_t>(i));
    EXPECT_EQ(row.end.us - row.start.us, 300 * kMicrosPerSecond);
    EXPECT_FLOAT_EQ(row.cpu_mean_cores.value_or(-1), 0.5F);
    EXPECT_FLOAT_EQ(row.memory_mean_bytes.value_or(-1), memory);
  }
}

TEST(GenericCsvTest, TimesAreReadInTheUnitOfTheirFile) {
  const auto read = [](const char* first, const char* second) {
    return ReadText("t.csv", fmt::format("time,job,task,cpu_cores,memory_bytes\n{},web,0,0.5,3e8\n"
                                         "{},web,0,0.5,3e8\n",
                                         first, second));
  };
  const ReadResult seconds = read("1699999800", "1700000100");
  ExpectTwoRowsOfWeb(seconds);
  EXPECT_THAT(seconds.report.warnings, IsEmpty());
  for (const auto& [first, second, unit] :
       {std::tuple{"1699999800000", "1700000100000", "milliseconds"},
        std::tuple{"1699999800000.0", "1700000100000.0", "milliseconds"},
        std::tuple{"1699999800000000", "1700000100000000", "microseconds"},
        std::tuple{"1699999800000000000", "1700000100000000000", "nanoseconds"}}) {
    const ReadResult r = read(first, second);
    ExpectTwoRowsOfWeb(r);
    EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr(unit))) << "the unit is said";
  }
  for (const auto& [first, second] : {std::pair{"2023-11-14 22:10:00", "2023-11-14 22:15:00"},
                                      std::pair{"2023-11-14T22:10:00", "2023-11-14T22:15:00.000"},
                                      std::pair{"2023-11-14 22:10:00 UTC", "2023-11-14 22:15:00.5 UTC"},
                                      std::pair{"2023-11-15 00:10:00+02", "2023-11-15 00:15:00+0200"}})
    ExpectTwoRowsOfWeb(read(first, std::string_view(second).find(".5") == std::string_view::npos
                                       ? second
                                       : "2023-11-14 22:15:00 UTC"));
}

TEST(GenericCsvTest, SemicolonsTabsAndNamesInAnyCase) {
  ExpectTwoRowsOfWeb(ReadText("s.csv",
                              "Time;Job;Task;CPU_Cores;Memory_Bytes\n"
                              "1699999800;web;0;0,5;300000000\n1700000100;web;0;0.5;3e8\n"));
  ExpectTwoRowsOfWeb(ReadText("s.tsv",
                              "# exported\n\"TIME\"\t\"JOB\"\ttask\t\"cpu_cores\"\tmemory_bytes\n"
                              "1699999800\tweb\t0\t0.5\t3e8\n1700000100\t\"web\"\t0\t\"0.5\"\t3e8\n"));
  const TempDir dir;  // each file needs a directory of its own
  dir.Write("1.csv", "time;job;task;cpu_cores;memory_bytes\n1699999800;web;0;0.5;3e8\n");
  dir.Write("2.csv", "time,job,task,cpu_cores,memory_bytes\n1700000100,web,0,0.5,3e8\n");
  ExpectTwoRowsOfWeb(ReadPaths({dir.path()}));
}

TEST(GenericCsvTest, QuantitiesOfKubernetes) {
  const ReadResult r = ReadText("q.csv",
                                "time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n"
                                "1699999800,web,0,500m,300Mi,2,1Gi\n"
                                "1700000100,web,0,0.5,314572800,2000m,1.073741824G\n");
  ExpectTwoRowsOfWeb(r, 300 * 1024 * 1024);
  for (const UsageRow& row : r.sink.rows) {
    EXPECT_FLOAT_EQ(row.cpu_limit_cores.value_or(-1), 2);
    EXPECT_FLOAT_EQ(row.memory_limit_bytes.value_or(-1), 1024.0F * 1024 * 1024);
  }
  EXPECT_EQ(ReadText("q.csv", "time,job,cpu_cores\n0,web,500q\n0,web,m\n0,web,-1m\n").Skipped("bad number"),
            3U);
}

TEST(GenericCsvTest, ALimitThatIsNoneLeavesTheUsage) {
  for (const char* const none :
       {"0,0", "-1,9223372036854771712", "-1,18446744073709551615", "none,unlimited", "NaN,inf", "max,-1"}) {
    const ReadResult r =
        ReadText("l.csv", fmt::format("time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n"
                                      "1699999800,web,0,0.5,3e8,{0}\n1700000100,web,0,0.5,3e8,{0}\n",
                                      none));
    ExpectTwoRowsOfWeb(r);
    for (const UsageRow& row : r.sink.rows) {
      EXPECT_FALSE(row.cpu_limit_cores.has_value()) << none;
      EXPECT_FALSE(row.memory_limit_bytes.has_value()) << none;
    }
    EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("4 limits are 0, negative or above 1 EiB"))) << none;
  }
}

TEST(GenericCsvTest, RowsCoverTheGapToTheirPredecessor) {
  const ReadResult r = ReadText("any.csv",
                                "time,job,task,cpu_cores\n"
                                "0,a,0,1\n"
                                "0,a,1,1\n"
                                "60,a,0,1\n"
                                "90,a,0,1\n"
                                "4000,a,0,1\n"
                                "4000,a,0,1\n"
                                "3900,a,0,1\n"
                                "1000,a,1,1\n"
                                "0,b,web-7,1\n");
  ASSERT_TRUE(r.status.ok());
  std::vector<int64_t> zero, one;
  for (const UsageRow& row : r.sink.rows) {
    const int64_t seconds = (row.end.us - row.start.us) / kMicrosPerSecond;
    if (row.job.value == 0) (row.task == 0 ? zero : one).push_back(seconds);
    if (row.job.value == 1) {
      EXPECT_EQ(seconds, 300) << "a row alone";
    }
  }
  EXPECT_THAT(zero, ElementsAre(60, 60, 30, 30, 30, 30));
  EXPECT_THAT(one, ElementsAre(300, 300)) << "its two rows are too far apart to say";
  EXPECT_EQ(r.report.rows_used, 9U);
  EXPECT_EQ(r.sink.rows.size(), 9U);
}

// An hourly row counts in all windows of its hour, not only in the first.
TEST(GenericCsvTest, RowsOfAnHourCountInEachOfItsWindows) {
  std::string text = "time,job,cpu_cores\n";
  for (int hour = 0; hour < 10; ++hour) text += fmt::format("{},a,{}\n", 3600 * hour, hour + 1);
  text += fmt::format("{},a,99\n", 3600 * 12);  // two hours have no row
  const ReadResult r = ReadText("any.csv", text);
  ASSERT_TRUE(r.status.ok());
  std::map<int64_t, float> windows;
  for (const UsageRow& row : r.sink.rows) {
    EXPECT_EQ(row.end.us - row.start.us, 300 * kMicrosPerSecond);
    EXPECT_TRUE(windows.emplace(row.start.seconds() / 300, *row.cpu_mean_cores).second);
  }
  // The two rows before the second gap of an hour count in one window each.
  EXPECT_EQ(windows.size(), 2U + 9 * 12);
  for (int64_t w = 24; w < 120; ++w) EXPECT_EQ(windows[w], static_cast<float>(w / 12 + 1)) << w;
  EXPECT_EQ(r.report.rows_used, 11U);
  EXPECT_THAT(r.report.warnings, Contains(HasSubstr("9 rows last longer than a window")));
}

TEST(GenericCsvTest, RowsOfMoreThanAnHourAreNamed) {
  std::string text = "time,job,cpu_cores\n";
  for (int row = 0; row < 10; ++row) text += fmt::format("{},a,1\n", 7200 * row);
  for (int row = 0; row < 10; ++row) text += fmt::format("{},b,1\n", 300 * row + (row > 4 ? 9000 * row : 0));
  const ReadResult r = ReadText("any.csv", text);
  ASSERT_TRUE(r.status.ok());
  EXPECT_THAT(r.report.warnings,
              Contains(HasSubstr("8 rows follow the row before at the same distance of more than 1 h")));
  for (int row = 0; row < 300; ++row) text += fmt::format("{},c,1\n", 300 * row);
  EXPECT_THAT(ReadText("any.csv", text).report.warnings, Not(Contains(HasSubstr("of more than 1 h"))))
      << "a program that runs at the same hours";
}

TEST(GenericCsvTest, KillsAreWholeNumbersAndMayBeUnknown) {
  const ReadResult r = ReadText("any.csv",
                                "time,job,memory_bytes,oom_kills\n"
                                "0,a,5,0\n"
                                "300,a,5,\n"
                                "600,a,5, 3 \n"
                                "900,a,5,1000000\n"
                                "1200,a,5,-1\n"
                                "1500,a,5,0.5\n"
                                "1800,a,5,1000001\n"
                                "2100,a,5,99999999999999999999\n"
                                "2400,a,5,one\n");
  ASSERT_TRUE(r.status.ok()) << r.status;
  EXPECT_THAT(r.report.warnings, IsEmpty());
  ASSERT_EQ(r.sink.rows.size(), 4U);
  EXPECT_EQ(r.sink.rows[0].oom_kills, 0U);
  EXPECT_EQ(r.sink.rows[1].oom_kills, std::nullopt);
  EXPECT_EQ(r.sink.rows[2].oom_kills, 3U);
  EXPECT_EQ(r.sink.rows[3].oom_kills, 1'000'000U);
  const std::string bad = "oom_kills is not a whole number from 0 to 1000000";
  EXPECT_EQ(r.Skipped(bad), 5U);
  EXPECT_THAT(r.report.skipped.at(bad).examples, Contains(HasSubstr("any.csv:6: 1200,a,5,-1")));
  EXPECT_EQ(ReadText("any.csv", "time,job,memory_bytes\n0,a,5\n").sink.rows[0].oom_kills, std::nullopt);
}

TEST(GenericCsvTest, KillsOfALongRowAreOfItsFirstWindow) {
  std::string text = "time,job,memory_bytes,oom_kills\n";
  for (int hour = 0; hour < 5; ++hour) text += fmt::format("{},a,5,{}\n", 3600 * hour, hour == 3 ? 2 : 0);
  const ReadResult r = ReadText("any.csv", text);
  ASSERT_TRUE(r.status.ok());
  std::map<int64_t, uint32_t> kills;
  for (const UsageRow& row : r.sink.rows) {
    if (*row.oom_kills > 0) kills[row.start.seconds()] += *row.oom_kills;
  }
  EXPECT_THAT(kills, ElementsAre(testing::Pair(3 * 3600, 2U)));
}

TEST(GenericCsvTest, ARowMaySayHowLongItLastsAndHowItsCpuWasSpread) {
  const std::string header = "time,duration,job,cpu_cores,cpu_max,cpu_seconds,memory_bytes\n";
  const ReadResult r = ReadText("any.csv", header +
                                               "0,120.5,a,0.5,2,0.25:90 1.5:30.5,7\n"
                                               "300,300,a,,,,7\n"
                                               "600,301,a,1,,,7\n"
                                               "900,0,a,1,,,7\n"
                                               "1200,,a,1,,,7\n"
                                               "1500,9,a,1,,0.5,7\n"
                                               "1800,9,a,1,,0.5:9 0.5:1,7\n"
                                               "2100,9,a,1,,0.5:-1,7\n"
                                               "2400,9,a,1,,0.5:1e999,7\n"
                                               "2700,9,a,1,,nan:1,7\n");
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.rows.size(), 2U);
  EXPECT_EQ(r.sink.rows[0].end.us - r.sink.rows[0].start.us, 120'500'000);
  EXPECT_EQ(r.sink.rows[0].cpu_max_cores, 2.0F);
  EXPECT_EQ(r.sink.rows[0].cpu_percentiles_cores.size(), 4U);
  EXPECT_EQ(r.sink.rows[1].end.seconds(), 600);
  EXPECT_TRUE(r.sink.rows[1].cpu_percentiles_cores.empty());
  EXPECT_EQ(r.Skipped("duration is not a number of seconds above 0 and up to 300"), 3U);
  EXPECT_EQ(r.Skipped("cpu_seconds is not a list of CORES:SECONDS, cores ascending"), 5U);
  EXPECT_THAT(std::string(ReadText("any.csv", "time,job,cpu_cores,cpu_seconds\n0,a,1,\n").status.message()),
              HasSubstr("a column cpu_seconds without a column duration"));
}

TEST(GenericCsvTest, AHeaderIsNeeded) {
  const TempDir dir;
  TraceOptions options;
  options.format = TraceFormat::kCsv;
  options.paths = {dir.Write("a.csv", "1,a,0,1\n")};
  const ReadResult r = ReadWith(options);
  EXPECT_TRUE(absl::IsInvalidArgument(r.status));
  EXPECT_THAT(std::string(r.status.message()), HasSubstr("cpu_cores"));
  options.paths = {dir.Write("b.csv", "time,job,time,cpu_cores\n1,a,0,1\n")};
  EXPECT_THAT(std::string(ReadWith(options).status.message()), HasSubstr("two columns are called time"));
}

TEST(GenericCsvTest, ManyTasksAndJobsStaySeparate) {
  std::string text = "time,job,task,cpu_cores\n";
  for (int t = 0; t < 3; ++t) {
    for (int job = 0; job < 20; ++job) {
      for (const int task : {0, 5, 255, 256, 100'000}) {
        text += fmt::format("{},j{},{},{}\n", t * (job + 1), job, task, job);
      }
    }
  }
  const ReadResult r = ReadText("a.csv", text);
  ASSERT_EQ(r.sink.rows.size(), 300U);
  for (const UsageRow& row : r.sink.rows) {
    EXPECT_EQ(*row.cpu_mean_cores, static_cast<float>(row.job.value));
    EXPECT_EQ(row.end.us - row.start.us, (row.job.value + 1) * kMicrosPerSecond);
  }
}

TEST(DetectTest, NamesAreNoSubstituteForTheRightColumns) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadText("task_usage/part-1.csv", "1,2,3\n").status));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadText("machine_usage.csv", "a,b\n").status));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadText("vmtable.csv", "a,b,c,d,e,f,g,h,i,j,k\n").status));
}

}  // namespace
}  // namespace taut::tools
