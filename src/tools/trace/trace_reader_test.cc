// Tests of ReadTrace(): files, archives, damage, detection, ranges and groups. Real traces are tested if present.
#include "tools/trace/trace_reader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/trace_test_files.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kCompactHeader = "vm,ts_s,cores,cpu_cap_mhz,cpu_mhz,mem_cap_kb,mem_kb\n";

std::string CompactRows(int vm, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format("{},{},2,5852.0,{}.5,8218624,{}\n", vm, 300 * i, i, 1000 + i);
  return out;
}

std::string Traces() {
  const char* set = std::getenv("TAUT_TRACES");
  return set != nullptr ? set : "../shared/traces";
}

TEST(TraceFormatTest, NamesAreReadBack) {
  for (const TraceFormat f :
       {TraceFormat::kAuto, TraceFormat::kBitbrains, TraceFormat::kBitbrainsCompact, TraceFormat::kGoogle2019,
        TraceFormat::kGoogle2011, TraceFormat::kAlibaba2018, TraceFormat::kAzureVm, TraceFormat::kCsv}) {
    EXPECT_EQ(ParseTraceFormat(Name(f)).value(), f);
  }
  EXPECT_THAT(std::string(ParseTraceFormat("bitbrain").status().message()), HasSubstr("bitbrains-compact"));
}

TEST(ReadReportTest, QuotesTheFirstThreeWithoutBytesThatHarmATerminal) {
  ReadReport report;
  for (int i = 1; i <= 5; ++i) report.Skip("odd", "f.csv", static_cast<uint64_t>(i), "a\x1b[2J\tb");
  EXPECT_EQ(report.skipped["odd"].count, 5U);
  EXPECT_THAT(report.skipped["odd"].examples,
              ElementsAre("f.csv:1: a\\x1b[2J\\tb", "f.csv:2: a\\x1b[2J\\tb", "f.csv:3: a\\x1b[2J\\tb"));
  report.Skip("long", "f", 1, std::string(1000, 'x'));
  EXPECT_EQ(report.skipped["long"].examples[0], "f:1: " + std::string(80, 'x') + "...");
}

TEST(ReadTraceTest, ADirectoryIsReadInNaturalOrderPlainOrZipped) {
  const TempDir dir;
  dir.Write("10.csv", std::string(kCompactHeader) + CompactRows(10, 2));
  dir.Write("2.csv.gz", Gzipped(std::string(kCompactHeader) + CompactRows(2, 3)));
  dir.Write("sub/30.csv", std::string(kCompactHeader) + CompactRows(30, 1));
  dir.Write(".hidden", "nonsense");
  dir.Write("README.md", "# About\nnot a trace\n");
  const ReadResult r = ReadPaths({dir.path()});
  ASSERT_TRUE(r.status.ok()) << r.status;
  ASSERT_EQ(r.sink.jobs.size(), 3U);
  EXPECT_EQ(r.sink.jobs[0].name, "2");
  EXPECT_EQ(r.sink.jobs[1].name, "10");
  EXPECT_EQ(r.sink.jobs[2].name, "30");
  EXPECT_EQ(r.report.rows, 6U);
  EXPECT_EQ(r.report.rows_used, 6U);
  EXPECT_EQ(r.report.files, 3U);
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("README.md: not read")));
}

TEST(ReadTraceTest, ArchivesGiveTheSameRowsAsTheirFiles) {
  const TempDir dir;
  const std::string header =
      "Timestamp [ms];\tCPU cores;\tCPU capacity provisioned [MHZ];\tCPU usage [MHZ];\t"
      "CPU usage [%];\tMemory capacity provisioned [KB];\tMemory usage [KB];\tDisk r;\tDisk w;\t"
      "Net r;\tNet t\n";
  const auto file = [&](int mhz) {
    return header +
           fmt::format("1372629804;\t2;\t5852.0;\t{};\t1.5;\t8218624.0;\t1034592.8;\t1;\t2;\t3;\t4\n", mhz);
  };
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"rnd/2013-7/1.csv", file(100)},
      {"rnd/2013-7/2.csv", file(200)},
      {"rnd/2013-8/1.csv.gz", Gzipped(file(300))}};
  for (const ArchiveKind kind : {ArchiveKind::kZip, ArchiveKind::kTarGz}) {
    const std::string path = dir.path() + (kind == ArchiveKind::kZip ? "/t.zip" : "/t.tar.gz");
    WriteArchive(path, kind, entries);
    const ReadResult r = ReadPaths({path});
    ASSERT_TRUE(r.status.ok()) << r.status;
    ASSERT_EQ(r.sink.jobs.size(), 2U) << "the same VM in two files is one job";
    ASSERT_EQ(r.sink.rows.size(), 3U);
    EXPECT_EQ(r.sink.jobs[0].name, "1");
    EXPECT_EQ(r.sink.rows[2].job.value, 0U);
    EXPECT_FLOAT_EQ(*r.sink.rows[2].cpu_mean_cores, 2 * 300 / 5852.0F);
    EXPECT_TRUE(r.report.warnings.empty());
  }
}

// Listing an archive leaves its position at the end. An entry that is opened first afterwards must still be read
// completely.
TEST(ReadTraceTest, AnArchiveOfOneFileIsReadAndSoIsAnyEntryOpenedFirst) {
  const TempDir dir;
  const std::string text = std::string(kCompactHeader) + CompactRows(1, 3);
  for (const ArchiveKind kind : {ArchiveKind::kZip, ArchiveKind::kTarGz}) {
    const std::string path = dir.path() + (kind == ArchiveKind::kZip ? "/one.zip" : "/one.tar.gz");
    WriteArchive(path, kind, {{"1.csv", text}});
    const ReadResult r = ReadPaths({path});
    ASSERT_TRUE(r.status.ok()) << r.status;
    EXPECT_EQ(r.sink.rows.size(), 3U);
    EXPECT_TRUE(r.report.warnings.empty());

    WriteArchive(path, kind, {{"1.csv", "first"}, {"2.csv", "second"}, {"3.csv", "third"}});
    std::vector<std::string> warnings;
    const auto files = ExpandPaths({path}, warnings);
    ASSERT_TRUE(files.ok()) << files.status();
    ASSERT_EQ(files->size(), 3U);
    for (const size_t i : {2U, 2U, 0U, 2U, 1U}) {
      auto source = (*files)[i].open();
      ASSERT_TRUE(source.ok()) << source.status();
      std::string read(100, '\0');
      read.resize((*source)->Read(read.data(), read.size()));
      EXPECT_EQ(read, (*files)[i].head) << i;
      EXPECT_FALSE(read.empty());
    }
  }
}

TEST(ReadTraceTest, APipeIsReadAndADeviceRefused) {
  const TempDir dir;
  const std::string path = dir.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream out(path);
    out << kCompactHeader << CompactRows(7, 5);
  });
  const ReadResult r = ReadPaths({path});
  writer.join();
  ASSERT_TRUE(r.status.ok()) << r.status;
  EXPECT_EQ(r.sink.rows.size(), 5U);
  EXPECT_TRUE(r.report.warnings.empty());
  const ReadResult device = ReadPaths({"/dev/zero"});
  EXPECT_TRUE(absl::IsInvalidArgument(device.status)) << device.status;
}

TEST(ReadTraceTest, ACutGzipGivesARunOfItsRowsAndAWarning) {
  const TempDir dir;
  const std::string text = std::string(kCompactHeader) + CompactRows(1, 20'000);
  const std::string zipped = Gzipped(text);
  const std::string whole_path = dir.Write("whole.csv.gz", zipped);
  const ReadResult whole = ReadPaths({whole_path});
  ASSERT_EQ(whole.sink.rows.size(), 20'000U);
  for (const double share : {0.3, 0.5, 0.77, 0.999}) {
    const auto size = static_cast<size_t>(static_cast<double>(zipped.size()) * share);
    const ReadResult r = ReadPaths({dir.Write("cut.csv.gz", zipped.substr(0, size))});
    ASSERT_TRUE(r.status.ok()) << r.status;
    EXPECT_GT(r.sink.rows.size(), 1000U);
    EXPECT_LT(r.sink.rows.size(), 20'000U);
    for (size_t i = 0; i < r.sink.rows.size(); ++i) {
      ASSERT_EQ(r.sink.rows[i].start, whole.sink.rows[i].start);
      ASSERT_EQ(r.sink.rows[i].memory_mean_bytes, whole.sink.rows[i].memory_mean_bytes);
    }
    EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("truncated")));
    EXPECT_LE(r.AllSkipped(), 1U) << "only the line that was cut";
  }
  std::string damaged = zipped;
  damaged[damaged.size() - 6] ^= 0x55;  // a byte of the checksum
  const ReadResult r = ReadPaths({dir.Write("damaged.csv.gz", damaged)});
  EXPECT_EQ(r.sink.rows.size(), 20'000U);
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("checksum")));
}

TEST(ReadTraceTest, AFewBytesOfGzipAreNoCrash) {
  const TempDir dir;
  const std::string zipped = Gzipped(std::string(kCompactHeader) + CompactRows(1, 5));
  for (size_t size = 0; size < zipped.size(); ++size) {
    const ReadResult r = ReadPaths({dir.Write("cut.csv.gz", zipped.substr(0, size))});
    EXPECT_LT(r.sink.rows.size(), 6U);
    EXPECT_TRUE(!r.status.ok() || !r.report.warnings.empty()) << size;
  }
}

TEST(ReadTraceTest, SeveralMembersAreOneStream) {
  const TempDir dir;
  const std::string zipped = Gzipped(std::string(kCompactHeader) + CompactRows(1, 2)) +
                             Gzipped(CompactRows(2, 3)) + std::string(512, '\0');
  const ReadResult r = ReadPaths({dir.Write("two.csv.gz", zipped)});
  EXPECT_EQ(r.sink.rows.size(), 5U);
  EXPECT_TRUE(r.report.warnings.empty());
}

TEST(ReadTraceTest, WindowsLineEndsAndNoLastNewline) {
  const TempDir dir;
  const std::string path = dir.Write("a.csv",
                                     "vm,ts_s,cores,cpu_cap_mhz,cpu_mhz,mem_cap_kb,mem_kb\r\n1,0,2,4000,1000,"
                                     "100,50\r\n\r\n1,300,2,4000,2000,100,50");
  const ReadResult r = ReadPaths({path});
  ASSERT_EQ(r.sink.rows.size(), 2U);
  EXPECT_EQ(*r.sink.rows[0].memory_mean_bytes, 50 * 1024);
  EXPECT_EQ(*r.sink.rows[1].cpu_mean_cores, 1);
  EXPECT_EQ(r.AllSkipped(), 0U);
}

TEST(ReadTraceTest, ALineOverAMebibyteIsSkippedAndTheRestRead) {
  const TempDir dir;
  for (const size_t size : {size_t{1} << 20, size_t{3} << 20, (size_t{1} << 20) + 7}) {
    const std::string text =
        std::string(kCompactHeader) + CompactRows(1, 3) + std::string(size, '7') + "\n" + CompactRows(2, 3);
    const ReadResult r = ReadPaths({dir.Write("long.csv", text)});
    ASSERT_TRUE(r.status.ok());
    EXPECT_EQ(r.sink.rows.size(), 6U);
    EXPECT_EQ(r.Skipped("line longer than 1 MiB"), 1U);
    EXPECT_THAT(r.report.skipped.begin()->second.examples[0], HasSubstr("long.csv:5: 777"));
  }
}

TEST(ReadTraceTest, LinesAreCountedAcrossBlocks) {
  const TempDir dir;
  std::string text = std::string(kCompactHeader) + CompactRows(1, 60'000);
  text += "nonsense\n";
  const ReadResult r = ReadPaths({dir.Write("a.csv", text)});
  EXPECT_EQ(r.sink.rows.size(), 60'000U);
  EXPECT_THAT(r.report.skipped.at("wrong number of columns").examples,
              ElementsAre(HasSubstr("a.csv:60002: nonsense")));
  EXPECT_EQ(r.report.bytes, text.size());
}

TEST(ReadTraceTest, WhatCannotBeReadIsSaid) {
  const TempDir dir;
  EXPECT_TRUE(absl::IsNotFound(ReadPaths({dir.path() + "/none.csv"}).status));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPaths({}).status));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPaths({dir.path()}).status)) << "an empty directory";
  const ReadResult unknown = ReadPaths({dir.Write("x.txt", "this is\nno trace\n")});
  EXPECT_TRUE(absl::IsInvalidArgument(unknown.status));
  EXPECT_THAT(std::string(unknown.status.message()), HasSubstr("x.txt"));
  EXPECT_THAT(std::string(unknown.status.message()), HasSubstr("alibaba2018"));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPaths({dir.Write("broken.zip", "PK nonsense")}).status));
  const std::string csv = dir.Write("a.csv", "time,job,cpu_cores\n1,a,1\n");
  const std::string bitbrains = dir.Write("b.csv", std::string(kCompactHeader) + CompactRows(1, 1));
  const ReadResult mixed = ReadPaths({csv, bitbrains});
  EXPECT_TRUE(absl::IsInvalidArgument(mixed.status));
  EXPECT_THAT(std::string(mixed.status.message()), HasSubstr("bitbrains-compact"));
}

TEST(ReadTraceTest, EmptyFilesAreToldApartFromNoFile) {
  const TempDir dir;
  const std::string empty = dir.Write("empty.csv", "");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadPaths({empty}).status));
  const ReadResult r = ReadPaths({empty, dir.Write("header.csv", kCompactHeader)});
  EXPECT_TRUE(r.status.ok());
  EXPECT_EQ(r.report.rows, 0U);
  EXPECT_THAT(r.report.warnings, ElementsAre(HasSubstr("empty.csv: empty")));
}

TEST(ReadTraceTest, StrictStopsAtTheFirstBadRow) {
  const TempDir dir;
  TraceOptions options;
  options.paths = {dir.Write(
      "a.csv", std::string(kCompactHeader) + CompactRows(1, 2) + "1,x,2,1,1,1,1\n" + CompactRows(1, 2))};
  options.strict = true;
  const ReadResult r = ReadWith(options);
  EXPECT_TRUE(absl::IsInvalidArgument(r.status));
  EXPECT_THAT(std::string(r.status.message()), HasSubstr("a.csv:4: bad number"));
  EXPECT_EQ(r.sink.rows.size(), 2U);
}

TEST(ReadTraceTest, TheRangeIsHalfOpenAndCounted) {
  const TempDir dir;
  TraceOptions options;
  options.paths = {dir.Write("a.csv", std::string(kCompactHeader) + CompactRows(1, 10))};
  options.from_s = 600;
  options.to_s = 1500;
  const ReadResult r = ReadWith(options);
  ASSERT_EQ(r.sink.rows.size(), 3U);
  EXPECT_EQ(r.sink.rows.front().start.seconds(), 600);
  EXPECT_EQ(r.sink.rows.back().start.seconds(), 1200);
  EXPECT_EQ(r.Skipped("outside the requested time range"), 7U);
  EXPECT_EQ(r.report.rows, r.report.rows_used + r.AllSkipped());
}

TEST(ReadTraceTest, NeighboursBecomeTheTasksOfOneJob) {
  const TempDir dir;
  std::string text(kCompactHeader);
  for (int vm = 1; vm <= 5; ++vm) text += CompactRows(vm, 2);
  TraceOptions options;
  options.paths = {dir.Write("a.csv", text)};
  options.group = 3;
  const ReadResult r = ReadWith(options);
  ASSERT_EQ(r.sink.jobs.size(), 2U);
  EXPECT_EQ(r.sink.jobs[0].name, "1+2");
  EXPECT_EQ(r.sink.jobs[1].name, "4+2");
  ASSERT_EQ(r.sink.rows.size(), 10U);
  const std::vector<std::pair<uint32_t, uint32_t>> expected = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}};
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(r.sink.rows[i].job.value, expected[i / 2].first);
    EXPECT_EQ(r.sink.rows[i].task, expected[i / 2].second);
  }
}

TEST(ReadTraceTest, ProgressGrowsToTheSizeOnDiskAndCanStop) {
  const TempDir dir;
  TraceOptions options;
  options.paths = {dir.Write("a.csv.gz", Gzipped(std::string(kCompactHeader) + CompactRows(1, 100'000))),
                   dir.Write("b.csv", std::string(kCompactHeader) + CompactRows(1, 10))};
  KeepingSink sink;
  ReadReport report;
  uint64_t last = 0, total = 0, calls = 0;
  const auto watch = [&](uint64_t done, uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
    return ++calls > 0;
  };
  ASSERT_TRUE(ReadTrace(options, sink, report, watch).ok());
  EXPECT_EQ(last, total);
  EXPECT_EQ(total, report.bytes_compressed);
  EXPECT_GT(calls, 3U);
  KeepingSink stopped;
  const absl::Status status = ReadTrace(options, stopped, report, [](uint64_t, uint64_t) { return false; });
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_LT(stopped.rows.size(), sink.rows.size());
}

TEST(RealTraceTest, BitbrainsCompactEveryRowIsRead) {
  const std::string folder = Traces() + "/bitbrains_rnd/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real traces at " << Traces();
  const ReadResult july = ReadPaths({folder + "vms_001-250_2013-07.csv.gz"});
  ASSERT_TRUE(july.status.ok()) << july.status;
  EXPECT_EQ(july.report.rows_used, 1'713'732U);
  EXPECT_EQ(july.sink.jobs.size(), 250U);
  EXPECT_EQ(july.report.bytes, 75'610'719U);
  EXPECT_TRUE(july.report.skipped.empty());
  const ReadResult august = ReadPaths({folder + "vms_001-250_2013-08.csv.gz"});
  EXPECT_EQ(august.report.rows_used, 2'127'952U);
}

TEST(RealTraceTest, BitbrainsOriginalAgreesWithTheCompactForm) {
  const std::string folder = Traces() + "/bitbrains_rnd/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real traces at " << Traces();
  const ReadResult original = ReadPaths({folder + "original_sample"});
  ASSERT_TRUE(original.status.ok()) << original.status;
  ASSERT_EQ(original.sink.jobs.size(), 4U);
  EXPECT_EQ(original.report.rows, 8260U + 16640U + 8248U + 8262U);
  for (const auto& [cause, what] : original.report.skipped) EXPECT_EQ(cause, "vm off") << what.examples[0];
  const ReadResult compact = ReadPaths({folder + "vms_001-250_2013-07.csv.gz"});
  ASSERT_EQ(compact.sink.jobs[0].name, "1");
  ASSERT_EQ(original.sink.jobs[0].name, "1");
  size_t i = 0;
  for (const UsageRow& row : original.sink.rows) {
    if (row.job.value != 0) break;
    const UsageRow& twin = compact.sink.rows[i++];
    ASSERT_EQ(row.start, twin.start);
    EXPECT_NEAR(*row.cpu_mean_cores, *twin.cpu_mean_cores, 1e-3);
    EXPECT_NEAR(*row.memory_mean_bytes, *twin.memory_mean_bytes, 2048);
  }
  EXPECT_GT(i, 8000U);
}

TEST(RealTraceTest, AlibabaMachines) {
  const std::string folder = Traces() + "/alibaba2018_machines";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real traces at " << Traces();
  const ReadResult r = ReadPaths({folder});
  ASSERT_TRUE(r.status.ok()) << r.status;
  EXPECT_EQ(r.sink.jobs.size(), 16U);
  EXPECT_EQ(r.report.rows, 100'002U);
  EXPECT_EQ(r.report.rows, r.report.rows_used + r.AllSkipped());
  EXPECT_EQ(r.sink.rows.size(), r.report.rows_used);
  EXPECT_GT(r.report.rows_used, 99'000U);
  for (const UsageRow& row : r.sink.rows) {
    EXPECT_LE(row.cpu_mean_cores.value_or(0), 96);
    EXPECT_LE((row.end.us - row.start.us), 300 * kMicrosPerSecond);
  }
}

}  // namespace
}  // namespace taut::tools
