// Tests of `taut get bills` and `taut get costs` with a running tautd.
#include "common/testing/temp_dir.h"
#include "tools/cli/fake_tautd.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Json BillsPage() {
  return Json::parse(R"({"currency": "EUR", "from": 1790812800, "counted_from": 1790812800, "to": 1793491200,
    "number_of_groups": 2, "charges": "12.00", "credits": "-1.50", "idle": "3.00", "total": "13.50",
    "machine_cost": "20.00", "platform": "6.50", "windows_without_allocation": 4,
    "groups": [
      {"group": "search", "jobs": 1234, "charges": "10.00", "credits": "-1.50", "idle": "2.00", "total": "10.50"},
      {"group": "ads\u001b[2J", "jobs": 1, "charges": "2.00", "credits": "0.00", "idle": "1.00", "total": "3.00"}]})");
}

TEST(Bills, OfAllGroupsHaveASum) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/bills", BillsPage());
  const Ran ran = tautd.Run("get bills --month 2026-10 --limit 7");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/bills?month=2026-10&limit=7");
  EXPECT_EQ(ran.out,
            "in EUR, 2026-10-01 00:00 to 2026-11-01 00:00\n"
            "\n"
            "group        jobs  charges  credits  idle  total\n"
            "search      1,234    10.00    -1.50  2.00  10.50\n"
            "ads\\x1b[2J      1     2.00     0.00  1.00   3.00\n"
            "all groups           12.00    -1.50  3.00  13.50\n"
            "\n"
            "The machines cost 20.00; the platform bears 6.50.\n"
            "Where no limit was known, usage is charged.\n");
}

TEST(Bills, SayWhoBearsTheCostOfTheMachines) {
  FakeTautd tautd;
  const auto text = [&](const char* key, const Json& value) {
    Json page = BillsPage();
    page[key] = value;
    tautd.Set("GET /api/v1/bills", page);
    return tautd.Run("get bills").out;
  };
  EXPECT_THAT(text("platform", "-2.25"), HasSubstr("cost 20.00; the bills are 2.25 more than that.\n"));
  EXPECT_THAT(text("machine_cost", "0.00"), Not(HasSubstr("machines cost")));
  EXPECT_THAT(text("machine_cost", nullptr), Not(HasSubstr("machines cost")));
  EXPECT_THAT(text("windows_without_allocation", 0), Not(HasSubstr("usage is charged")));
  EXPECT_THAT(text("windows_without_allocation", nullptr), Not(HasSubstr("usage is charged")));
}

TEST(Bills, OfOneGroupHaveLinesAndJobs) {
  FakeTautd tautd;
  Json page = BillsPage();
  page["groups"] = Json::parse(R"([{"group": "search", "lines": [
      {"tier": "production", "resource": "cpu", "kind": "charge", "rule": "limit", "hours": 730.5, "rate": "0.010",
       "amount": "7.31"},
      {"tier": "batch", "resource": "memory", "kind": "credit", "rate": "", "amount": "-1.50"}]}])");
  page["jobs"] =
      Json::parse(R"([{"job": "search/web", "charges": "7.31", "idle": "1.00", "total": "8.31"}])");
  tautd.Set("GET /api/v1/bills", page);
  const Ran ran = tautd.Run({"get", "bills", "--group", "search"});
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/bills?group=search&limit=30");
  EXPECT_EQ(ran.out,
            "in EUR, 2026-10-01 00:00 to 2026-11-01 00:00\n"
            "\n"
            "tier        resource  charged by   hours   rate  amount\n"
            "production       cpu       limit  730.50  0.010    7.31\n"
            "batch         memory      credit       -          -1.50\n"
            "\n"
            "job         charges  idle  total\n"
            "search/web     7.31  1.00   8.31\n");
}

TEST(Bills, WithoutUsageSayWhyAndNameChangesOfPrices) {
  FakeTautd tautd;
  Json page = {{"number_of_groups", 0}, {"from", 1790812800}, {"to", 1793491200}};
  tautd.Set("GET /api/v1/bills", page);
  const std::string none =
      "No usage of 2026-10-01 00:00 to 2026-11-01 00:00 is known: tautd measured nothing then, or has deleted "
      "it.\n";
  EXPECT_EQ(tautd.Run("get bills").out, none);
  page["price_changes"] = Json::parse(
      R"([{"time": 1793500000, "from": 1790812800, "to": null, "what": "core_hour is 0.03, was 0.02"}])");
  tautd.Set("GET /api/v1/bills", page);
  EXPECT_EQ(tautd.Run("get bills").out,
            none +
                "\nThe price file was changed for times that were over:\n  read 2026-11-01 02:26, for "
                "2026-10-01 00:00 to -: core_hour is 0.03, was 0.02\n");
}

TEST(Bills, OfFocusAreAFileOrStandardOutput) {
  FakeTautd tautd;
  const TempDir folder;
  const std::string path = folder.File("october.csv");
  HttpResponse csv = TextResponse(200, "BilledCost\n1.5\n");
  csv.content_type = "text/csv; charset=utf-8";
  tautd.Set("GET /api/v1/bills", csv);
  EXPECT_EQ(tautd.Run({"get", "bills", "--month", "2026-10", "--focus", path}).code, kExitOk);
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/bills?month=2026-10&format=focus");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "BilledCost\n1.5\n");
  const Ran printed = tautd.Run("get bills --focus -");
  EXPECT_EQ(printed.out, "BilledCost\n1.5\n");
  // An older tautd ignores the format.
  tautd.Set("GET /api/v1/bills", BillsPage());
  const Ran old = tautd.Run({"get", "bills", "--focus", path});
  EXPECT_EQ(old.code, kExitFailed);
  EXPECT_THAT(old.error,
              HasSubstr("the response is not text/csv; charset=utf-8; check that this is a tautd of"));
  const Ran missing = tautd.Run({"get", "bills", "--focus", folder.File("no/such/bill.csv")});
  EXPECT_EQ(missing.code, kExitFailed);
}

TEST(Bills, AnErrorOfTautdIsTheError) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/bills", ErrorResponse(409, "prices.file is not set\x1b"));
  const Ran ran = tautd.Run("get bills");
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.error, "taut: prices.file is not set\\x1b\n");
  tautd.Set("GET /api/v1/bills", ErrorResponse(400, "month: expected a month"));
  EXPECT_EQ(tautd.Run("get bills").code, kExitUsage);
  tautd.Set("GET /api/v1/bills", ErrorResponse(401, "no token"));
  EXPECT_THAT(tautd.Run("get bills").error, EndsWith("no token; pass a token with --token-file or "
                                                     "TAUT_TOKEN_FILE\n"));
  tautd.Set("GET /api/v1/bills", ErrorResponse(403, "role operator is required"));
  EXPECT_THAT(tautd.Run("get bills").error, EndsWith("; pass the token of such a role with --token-file\n"));
  tautd.Set("GET /api/v1/bills", TextResponse(200, "<html>"));
  EXPECT_THAT(tautd.Run("get bills").error, HasSubstr("the response is not JSON; check that this is tautd"));
  tautd.Set("GET /api/v1/bills", TextResponse(500, "oops"));
  EXPECT_THAT(tautd.Run("get bills").error, HasSubstr(tautd.url()));
}

TEST(Bills, OtherFormsAreTheResponse) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/bills", BillsPage());
  EXPECT_EQ(Json::parse(tautd.Run("get bills -o json").out), BillsPage());
  EXPECT_THAT(tautd.Run("get bills -o yaml").out, HasSubstr("machine_cost: \"20.00\"\n"));
  EXPECT_THAT(tautd.Run("get bills -o csv").out,
              testing::StartsWith("group,jobs,charges,credits,idle,total\n"));
}

TEST(Costs, AreOfTheDaysBeforeTheNewestWindow) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/fleet", {{"time", 1790000400}});
  tautd.Set("GET /api/v1/costs", {{"groups", Json::array()}});
  EXPECT_EQ(tautd.Run("get costs").out, "nothing was measured in this time\n");
  EXPECT_THAT(tautd.Requests(),
              ElementsAre("GET /api/v1/fleet", "GET /api/v1/costs?limit=30&from=1787408400&to=1790000400"));
  tautd.Run("get costs --days 1 --by :job --limit 2");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/costs?limit=2&by=%3Ajob&from=1789914000&to=1790000400");
}

TEST(Costs, OfAMonthNeedNoNewestWindow) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/costs", {{"by", "team"}, {"groups", {{{"value", "red"}, {"jobs", 2}}}}});
  EXPECT_THAT(tautd.Run("get costs --month 2026-02").out, HasSubstr("red"));
  EXPECT_THAT(tautd.Requests(), ElementsAre("GET /api/v1/costs?limit=30&from=1769904000&to=1772323200"));
  tautd.Run("get costs --month 2026-12");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/costs?limit=30&from=1796083200&to=1798761600");
}

TEST(Costs, BeforeTheFirstWindowThereAreNone) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/fleet", {{"time", nullptr}});
  const Ran ran = tautd.Run("get costs");
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_EQ(ran.out, "nothing is measured yet: the first window of 5 minutes has not ended\n");
}

TEST(Costs, AMonthIsChecked) {
  FakeTautd tautd;
  for (const char* month : {"2026", "2026-13", "2026-00", "2026-1", "26-01", "2026-1x", "x026-01", "2026/01",
                            "2026-011", "-2026-01"}) {
    const Ran ran = tautd.Run(StrCat("get costs --month=", month));
    EXPECT_EQ(ran.code, kExitUsage) << month;
    EXPECT_EQ(ran.error, StrCat("taut: --month: \"", month, "\": expected a month such as 2026-11\n"));
  }
  EXPECT_THAT(tautd.Run("get costs --month 2026-01 --days 3").error,
              HasSubstr("--month and --days: expected one of them"));
  EXPECT_TRUE(tautd.Requests().empty());
}

}  // namespace
}  // namespace taut::tools
