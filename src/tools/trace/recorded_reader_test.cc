// Tests of event tables with the published columns: the resulting cell and its figures, and invalid rows.
#include "tools/trace/recorded_reader.h"

#include <algorithm>
#include <string>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/testing/temp_dir.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tools/trace/event_sorter.h"
#include "tools/trace/trace_test_files.h"

namespace taut::tools {
namespace {

class RecordedReaderTest : public ::testing::Test {
 protected:
  RecordedCell Read(std::vector<std::string> paths) {
    TraceOptions options;
    options.paths = std::move(paths);
    options.unit_cpu_cores = 10;
    options.unit_memory_bytes = 100 * kGiB;
    absl::StatusOr<RecordedCell> cell = ReadRecordedCell(options, report_);
    EXPECT_TRUE(cell.ok()) << cell.status();
    return cell.ok() ? *std::move(cell) : RecordedCell();
  }
  // Returns "count cause" for each cause.
  static std::vector<std::string> Causes(const std::map<std::string, ReadReport::Cause>& causes) {
    std::vector<std::string> out;
    for (const auto& [cause, rows] : causes) out.push_back(std::to_string(rows.count) + " " + cause);
    return out;
  }
  // Returns the first example of a cause without the folder.
  std::string Example(const std::string& cause) const {
    const std::string text = report_.kept.at(cause).examples.front();
    return text.substr(dir_.path().size() + 1);
  }
  static std::string Events(const RecordedCell& cell) {
    std::string out;
    for (const brain::CellEvent& e : cell.cell.workload.events) {
      const bool of_job = e.kind <= brain::CellEventKind::kLimit;
      out += std::to_string(e.time_ms / 1000) + " " + std::string(Name(e.kind)) + " " +
             (of_job ? cell.cell.model.jobs[e.id].name : cell.cell.model.machines[e.id].name) + "; ";
    }
    return out;
  }
  static const brain::TierEvents& Of(const RecordedCell& cell, Tier tier) {
    return cell.figures.tiers[static_cast<size_t>(tier)];
  }

  TempDir dir_;
  ReadReport report_;
};

std::string Collection(int64_t s, int type, int id, int priority, const std::string& more = "") {
  return fmt::format(
      R"({{"time":"{}","type":"{}","collection_id":"{}","scheduling_class":"2","collection_type":"0","priority":"{}","alloc_collection_id":"0","user":"dXNlcg==","collection_name":"bg==","collection_logical_name":"bA==","vertical_scaling":"3","scheduler":"0"{}}})"
      "\n",
      s * kMicrosPerSecond, type, id, priority, more);
}
std::string Instance(int64_t s, int type, int id, int index, int priority, const std::string& more = "") {
  return fmt::format(
      R"({{"time":"{}","type":"{}","collection_id":"{}","scheduling_class":"2","collection_type":"0","priority":"{}","alloc_collection_id":"0","instance_index":"{}","machine_id":"{}","alloc_instance_index":"-1","resource_request":{{"cpus":0.25,"memory":0.125}}{}}})"
      "\n",
      s * kMicrosPerSecond, type, id, priority, index, type >= 3 ? 7 : 0, more);
}

TEST_F(RecordedReaderTest, Google2019) {
  const std::string machines =
      R"({"time":"0","machine_id":"7","type":"1","switch_id":"c3c=","capacity":{"cpus":1.0,"memory":0.5},"platform_id":"cA=="})"
      "\n"
      R"({"time":"0","machine_id":"8","type":"1","switch_id":"c3c="})"
      "\n"
      R"({"time":"900000000","machine_id":"7","type":"2"})"
      "\n";
  const std::string collections = Collection(0, 0, 1, 200) + Collection(0, 3, 1, 200) +
                                  Collection(700, 0, 2, 103) + Collection(710, 2, 2, 103) +
                                  Collection(715, 3, 2, 103) + Collection(800, 6, 2, 103) +
                                  Collection(750, 1, 9, 25) + "nonsense\n" + Collection(1, 11, 2, 103);
  const std::string instances =
      Instance(0, 0, 1, 0, 200) + Instance(0, 3, 1, 0, 200) + Instance(700, 0, 2, 0, 103) +
      Instance(700, 0, 2, 1, 103) + Instance(715, 3, 2, 0, 103) + Instance(720, 3, 2, 1, 103) +
      Instance(740, 4, 2, 1, 103) + Instance(740, 0, 2, 1, 103) + Instance(760, 3, 2, 1, 103) +
      Instance(795, 6, 2, 0, 103) + Instance(780, 6, 2, 1, 103) + Instance(790, 7, 5, 3, 25);
  std::string never = Instance(0, 6, 1, 0, 200);
  never.replace(never.find("\"0\""), 3, "\"9223372036854775807\"");
  // The files of a table are not ordered by time.
  const size_t half = instances.find("{\"time\":\"740000000\"");
  const RecordedCell cell =
      Read({dir_.Write("instance_events-000000000000.json", instances.substr(half) + never),
            dir_.Write("instance_events-000000000001.json", instances.substr(0, half)),
            dir_.Write("collection_events-000000000000.json", collections),
            dir_.Write("machine_events-000000000000.json", machines)});
  EXPECT_EQ(Of(cell, Tier::kBatch).ends, (std::array<uint64_t, brain::kTaskEnds>{1, 0, 2, 0, 0}));
  EXPECT_EQ(Of(cell, Tier::kBatch).delays_s, (std::vector<float>{5}));
  EXPECT_EQ(Of(cell, Tier::kProduction).jobs, 1U);
  EXPECT_EQ(cell.figures.scaling_jobs[static_cast<size_t>(brain::ScalingMode::kFull)], 2U);
  EXPECT_EQ(cell.figures.hours.at(0).tasks_again, 1U);
  EXPECT_EQ(cell.machines_without_capacity, 1U);
  ASSERT_EQ(cell.shapes.size(), 1U);
  EXPECT_EQ(cell.shapes[0].cpu_cores, 10);
  ASSERT_EQ(cell.cell.model.jobs.size(), 2U);
  EXPECT_EQ(cell.cell.model.jobs[1].tasks, 2U);
  EXPECT_EQ(cell.cell.model.jobs[1].user, "dXNlcg==");
  EXPECT_EQ(cell.cell.model.jobs[1].limit[brain::kCellCpu], 2500);
  EXPECT_EQ(cell.cell.workload.runs[1].run_ms, (80 + 20) * 1000 / 2);
  EXPECT_EQ(Events(cell), "0 submit 1; 700 submit 2; 900 fail 7; ");
  EXPECT_EQ(Causes(report_.skipped),
            (std::vector<std::string>{"1 QUEUE: what waits for a parent or an alloc set",
                                      "1 a field's value is not of its type",
                                      "1 event after the end of the trace", "1 event of an unknown type"}));
  EXPECT_EQ(Causes(report_.kept),
            (std::vector<std::string>{"1 end of a task that was not there", "1 event behind a later one",
                                      "1 machine without capacity"}));
  EXPECT_EQ(Example("end of a task that was not there"),
            "instance_events-000000000000.json:6: task 3 of job 5 at 790 s");
}

TEST_F(RecordedReaderTest, Google2011) {
  const std::string jobs =
      "0,,3418309,0,70s3v5qRyCO/1PCdI6fVXnrW8FU/"
      "w+5CKRSa72xgcIo=,3,IHgtoxEBuUTHNbUeVs4hzptMY4n8rZKLbZg+Jh5fNG4=,w\n"
      "700000000,,5,0,user,0,name,logical\n"
      "701000000,,5,1,user,0,name,logical\n";
  const std::string tasks =
      "0,2,3418309,0,4155527081,0,70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=,3,9,,,,\n"
      "0,2,3418309,0,4155527081,1,70s3v5qRyCO/1PCdI6fVXnrW8FU/"
      "w+5CKRSa72xgcIo=,3,9,0.125,0.07446,0.0004244,0\n"
      "700000000,,5,0,,0,user,0,1,0.5,0.1,0,1\n"
      "701000000,,5,0,6,1,user,0,1,0.5,0.1,0,1\n"
      "710000000,,5,0,6,8,user,0,1,0.25,0.1,0,1\n"
      "720000000,,5,0,6,5,user,0,1,0.25,0.1,0,1\n"
      "725000000,,5,0,6,5,user,0,1,0.25,0.1,0,1\n"
      "730000000,,5,0,6,99,user,0,1,0.25,0.1,0,1\n"
      "730000000,,5,0,6,1,user,0,1,x,0.1,0,1\n";
  const RecordedCell cell = Read(
      {dir_.Write("job_events.csv", jobs), dir_.Write("task_events.csv", tasks),
       dir_.Write("machine_events.csv", "0,6,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493\n")});
  ASSERT_EQ(cell.cell.model.jobs.size(), 2U);
  EXPECT_EQ(cell.cell.model.jobs[0].tier, Tier::kProduction);
  EXPECT_EQ(cell.cell.model.jobs[0].limit[brain::kCellCpu], 1250);
  EXPECT_EQ(cell.cell.model.jobs[1].tier, Tier::kFree);
  EXPECT_EQ(cell.cell.model.jobs[1].max_per_machine, 1U);
  EXPECT_EQ(Events(cell), "0 submit 3418309; 700 submit 5; 710 limit 5; ");
  EXPECT_EQ(cell.cell.workload.runs[1].run_ms, 19'000);
  EXPECT_EQ(Of(cell, Tier::kFree).ends, (std::array<uint64_t, brain::kTaskEnds>{0, 0, 0, 1, 0}));
  EXPECT_EQ(Of(cell, Tier::kFree).delays_s, (std::vector<float>{1}));
  EXPECT_EQ(Causes(report_.skipped),
            (std::vector<std::string>{"1 bad number", "1 event of an unknown type"}));
  EXPECT_EQ(Causes(report_.kept), (std::vector<std::string>{"1 end of a task that was not there"}));
  EXPECT_EQ(Example("end of a task that was not there"), "task_events.csv:7: task 0 of job 5 at 725 s");
}

TEST_F(RecordedReaderTest, Alibaba2018) {
  const RecordedCell cell = Read(
      {dir_.Write("machine_meta.csv", "m_1,0,219,17,96,100,USING\nm_1,148984,219,17,96,100,USING\n"),
       dir_.Write(
           "container_meta.csv",
           "c_1,m_2556,0,app_5052,started,400,400,1.56\nc_1,m_2556,287942,app_5052,started,400,400,1.56\n"
           "c_2,m_2556,100,app_5052,started,400,800,1.56\nc_2,m_2556,200,app_5052,started,800,800,1.56\n"),
       dir_.Write("batch_task.csv",
                  "M1,2,j_1,1,Terminated,1000,1060,100,0.5\nR2_1,1,j_1,1,Failed,1060,1100,50,0.5\n"
                  "M1,1,j_2,1,Waiting,0,0,50,0.5\nM2,1,j_2,1,Terminated,1100,1000,50,0.5\nM3,1,j_2,1,Running,"
                  "1200,0,,\n")});
  ASSERT_EQ(cell.cell.model.jobs.size(), 3U);
  EXPECT_EQ(cell.cell.model.jobs[0].name, "app_5052");
  EXPECT_EQ(cell.cell.model.jobs[0].tasks, 2U);
  EXPECT_EQ(cell.cell.model.jobs[0].tier, Tier::kProduction);
  EXPECT_EQ(cell.cell.model.jobs[0].limit[brain::kCellCpu], 4000);
  EXPECT_EQ(cell.cell.model.jobs[1].name, "j_1/M1");
  EXPECT_EQ(cell.cell.model.jobs[1].limit[brain::kCellCpu], 1000);
  EXPECT_EQ(cell.cell.workload.runs[1].run_ms, 60'000);
  EXPECT_EQ(Events(cell),
            "0 submit app_5052; 200 limit app_5052; 1000 submit j_1/M1; 1060 submit j_1/R2_1; ");
  EXPECT_EQ(Of(cell, Tier::kBatch).ends, (std::array<uint64_t, brain::kTaskEnds>{0, 1, 2, 0, 0}));
  EXPECT_TRUE(Of(cell, Tier::kBatch).delays_s.empty());
  EXPECT_EQ(Of(cell, Tier::kBatch).never_started, 0U);
  EXPECT_NEAR(Of(cell, Tier::kBatch).cpu_hours, (2 * 60 + 0.5 * 40) / 3600, 1e-6);
  EXPECT_EQ(cell.cell.findings[0].cause, "job left out: it asks for nothing");
  EXPECT_EQ(Causes(report_.skipped),
            (std::vector<std::string>{"1 an end before the start", "1 container that stays as it is",
                                      "1 task that did not start"}));
}

TEST_F(RecordedReaderTest, WhatFilesHoldIsTold) {
  TraceOptions options;
  options.paths = {dir_.Write("machine_meta.csv", "m_1,0,219,17,96,100,USING\n"),
                   dir_.Write("machine_usage.csv", "m_1932,386640,41,92,,,43.04,33.08,5\n"),
                   dir_.Write("other.csv", "what,is,this\n")};
  const auto contents = LookInto(options);
  ASSERT_TRUE(contents.ok());
  EXPECT_TRUE(contents->usage && contents->events && contents->unknown);
  options.paths = {options.paths[2]};
  EXPECT_EQ(ReadRecordedCell(options, report_).status().message(),
            "no table of events or machines: expected those of Google 2019 or 2011, or of Alibaba 2018");
  options.paths = {
      dir_.Write("machine_events-0.json", "{\"time\":\"0\",\"machine_id\":\"1\",\"type\":\"1\"}\n"),
      dir_.Write("job_events.csv", "0,,3418309,0,u,3,n,l\n")};
  EXPECT_FALSE(ReadRecordedCell(options, report_).ok());
}

TEST(EventSorter, PutsInOrderWhatWentToTheFile) {
  EventSorter sorter(/*in_memory=*/100);
  Rng rng(3);
  std::vector<std::pair<int64_t, uint64_t>> expected;
  for (uint64_t i = 0; i < 1050; ++i) {
    const auto time = static_cast<int64_t>(rng.Below(200));
    expected.push_back({time, i});
    sorter.Add({.time_us = time, .place = i});
  }
  std::ranges::sort(expected);
  std::vector<std::pair<int64_t, uint64_t>> got;
  ASSERT_TRUE(sorter.ForEach([&](const brain::TraceEvent& e) { got.push_back({e.time_us, e.place}); }).ok());
  EXPECT_EQ(got, expected);
  EXPECT_EQ(sorter.size(), 1050U);
}

TEST(EventSorter, NamesAFolderThatItCannotWriteTo) {
  EventSorter sorter(1, "/nowhere");
  sorter.Add({});
  const absl::Status s = sorter.ForEach([](const brain::TraceEvent&) {});
  EXPECT_EQ(s.message(), "sorting events in a temporary file in /nowhere: open: No such file or directory");
}

}  // namespace
}  // namespace taut::tools
