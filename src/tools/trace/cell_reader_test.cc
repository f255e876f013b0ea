// Tests of cells from CSV files: both formats, and skipped rows.
#include "tools/trace/cell_reader.h"

#include <filesystem>
#include <fstream>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ReadCellTest : public testing::Test {
 protected:
  ReadCellTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~ReadCellTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<CellInput> Read(const std::string& first, const std::string& second, bool strict = false) {
    const std::string a = folder_ / "a.csv", b = folder_ / "b.csv";
    std::ofstream(a) << first;
    std::ofstream(b) << second;
    const std::string c = folder_ / "c.csv";
    CellReadOptions options{.paths = {a, b}, .strict = strict, .jobs_needed = jobs_needed_};
    if (!events_.empty()) {
      std::ofstream(c) << events_;
      options.paths.push_back(c);
    }
    return ReadCell(options, report_);
  }
  std::vector<std::pair<std::string, uint64_t>> Skipped() const {
    std::vector<std::pair<std::string, uint64_t>> out;
    for (const auto& [cause, skipped] : report_.skipped) out.emplace_back(cause, skipped.count);
    return out;
  }

  const std::filesystem::path folder_;
  ReadReport report_;
  bool jobs_needed_ = true;
  std::string events_;  // content of a third file; "": none
};

constexpr const char* kMachines =
    "name,cpu_cores,memory_gib,zone,kind\n"
    "m0,16,64,a,new\n"
    "m1,7.5,32,b,\n";

TEST_F(ReadCellTest, ReadsMachinesAndJobsInAnyOrder) {
  const auto input = Read(
      "name,user,tier,tasks,cpu_limit,memory_limit,cpu_reservation,constraints,spread,gang\n"
      "web,shop,production,3,1.5,2GiB,0.5,zone=a|b;kind=new,zone:2,0\n"
      "\"crawl\",,,,0.25,1073741824,,,,1\n",
      kMachines);
  ASSERT_TRUE(input.ok()) << input.status();
  const brain::CellModel& cell = input->model;
  EXPECT_EQ(cell.resources.size(), 2U);
  ASSERT_EQ(cell.machines.size(), 2U);
  EXPECT_EQ(cell.machines[1].capacity, (brain::CellAmounts{7500, int64_t{32} << 30}));
  EXPECT_EQ(cell.machines[0].attributes.size(), 2U);
  EXPECT_EQ(cell.machines[1].attributes.size(), 1U);
  ASSERT_EQ(cell.jobs.size(), 2U);
  const brain::CellJob &web = cell.jobs[0], &crawl = cell.jobs[1];
  EXPECT_EQ(web.tier, brain::CellTier::kProduction);
  EXPECT_EQ(web.tasks, 3U);
  EXPECT_EQ(web.limit, (brain::CellAmounts{1500, int64_t{2} << 30}));
  EXPECT_EQ(web.reservation, (brain::CellAmounts{500, int64_t{2} << 30}));
  ASSERT_EQ(web.constraints.size(), 2U);
  EXPECT_EQ(cell.names.text(web.constraints[0].key), "zone");
  EXPECT_EQ(web.constraints[0].values.size(), 2U);
  EXPECT_EQ(web.constraints[0].key, web.spread_key);
  EXPECT_EQ(web.max_per_domain, 2U);
  EXPECT_FALSE(web.gang);
  EXPECT_EQ(crawl.name, "crawl");
  EXPECT_EQ(crawl.tier, brain::CellTier::kBatch);
  EXPECT_EQ(crawl.limit, (brain::CellAmounts{250, int64_t{1} << 30}));
  EXPECT_EQ(crawl.reservation, crawl.limit);
  EXPECT_TRUE(crawl.gang);
  EXPECT_TRUE(report_.skipped.empty());
  EXPECT_TRUE(input->findings.empty());
}

TEST_F(ReadCellTest, ReadsTheTablesOfTheGpuTrace) {
  const auto input =
      Read("sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,393216,8,G2\n",
           "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
           "scheduled_time\n"
           "p0,12000,16384,1,460,G2|T4,LS,Running,0,100,0\n"
           "p1,4000,1024,0,0,,BE,Pending,5,100,\n"
           "p2,4000,1024,0,0,,BE,Pending,,100,\n"
           "p3,4000,1024,0,0,,BE,Pending,101,100,\n"
           "p4,4000,1024,0,0,,XX,Pending,1,100,\n");
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->model.resources.size(), 3U);
  EXPECT_EQ(input->model.machines[1].capacity, (brain::CellAmounts{96'000, int64_t{393'216} << 20, 8000}));
  ASSERT_EQ(input->model.jobs.size(), 2U);
  const brain::CellJob& gpu = input->model.jobs[0];
  EXPECT_EQ(gpu.limit, (brain::CellAmounts{12'000, int64_t{16'384} << 20, 460}));
  EXPECT_EQ(gpu.tier, brain::CellTier::kProduction);
  EXPECT_EQ(gpu.constraints.size(), 1U);
  EXPECT_EQ(input->model.jobs[1].tier, brain::CellTier::kBatch);
  EXPECT_EQ(input->workload.runs[0].run_ms, 100'000);
  EXPECT_EQ(input->workload.runs[1].run_ms, 95'000);
  EXPECT_EQ(input->workload.events[1].time_ms, 5000);
  EXPECT_THAT(Skipped(), ElementsAre(Pair("an end before the start", 1), Pair("an end without a start", 1),
                                     Pair("unknown tier", 1)));
}

TEST_F(ReadCellTest, CountsWhatItDoesNotUse) {
  const auto input =
      Read(std::string(kMachines) + "m2,0,0,a,new\nm1,8,8,a,new\nm3,-1,8,a,new\nm4,8\n,1,1,,\n",
           "name,cpu_limit,memory_limit,cpu_reservation,constraints,spread,tasks\n"
           "a,1,1GiB,2,,,\n"
           "b,x,1GiB,,,,\n"
           "c,1,1GiB,,zone,,\n"
           "d,1,1GiB,,,zone,\n"
           "e,0,0,,,,\n"
           "f,1,1GiB,,,,0\n"
           "g,1,100TiB,,,,2\n"
           "h,1,1GiB,,zone=q,,\n"
           "i,1,1GiB,,,,\n");
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_THAT(Skipped(),
              ElementsAre(Pair("a job that asks for nothing", 1), Pair("a reservation above the limit", 1),
                          Pair("bad number", 3), Pair("constraints are not KEY=VALUE|VALUE;KEY=VALUE", 1),
                          Pair("no name", 1), Pair("spread is not KEY:TASKS", 1),
                          Pair("wrong number of columns", 1)));
  EXPECT_EQ(input->model.machines.size(), 2U);
  EXPECT_EQ(input->model.jobs.size(), 3U);
  std::vector<std::string> causes;
  for (const brain::CellFinding& f : input->findings) causes.push_back(f.cause + ": " + f.first);
  EXPECT_THAT(causes,
              ElementsAre("machine left out: no capacity: m2", "machine left out: the name is taken: m1",
                          "job whose task is larger than any machine: g",
                          "job that asks for an attribute that no machine has: h"));
}

TEST_F(ReadCellTest, ErrorsSayWhatIsExpected) {
  EXPECT_THAT(std::string(Read(kMachines, "a,b\n1,2\n").status().message()),
              HasSubstr("b.csv: the first line must name the columns of machines"));
  EXPECT_THAT(std::string(Read(kMachines, "").status().message()), HasSubstr("no usable job: expected"));
  EXPECT_THAT(std::string(Read(kMachines, "name,cpu_limit,memory_limit\na,x,1\n", true).status().message()),
              HasSubstr("b.csv:2: bad number: a,x,1"));
}

TEST_F(ReadCellTest, MachinesAloneAreACellIfNoJobIsNeeded) {
  jobs_needed_ = false;
  const auto cell = Read(kMachines, "");
  ASSERT_TRUE(cell.ok()) << cell.status();
  EXPECT_FALSE(cell->model.machines.empty());
  EXPECT_TRUE(cell->model.jobs.empty());
  EXPECT_THAT(std::string(Read("name,cpu_limit,memory_limit\na,1,1\n", "").status().message()),
              HasSubstr("no usable machine: expected"));
}

TEST_F(ReadCellTest, ReadsWhenJobsComeAndWhatHappens) {
  events_ =
      "time_s,event,name,cpu_cores,memory_gib\n"
      "20,submit,c,,\n"
      "15.5,limit,b,2,0.5\n"
      "40,stop,x,,\n"
      "40,fail,y,,\n"
      "40,fall,c,,\n"
      ",stop,c,,\n"
      "41,limit,b,2,\n"
      "60,drain,m1,,\n";
  const auto input = Read(kMachines,
                          "name,cpu_limit,memory_limit,submit_s,run_s,kind\n"
                          "a,1,1GiB,30,60.5,\n"
                          "b,1,1GiB,10,,service\n"
                          "c,1,1GiB,,5,work\n"
                          "d,1,1GiB,,5,batch\n"
                          "e,1,1GiB,-1,5,\n"
                          "f,1,1GiB,1,0,\n"
                          "g,1,1GiB,,5,\n");
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_THAT(Skipped(),
              ElementsAre(Pair("an event of an unknown job", 1), Pair("an event of an unknown machine", 1),
                          Pair("an event without its amounts of CPU and memory", 1), Pair("bad time", 3),
                          Pair("kind is not work or service", 1), Pair("unknown event", 1)));
  EXPECT_EQ(report_.rows, report_.rows_used + 8);
  const brain::CellWorkload& workload = input->workload;
  ASSERT_EQ(workload.runs.size(), 4U);  // runs of a, b, c and g
  EXPECT_EQ(workload.runs[0].run_ms, 60'500);
  EXPECT_EQ(workload.runs[1].run_ms, brain::kNoEnd);
  EXPECT_EQ(workload.runs[1].kind, brain::CellJobKind::kService);
  std::vector<std::string> events;
  for (const brain::CellEvent& e : workload.events)
    events.push_back(StrCat(e.time_ms, " ", Name(e.kind), " ", e.id));
  // In the file, the limit of job b follows an event with a later time.
  EXPECT_THAT(events, ElementsAre("0 submit 3", "10000 submit 1", "20000 submit 2", "15500 limit 1",
                                  "30000 submit 0", "60000 drain 1"));
  EXPECT_EQ(workload.amounts[workload.events[3].amounts], (brain::CellAmounts{2000, int64_t{1} << 29}));
}

}  // namespace
}  // namespace taut::tools
