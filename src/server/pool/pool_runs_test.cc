// Tests the pool's components: the files that they read at a start and at a reload, and their state, which
// survives starts and reloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/control/component_fixture.h"
#include "server/pool/prices_component.h"
#include "server/pool/quota_component.h"

namespace taut::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kQuotaOfTen =
    "groups:\n  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 10}]}\n";
constexpr std::string_view kQuotaOfTwenty =
    "groups:\n  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 20}]}\n";

class PoolRuns : public ComponentTest {
 protected:
  std::unique_ptr<QuotaComponent> StartQuota() {
    auto run = std::make_unique<QuotaComponent>(QuotaComponent::Options{.config = config_.quota, .held = {}},
                                                context_);
    EXPECT_EQ(run->Start(), absl::OkStatus());
    return run;
  }
  static int64_t QuotaOf(const QuotaComponent& run) { return run.service()->View().rows.at(0).cell.quota; }
};

TEST_F(PoolRuns, AReloadTakesAnotherQuotaAndKeepsItWhereTheFileIsWrong) {
  config_.quota.file = dir_.Write("ten.yaml", kQuotaOfTen);
  const std::unique_ptr<QuotaComponent> run = StartQuota();
  EXPECT_EQ(QuotaOf(*run), 10'000);
  DaemonConfig next = config_;
  next.quota.file = dir_.Write("twenty.yaml", kQuotaOfTwenty);
  Reloading taken{.next = next, .running = config_, .log = log_};
  run->OnReload(taken);
  EXPECT_THAT(taken.taken, ElementsAre("quota"));
  EXPECT_EQ(config_.quota.file, next.quota.file);
  EXPECT_EQ(QuotaOf(*run), 20'000);
  next.quota.file = dir_.Write("wrong.yaml", "groups: [{name: shop, parent: nowhere}]\n");
  Reloading kept{.next = next, .running = config_, .log = log_};
  run->OnReload(kept);
  EXPECT_THAT(kept.taken, IsEmpty());
  EXPECT_TRUE(kept.kept.contains("quota.file"));
  EXPECT_NE(config_.quota.file, next.quota.file);
  EXPECT_EQ(QuotaOf(*run), 20'000);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("reload_failed")));
}

TEST_F(PoolRuns, RequestsForQuotaOutliveAKillAndAWrongQuotaFileEndsTheStart) {
  config_.quota.file = dir_.Write("ten.yaml", kQuotaOfTen);
  CloseAWindow();  // before this window, no use is known and no request is decided
  uint64_t id = 0;
  {
    const std::unique_ptr<QuotaComponent> run = StartQuota();
    const auto made = run->service()->Submit(
        {.group = "shop", .tier = "production", .per_task = brain::QuotaVector::Of(4000, 0)}, "", "anna");
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(made->state, brain::RequestState::kAdmitted);
    id = made->id;
  }
  const std::unique_ptr<QuotaComponent> after = StartQuota();
  const auto found = after->service()->List([](const brain::QuotaRequest&) { return true; }, 10);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, id);
  EXPECT_EQ(after->service()->View().rows.at(0).cell.held, 4000);
  MetricsText metrics;
  after->Collect(metrics);
  EXPECT_THAT(metrics.Take(), HasSubstr("tautd_quota_requests_open 1\n"));
  config_.quota.file = dir_.File("missing.yaml");
  QuotaComponent wrong({.config = config_.quota, .held = {}}, context_);
  EXPECT_THAT(std::string(Message(wrong.Start())), HasSubstr("quota.file: "));
}

TEST_F(PoolRuns, APriceFileThatBillsThePastOtherwiseIsRecordedInTheStore) {
  const auto file = [&](std::string_view price) {
    return dir_.Write("prices.yaml",
                      StrCat("currency: EUR\ntiers:\n  - {name: production, prices: [{core_hour: ", price,
                             ", gib_hour: 0.004}]}\n"));
  };
  config_.prices.file = file("0.03");
  EXPECT_EQ(PricesComponent(config_.prices, context_).Start(), absl::OkStatus());
  file("0.05");
  {
    PricesComponent edited(config_.prices, context_);
    EXPECT_EQ(edited.Start(), absl::OkStatus());
    ASSERT_THAT(edited.changes(), SizeIs(1));
    EXPECT_EQ(edited.changes()[0].seen_s, now_s_.load());
    EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("past_prices_changed")));
  }
  PricesComponent again(config_.prices, context_);
  EXPECT_EQ(again.Start(), absl::OkStatus());
  EXPECT_THAT(again.changes(), SizeIs(1)) << "the record outlives a restart";
  EXPECT_THAT(log_.lines(), SizeIs(1)) << "and is told once";
  context_.store_path = "memory";
  PricesComponent memory(config_.prices, context_);
  EXPECT_EQ(memory.Start(), absl::OkStatus());
  EXPECT_NE(memory.pricing(), nullptr);
  EXPECT_THAT(memory.changes(), IsEmpty());
}

}  // namespace
}  // namespace taut::server
