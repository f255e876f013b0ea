// Tests of GET /api/v1/costs and OpenCost's /allocation with a known account.
#include "server/pool/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/strings.h"
#include "common/testing/recorded_log.h"
#include "server/api/account_fixture.h"
#include "server/api/allocation_window.h"
#include "server/store/in_memory_states.h"
#include "simdjson.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

constexpr int64_t kMidnight = 1'700'006'400;
constexpr WindowId kToday{kMidnight / kWindowSeconds};

// Returns an entry with equal core-hours and GiB-hours.
AccountEntry Entry(uint32_t job, double usage, double allocation) {
  AccountEntry e{.job = JobId{job}};
  for (const Resource r : kResources) {
    const double units = r == Resource::kCpu ? 1000.0 * 3600 : 1024.0 * 3600;
    AccountAmounts& a = e.of[static_cast<size_t>(r)];
    a.usage = static_cast<uint64_t>(usage * units);
    a.allocation = static_cast<uint64_t>(allocation * units);
    a.billed = std::max(a.usage, a.allocation);
    a.owner = 2 * a.allocation;
    a.would_be = a.allocation / 2;
    a.windows = 1;
  }
  return e;
}

class CostsTest : public testing::Test {
 protected:
  CostsTest() {
    EXPECT_TRUE(is_started_);
    store_.account = {{{WindowId{kToday.index - kWindowsPerDay}, kWindowsPerDay},
                       {Entry(0, 1, 2), Entry(1, 4, 4), Entry(2, 8, 1)}},
                      {{kToday, 1}, {Entry(0, 0.5, 1)}},
                      {{WindowId{kToday.index + 1}, 1}, {Entry(0, 0.5, 1)}}};
    late_ = {{{WindowId{kToday.index - 2 * kWindowsPerDay}, kWindowsPerDay, true}, {Entry(1, 1, 3)}}};
  }
  BudgetComponent& AddBudgets() {
    context_.cell_now = context_.now;
    BudgetComponent::Options options;
    options.prices.per_hour = {0.04, 0.005};
    options.prices.budgets = {"namespace=shop: 1", "all: 10"};
    return *components_.Add(std::make_unique<BudgetComponent>(options, nullptr, &store_, context_));
  }
  std::string Get(std::string_view path, std::vector<QueryParameter> query, int status = 200) {
    HttpRequest request = ApiRequest("GET", path);
    request.query = std::move(query);
    const HttpResponse response = shown_->Handle(request);
    EXPECT_EQ(response.status, status) << response.body;
    return response.body;
  }
  simdjson::dom::element Parsed(std::string text) {
    text_ = simdjson::padded_string(text);
    return parser_.parse(text_).value();
  }

  decltype(AccountStore::account) late_;
  AccountStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{ControlOptions(),
                        *MappingRules::Compile(BuiltinRules()),
                        {&store_, &store_, &actuator_, [] { return 0.0; }}};
  RecordedLog log_;
  InMemoryStates states_;
  DaemonContext context_{.control = &control_, .log = &log_, .states = &states_, .now = [] {
                           return Timestamp::FromSeconds(kMidnight + 3600);
                         }};
  ComponentList components_;
  BudgetComponent& budgets_ = AddBudgets();
  // The routes need the service of the budgets, which exists after the start.
  const bool is_started_ = control_.Restore().ok() && components_.Start().ok();
  TestApi api_{control_,
               {.prices = {{0.04, 0.005}, "EUR"}},
               context_.now,
               {.budgets = &budgets_, .components = &components_}};
  const Router* shown_ = &api_.router();
  simdjson::dom::parser parser_;
  simdjson::padded_string text_;
};

TEST_F(CostsTest, HaveEachResource) {
  const auto total = Parsed(Get("/api/v1/costs", {}))["total"];
  for (const Resource r : kResources) EXPECT_EQ(total[Name(r)]["usage"].get_double().value(), 14) << Name(r);
}

TEST_F(CostsTest, SumsByLabelAndDay) {
  const auto costs = Parsed(Get("/api/v1/costs", {{"by", "namespace"}}));
  EXPECT_EQ(costs["by"].get_string().value(), "namespace");
  EXPECT_EQ(costs["currency"].get_string().value(), "EUR");
  EXPECT_EQ(costs["from"].get_int64().value(), kMidnight - 7 * kDaySeconds);
  const auto shop = costs["groups"].at(0);
  EXPECT_EQ(shop["value"].get_string().value(), "shop");
  EXPECT_EQ(shop["jobs"].get_int64().value(), 2);
  EXPECT_DOUBLE_EQ(shop["cpu"]["usage"].get_double().value(), 6);
  EXPECT_DOUBLE_EQ(shop["cpu"]["allocation"].get_double().value(), 8);
  EXPECT_DOUBLE_EQ(shop["memory"]["owner"].get_double().value(), 16);
  EXPECT_NEAR(shop["cost"]["billed"].get_double().value(), 8 * 0.045, 1e-9);
  EXPECT_NEAR(shop["cost"]["saved"].get_double().value(), 8 * 0.045, 1e-9);
  EXPECT_NEAR(shop["cost"]["would_save"].get_double().value(), 12 * 0.045, 1e-9);
  const auto none = costs["groups"].at(1);
  EXPECT_TRUE(none["value"].is_null()) << "jobs without the label are last";
  EXPECT_NEAR(none["cost"]["billed"].get_double().value(), 8 * 0.045, 1e-9) << "used more than it has";
  EXPECT_EQ(costs["steps"].get_array().value().size(), 2U);
  EXPECT_EQ(costs["steps"].at(1)["time"].get_int64().value(), kMidnight);
  EXPECT_DOUBLE_EQ(costs["steps"].at(1)["cpu"]["usage"].get_double().value(), 1);
  double sum = 0;
  for (const auto group : costs["groups"]) sum += group["cost"]["billed"].get_double().value();
  EXPECT_NEAR(costs["total"]["cost"]["billed"].get_double().value(), sum, 1e-9);
}

TEST_F(CostsTest, ByJobAndWhatItDoesNotKnow) {
  const auto costs = Parsed(Get("/api/v1/costs", {{"by", ":job"}, {"from", "1700006400"}}));
  EXPECT_EQ(costs["groups"].get_array().value().size(), 1U);
  EXPECT_EQ(costs["groups"].at(0)["value"].get_string().value(), "shop/web");
  EXPECT_THAT(Get("/api/v1/costs", {{"by", "planet"}}, 404), HasSubstr("namespace"));
  EXPECT_THAT(Get("/api/v1/costs", {{"step", "year"}}, 400), HasSubstr("expected day or hour"));
}

TEST_F(CostsTest, WhatCameLaterIsNamed) {
  EXPECT_DOUBLE_EQ(Parsed(Get("/api/v1/costs", {}))["late"]["cpu"]["billed"].get_double().value(), 0);
  store_.account.insert(store_.account.end(), late_.begin(), late_.end());
  const auto costs = Parsed(Get("/api/v1/costs", {}));
  EXPECT_DOUBLE_EQ(costs["late"]["cpu"]["billed"].get_double().value(), 3);
  EXPECT_DOUBLE_EQ(costs["total"]["cpu"]["billed"].get_double().value(), 16 + 3);
}

// Totals include the costs of a job without a record, and the costs of both groups if the values of two groups
// join to the same name.
TEST_F(CostsTest, NothingIsLostOfJobsThatAreGone) {
  store_.jobs[1] = {JobId{1}, "db", {{"namespace", "shop/web"}}, 0};
  store_.jobs[0] = {JobId{0}, "web/db", {{"namespace", "shop"}}, 0};
  store_.jobs.pop_back();
  const auto costs = Parsed(Get("/api/v1/costs", {{"by", ":job"}}));
  EXPECT_EQ(costs["number_of_groups"].get_int64().value(), 3);
  EXPECT_TRUE(costs["groups"].at(2)["value"].is_null());
  EXPECT_DOUBLE_EQ(costs["groups"].at(2)["cpu"]["billed"].get_double().value(), 8);
  const double billed = costs["total"]["cost"]["billed"].get_double().value();
  const auto answer = Parsed(
      Get("/allocation", {{"window", "7d"}, {"aggregate", "namespace,controller"}, {"accumulate", "true"}}));
  double sum = 0;
  size_t rows = 0;
  for (const auto [name, row] : answer["data"].at(0).get_object()) {
    sum += row["totalCost"].get_double().value();
    ++rows;
  }
  EXPECT_EQ(rows, 2U) << "shop/web/db, and what is gone";
  EXPECT_NEAR(sum, billed, 1e-9);
}

// The current time is 01:00 on 15 November, so the account has one day and the first hour of today.
TEST_F(CostsTest, BudgetsOfTheMonth) {
  budgets_.Tick(LoopTurn{.stored = absl::OkStatus(), .now = context_.now(), .steady_s = 1});
  const auto page = Parsed(Get("/api/v1/budgets", {}));
  EXPECT_EQ(page["from"].get_int64().value(), kMidnight - 14 * kDaySeconds);
  EXPECT_EQ(page["to"].get_int64().value(), kMidnight + 16 * kDaySeconds);
  const auto shop = page["budgets"].at(0);
  EXPECT_EQ(shop["name"].get_string().value(), "namespace=shop");
  const double spent = (6 + 2) * 0.045;
  EXPECT_NEAR(shop["spent"].get_double().value(), spent, 1e-9);
  // 25 hours have cost this amount, and 383 hours are left. Amounts of days are rounded to millionths.
  EXPECT_NEAR(shop["forecast"].get_double().value(), spent + spent / 25 * (16 * 24 - 1), 2e-5);
  const auto all = page["budgets"].at(1);
  EXPECT_EQ(all["name"].get_string().value(), "all");
  EXPECT_NEAR(all["spent"].get_double().value(), 16 * 0.045, 1e-9);
  const std::string metrics = Get("/metrics", {});
  EXPECT_THAT(metrics,
              HasSubstr("tautd_holder_budget{holder=\"business:label:namespace=shop\",unit=\"EUR\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("tautd_holder_spent{holder=\"business:label:all\",unit=\"EUR\"} 0.72"));
  EXPECT_THAT(metrics, HasSubstr("tautd_holder_forecast{holder=\"business:label:all\",unit=\"EUR\"}"));
  const auto businesses = Parsed(Get("/api/v1/businesses", {}));
  EXPECT_EQ(businesses["businesses"].get_array().value().size(), 0U) << "each budget is shown once";
  EXPECT_EQ(businesses["groups"].get_array().value().size(), 0U);
}

TEST_F(CostsTest, AnswersAsOpenCost) {
  const auto answer =
      Parsed(Get("/allocation/compute", {{"window", "yesterday"}, {"aggregate", "namespace"}}));
  EXPECT_EQ(answer["code"].get_int64().value(), 200);
  const auto sets = answer["data"].get_array().value();
  ASSERT_EQ(sets.size(), 1U);
  const auto shop = sets.at(0)["shop"];
  EXPECT_EQ(shop["properties"]["namespace"].get_string().value(), "shop");
  EXPECT_EQ(shop["window"]["start"].get_string().value(), "2023-11-14T00:00:00Z");
  EXPECT_DOUBLE_EQ(shop["minutes"].get_double().value(), 1440);
  EXPECT_DOUBLE_EQ(shop["cpuCoreHours"].get_double().value(), 6);
  EXPECT_NEAR(shop["cpuCoreUsageAverage"].get_double().value(), 5.0 / 24, 1e-9);
  EXPECT_DOUBLE_EQ(shop["ramByteHours"].get_double().value(), 6.0 * 1024 * 1024 * 1024);
  EXPECT_NEAR(shop["totalCost"].get_double().value(), 6 * 0.045, 1e-9);
  EXPECT_NEAR(shop["cpuEfficiency"].get_double().value(), 5.0 / 6, 1e-4);
  EXPECT_EQ(sets.at(0)["__unallocated__"]["name"].get_string().value(), "__unallocated__");
  // A response with steps of one day.
  const auto days =
      Parsed(Get("/allocation", {{"window", "2d"}, {"step", "1d"}, {"aggregate", "controller"}}));
  ASSERT_EQ(days["data"].get_array().value().size(), 2U);
  EXPECT_NEAR(days["data"].at(1)["shop/web"]["cpuCoreHours"].get_double().value(), 2, 1e-9);
  EXPECT_NEAR(days["data"].at(1)["shop/web"]["minutes"].get_double().value(), 60, 1e-9);
  // Values of parameters that are not supported.
  EXPECT_THAT(Get("/allocation", {{"window", "7d"}, {"aggregate", "pod"}}, 400), HasSubstr("label:NAME"));
  EXPECT_THAT(Get("/allocation", {{"window", "soon"}}, 400), HasSubstr("a duration such as 7d"));
  EXPECT_THAT(Get("/allocation", {{"window", "7d"}, {"step", "7m"}}, 400), HasSubstr("whole hours"));
  // The account has no single hours of a past day. The day's first hour would have the cost of the whole day.
  EXPECT_THAT(Get("/allocation", {{"window", "2d"}, {"step", "1h"}}, 400),
              HasSubstr("whole days before 2023-11-15T00:00:00Z"));
  EXPECT_THAT(Get("/allocation", {{"window", "7d"}, {"accumulate", "maybe"}}, 400),
              HasSubstr("expected true, false, hour or day"));
  const auto hours =
      Parsed(Get("/allocation", {{"window", "today"}, {"step", "1h"}, {"aggregate", "namespace"}}));
  EXPECT_EQ(hours["data"].get_array().value().size(), 1U);
  EXPECT_THAT(Get("/allocation", {{"window", "7d"}, {"includeIdle", "true"}}), HasSubstr("idle capacity"));
}

// Before today, the account has only whole days. A client that requests each hour must not receive the whole day
// each time.
TEST_F(CostsTest, AnHourOfAPastDayIsNotItsDay) {
  const auto between = [](int64_t from_s, int64_t to_s) {
    return std::vector<QueryParameter>{{"window", StrCat(from_s, ",", to_s)}};
  };
  const int64_t yesterday = kMidnight - kDaySeconds;
  EXPECT_THAT(Get("/allocation", between(yesterday + 7200, yesterday + 10800), 400),
              HasSubstr("whole days before 2023-11-15T00:00:00Z"));
  EXPECT_THAT(Get("/allocation", between(yesterday, yesterday + 3600), 400), HasSubstr("midnights"));
  EXPECT_THAT(Get("/allocation", {{"window", "5h"}}, 400), HasSubstr("midnights"));
  Get("/allocation", between(yesterday, kMidnight));
  Get("/allocation", between(yesterday, kMidnight + 1800));
  Get("/allocation", {{"window", "24h"}});
  const auto hour = Parsed(Get("/allocation", between(kMidnight, kMidnight + 3600)));
  EXPECT_EQ(hour["data"].at(0)["shop/web"]["minutes"].get_double().value(), 60);
}

TEST_F(CostsTest, AllocationsAreFilteredAndShared) {
  const auto total = [&](std::vector<QueryParameter> query) {
    query.insert(query.end(), {{"window", "yesterday"}, {"aggregate", "namespace"}});
    const auto answer = Parsed(Get("/allocation", std::move(query)));
    std::map<std::string, double> out;
    for (const auto [name, row] : answer["data"].at(0).get_object())
      out[std::string(name)] = row["totalCost"].get_double().value();
    return out;
  };
  using Totals = std::map<std::string, double>;
  const Totals all = total({});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(total({{"filter", "namespace:\"shop\""}}), (Totals{{"shop", all.at("shop")}}));
  EXPECT_EQ(total({{"filterNamespaces", "shop,other"}}), (Totals{{"shop", all.at("shop")}}));
  EXPECT_EQ(total({{"filter", "namespace!:\"shop\""}}).count("shop"), 0U);
  EXPECT_EQ(total({{"filter", "namespace<~:\"sh\"+(controllerName:\"web\"|controllerName:\"x\")"}}).size(),
            1U);
  EXPECT_TRUE(total({{"filter", "namespace:\"shop\"+label[team]:\"none\""}}).empty());
  EXPECT_THAT(
      Get("/allocation", {{"window", "7d"}, {"filter", "node:\"a\""}}, 400),
      HasSubstr("expected cluster, namespace, controllerName, controllerKind or label[NAME] at character 1"));
  for (const char* bad : {"namespace", "namespace:shop", "namespace:\"a", "namespace:\"a\"+",
                          "(namespace:\"a\"", "namespace:\"a\"+cluster:\"b\"|cluster:\"c\""})
    Get("/allocation", {{"window", "7d"}, {"filter", bad}}, 400);
  const Totals shared = total({{"shareNamespaces", "shop"}});
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_NEAR(shared.begin()->second, all.at("shop") + all.at("__unallocated__"), 1e-9);
  EXPECT_EQ(Parsed(Get("/allocation", {{"window", "2d"}, {"accumulate", "day"}}))["data"]
                .get_array()
                .value()
                .size(),
            2U);
  EXPECT_EQ(total({{"window", "86400s"}}).size(), 2U);
}

// Adds windows of a cell of 10 cores and 10 GiB, from the evening before to an hour after midnight.
void ShowMachines(CapacityService& service) {
  for (int32_t w = kToday.index - 6 * kWindowsPerHour; w < kToday.index + kWindowsPerHour; ++w) {
    CellCapacity cell{
        .window = WindowId{w}, .source = CapacitySource::kMachines, .of = {}, .unknown_tier = {}};
    for (const Resource r : kResources) {
      const double unit = r == Resource::kCpu ? 1 : kGiB;
      CapacityAmounts& amounts = cell.amounts(r);
      amounts.capacity = 10 * unit;
      amounts.usage = unit;
      amounts.use = amounts.allocated = {unit};
      amounts.bought = {0};
    }
    service.OnWindow(cell);
  }
}

// OpenCost's __idle__ is the cost of machines less the cost of all jobs' allocations, independent of the filter.
TEST_F(CostsTest, IdleCapacityIsAnAllocationOfItsOwn) {
  const auto get = [&](std::vector<QueryParameter> query) {
    query.insert(query.end(), {{"aggregate", "namespace"}, {"includeIdle", "true"}});
    return Parsed(Get("/allocation", std::move(query)));
  };
  const auto number = [](const simdjson::simdjson_result<simdjson::dom::element>& row, std::string_view key) {
    return row[key].get_double().value();
  };
  const auto unknown = get({{"window", "yesterday"}});
  EXPECT_TRUE(unknown["data"].at(0)["__idle__"].error()) << "absent, not 0";
  EXPECT_THAT(std::string(unknown["warning"].get_string().value()), HasSubstr("idle capacity is left out"));
  CapacityService service({{.name = "production", .promise = 0.999}});
  ShowMachines(service);
  RouteTable routes;
  AddAllocationRoutes(api_.access(), &service, routes);
  const Router router(api_.access(), std::move(routes), {});
  shown_ = &router;
  // Yesterday, machines with 10 cores were measured for 6 hours, and 2 + 4 + 8 core-hours are charged.
  const auto day = get({{"window", "yesterday"}})["data"].at(0)["__idle__"];
  EXPECT_NEAR(number(day, "cpuCoreHours"), 60 - 14, 1e-6);
  EXPECT_NEAR(number(day, "cpuCost"), 46 * 0.04, 1e-9);
  EXPECT_NEAR(number(day, "ramByteHours"), 46.0 * kGiB, 100);
  EXPECT_NEAR(number(day, "totalCost"), 46 * 0.045, 1e-9);
  EXPECT_EQ(number(day, "cpuEfficiency"), 0);
  const auto filtered =
      get({{"window", "yesterday"}, {"filterNamespaces", "shop"}})["data"].at(0)["__idle__"];
  EXPECT_NEAR(number(filtered, "cpuCoreHours"), 46, 1e-6) << "idle is what no job is charged";
  // One set per day, and one set for both days.
  const auto days = get({{"window", "2d"}, {"accumulate", "day"}})["data"];
  EXPECT_NEAR(number(days.at(0)["__idle__"], "cpuCoreHours"), 46, 1e-6);
  EXPECT_NEAR(number(days.at(1)["__idle__"], "cpuCoreHours"), 10 - 2, 1e-6);
  const auto one = get({{"window", "2d"}, {"accumulate", "true"}})["data"].at(0)["__idle__"];
  EXPECT_NEAR(number(one, "cpuCoreHours"), 70 - 16, 1e-6);
  // The idle cost is shared in proportion to the rows' costs.
  const auto shared = get({{"window", "yesterday"}, {"shareIdle", "true"}})["data"].at(0);
  EXPECT_TRUE(shared["__idle__"].error());
  double sum = 0;
  for (const auto [name, row] : shared.get_object()) sum += row["totalCost"].get_double().value();
  EXPECT_NEAR(sum, 60 * 0.045, 1e-9) << "what the machines cost";
}

TEST(AllocationWindowTest, ReadsWhatOpenCostReads) {
  constexpr int64_t kNow = 1'700'056'800;  // Wednesday 2023-11-15 14:00 UTC
  const auto span = [&](std::string_view text) {
    const absl::StatusOr<TimeSpan> s = AllocationWindow(text, kNow);
    return s.ok() ? std::pair(s->from_s, s->to_s) : std::pair(int64_t{0}, int64_t{0});
  };
  EXPECT_EQ(span("today"), std::pair(kMidnight, kNow));
  EXPECT_EQ(span("yesterday"), std::pair(kMidnight - kDaySeconds, kMidnight));
  EXPECT_EQ(span("week"), std::pair(kMidnight - 3 * kDaySeconds, kNow));
  EXPECT_EQ(span("lastweek"), std::pair(kMidnight - 10 * kDaySeconds, kMidnight - 3 * kDaySeconds));
  EXPECT_EQ(span("month"), std::pair(kMidnight - 14 * kDaySeconds, kNow));
  EXPECT_EQ(span("lastmonth"), std::pair(kMidnight - 45 * kDaySeconds, kMidnight - 14 * kDaySeconds));
  EXPECT_EQ(span("90m"), std::pair(kNow - 5400, kNow));
  EXPECT_EQ(span("86400s"), span("1d"));
  EXPECT_EQ(span("2023-11-14T00:00:00Z,2023-11-15T00:00:00Z"), span("yesterday"));
  EXPECT_EQ(span("1700000000,1700003600"), std::pair(int64_t{1'700'000'000}, int64_t{1'700'003'600}));
  for (const std::string_view wrong : {"", "0d", "-1d", "7", "7w", "1d,2d", "99999999999999999999m",
                                       "1700003600,1700000000", "2023-11-14,2023-11-15", ","}) {
    EXPECT_FALSE(AllocationWindow(wrong, kNow).ok()) << wrong;
  }
}

}  // namespace
}  // namespace taut::server
