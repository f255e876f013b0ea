// Tests of machines and placements in the three formats with machines, with the published columns.
#include <map>
#include <string>

#include "brain/cell/recorded_machines.h"
#include "common/base/byte_units.h"
#include "common/testing/temp_dir.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tools/trace/google2019_real_row.h"
#include "tools/trace/trace_test_files.h"

namespace taut::tools {
namespace {

class MachineSink final : public TraceSink {
 public:
  void OnJob(JobId id, const JobInfo& info) override { jobs[id.value] = info.name; }
  void OnUsage(const UsageRow&) override { ++rows; }
  void OnLimit(JobId, Timestamp, std::optional<float>, std::optional<float>) override {}
  brain::RecordedMachines* machines() override { return &recorded; }
  void OnPlaced(JobId id, uint32_t task, Timestamp start, uint32_t machine) override {
    recorded.Place(id, task, WindowId::Of(start), machine);
    placed.push_back(jobs[id.value] + "/" + std::to_string(task) + "@" + std::to_string(start.seconds()) +
                     " " + recorded.name(machine));
  }

  std::map<uint32_t, std::string> jobs;
  brain::RecordedMachines recorded;
  std::vector<std::string> placed;
  uint64_t rows = 0;
};

class MachineRowsTest : public ::testing::Test {
 protected:
  void Read(std::vector<std::string> paths, int group = 1) {
    TraceOptions options;
    options.paths = std::move(paths);
    options.group = group;
    options.unit_cpu_cores = 10;
    options.unit_memory_bytes = 100;
    const absl::Status s = ReadTrace(options, sink_, report_);
    ASSERT_TRUE(s.ok()) << s;
  }
  std::string File(const std::string& name, const std::string& text) { return dir_.Write(name, text); }
  // Returns "count cause" for each cause of kept rows, and the first example.
  std::vector<std::string> Kept() const {
    std::vector<std::string> out;
    for (const auto& [cause, rows] : report_.kept) {
      std::string example = rows.examples.front();
      if (const size_t at = example.find(dir_.path()); at == 0) example.erase(0, dir_.path().size() + 1);
      out.push_back(std::to_string(rows.count) + " " + cause + " | " + example);
    }
    return out;
  }
  // Returns "from cores bytes" for each capacity change; "-" while the machine is not in the cell.
  std::string Capacities(const std::string& machine) {
    std::string out;
    for (const brain::MachineCapacity& c : sink_.recorded.capacities(sink_.recorded.Number(machine)))
      out +=
          fmt::format("{}:{} ", c.from.us,
                      c.in_cell ? fmt::format("{:g},{:g}", c.cpu_cores, c.memory_bytes) : std::string("-"));
    return out;
  }

  TempDir dir_;
  MachineSink sink_;
  ReadReport report_;
};

TEST_F(MachineRowsTest, Google2019) {
  const std::string events =
      R"({"time":"0","machine_id":"23624491139","type":"1","switch_id":"c3c=","capacity":{"cpus":0.5,"memory":0.25},"platform_id":"cA==","missing_data_reason":"0"})"
      "\n"
      R"({"time":"1838500000000","machine_id":"23624491139","type":"3","capacity":{"cpus":1.0,"memory":0.25}})"
      "\n"
      R"({"time":"1838400000000","machine_id":"23624491139","type":"2"})"
      "\n"
      R"({"time":0,"machine_id":7,"type":1,"switch_id":null,"capacity":null})"
      "\n"
      R"({"time":"0","type":"1"})"
      "\n"
      R"({"time":"0","machine_id":"8","type":"9"})"
      "\n"
      R"({"time":"9223372036854775807","machine_id":"8","type":"2"})"
      "\n";
  std::string usage = std::string(kRealRow) + "\n";
  usage +=
      R"({"start_time":"300000000","end_time":"600000000","collection_id":"1","machine_id":"99","average_usage":{"cpus":0.1,"memory":0.1}})"
      "\n"
      R"({"start_time":"300000000","end_time":"600000000","collection_id":"2","machine_id":"-1","average_usage":{"cpus":0.1,"memory":0.1}})"
      "\n"
      R"({"start_time":"300000000","end_time":"600000000","collection_id":"3","average_usage":{"cpus":0.1,"memory":0.1}})"
      "\n";
  Read({File("instance_usage-000000000000.json", usage), File("machine_events-000000000000.json", events)});
  EXPECT_EQ(sink_.rows, 4U);
  EXPECT_EQ(sink_.placed, (std::vector<std::string>{"330587238433/111@1838400 23624491139", "1/0@300 99"}));
  EXPECT_EQ(Capacities("23624491139"), "0:5,25 1838400000000:- 1838500000000:10,25 ");
  EXPECT_EQ(Capacities("7"), "0:0,0 ");
  const std::vector<std::string> kept = Kept();
  ASSERT_EQ(kept.size(), 5U);
  EXPECT_TRUE(kept[0].starts_with(
      "1 event of a machine behind a later one of it | machine_events-000000000000.json:3: {"));
  EXPECT_EQ(kept[1], "1 machine without capacity | machine_events-000000000000.json:4: machine 7 at 0 s");
  EXPECT_EQ(kept[2],
            "1 update of a machine that is not in the cell | machine_events-000000000000.json:2: machine "
            "23624491139 at "
            "1838500 s");
  EXPECT_TRUE(kept[3].starts_with(
      "1 usage on a machine that was never added | instance_usage-000000000000.json:2: {"));
  EXPECT_TRUE(kept[4].starts_with("2 usage without a machine | instance_usage-000000000000.json:3: {"));
  EXPECT_EQ(report_.skipped.at("machine event without time or machine_id").count, 1U);
  EXPECT_EQ(report_.skipped.at("machine event of an unknown type").count, 1U);
  EXPECT_EQ(report_.skipped.at("machine event after the end of the trace").count, 1U);
}

TEST_F(MachineRowsTest, Google2011) {
  const std::string events =
      "0,5,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493\n"
      "700000000,5,2,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.25,0.2493\n"
      "0,6,0,,,\n"
      "800000000,6,1,,,\n"
      "900000000,6,1,,,\n"
      "x,6,1,,,\n"
      "1,6,1\n";
  const std::string usage =
      "600000000,900000000,3418309,0,5,0.001562,0.06787,0.07568,0.001156,0.001503,0.06787,2.861e-06,"
      "0.0001869,0.03967,0.0003567,2.445,0.007243,0,1,0\n"
      "600000000,900000000,3418309,1,329150663,0.001568,0.06787,0.07556,0.0003195,0.0007,0.06787,5.722e-06,"
      "0.0001879,0.03302,0.0009289,2.1,0.005791,0,1,0\n"
      "600000000,900000000,3418309,2,,0.001568,0.06787,,,,,,,,,,,0,1,0\n";
  Read({File("task_usage-part-00000-of-00500.csv", usage),
        File("machine_events-part-00000-of-00001.csv", events)});
  EXPECT_EQ(sink_.placed, (std::vector<std::string>{"3418309/0@600 5", "3418309/1@600 329150663"}));
  EXPECT_EQ(Capacities("5"), "0:5,24.93 700000000:2.5,24.93 ");
  EXPECT_EQ(Capacities("6"), "0:0,0 800000000:- 900000000:- ");
  const std::vector<std::string> kept = Kept();
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[0],
            "1 machine without capacity | machine_events-part-00000-of-00001.csv:3: machine 6 at 0 s");
  EXPECT_EQ(kept[1],
            "1 removal of a machine that is not in the cell | machine_events-part-00000-of-00001.csv:5: "
            "machine 6 at "
            "900 s");
  EXPECT_TRUE(kept[2].starts_with(
      "1 usage on a machine that was never added | task_usage-part-00000-of-00500.csv:2: "));
  EXPECT_TRUE(kept[3].starts_with("1 usage without a machine | task_usage-part-00000-of-00500.csv:3: "));
  EXPECT_EQ(report_.skipped.at("bad number").count, 1U);
  EXPECT_EQ(report_.skipped.at("wrong number of columns").count, 1U);
}

TEST_F(MachineRowsTest, Alibaba2018ContainersMove) {
  Read(
      {File(
           "machine_meta.csv",
           "m_1,0,219,17,96,100,USING\nm_1,148984,219,17,96,100,USING\nm_2,0,219,17,96,,IMPORT_INSTALLING\n"),
       File("container_meta.csv", "c_1,m_1,0,app_5052,started,400,400,1.56\n"),
       File("container_usage.csv",
            "c_1,m_1,600,10,20,,,,,,\nc_1,m_2,900,10,20,,,,,,\nc_1,,1200,10,20,,,,,,\n")});
  EXPECT_EQ(sink_.placed, (std::vector<std::string>{"app_5052/0@600 m_1", "app_5052/0@900 m_2"}));
  EXPECT_EQ(Capacities("m_1"), "0:96,100 148984000000:96,100 ");
  EXPECT_EQ(Capacities("m_2"), "0:96,0 ");
  EXPECT_EQ(Kept(), (std::vector<std::string>{
                        "1 machine without capacity | machine_meta.csv:3: machine m_2 at 0 s",
                        "1 usage without a machine | container_usage.csv:3: c_1,,1200,10,20,,,,,,"}));
}

// A grouped task stays on the machine of its series.
TEST_F(MachineRowsTest, GroupsKeepTheMachinesOfTheirTasks) {
  Read({File("machine_usage.csv", "m_7,600,41,92,,,43.04,33.08,5\nm_8,600,41,92,,,43.04,33.08,5\n")}, 2);
  EXPECT_EQ(sink_.placed, (std::vector<std::string>{"m_7+1/0@600 m_7", "m_7+1/1@600 m_8"}));
  EXPECT_EQ(report_.warnings.back(), "no table of machines was read: what the machines have is not known");
}

// A sink without machines() receives none, and a warning reports that the table of machines is not used.
TEST_F(MachineRowsTest, TablesOfMachinesAreLeftOutWhereNotAskedFor) {
  const ReadResult r = ReadPaths(
      {File("instance_usage-000000000000.json", std::string(kRealRow) + "\n"),
       File("machine_events-000000000000.json", "{\"time\":\"0\",\"machine_id\":\"1\",\"type\":\"9\"}\n")});
  ASSERT_TRUE(r.status.ok()) << r.status;
  EXPECT_EQ(r.AllSkipped(), 0U);
  EXPECT_TRUE(r.report.kept.empty());
  ASSERT_EQ(r.report.warnings.size(), 1U);
  EXPECT_NE(r.report.warnings[0].find("this table is not used"), std::string::npos);
}

}  // namespace
}  // namespace taut::tools
