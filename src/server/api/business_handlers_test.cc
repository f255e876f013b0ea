// Tests the routes for the money of businesses and groups, and for entries in their ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brain/economy/budget_fixture.h"
#include "server/api/cell_api_fixture.h"
#include "server/pool/budget_service.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class BusinessHandlers : public CellApi {
 protected:
  BusinessHandlers() {
    now_s_ = brain::kNovember + 10 * kDaySeconds;
    BudgetService::Options options;
    options.definition = brain::TwoBusinesses();
    options.definition.groups[1].name = "media";  // the business retail pays for the group media
    options.price = {0, {brain::Coins(1), brain::Coins(1)}};
    options.source = "file budgets.yaml";
    options.log = &ledger_;
    options.history = &store_;
    options.view = [this] { return control_.view(); };
    options.scheme = [this] { return quota_->scheme(); };
    options.now = [this] { return now(); };
    budgets_ = *BudgetService::Open(std::move(options));
    Serve([this](const FleetAccess& access, RouteTable& table) {
      AddBusinessRoutes(access, budgets_.get(), table);
    });
  }
  void Begin() {
    Close(TwoTeams());
    EXPECT_EQ(budgets_->Step(), absl::OkStatus());
  }
  ApiAnswer Post(std::string body, HttpRequest caller = Caller(Role::kOperator)) const {
    return Ask(std::move(caller), "POST", "/api/v1/budget-ledger", std::move(body));
  }
  static JsonNode Named(const ApiAnswer& page, std::string_view list, std::string_view name) {
    for (const JsonNode row : ItemsIn(page[list])) {
      if (row.Text("name") == name) return row;
    }
    return {};
  }

  InMemoryRequestLog ledger_;
  std::unique_ptr<BudgetService> budgets_;
};

TEST_F(BusinessHandlers, BeforeAPeriodNoBusinessIsKnown) {
  const ApiAnswer page = Get("/api/v1/businesses");
  ASSERT_EQ(page.status, 200) << page.body;
  EXPECT_TRUE(page["from"].is_null());
  EXPECT_THAT(ItemsIn(page["businesses"]), IsEmpty());
  EXPECT_EQ(Post(R"({"act": "grant", "of": "retail", "amount": "1", "why": "x"})").status, 503);
  EXPECT_EQ(Get("/api/v1/budget-ledger?holder=retail").status, 503);
}

TEST_F(BusinessHandlers, MoneyIsTextAndEachCallerSeesItsOwn) {
  Begin();
  const ApiAnswer all = Get("/api/v1/businesses", Caller(Role::kReader));
  EXPECT_EQ(all["from"].whole(), brain::kNovember);
  EXPECT_EQ(all["to"].whole(), brain::kDecember);
  EXPECT_EQ(all["currency"].text(), "EUR");
  EXPECT_EQ(Named(all, "businesses", "retail")["budget"].text(), "1000.00");
  EXPECT_EQ(Named(all, "businesses", "retail")["frozen"].flag(), false);
  EXPECT_EQ(Named(all, "businesses", "retail")["carry_cap"].text(), "200.00");
  EXPECT_EQ(Named(all, "businesses", "media")["unit"].text(), "credits");
  EXPECT_FALSE(Named(all, "businesses", "media")["carry_cap"]) << "none is set";
  const ApiAnswer shop = Get("/api/v1/businesses", In("shop", GroupRole::kBudgetHolder));
  EXPECT_THAT(TextsIn(shop["groups"], "name"), ElementsAre("shop"));
  EXPECT_THAT(ItemsIn(shop["businesses"]), IsEmpty());
  EXPECT_FALSE(shop["spent"]) << "of the whole cell";
  EXPECT_THAT(TextsIn(ItemsIn(shop["groups"])[0]["funders"], "business"),
              testing::UnorderedElementsAre("retail", "media"));
  const ApiAnswer business = Get("/api/v1/businesses", In("business:retail", GroupRole::kBudgetHolder));
  EXPECT_THAT(TextsIn(business["businesses"], "name"), ElementsAre("retail"));
  EXPECT_EQ(Get("/api/v1/businesses", In("shop", GroupRole::kMember)).status, 403);
  ExpectRefused(400, {"/api/v1/businesses?name=retail", "/api/v1/budget-ledger?limit=0",
                      "/api/v1/budget-ledger?before=-1", "/api/v1/budget-ledger?limit=10001",
                      "/api/v1/budget-ledger?group=shop"});
}

TEST_F(BusinessHandlers, AGrantAndATransferMoveMoneyAndAreInTheLedger) {
  Begin();
  const ApiAnswer grant =
      Post(R"({"act": "grant", "of": "business:retail", "amount": "12.50", "why": "a \"gift\" <b>"})");
  ASSERT_EQ(grant.status, 200) << grant.body;
  EXPECT_EQ(grant["act"].text(), "grant");
  EXPECT_EQ(grant["amount"].text(), "12.50");
  EXPECT_EQ(grant["who"].text(), "anna");
  EXPECT_EQ(grant["why"].text(), "a \"gift\" <b>");
  EXPECT_EQ(grant["unit"].text(), "EUR");
  const ApiAnswer moved =
      Post(R"({"act": "transfer", "of": "business:retail", "to": "group:shop", "amount": 100, "why": "x"})");
  ASSERT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(moved["to"].text(), "group:shop");
  EXPECT_EQ(moved["received"].text(), "100.00");
  const ApiAnswer page = Get("/api/v1/businesses");
  EXPECT_EQ(Named(page, "businesses", "retail")["balance"].text(), "912.50");
  EXPECT_EQ(Named(page, "groups", "shop")["balance"].text(), "100.00");
  const ApiAnswer of_shop = Get("/api/v1/budget-ledger?holder=group:shop&limit=1");
  EXPECT_THAT(TextsIn(of_shop["entries"], "act"), ElementsAre("transfer"));
  const int64_t id = ItemsIn(of_shop["entries"])[0].Whole("id");
  EXPECT_GT(id, grant["id"].whole());
  const ApiAnswer before = Get(StrCat("/api/v1/budget-ledger?limit=1&before=", id));
  EXPECT_THAT(TextsIn(before["entries"], "act"), ElementsAre("grant"));
  EXPECT_EQ(Get("/api/v1/budget-ledger?holder=group:nothing").status, 200)
      << "a removed holder may have entries";
  EXPECT_EQ(Get("/api/v1/budget-ledger?holder=nothing").status, 404);
}

TEST_F(BusinessHandlers, TheReceiverOfATransferLearnsNoAmountOfTheOther) {
  Begin();
  ASSERT_EQ(Post(R"({"act": "grant", "of": "business:retail", "amount": "12.50", "why": "x"})").status, 200);
  ASSERT_EQ(
      Post(
          R"({"act": "transfer", "of": "business:media", "to": "group:shop", "amount": "40", "why": "x", "key": "k1"})")
          .status,
      200);
  const ApiAnswer ledger = Get("/api/v1/budget-ledger", In("shop", GroupRole::kBudgetHolder));
  bool seen = false;
  for (const JsonNode entry : ItemsIn(ledger["entries"])) {
    EXPECT_NE(entry.Text("act"), "grant") << "of another";
    if (entry.Text("act") != "transfer") continue;
    seen = true;
    EXPECT_EQ(entry["amount"].text(), entry["received"].text()) << "not the credits that were paid";
    EXPECT_FALSE(entry["key"]);
  }
  EXPECT_TRUE(seen);
}

TEST_F(BusinessHandlers, WhoMayNotMoveMoneyIsToldSo) {
  Begin();
  const char* grant = R"({"act": "grant", "of": "group:shop", "amount": "1", "why": "x"})";
  EXPECT_EQ(Post(grant, Caller(Role::kReader)).status, 403);
  EXPECT_EQ(Post(grant, In("shop", GroupRole::kOwner)).status, 403);
  EXPECT_EQ(Post(grant, In("shop", GroupRole::kBudgetHolder)).status, 403) << "moves and does not grant";
  EXPECT_EQ(Post(grant, Caller(Role::kPlatform)).status, 200);
  EXPECT_EQ(Post(R"({"act": "transfer", "of": "group:shop", "to": "group:media", "amount": "1", "why": "x"})",
                 In("media", GroupRole::kBudgetHolder))
                .status,
            404)
      << "not theirs to see";
}

TEST_F(BusinessHandlers, WhatIsNoEntryIsRefused) {
  Begin();
  for (const char* body :
       {"", "[]", "{", "{}", R"({"of": "retail"})", R"({"act": "grant"})",
        R"({"act": "period", "of": "business:retail"})",
        R"({"act": "steal", "of": "business:retail", "amount": "1"})",
        R"({"act": "transfer", "of": "business:retail", "amount": "1"})",
        R"({"act": "grant", "of": "business:retail", "amount": 1.5})",
        R"({"act": "grant", "of": "business:retail", "amount": "NaN"})",
        R"({"act": "grant", "of": "business:retail", "amount": "-1", "why": "x"})",
        R"({"act": "grant", "of": "business:retail", "amount": "1.1234567"})",
        R"({"act": "grant", "of": "business:retail", "amount": "1", "colour": "red"})",
        R"({"act": "grant", "of": "business:retail", "amount": "1", "why": "a\u0007b"})",
        R"({"act": "override", "of": "business:retail", "amount": "1", "until": "tomorrow"})",
        R"({"act": "override", "of": "business:retail", "amount": "1", "until": null})",
        R"({"act": "split", "of": "business:retail", "amount": "1", "parts": {"group:shop": "most"}})",
        R"({"act": "split", "of": "business:retail", "amount": "1", "parts": []})"}) {
    const ApiAnswer answer = Post(body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    EXPECT_FALSE(answer["error"].text().value_or("").empty()) << body;
  }
  EXPECT_EQ(Post(R"({"act": "grant", "of": "business:nobody", "amount": "1", "why": "x"})").status, 404);
  EXPECT_EQ(Post(StrCat(R"({"act": "grant", "of": "business:retail", "amount": "1", "why": ")",
                        std::string(501, 'w'), "\"}"))
                .status,
            400);
  EXPECT_EQ(Named(Get("/api/v1/businesses"), "businesses", "retail")["balance"].text(), "1000.00");
}

TEST_F(BusinessHandlers, AFreezeSaysWhyAndAnOverrideEnds) {
  Begin();
  ASSERT_EQ(Post(R"({"act": "freeze", "of": "business:media", "why": "an audit"})").status, 200);
  const ApiAnswer frozen = Get("/api/v1/businesses");
  EXPECT_EQ(Named(frozen, "businesses", "media")["frozen"].flag(), true);
  EXPECT_EQ(Named(frozen, "businesses", "media")["frozen_why"].text(), "an audit");
  EXPECT_FALSE(Named(frozen, "businesses", "retail")["frozen_by"]);
  ASSERT_EQ(Post(R"({"act": "unfreeze", "of": "business:media", "why": "done"})").status, 200);
  EXPECT_EQ(Named(Get("/api/v1/businesses"), "businesses", "media")["frozen"].flag(), false);
  const ApiAnswer more = Post(
      R"({"act": "override", "of": "business:retail", "amount": "50", "until": "2026-11-20", "why": "x"})");
  ASSERT_EQ(more.status, 200) << more.body;
  EXPECT_EQ(more["until"].whole(), brain::kNovember + 19 * kDaySeconds);
  const ApiAnswer page = Get("/api/v1/businesses");
  EXPECT_THAT(ItemsIn(Named(page, "businesses", "retail")["overrides"]), SizeIs(1));
  EXPECT_EQ(Named(page, "businesses", "retail")["budget"].text(), "1050.00");
  now_s_ = brain::kNovember + 21 * kDaySeconds;
  Close(TwoTeams());
  EXPECT_THAT(ItemsIn(Named(Get("/api/v1/businesses"), "businesses", "retail")["overrides"]), IsEmpty());
}

}  // namespace
}  // namespace taut::server
