// Tests the routes for machines and capacity of the cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"
#include "server/pool/capacity_fixture.h"
#include "server/pool/machines_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PoolHandlers : public CellApi {
 protected:
  PoolHandlers() {
    cell_.machines["node-a"] = {{"x", {.cpu = 1, .memory = 1e9F}}, {"y", {.cpu = 2, .memory = 2e9F}}};
    cell_.machines["node-b \"<b>\""] = {{"z", {.cpu = 5, .memory = -1, .cpu_limit = std::nullopt}}};
    Serve([this](const FleetAccess& access, RouteTable& table) {
      AddMachineRoutes(&machines_, table);
      AddCapacityRoutes(access, &capacity_, table);
    });
  }
  std::vector<std::string> Names(std::string_view query) const {
    const ApiAnswer answer = Get(StrCat("/api/v1/machines", query));
    EXPECT_EQ(answer.status, 200) << query << answer.body;
    return TextsIn(answer["machines"], "name");
  }

  MadeMachines cell_;
  MachineService machines_{MachineOptions()};
  CapacityService capacity_{MadeTiers()};
};

TEST_F(PoolHandlers, BeforeAWindowThereAreNoMachines) {
  const ApiAnswer machines = Get("/api/v1/machines", Caller(Role::kReader));
  EXPECT_EQ(machines["enabled"].flag(), true);
  EXPECT_TRUE(machines["window_end"].is_null());
  EXPECT_EQ(machines["total"].whole(), 0);
  EXPECT_THAT(ItemsIn(machines["totals"]), IsEmpty());
  EXPECT_EQ(Get("/api/v1/machines/node-a").status, 404);
}

TEST_F(PoolHandlers, AMachineHasTheSumsOfItsTasks) {
  const int64_t end_s = cell_.now.next().start_s();
  cell_.Window(machines_);
  const ApiAnswer a = Get("/api/v1/machines/node-a");
  ASSERT_EQ(a.status, 200) << a.body;
  EXPECT_EQ(a["window_end"].whole(), end_s);
  EXPECT_EQ(a["source"].text(), "kubernetes");
  EXPECT_EQ(a["tasks"].whole(), 2);
  EXPECT_EQ(a["present"].flag(), true);
  EXPECT_EQ(a["cpu"]["capacity"].number(), 16);
  EXPECT_EQ(a["cpu"]["limits"].number(), 8);
  EXPECT_EQ(a["cpu"]["usage"].number(), 3);
  EXPECT_EQ(a["cpu"]["measured_tasks"].whole(), 2);
  EXPECT_EQ(a["memory"]["usage"].number(), 3e9);
  EXPECT_EQ(a["cpu"]["promises"]["judged"].whole(), 0);
  EXPECT_THAT(ItemsIn(a["explanation"]), SizeIs(kResources.size()));
  EXPECT_THAT(TextsIn(a["task_list"], "job"), testing::UnorderedElementsAre("job-x", "job-y"));
  EXPECT_EQ(ItemsIn(a["task_list"])[0]["cpu"]["limit"].number(), 4);
}

TEST_F(PoolHandlers, WhatAMachineDoesNotMeasureIsAbsent) {
  cell_.Window(machines_);
  const ApiAnswer b = Get("/api/v1/machines/node-b%20%22%3Cb%3E%22");
  ASSERT_EQ(b.status, 200) << b.body;
  EXPECT_EQ(b["cpu"]["without_limit"].whole(), 1);
  EXPECT_TRUE(b["cpu"]["limits"].is_null()) << "no task has one";
  EXPECT_TRUE(b["memory"]["usage"].is_null()) << "not measured, not 0";
  const std::vector<JsonNode> tasks = ItemsIn(b["task_list"]);
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_TRUE(tasks[0]["cpu"]["limit"].is_null());
  EXPECT_TRUE(tasks[0]["memory"]["usage"].is_null());
}

TEST_F(PoolHandlers, MachinesAreSearchedSortedAndPaged) {
  cell_.Window(machines_);
  const std::string b = "node-b \"<b>\"";
  EXPECT_THAT(Names(""), ElementsAre("node-a", b));
  EXPECT_THAT(Names("?order=desc"), ElementsAre(b, "node-a"));
  EXPECT_THAT(Names("?sort=cpu_usage"), ElementsAre(b, "node-a")) << "figures descend";
  EXPECT_THAT(Names("?sort=memory_usage&order=asc"), ElementsAre("node-a", b)) << "unknown ones are last";
  EXPECT_THAT(Names("?sort=memory_usage&order=desc"), ElementsAre("node-a", b));
  EXPECT_THAT(Names("?sort=tasks&limit=1"), ElementsAre("node-a"));
  EXPECT_THAT(Names("?offset=1"), ElementsAre(b));
  EXPECT_THAT(Names("?search=NODE-A%20kube"), ElementsAre("node-a"));
  EXPECT_THAT(Names("?source=agents"), IsEmpty());
  EXPECT_EQ(Get("/api/v1/machines?limit=1")["total"].whole(), 2);
  const ApiAnswer all = Get("/api/v1/machines?limit=1");
  const std::vector<JsonNode> totals = ItemsIn(all["totals"]);
  ASSERT_THAT(totals, SizeIs(1));
  EXPECT_EQ(totals[0]["machines"].whole(), 2) << "totals are of all pages";
  EXPECT_EQ(totals[0]["cpu"]["usage"].number(), 8);
  EXPECT_EQ(totals[0]["memory"]["measured_machines"].whole(), 1);
}

TEST_F(PoolHandlers, MachinesRefuseWhatTheyDoNotKnow) {
  cell_.Window(machines_);
  ExpectRefused(400, {"/api/v1/machines?sort=usage", "/api/v1/machines?sort=cpu_price",
                      "/api/v1/machines?order=up", "/api/v1/machines?limit=0", "/api/v1/machines?offset=-1",
                      "/api/v1/machines?tier=batch", "/api/v1/machines/node-a?limit=1"});
  ExpectRefused(404, {"/api/v1/machines/node-c", "/api/v1/machines/node-a?source=agents"});
  ExpectRefused(403, {"/api/v1/machines", "/api/v1/machines/node-a", "/api/v1/capacity"},
                In("shop", GroupRole::kOwner));
  MadeMachines twin = cell_;
  twin.source = "agents";
  machines_.OnWindow(cell_.Closed(cell_.now), {{"kubernetes", cell_.Placed()}, {"agents", twin.Placed()}});
  EXPECT_EQ(Get("/api/v1/machines/node-a").status, 409) << "two sources have one of this name";
  const ApiAnswer one = Get("/api/v1/machines/node-a?source=agents");
  EXPECT_EQ(one["source"].text(), "agents");
  EXPECT_THAT(TextsIn(one["also_in"]), ElementsAre("kubernetes"));
}

TEST_F(PoolHandlers, CapacityBeforeAWindowSaysWhyAndOffersNothing) {
  const ApiAnswer empty = Get("/api/v1/capacity");
  ASSERT_EQ(empty.status, 200) << empty.body;
  EXPECT_TRUE(empty["window_end"].is_null());
  EXPECT_TRUE(empty["first"].is_null());
  EXPECT_FALSE(empty["why"].text().value_or("").empty());
  EXPECT_EQ(empty["measured_hours"]["cpu"].whole(), 0);
  EXPECT_THAT(ItemsIn(empty["time"]), IsEmpty());
  EXPECT_THAT(ItemsIn(empty["promises"]), IsEmpty());
  EXPECT_THAT(TextsIn(empty["tiers"], "name"), ElementsAre("production", "batch", "free"));
  for (const JsonNode offer : ItemsIn(empty["offers"])) {
    for (const std::string_view key : {"sellable", "left", "oversold"})
      EXPECT_TRUE(offer[key].is_null()) << key;
    EXPECT_TRUE(offer["kept"]["kept_share"].is_null()) << "no promise has ended";
    EXPECT_NE(offer.Text("tier"), "free") << "sold without a promise";
  }
}

TEST_F(PoolHandlers, CapacityHasLinesInWholeHoursAndOffers) {
  constexpr int32_t kFirst = 20'000 * kWindowsPerDay;
  MadeCell made;
  made.Feed(capacity_, kFirst, kFirst + kWindowsPerDay / 2);
  const int64_t from_s = WindowId{kFirst}.start_s(), to_s = from_s + 12 * 3600;
  const ApiAnswer hours = Get(StrCat("/api/v1/capacity?from=", from_s, "&to=", to_s));
  EXPECT_EQ(hours["resolution"].whole(), 3600);
  EXPECT_EQ(hours["window_end"].whole(), to_s);
  EXPECT_EQ(hours["first"].whole(), from_s);
  const size_t known = ItemsIn(hours["time"]).size();
  EXPECT_GE(known, 11U);
  EXPECT_EQ(ItemsIn(hours["time"])[0].whole(), from_s);
  EXPECT_EQ(ItemsIn(hours["cpu"]["capacity"])[0].number(), 100);
  EXPECT_NEAR(*ItemsIn(hours["memory"]["allocation"])[0].number(), 70.0 * (1 << 30), 1e6);
  for (const CapacityLine line : kCapacityLines)
    EXPECT_THAT(ItemsIn(hours["cpu"][Name(line)]), SizeIs(known));
  const ApiAnswer steps = Get(StrCat("/api/v1/capacity?resolution=14400&from=", from_s, "&to=", to_s));
  EXPECT_THAT(ItemsIn(steps["time"]), SizeIs(3));
  for (const JsonNode offer : ItemsIn(hours["offers"])) {
    if (offer.Text("tier") != "production" || offer.Text("resource") != "cpu") continue;
    EXPECT_TRUE(offer["horizon"].is_null()) << "for any time";
    EXPECT_EQ(offer["sellable"].number(), 100);
    EXPECT_EQ(offer["sold"].number(), 70);
    EXPECT_EQ(offer["left"].number(), 30);
  }
  ExpectRefused(400, {"/api/v1/capacity?resolution=3599", "/api/v1/capacity?resolution=5400",
                      "/api/v1/capacity?resolution=2595600", "/api/v1/capacity?resolution=NaN",
                      "/api/v1/capacity?from=2&to=1", "/api/v1/capacity?tier=batch"});
  const ApiAnswer year = Get(StrCat("/api/v1/capacity?from=", to_s - 365 * kDaySeconds, "&to=", to_s));
  EXPECT_EQ(year["resolution"].whole(), 18 * 3600) << "at most 500 points";
}

}  // namespace
}  // namespace taut::server
