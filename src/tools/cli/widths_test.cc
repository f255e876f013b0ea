// Tests that lists with long names fit the columns of a terminal, and are whole in a pipe. Command lines of other
// tests run as in a pipe, so these tests call the commands' functions.
#include <functional>

#include "tools/cli/commands.h"
#include "tools/cli/fake_tautd.h"
#include "tools/cli/results.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kLong = StrCat(std::string(120, 'x'), "/größe/", std::string(120, 'y'));

std::string PrintedBy(const std::function<int()>& run) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(), kExitOk);
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

// Expects that the text fits a terminal with the long name cut, and has the long name in a pipe.
void ExpectFits(const char* what, const std::function<int()>& run) {
  const std::string text = PrintedBy(run);
  for (const std::string_view line : Split(text, '\n')) {
    EXPECT_LE(DisplayWidth(line), kTextColumns) << what << ": " << line;
  }
  EXPECT_THAT(text, HasSubstr("…")) << what;
  KeepNamesWhole(true);
  EXPECT_THAT(PrintedBy(run), HasSubstr(kLong)) << what;
  KeepNamesWhole(false);
}

class Widths : public testing::Test {
 protected:
  DaemonArgs Daemon() const {
    DaemonArgs out;
    out.connection.server = tautd_.url();
    return out;
  }
  FakeTautd tautd_;
};

TEST_F(Widths, BillsFit) {
  Json page = {
      {"currency", "EUR"},
      {"groups", {{{"group", kLong}, {"jobs", 123456}, {"charges", "1234567.89"}, {"total", "1.00"}}}},
      {"machine_cost", "0.00"}};
  tautd_.Set("GET /api/v1/bills", page);
  BillsArgs args;
  args.daemon = Daemon();
  ExpectFits("groups", [&] { return RunBills(args); });
  page["groups"] = {
      {{"group", "a"},
       {"lines", {{{"tier", kLong}, {"resource", "memory"}, {"kind", "charge"}, {"rule", "usage"}}}}}};
  page["jobs"] = {{{"job", kLong}, {"charges", "1.00"}}};
  tautd_.Set("GET /api/v1/bills", page);
  args.group = "a";
  ExpectFits("one group", [&] { return RunBills(args); });
}

TEST_F(Widths, BudgetsFit) {
  tautd_.Set(
      "GET /api/v1/businesses",
      {{"businesses",
        {{{"holder", kLong},
          {"unit", "EUR"},
          {"budget", "123456789.00"},
          {"frozen", true},
          {"removed", true}}}},
       {"from", 1790812800},
       {"to", 1793491200},
       {"warnings",
        {"a warning of many words, such as one of a tier that has no price in the price file, twice"}}});
  BudgetArgs args;
  args.daemon = Daemon();
  ExpectFits("holders", [&] { return RunBudget(args); });
}

TEST_F(Widths, QuotaAndRequestsFit) {
  Json row = {{"group", kLong},       {"tier", kLong},
              {"resource", "memory"}, {"quota", 123456789012},
              {"in_use", 1},          {"borrowed", 2},
              {"over_quota", 3},      {"available", 123456789012},
              {"at_most", 12345678},  {"history", {{"in_use_p95", 5}, {"recommended", 6}}}};
  tautd_.Set("GET /api/v1/quota", {{"rows", {row}},
                                   {"uncovered",
                                    {{{"group", "lab"},
                                      {"tier", "spot"},
                                      {"jobs", 2},
                                      {"first_job", "lab/a-job-of-the-lab"},
                                      {"amounts", {{"cpu", 3}, {"memory", 1073741824}}}}}}});
  RequestsArgs args;
  args.daemon = Daemon();
  args.action = "quota";
  ExpectFits("quota", [&] { return RunRequests(args); });
  tautd_.Set("GET /api/v1/requests", {{"requests",
                                       {{{"id", 12},
                                         {"state", "queued"},
                                         {"since", 1790000400},
                                         {"group", kLong},
                                         {"tier", kLong},
                                         {"tasks", 10},
                                         {"per_task", {{"cpu", 2}, {"memory", 4294967296}}},
                                         {"job", kLong}}}}});
  args.action = "list";
  ExpectFits("requests", [&] { return RunRequests(args); });
}

TEST_F(Widths, CostsEventsAndDecisionsFit) {
  tautd_.Set("GET /api/v1/fleet", {{"time", 1790000400}});
  const Json hours = {{"usage", 123456789.0}, {"allocation", 123456789.0}};
  tautd_.Set("GET /api/v1/costs",
             {{"by", kLong},
              {"currency", "EUR"},
              {"groups", {{{"value", kLong}, {"jobs", 12345}, {"cpu", hours}, {"memory", hours}}}}});
  CostsArgs costs;
  costs.daemon = Daemon();
  ExpectFits("costs", [&] { return RunCosts(costs); });
  tautd_.Set("GET /api/v1/ooms",
             {{"ooms", {{{"job", kLong}, {"task", 3}, {"kills", 1234}, {"limit", 67108864}}}}});
  tautd_.Set(
      "GET /api/v1/tier_acts",
      {{"acts",
        {{{"job", kLong}, {"task", kLong}, {"machine", kLong}, {"tier", "batch"}, {"kind", "throttle"}}}}});
  EventsArgs events;
  events.daemon = Daemon();
  ExpectFits("events", [&] { return RunEvents(events); });
  tautd_.Set("GET /api/v1/decisions",
             {{"decisions",
               {{{"job", kLong},
                 {"kind", "would_set"},
                 {"resource", "memory"},
                 {"before", 1e9},
                 {"after", 2e9},
                 {"outcome", "failed"},
                 {"outcome_text", "the API server refused the patch of the pod of the job"}}}}});
  DecisionsArgs decisions;
  decisions.daemon = Daemon();
  ExpectFits("decisions", [&] { return RunDecisions(decisions); });
}

TEST_F(Widths, CapacityAndMachinesFit) {
  tautd_.Set(
      "GET /api/v1/capacity",
      {{"window_end", 1790000400},
       {"offers", {{{"tier", kLong}, {"horizon", "quarter"}, {"resource", "memory"}, {"sellable", 1e15}}}},
       {"promises",
        {{{"tier", kLong},
          {"resource", "memory"},
          {"horizon", "quarter"},
          {"start", 1790000400},
          {"amount", 1e15},
          {"state", "broken"},
          {"hours", 2160},
          {"missed_hours", 216}}}}});
  CapacityArgs capacity;
  capacity.daemon = Daemon();
  capacity.promises = true;
  ExpectFits("capacity", [&] { return RunCapacity(capacity); });
  tautd_.Set("GET /api/v1/machines", {{"machines", {{{"name", kLong}, {"cpu", {{"capacity", 12345}}}}}}});
  MachinesArgs machines;
  machines.daemon = Daemon();
  ExpectFits("machines", [&] { return RunMachines(machines); });
}

TEST_F(Widths, SettingsAndTotalsFit) {
  tautd_.Set("GET /api/v1/jobs/web/settings",
             {{"values", {{{"key", "maintenance"}, {"value", kLong}, {"source", kLong}}}}});
  SetArgs set;
  set.daemon = Daemon();
  set.job = "web";
  ExpectFits("settings", [&] { return RunSet(set); });
  tautd_.Set("PATCH /api/v1/settings",
             {{"changes", {{{"job", kLong}, {"key", "mode"}, {"before", kLong}, {"after", kLong}}}}});
  set.job = "*";
  set.changes = {"mode=auto"};
  ExpectFits("many settings", [&] { return RunSet(set); });
  const Json amounts = {{"usage", 123456.0},    {"owner_limit", 123456.0}, {"would_be", 12345.0},
                        {"job_days", 12345678}, {"job_days_over", 3},      {"chance", 0.02}};
  tautd_.Set("GET /api/v1/totals", {{"by", kLong},
                                    {"total", 1},
                                    {"currency", "EUR"},
                                    {"groups", {{{"value", kLong}, {"cpu", amounts}, {"memory", amounts}}}}});
  JobsArgs jobs;
  jobs.daemon = Daemon();
  jobs.group_by = "team";
  ExpectFits("totals", [&] { return RunJobs(jobs); });
}

// The sums of a large fleet are in lines that are wrapped.
TEST_F(Widths, SumsOfAFleetFit) {
  Json totals = {{"jobs", 1234567},
                 {"saving_per_month", 123456789.12},
                 {"cpu", {{"usage", 1234567.0}, {"would_save", -1234567.0}}},
                 {"memory", {{"usage", 1e17}, {"would_save", -1e17}}}};
  tautd_.Set("GET /api/v1/jobs", {{"total", 1234567},
                                  {"currency", "EUR"},
                                  {"totals", totals},
                                  {"jobs", {{{"name", kLong}, {"mode", "observe"}, {"tasks", 1234567}}}}});
  tautd_.Set("GET /api/v1/fleet",
             {{"time", 1790000400},
              {"jobs", 1234567},
              {"tasks", 12345678},
              {"changes_day", 1234567},
              {"oom_kills_day", 1234567},
              {"jobs_by_mode", {{"off", 1234567}, {"observe", 1234567}, {"auto", 1234567}}}});
  JobsArgs jobs;
  jobs.daemon = Daemon();
  ExpectFits("jobs", [&] { return RunJobs(jobs); });
  EXPECT_THAT(PrintedBy([&] { return RunJobs(jobs); }), HasSubstr("\nall 1,234,567: usage "));
  TopArgs top;
  top.daemon = Daemon();
  ExpectFits("top", [&] { return RunTop(top); });
}

TEST_F(Widths, TablesOfAReplayFit) {
  LaneResult lane;
  lane.policy = {brain::Policy::kMovingWindow, brain::Policy::kWorkFunction};
  lane.resource = Resource::kCpu;
  lane.summary.totals.job_days = 4;
  lane.summary.totals.limit_seconds = lane.summary.totals.owner_limit_seconds = 4e12;
  lane.per_job.resize(4);
  ReplayResult result;
  result.lanes = {lane};
  result.last_day = 1;
  for (const std::string& text = ResultTables(result, /*details=*/true); const auto line : Split(text, '\n'))
    EXPECT_LE(DisplayWidth(line), kTextColumns) << line;
  EXPECT_THAT(ResultTables(result, true), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace taut::tools
