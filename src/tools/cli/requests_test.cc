// Tests of `taut get quota`, `taut get requests`, `taut admit` and `taut request` with a running tautd.
#include "tools/cli/fake_tautd.h"

namespace taut::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json QuotaPage() {
  return Json::parse(R"({"rows": [
      {"group": "search", "tier": "production", "resource": "cpu", "quota": 100, "in_use": 12.5, "borrowed": 0,
       "over_quota": 0, "available": 87.5, "at_most": 120},
      {"group": "search", "tier": "batch", "resource": "memory", "quota": 1073741824, "in_use": 0, "borrowed": null,
       "over_quota": 0, "available": 1073741824, "at_most": 2147483648},
      {"group": "lab", "tier": "batch", "resource": "gpu", "quota": 8, "in_use": 3, "borrowed": 0, "over_quota": 0,
       "available": 5, "at_most": 8}]})");
}

TEST(Quota, HasTheUnitsOfItsResources) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/quota", QuotaPage());
  EXPECT_EQ(
      tautd.Run("get quota").out,
      "                                                                  over   available\n"
      "group         tier  resource      quota      in use  borrowed    quota         now    at most\n"
      "search  production       cpu  100 cores  12.5 cores   0 cores  0 cores  87.5 cores  120 cores\n"
      "search       batch    memory   1.00 GiB         0 B         -      0 B    1.00 GiB   2.00 GiB\n"
      "lab          batch       gpu          8           3         0        0           5          8\n");
}

TEST(Quota, ShowsWhatIsOversold) {
  FakeTautd tautd;
  Json page = QuotaPage();
  page["rows"][0]["oversold"] = 30;
  tautd.Set("GET /api/v1/quota", page);
  EXPECT_THAT(tautd.Run("get quota").out, HasSubstr("120 cores 30.0 cores\n"));
}

TEST(Quota, SaysWhatIsNotCovered) {
  FakeTautd tautd;
  Json page = QuotaPage();
  page["uncovered"] = Json::parse(R"([
      {"group": "lab", "tier": "spot", "jobs": 2, "requests": 1, "first_job": "lab/a",
       "amounts": {"cpu": 3, "memory": 1073741824, "gpu": 2}},
      {"group": "lab", "tier": "spot", "jobs": 1, "amounts": {"gpu": 1}},
      {"group": "lab", "tier": "spot", "requests": 2, "amounts": {"cpu": null}}])");
  page["warnings"] = {"group \"x\" has jobs and no quota", 7};
  page["silent"] = true;
  tautd.Set("GET /api/v1/quota", page);
  const std::string text = tautd.Run("get quota").out;
  EXPECT_THAT(
      text, HasSubstr("2 jobs and 1 request of group \"lab\", tier \"spot\" without quota (3.00 cores, 1.00 "
                      "GiB, 2 gpu; the first job is lab/a)\n"));
  EXPECT_THAT(text,
              HasSubstr("1 job of group \"lab\", tier \"spot\" without quota (1 gpu; the first job is -)\n"));
  EXPECT_THAT(text, HasSubstr("2 requests of group \"lab\", tier \"spot\" without quota (-)\n"));
  EXPECT_THAT(text,
              testing::EndsWith("warning: group \"x\" has jobs and no quota\nNo job is measured: the use is "
                                "that of the last window that had some.\n"));
}

TEST(Quota, ShowsItsHistoryWhereThereIsOne) {
  FakeTautd tautd;
  Json page = QuotaPage();
  page["rows"][0]["history"] = {{"in_use_p95", 42}, {"recommended", nullptr}};
  tautd.Set("GET /api/v1/quota", page);
  const std::string text = tautd.Run("get quota").out;
  EXPECT_THAT(text, HasSubstr("95 % of recom-\n"));
  EXPECT_THAT(text, HasSubstr("120 cores 42.0 cores      -\n"));
}

const Json kRequestRows = Json::parse(R"({"requests": [
    {"id": 12, "state": "queued", "since": 1790000400, "group": "search", "tier": "production", "tasks": 10,
     "per_task": {"cpu": 2, "memory": 4294967296}, "job": "search/web"},
    {"id": 11, "state": "ended", "end": "refused", "since": null, "group": "lab", "tier": "batch",
     "per_task": {"gpu": 1}}]})");

TEST(Requests, AreListedWithTheirState) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/requests", kRequestRows);
  EXPECT_EQ(
      tautd.Run("get requests").out,
      "request    state             since   group        tier  tasks             each task         job\n"
      "12        queued  2026-09-21 14:20  search  production     10  2.00 cores, 4.00 GiB  search/web\n"
      "11       refused                 -     lab       batch      -                 1 gpu           -\n");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/requests?limit=100&ended=false");
  tautd.Run("get requests --all --group search --before 12 --limit 3");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/requests?limit=3&group=search&before=12");
  tautd.Run("get requests --state ended");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/requests?limit=100&state=ended");
  tautd.Set("GET /api/v1/requests", {{"requests", Json::array()}});
  EXPECT_EQ(tautd.Run("get requests").out, "no requests\n");
}

TEST(Requests, AnAdmissionIsAnsweredWithItsCode) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/admission", {{"outcome", "admitted"}, {"explanation", "It fits."}});
  const Ran admitted = tautd.Run("admit group=search tier=production cpu=2 --tasks 10 --duration 6h");
  EXPECT_EQ(admitted.code, kExitOk);
  EXPECT_EQ(admitted.out, "It fits.\n");
  EXPECT_EQ(tautd.LastRequest(),
            "GET /api/v1/admission?group=search&tier=production&cpu=2&tasks=10&duration=6h");
  tautd.Set("GET /api/v1/admission", {{"outcome", "queued"}, {"explanation", "Until tomorrow."}});
  EXPECT_EQ(tautd.Run("admit --group a --tier b cpu=2").code, kExitFailed);
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/admission?cpu=2&group=a&tier=b");
  tautd.Set("GET /api/v1/admission", ErrorResponse(400, "unknown key \"cpus\""));
  EXPECT_EQ(tautd.Run("admit group=a cpus=2").code, kExitUsage);
}

TEST(Requests, AreMadeAndEnded) {
  FakeTautd tautd;
  tautd.Set("POST /api/v1/requests", {{"id", 13}, {"state", "admitted"}, {"reason", "It fits."}});
  const Ran made = tautd.Run("request make group=search cpu=2 job=a=b");
  EXPECT_EQ(made.code, kExitOk);
  EXPECT_EQ(made.out, "request 13: admitted\nIt fits.\n");
  EXPECT_EQ(tautd.LastRequest(), R"(POST /api/v1/requests {"group":"search","cpu":"2","job":"a=b"})");
  tautd.Set("POST /api/v1/requests", {{"id", 14}, {"state", "ended"}, {"end", "refused"}, {"reason", "No."}});
  const Ran refused = tautd.Run("request create group=search cpu=2");
  EXPECT_EQ(refused.code, kExitFailed);
  EXPECT_EQ(refused.out, "request 14: refused\nNo.\n");
  tautd.Set("DELETE /api/v1/requests/13", {{"id", 13}, {"end", "ended"}});
  EXPECT_EQ(tautd.Run("request end 13").out, "request 13: ended\n");
  EXPECT_EQ(tautd.LastRequest(), "DELETE /api/v1/requests/13");
  EXPECT_EQ(tautd.Run("request cancel 99").error, "taut: nothing at /api/v1/requests/99\n");
}

TEST(Requests, WordsAreCheckedBeforeAnyRequest) {
  FakeTautd tautd;
  const std::pair<const char*, const char*> cases[] = {
      {"request make search", "\"search\": expected KEY=VALUE, such as group=search"},
      {"request make =search", "\"=search\": expected KEY=VALUE"},
      {"request make group=a group=b", "\"group\" is there twice: expected each key once"},
      {"request make group=a --group b", "\"group\" is there twice"},
      {"request make", "nothing is asked for: expected KEY=VALUE, such as group=search cpu=2"},
      {"request end", "end: expected the number of one request, such as `taut request end 12`"},
      {"request end 12 13", "end: expected the number of one request"},
      {"request end all", "end: \"all\" is not the number of a request, such as 12"},
      {"request end -- -1", "end: \"-1\" is not the number of a request"}};
  for (const auto& [line, error] : cases) {
    std::vector<std::string> words;
    for (const std::string_view word : Split(line, ' ')) words.emplace_back(word);
    words.insert(words.begin(), {"--server", tautd.url()});
    const Ran ran = RunTaut(words);
    EXPECT_EQ(ran.code, kExitUsage) << line;
    EXPECT_THAT(ran.error, HasSubstr(error)) << line;
  }
  EXPECT_TRUE(tautd.Requests().empty());
}

}  // namespace
}  // namespace taut::tools
