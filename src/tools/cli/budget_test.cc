// Tests that `taut budget` shows holders and their ledger, and sends new entries with their reason and key.
#include "tools/cli/fake_tautd.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Json BudgetPage() {
  return Json::parse(R"({"currency": "EUR", "from": 1790812800, "to": 1793491200, "counted_to": 1791417600,
    "businesses": [{"name": "retail", "holder": "business:retail", "unit": "EUR", "budget": "1000.00", "spent": "250.00",
        "forecast": "1100.00", "left": "750.00", "frozen": true, "frozen_by": 17, "frozen_why": "audit",
        "pays_for": [{"group": "shop", "share_bp": 3333, "paid": "100.00"}]}],
    "groups": [{"name": "shop", "holder": "group:shop", "unit": "EUR", "budget": "10.00", "spent": "12.00", "forecast": "40.00",
        "left": "-2.00", "removed": true, "overrides": [{"amount": "5.00", "until": 1791417600}],
        "funders": [{"business": "retail", "share_bp": 10000, "paid": "12.00"}, {"business": "media", "share_bp": null}]}],
    "without_budget": [{"group": "lab", "spent": "3.00"}], "warnings": ["prices changed", 7]})");
}

const Json kLedger = Json::parse(R"({"entries": [
    {"id": 12, "time": 1790812800, "who": "anna", "text": "grant of 5.00 EUR to group:shop", "why": "ticket 4711"},
    {"time": null, "text": "freeze of business:retail", "why": ""}]})");

TEST(Budget, ListsHoldersAndTheirState) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/businesses", BudgetPage());
  const Ran ran = tautd.Run("budget");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_EQ(ran.out,
            "holder           unit   budget   spent  forecast    left                         state\n"
            "business:retail   EUR  1000.00  250.00   1100.00  750.00                        frozen\n"
            "group:shop        EUR    10.00   12.00     40.00   -2.00  removed, override, overspent\n"
            "group \"lab\" has no budget and spent 3.00 EUR\n"
            "from 2026-10-01 00:00 to 2026-11-01 00:00, counted to 2026-10-08 00:00 at prices.core_hour and "
            "prices.gib_hour; bills go by the tiers of the price file\n"
            "warning: prices changed\n");
  tautd.Set("GET /api/v1/businesses", {{"businesses", {{{"holder", "business:a"}}}}});
  EXPECT_EQ(
      tautd.Run("budget list").out,
      "holder      unit  budget  spent  forecast  left  state\nbusiness:a     -       -      -         -     "
      "-\n");
}

TEST(Budget, ShowsOneHolderWithItsEntries) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/businesses", BudgetPage());
  tautd.Set("GET /api/v1/budget-ledger", kLedger);
  const std::string entries =
      "\n12  2026-10-01 00:00  anna  grant of 5.00 EUR to group:shop\n    ticket 4711\n"
      "-  -  -  freeze of business:retail\n";
  EXPECT_EQ(tautd.Run("budget show retail --limit 2").out,
            "business:retail: 250.00 of 1000.00 EUR spent, 750.00 EUR left; 1100.00 EUR at the period's end\n"
            "frozen by entry 17: audit\n"
            "pays 33.33 % of group shop, 100.00 so far\n" +
                entries);
  EXPECT_THAT(tautd.Requests(),
              ElementsAre("GET /api/v1/budget-ledger?limit=2&holder=retail", "GET /api/v1/businesses"));
  const Ran shop = tautd.Run({"budget", "show", "group:shop"});
  EXPECT_EQ(shop.out,
            "group:shop: 12.00 of 10.00 EUR spent, -2.00 EUR left; 40.00 EUR at the period's end\n"
            "removed: what is left at the period's end expires\n"
            "5.00 EUR more until 2026-10-08 00:00\n"
            "retail pays 100 %, 12.00 so far\n"
            "media pays -,  so far\n" +
                entries);
  const Ran unknown = tautd.Run("budget show nobody");
  EXPECT_EQ(unknown.code, kExitFailed);
  EXPECT_EQ(unknown.error, "taut: no business or group \"nobody\"\n");
  EXPECT_EQ(Json::parse(tautd.Run("budget show retail -o json").out), BudgetPage()["businesses"][0]);
}

TEST(Budget, TheLedgerHasPages) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/budget-ledger", kLedger);
  EXPECT_THAT(tautd.Run("budget ledger --before 40").out, StartsWith("12  2026-10-01 00:00  anna  grant"));
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/budget-ledger?limit=20&before=40");
  tautd.Run("budget ledger shop");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/budget-ledger?limit=20&holder=shop");
  tautd.Set("GET /api/v1/budget-ledger", {{"entries", Json::array()}});
  EXPECT_EQ(tautd.Run("budget ledger").out, "no entries\n");
  tautd.Set("GET /api/v1/budget-ledger", ErrorResponse(404, "budgets.file is not set"));
  EXPECT_EQ(tautd.Run("budget ledger").error, "taut: budgets.file is not set\n");
}

TEST(Budget, EntriesAreSentWithTheirReasonAndKey) {
  FakeTautd tautd;
  tautd.Set("POST /api/v1/budget-ledger", {{"id", 18}, {"text", "an entry"}});
  struct Case {
    std::vector<std::string> words;
    const char* body;
  };
  const Case cases[] = {{{"transfer", "retail", "web", "12.5"},
                         R"("act":"transfer",W,"of":"retail","to":"web","amount":"12.5")"},
                        {{"split", "retail", "all", "a=60%", "b=c=40%"},
                         R"("act":"split",W,"of":"retail","amount":"all","parts":{"a":"60%","b=c":"40%"})"},
                        {{"grant", "retail", "500"}, R"("act":"grant",W,"of":"retail","amount":"500")"},
                        {{"expire", "retail", "1"}, R"("act":"expire",W,"of":"retail","amount":"1")"},
                        {{"freeze", "media"}, R"("act":"freeze",W,"of":"media")"},
                        {{"unfreeze", "media"}, R"("act":"unfreeze",W,"of":"media")"},
                        {{"override", "retail", "200", "--until", "2026-12-01"},
                         R"("act":"override",W,"of":"retail","amount":"200","until":"2026-12-01")"}};
  for (const Case& c : cases) {
    std::vector<std::string> words = {"budget"};
    words.insert(words.end(), c.words.begin(), c.words.end());
    words.insert(words.end(), {"--why", "sale week", "--key", "k1"});
    const Ran ran = tautd.Run(words);
    EXPECT_EQ(ran.out, "entry 18: an entry\n") << c.words[0] << ran.error;
    std::string body = c.body;
    body.replace(body.find('W'), 1, R"("why":"sale week","key":"k1")");
    EXPECT_EQ(tautd.LastRequest(), StrCat("POST /api/v1/budget-ledger {", body, "}"));
  }
}

TEST(Budget, WithoutAKeyEachEntryHasARandomOne) {
  FakeTautd tautd;
  tautd.Set("POST /api/v1/budget-ledger", {{"text", "an entry"}});
  EXPECT_EQ(tautd.Run("budget freeze media --why audit").out, "entry -: an entry\n");
  const std::string first = tautd.LastRequest();
  EXPECT_THAT(first, testing::ContainsRegex("\"key\":\"[0-9a-f]{32}\""));
  tautd.Run("budget freeze media --why audit");
  EXPECT_NE(tautd.LastRequest(), first);
  tautd.Set("POST /api/v1/budget-ledger", ErrorResponse(409, "12.00 EUR has been spent"));
  const Ran refused = tautd.Run("budget expire shop all --why x");
  EXPECT_EQ(refused.code, kExitFailed);
  EXPECT_EQ(refused.error, "taut: 12.00 EUR has been spent\n");
}

}  // namespace
}  // namespace taut::tools
