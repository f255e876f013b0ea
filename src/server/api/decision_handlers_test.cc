// Tests the routes for decisions, OOM kills and acts of memory guards: pages, filters, and permissions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/reason.h"
#include "server/api/cell_api_fixture.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class DecisionHandlers : public CellApi {
 protected:
  DecisionHandlers() {
    Close(TwoTeams());
    OwnedPass pass;
    pass.decisions = {Made(1, "shop/web", Resource::kCpu, DecisionKind::kSet, Outcome::kApplied),
                      Made(2, "media/encode", Resource::kMemory, DecisionKind::kWouldSet, Outcome::kPending),
                      Made(3, "shop/web", Target::Replicas(), DecisionKind::kSet, Outcome::kFailed),
                      Made(4, "shop/db", Resource::kMemory, DecisionKind::kOomRaise, Outcome::kDryRun),
                      Made(5, "shop/web", Resource::kMemory, DecisionKind::kSet, Outcome::kApplied)};
    pass.decisions[0].before = 4;
    pass.decisions[0].after = 2.5;
    pass.decisions[0].outcome_text = "said \"no\" <b>";
    pass.decisions[0].outcome_time_s = now_s_ + 5;
    Reason reason;
    reason.recommender = "peak";
    reason.sentence = "The peak was 2.2 cores.";
    reason.limit = 2.5;
    pass.decisions[0].reason = SaveReason(reason);
    pass.ooms = {{IdOf("shop/web"), 1, now_s_ - 100, 2, 4e9},
                 {IdOf("media/encode"), 0, now_s_ - 50, 1, std::nullopt},
                 {IdOf("shop/db"), 0, now_s_ - 10, 1, std::nullopt}};
    pass.tier_acts = {Act("host1", "shop/web", TierActKind::kThrottle),
                      Act("host2", "media/encode", TierActKind::kKill),
                      Act("host2", "gone/job", TierActKind::kRelease)};
    pass.tier_acts[0].high = 1e9;
    EXPECT_EQ(store_.Commit(pass.View()), absl::OkStatus());
  }
  Decision Made(uint64_t id, std::string_view job, Target target, DecisionKind kind, Outcome outcome) const {
    Decision d;
    d.id = id;
    d.job = IdOf(job);
    d.target = target;
    d.kind = kind;
    d.outcome = outcome;
    d.time_s = now_s_ - 1000 + static_cast<int64_t>(id);
    return d;
  }
  TierAct Act(std::string machine, std::string job, TierActKind kind) const {
    TierAct act;
    act.time_s = now_s_;
    act.machine = std::move(machine);
    act.job = std::move(job);
    act.task = "t0";
    act.tier = Tier::kBatch;
    act.kind = kind;
    return act;
  }
  std::vector<int64_t> Ids(std::string_view query, const HttpRequest& caller = Caller(Role::kReader)) const {
    const ApiAnswer answer = Get(StrCat("/api/v1/decisions", query), caller);
    EXPECT_EQ(answer.status, 200) << query << answer.body;
    std::vector<int64_t> out;
    for (const JsonNode d : ItemsIn(answer["decisions"])) out.push_back(d.Whole("id"));
    return out;
  }
  std::vector<std::string> JobsIn(std::string_view path, std::string_view list,
                                  const HttpRequest& caller = Caller(Role::kReader)) const {
    const ApiAnswer answer = Get(path, caller);
    EXPECT_EQ(answer.status, 200) << path << answer.body;
    return TextsIn(answer[list], "job");
  }
};

TEST_F(DecisionHandlers, TheNewestComesFirstAndPagesFollowEachOther) {
  EXPECT_THAT(Ids(""), ElementsAre(5, 4, 3, 2, 1));
  const ApiAnswer first = Get("/api/v1/decisions?limit=2");
  EXPECT_EQ(first["next_before"].whole(), 4);
  const ApiAnswer second = Get("/api/v1/decisions?limit=2&before=4");
  EXPECT_EQ(ItemsIn(second["decisions"])[0]["id"].whole(), 3);
  EXPECT_EQ(second["next_before"].whole(), 2);
  const ApiAnswer last = Get("/api/v1/decisions?limit=2&before=2");
  EXPECT_THAT(ItemsIn(last["decisions"]), SizeIs(1));
  EXPECT_TRUE(last["next_before"].is_null());
  EXPECT_THAT(Ids("?before=1"), IsEmpty());
}

TEST_F(DecisionHandlers, FiltersNarrowEachOther) {
  EXPECT_THAT(Ids("?job=shop/web"), ElementsAre(5, 3, 1));
  EXPECT_THAT(Ids("?job=shop/web&resource=cpu"), ElementsAre(1));
  EXPECT_THAT(Ids("?target=replicas"), ElementsAre(3));
  EXPECT_THAT(Ids("?target=memory&resource=memory"), ElementsAre(5, 4, 2));
  EXPECT_THAT(Ids("?kind=set&outcome=applied"), ElementsAre(5, 1));
  EXPECT_THAT(Ids("?outcome=dry_run"), ElementsAre(4));
  EXPECT_THAT(Ids("?search=shop%20db"), ElementsAre(4));
  EXPECT_THAT(Ids("?search=team%3Dmedia"), ElementsAre(2));
  EXPECT_THAT(Ids("?search=%22%3E%3Cb%3E"), IsEmpty());
  EXPECT_THAT(Ids("?search=shop&limit=1&before=5"), ElementsAre(4));
}

TEST_F(DecisionHandlers, WhatIsNoFilterIsRefused) {
  ExpectRefused(400,
                {"/api/v1/decisions?resource=replicas", "/api/v1/decisions?target=disk",
                 "/api/v1/decisions?target=cpu&resource=memory", "/api/v1/decisions?kind=Set",
                 "/api/v1/decisions?outcome=ok", "/api/v1/decisions?before=0", "/api/v1/decisions?before=-4",
                 "/api/v1/decisions?before=1e3", "/api/v1/decisions?limit=0", "/api/v1/decisions?limit=1001",
                 "/api/v1/decisions?offset=1", "/api/v1/ooms?limit=0", "/api/v1/ooms?before=3",
                 "/api/v1/tier_acts?limit=-1", "/api/v1/tier_acts?task=t0", "/api/v1/decisions/1?x=1"});
  ExpectRefused(404, {"/api/v1/decisions?job=shop/wep", "/api/v1/ooms?job=shop/wep",
                      "/api/v1/tier_acts?job=shop/wep", "/api/v1/decisions/0", "/api/v1/decisions/-1",
                      "/api/v1/decisions/6", "/api/v1/decisions/one", "/api/v1/decisions/1.0",
                      "/api/v1/decisions/9223372036854775807", "/api/v1/decisions/99999999999999999999"});
  EXPECT_THAT(Get("/api/v1/ooms?job=shop/wep").body, HasSubstr("shop/web")) << "the nearest name";
}

TEST_F(DecisionHandlers, ADecisionHasItsAmountsOutcomeAndReason) {
  const ApiAnswer one = Get("/api/v1/decisions/1");
  EXPECT_EQ(one["job"].text(), "shop/web");
  EXPECT_EQ(one["target"].text(), "cpu");
  EXPECT_EQ(one["resource"].text(), "cpu");
  EXPECT_EQ(one["kind"].text(), "set");
  EXPECT_EQ(one["mode"].text(), "observe");
  EXPECT_EQ(one["before"].number(), 4);
  EXPECT_EQ(one["after"].number(), 2.5);
  EXPECT_EQ(one["time"].whole(), now_s_ - 999);
  EXPECT_EQ(one["outcome"].text(), "applied");
  EXPECT_EQ(one["outcome_text"].text(), "said \"no\" <b>");
  EXPECT_EQ(one["outcome_time"].whole(), now_s_ + 5);
  EXPECT_EQ(one["reason"]["recommender"].text(), "peak");
  EXPECT_EQ(one["reason"]["limit"].number(), 2.5);
  EXPECT_TRUE(one["reason"]["chance"].is_null());
  const ApiAnswer three = Get("/api/v1/decisions/3");
  EXPECT_EQ(three["target"].text(), "replicas");
  for (const std::string_view key : {"resource", "before", "after", "outcome_time", "reason"})
    EXPECT_TRUE(three[key].is_null()) << key;
}

TEST_F(DecisionHandlers, AKillHasItsTaskTimesAndLimit) {
  const ApiAnswer answer = Get("/api/v1/ooms");
  const std::vector<JsonNode> ooms = ItemsIn(answer["ooms"]);
  ASSERT_THAT(ooms, SizeIs(3));
  EXPECT_EQ(ooms[0]["job"].text(), "shop/db") << "the newest first";
  EXPECT_EQ(ooms[0]["time"].whole(), now_s_ - 10);
  EXPECT_EQ(ooms[0]["kills"].whole(), 1);
  EXPECT_TRUE(ooms[0]["limit"].is_null());
  EXPECT_EQ(ooms[2]["kills"].whole(), 2);
  EXPECT_EQ(ooms[2]["task"].whole(), 1);
  EXPECT_EQ(ooms[2]["limit"].number(), 4e9);
  EXPECT_THAT(JobsIn("/api/v1/ooms?limit=2", "ooms"), ElementsAre("shop/db", "media/encode"));
  EXPECT_THAT(JobsIn("/api/v1/ooms?job=shop/web", "ooms"), ElementsAre("shop/web"));
}

TEST_F(DecisionHandlers, AnActOfAGuardHasNoAmountThatIsUnknown) {
  EXPECT_THAT(JobsIn("/api/v1/tier_acts?machine=host2", "acts"),
              testing::UnorderedElementsAre("media/encode", "gone/job"));
  EXPECT_THAT(JobsIn("/api/v1/tier_acts?machine=host3", "acts"), IsEmpty());
  const ApiAnswer answer = Get("/api/v1/tier_acts?job=shop/web");
  const std::vector<JsonNode> acts = ItemsIn(answer["acts"]);
  ASSERT_THAT(acts, SizeIs(1));
  EXPECT_EQ(acts[0]["time"].whole(), now_s_);
  EXPECT_EQ(acts[0]["machine"].text(), "host1");
  EXPECT_EQ(acts[0]["tier"].text(), "batch");
  EXPECT_EQ(acts[0]["kind"].text(), "throttle");
  EXPECT_EQ(acts[0]["observed"].flag(), false);
  EXPECT_EQ(acts[0]["high"].number(), 1e9);
  for (const std::string_view key : {"usage", "request", "free", "total", "pressure_some", "pressure_full"})
    EXPECT_TRUE(acts[0][key].is_null()) << key;
  EXPECT_THAT(JobsIn("/api/v1/tier_acts?limit=1", "acts"), SizeIs(1));
}

TEST_F(DecisionHandlers, ACallerOfAGroupSeesThoseOfItsJobs) {
  const HttpRequest mia = In("shop", GroupRole::kMember), max = In("media", GroupRole::kOwner);
  EXPECT_THAT(Ids("", mia), ElementsAre(5, 4, 3, 1));
  EXPECT_THAT(Ids("?limit=2", mia), ElementsAre(5, 4));
  EXPECT_THAT(Ids("?search=encode", mia), IsEmpty());
  EXPECT_THAT(Ids("", max), ElementsAre(2));
  EXPECT_THAT(Ids("", In("nowhere", GroupRole::kOwner)), IsEmpty());
  EXPECT_THAT(JobsIn("/api/v1/ooms", "ooms", mia), ElementsAre("shop/db", "shop/web"));
  EXPECT_THAT(JobsIn("/api/v1/ooms?limit=1", "ooms", max), ElementsAre("media/encode"));
  EXPECT_THAT(JobsIn("/api/v1/tier_acts", "acts", mia), ElementsAre("shop/web"));
  EXPECT_THAT(JobsIn("/api/v1/tier_acts", "acts", max), ElementsAre("media/encode"))
      << "not of a job that is gone";
  EXPECT_EQ(Get("/api/v1/decisions/1", mia).status, 200);
  ExpectRefused(404,
                {"/api/v1/decisions/1", "/api/v1/decisions?job=shop/web", "/api/v1/ooms?job=shop/web",
                 "/api/v1/tier_acts?job=shop/web"},
                max);
  // A job out of reach is rejected with the same text as a missing job.
  const std::string other = Get("/api/v1/ooms?job=shop/web", max).body;
  EXPECT_THAT(other, AllOf(HasSubstr("media/encode"), Not(HasSubstr("shop/db"))));
}

}  // namespace
}  // namespace taut::server
