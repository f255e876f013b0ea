#include "server/pool/budget_service.h"

#include <memory>
#include <string>
#include <vector>

#include "brain/economy/budget_fixture.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/pool/budget_text.h"
#include "server/store/empty_history.h"
#include "server/store/in_memory_request_log.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A history with an account and no other data.
class KnownAccount : public EmptyHistory {
 public:
  absl::Status ReadAccount(
      WindowId from, WindowId to,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) override {
    if (!fails.ok()) return fails;
    for (const auto& [first, entry] : account) {
      if (!(first < from) && first < to) yield({first, kWindowsPerDay}, {&entry, 1});
    }
    return absl::OkStatus();
  }
  // Adds a day of a job that costs `eur` EUR, at 1 EUR per core-hour.
  void Spend(uint32_t job, int64_t day_s, uint64_t eur) {
    AccountEntry entry{JobId{job}};
    entry.of[0].billed = eur * brain::kMillicoreSecondsPerCoreHour;
    account.emplace_back(WindowId::Of(Timestamp::FromSeconds(day_s)), entry);
  }

  std::vector<std::pair<WindowId, AccountEntry>> account;
  absl::Status fails;
};

class BudgetServiceTest : public ::testing::Test {
 protected:
  BudgetServiceTest() {
    quota_.groups = {{"pool"}, {"shop", "pool"}, {"web", "pool"}, {"web-eu", "web"}};
    scheme_ = std::make_shared<const GroupScheme>(quota_, *GroupRules::Make({"{team}", "", "production"}),
                                                  "{team}");
    SetTime(brain::kNovember + 10 * kDaySeconds);
    AddJob(0, "shop");
    AddJob(1, "web-eu");
    AddJob(2, "stray");
  }
  void AddJob(uint32_t id, const std::string& team) {
    auto record = std::make_shared<JobRecord>();
    record->id = JobId{id};
    record->name = StrCat("job", id);
    record->labels = {{"team", team}};
    JobView job;
    job.record = record;
    view_.jobs.push_back(job);
  }
  void SetTime(int64_t s) {
    now_ = Timestamp::FromSeconds(s);
    view_.window = WindowId{WindowId::Of(now_).index - 1};
  }
  std::unique_ptr<BudgetService> Open(const brain::BudgetDefinition& definition = brain::TwoBusinesses()) {
    BudgetService::Options options;
    options.definition = definition;
    options.price = {0, {brain::Coins(1), brain::Coins(1)}};
    options.source = "file budgets.yaml";
    options.log = &log_;
    options.history = &history_;
    options.view = [this] { return std::make_shared<const FleetView>(view_); };
    if (scheme_ != nullptr) options.scheme = [this] { return scheme_; };
    options.now = [this] { return now_; };
    options.entries_per_day = 3;
    options.doubt = [this] { return doubt_; };
    options.labels = labels_;
    auto service = BudgetService::Open(std::move(options));
    EXPECT_TRUE(service.ok()) << service.status();
    return *std::move(service);
  }
  static brain::Money Spent(const BudgetView& view, const brain::BudgetHolder& holder) {
    const auto found = view.spent.spent.find(holder);
    return found == view.spent.spent.end() ? brain::Money() : found->second;
  }
  static std::vector<brain::BudgetEntry> All(const BudgetService& service) {
    return service.Ledger([](const brain::BudgetEntry& e) { return std::optional(e); }, 10'000);
  }

  brain::QuotaSpec quota_;
  std::shared_ptr<const GroupScheme> scheme_;
  std::vector<LabelGroup> labels_;
  KnownAccount history_;
  FleetView view_;
  InMemoryRequestLog log_;
  Timestamp now_;
  std::string doubt_;
};

TEST_F(BudgetServiceTest, EntersTheDefinitionOnceAndCountsTheAccount) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  const size_t entries = All(*service).size();
  EXPECT_EQ(All(*service).back().who, "file budgets.yaml");
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_THAT(All(*service), SizeIs(entries));
  auto again = Open();
  ASSERT_EQ(again->Step(), absl::OkStatus());
  EXPECT_THAT(All(*again), SizeIs(entries)) << "a restart enters nothing";

  history_.Spend(0, brain::kNovember + 2 * kDaySeconds, 100);
  history_.Spend(1, brain::kNovember + 2 * kDaySeconds, 10);  // spending of web-eu, which is below web
  history_.Spend(2, brain::kNovember + 2 * kDaySeconds, 7);
  history_.Spend(0, brain::kNovember - kDaySeconds, 1000);  // spending in October
  now_.us += 300 * kMicrosPerSecond;
  SetTime(now_.seconds());
  const auto view = again->View();
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(Spent(**view, brain::Business("retail")), brain::Coins(80));
  EXPECT_EQ(Spent(**view, brain::Business("media")), brain::Coins(60));
  EXPECT_EQ((*view)->spent.groups.at("web").spent, brain::Coins(10));
  EXPECT_EQ((*view)->spent.unfunded, brain::Coins(7));
}

// Adds a group of a label, and a business that pays for this group.
void AddLabel(const LabelGroup& group, int64_t coins, brain::BudgetDefinition& to) {
  brain::BudgetDefinition::BusinessRow& business = to.businesses.emplace_back();
  business.name = group.name;
  business.per_period = brain::Coins(coins);
  brain::BudgetDefinition::GroupRow& row = to.groups.emplace_back();
  row.name = group.name;
  row.funding = {{std::nullopt, {{brain::Business(group.name), brain::kWholeBasisPoints, {}}}}};
}

TEST_F(BudgetServiceTest, GroupsOfLabelsOverlapAndTotalsCountEachJobOnce) {
  history_.Spend(0, brain::kNovember + 2 * kDaySeconds, 100);
  history_.Spend(2, brain::kNovember + 3 * kDaySeconds, 7);
  // A ledger of an older version, with the businesses of the file alone.
  ASSERT_EQ(Open()->Step(), absl::OkStatus());
  const std::unique_ptr<BudgetService> before = Open();
  const auto old = *before->View();
  labels_ = {{"label:team=shop", "team", "shop"}, {"label:all", "", ""}};
  brain::BudgetDefinition with_labels = brain::TwoBusinesses();
  AddLabel(labels_[0], 500, with_labels);
  AddLabel(labels_[1], 8000, with_labels);
  auto service = Open(with_labels);
  ASSERT_EQ(service->Step(), absl::OkStatus());
  const auto view = *service->View();
  EXPECT_EQ(Spent(*view, brain::Business("label:team=shop")), brain::Coins(100))
      << "also what was spent before the budget was in the ledger";
  EXPECT_EQ(Spent(*view, brain::Business("label:all")), brain::Coins(107));
  EXPECT_EQ(view->accounts.Find(brain::Business("label:all"))->budget(now_.seconds()), brain::Coins(8000));
  for (const char* business : {"retail", "media"}) {
    EXPECT_EQ(Spent(*view, brain::Business(business)), Spent(*old, brain::Business(business))) << business;
    EXPECT_EQ(*view->accounts.Find(brain::Business(business)),
              *old->accounts.Find(brain::Business(business)));
  }
  EXPECT_EQ(view->spent.total, old->spent.total);
  EXPECT_EQ(view->spent.unfunded, old->spent.unfunded);
  EXPECT_EQ(view->forecast.total, old->forecast.total);
  const size_t entries = All(*service).size();
  ASSERT_EQ(Open(with_labels)->Step(), absl::OkStatus());
  EXPECT_THAT(All(*Open(with_labels)), SizeIs(entries)) << "a restart enters nothing";
}

TEST_F(BudgetServiceTest, GroupsOfLabelsNeedNoQuota) {
  scheme_ = nullptr;
  labels_ = {{"label:team=shop", "team", "shop"}};
  brain::BudgetDefinition definition;
  definition.currency = "EUR";
  AddLabel(labels_[0], 500, definition);
  history_.Spend(0, brain::kNovember + 2 * kDaySeconds, 100);
  history_.Spend(9, brain::kNovember + 2 * kDaySeconds, 7);  // a job without a record
  auto service = Open(definition);
  ASSERT_EQ(service->Step(), absl::OkStatus());
  const auto view = *service->View();
  EXPECT_EQ(Spent(*view, brain::Business("label:team=shop")), brain::Coins(100));
  EXPECT_EQ(view->spent.total, brain::Coins(107));
  EXPECT_EQ(view->spent.unfunded, brain::Coins(7));
  SetTime(brain::kDecember + 7200);  // a time in the next month
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_EQ(Spent(**service->View(), brain::Business("label:team=shop")), brain::Money());
  EXPECT_EQ((*service->View())->accounts.Find(brain::Business("label:team=shop"))->balance(),
            brain::Coins(500));
}

TEST_F(BudgetServiceTest, SaysWhichGroupsMayStartNothingNew) {
  brain::BudgetDefinition refusing = brain::TwoBusinesses();
  refusing.groups[1].when_spent = brain::WhenSpent::kRefuse;  // group web, for which retail pays
  auto service = Open(refusing);
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_EQ(service->WhyHeld("web"), "");
  history_.Spend(1, brain::kNovember + 2 * kDaySeconds, 1000);  // spending of web-eu, which is below web
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_EQ(service->WhyHeld("web"), "") << "it was looked at a moment ago";
  SetTime(now_.seconds() + 900);
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_THAT(service->WhyHeld("web"), HasSubstr("retail"));
  EXPECT_EQ(service->WhyHeld("web-eu"), service->WhyHeld("web")) << "it has no budget of its own";
  EXPECT_EQ(service->WhyHeld("shop"), "") << "its file does not say so";
  EXPECT_EQ(service->WhyHeld("stray"), "");
  EXPECT_THAT((*service->View())->warnings,
              ::testing::Contains(HasSubstr("New requests of the group are refused")));
  EXPECT_THAT(Open(refusing)->WhyHeld("web"), HasSubstr("retail")) << "at once after a restart";

  ASSERT_TRUE(
      service->Submit(Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5)), false).ok());
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_EQ(service->WhyHeld("web"), "") << "a grant counts at once";
  ASSERT_TRUE(service->Submit(Ask(brain::BudgetAct::kFreeze, brain::Business("retail")), false).ok());
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_THAT(service->held(), SizeIs(1));
  ASSERT_EQ(service->Reload(brain::TwoBusinesses(), {0, {brain::Coins(1), brain::Coins(1)}}),
            absl::OkStatus());
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_THAT(service->held(), IsEmpty()) << "another file holds nobody";
}

TEST_F(BudgetServiceTest, ARepeatedRequestIsOneEntry) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  brain::BudgetEntry asked = Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5));
  asked.key = "k1";
  const auto first = service->Submit(asked, false), second = service->Submit(asked, false);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->id, second->id);
  auto again = Open();
  EXPECT_EQ(again->Submit(asked, false)->id, first->id) << "also after a restart";
  asked.amount = brain::Coins(6);
  EXPECT_EQ(again->Submit(asked, false).status().code(), absl::StatusCode::kAlreadyExists);
  asked.who = "bob";  // keys of different people are independent
  EXPECT_GT(again->Submit(asked, false)->id, first->id);
}

// Without a limit on entries, transfers of .000001 could grow the ledger by gigabytes an hour without end.
TEST_F(BudgetServiceTest, APersonMakesABoundedNumberOfEntriesOfAHolderAndDay) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  brain::BudgetEntry tiny = Ask(brain::BudgetAct::kTransfer, brain::Business("retail"), {1});
  tiny.to = brain::GroupHolder("shop");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(service->Submit(tiny, false).ok()) << i;
  const auto one_more = service->Submit(tiny, false);
  EXPECT_EQ(one_more.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(one_more.status().message()), HasSubstr("budgets.entries_per_day"));
  EXPECT_TRUE(
      service->Submit(Ask(brain::BudgetAct::kGrant, brain::Business("media"), brain::Coins(1)), false).ok())
      << "another holder";
  brain::BudgetEntry other = tiny;
  other.who = "bob";
  EXPECT_TRUE(service->Submit(other, false).ok()) << "another person";
  auto again = Open();
  EXPECT_FALSE(again->Submit(tiny, false).ok()) << "also after a restart";
  SetTime(now_.seconds() + kDaySeconds);
  EXPECT_TRUE(again->Submit(tiny, false).ok());
}

TEST_F(BudgetServiceTest, ADeletedLedgerIsReported) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  log_.gone = absl::UnavailableError("tautd.db.budgets was deleted or replaced");
  EXPECT_THAT(std::string(service->Step().message()), HasSubstr("deleted or replaced"));
  log_.gone = absl::OkStatus();
  EXPECT_EQ(service->Step(), absl::OkStatus());
}

TEST_F(BudgetServiceTest, WhatIsNotStoredDidNotHappen) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  log_.fails = absl::UnavailableError("disk full");
  EXPECT_EQ(service->Submit(Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5)), false)
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ((*service->View())->accounts.Find(brain::Business("retail"))->balance(), brain::Coins(1000));
  EXPECT_EQ(service->counts().failed_writes, 1u);
  log_.fails = absl::OkStatus();
  EXPECT_TRUE(
      service->Submit(Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5)), false).ok());
}

TEST_F(BudgetServiceTest, ClosesPeriodsOnceAlsoAfterALongStop) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  history_.Spend(1, brain::kNovember + 2 * kDaySeconds, 400);
  history_.Spend(1, brain::kDecember + 2 * kDaySeconds, 5000);
  SetTime(brain::kDecember + 70 * kDaySeconds);  // a time in February
  history_.fails = absl::UnavailableError("busy");
  EXPECT_FALSE(service->Step().ok());
  history_.fails = absl::OkStatus();
  auto again = Open();
  ASSERT_EQ(again->Step(), absl::OkStatus());
  ASSERT_EQ(again->Step(), absl::OkStatus());
  const auto view = again->View();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(brain::DateText((*view)->accounts.period().from_s), "2027-02-01");
  // November left 600, of which 200 are carried over. December exceeded its budget, and January spent nothing.
  EXPECT_EQ((*view)->accounts.totals().at("EUR").overspent, brain::Coins(3800));
  EXPECT_EQ((*view)->accounts.Find(brain::Business("retail"))->opened, brain::Coins(1200));
  size_t closed = 0;
  for (const brain::BudgetEntry& e : All(*again))
    closed += e.act == brain::BudgetAct::kClose && e.of == brain::Business("retail") ? 1 : 0;
  EXPECT_EQ(closed, 3u);
}

TEST_F(BudgetServiceTest, APeriodWaitsForItsLastWindow) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  now_ = Timestamp::FromSeconds(brain::kDecember + 10);
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_EQ((*service->View())->accounts.period().from_s, brain::kNovember);
  view_.window = WindowId{static_cast<int32_t>(brain::kDecember / kWindowSeconds) - 1};
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_EQ((*service->View())->accounts.period().from_s, brain::kDecember);
}

// A start with a clock 40 days ahead must not end a period, because entries of the ledger cannot be undone.
TEST_F(BudgetServiceTest, NothingIsEnteredWhileTheTimeMayBeWrong) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  const size_t entries = All(*service).size();
  SetTime(brain::kNovember + 50 * kDaySeconds);
  doubt_ = "the clock is 40 days beyond the stored data";
  EXPECT_EQ(service->Step(), absl::OkStatus());
  const brain::BudgetEntry grant = Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(1));
  EXPECT_EQ(service->Submit(grant, true).status(), absl::UnavailableError(doubt_));
  brain::BudgetDefinition other = brain::TwoBusinesses();
  EXPECT_EQ(service->Reload(other, {0, {brain::Coins(2), brain::Coins(1)}}), absl::OkStatus());
  EXPECT_THAT(All(*service), SizeIs(entries));
  doubt_.clear();
  SetTime(brain::kNovember + 10 * kDaySeconds + 60);
  ASSERT_EQ(service->Step(), absl::OkStatus());
  EXPECT_TRUE(service->Submit(grant, true).ok());
  EXPECT_GT(All(*service).size(), entries);
}

TEST_F(BudgetServiceTest, AClockThatGoesBackChangesNoOrder) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  const int64_t before = All(*service).front().time_s;
  now_ = Timestamp::FromSeconds(brain::kNovember + 5);
  const auto made =
      service->Submit(Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5)), false);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->time_s, before);
}

TEST_F(BudgetServiceTest, ADamagedLedgerIsReadOnly) {
  brain::BudgetDefinition refusing = brain::TwoBusinesses();
  refusing.groups[1].when_spent = brain::WhenSpent::kRefuse;  // group web, for which retail pays
  {
    auto service = Open(refusing);
    ASSERT_EQ(service->Step(), absl::OkStatus());
    ASSERT_TRUE(service->Submit(Ask(brain::BudgetAct::kFreeze, brain::Business("retail")), false).ok());
  }
  // If an entry is missing, the next entry is rejected.
  brain::BudgetEntry later = Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5));
  later.id = 999;
  later.time_s = now_.seconds();
  const RequestLogEntry stored{later.id, later.time_s, later.who, EncodeEntry(later)};
  ASSERT_EQ(log_.Append({&stored, 1}), absl::OkStatus());
  auto service = Open(refusing);
  EXPECT_THAT(service->WhyHeld("web"), HasSubstr("is frozen")) << "what could be read holds as before";
  EXPECT_FALSE(service->Step().ok());
  EXPECT_THAT(service->WhyHeld("web"), HasSubstr("is frozen"));
  EXPECT_EQ((*service->View())->accounts.Find(brain::Business("retail"))->balance(), brain::Coins(1000));
  EXPECT_THAT((*service->View())->warnings,
              ::testing::Contains(HasSubstr("damaged and read-only: entry 999")));
  EXPECT_THAT(
      std::string(Message(
          service->Submit(Ask(brain::BudgetAct::kGrant, brain::Business("retail"), brain::Coins(5)), false)
              .status())),
      HasSubstr("restore the store from a backup"));
}

TEST_F(BudgetServiceTest, ADefinitionThatCannotBeStaysOut) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  brain::BudgetDefinition def = brain::TwoBusinesses();
  def.currency = "USD";
  auto other = Open(def);
  EXPECT_FALSE(other->Step().ok());
  EXPECT_EQ(other->Step(), absl::OkStatus()) << "it is tried once";
  EXPECT_THAT((*other->View())->warnings,
              ::testing::ElementsAre(HasSubstr("the budgets file is not in force")));
  EXPECT_EQ(other->Reload(brain::TwoBusinesses(), {0, {brain::Coins(1), brain::Coins(1)}}), absl::OkStatus());
  EXPECT_THAT((*other->View())->warnings, IsEmpty());
}

TEST_F(BudgetServiceTest, ForecastsThePeriodsEnd) {
  auto service = Open();
  ASSERT_EQ(service->Step(), absl::OkStatus());
  for (int day = 3; day < 10; ++day) history_.Spend(1, brain::kNovember + day * kDaySeconds, 2);
  SetTime(brain::kNovember + 10 * kDaySeconds + 600);
  const auto view = service->View();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(Spent(**view, brain::Business("retail")), brain::Coins(14));
  // 12 EUR were spent in six days and ten minutes of the last seven days. The forecast covers 20 days less ten
  // minutes.
  const double forecast =
      static_cast<double>((*view)->forecast.spent.at(brain::Business("retail")).micros) / 1e6;
  EXPECT_NEAR(forecast, 14 + 12.0 / (6 * kDaySeconds + 600) * (20 * kDaySeconds - 600), 0.001);
}

TEST(BudgetText, ReadsBackWhatItWrote) {
  brain::BudgetEntry e = Ask(brain::BudgetAct::kSplit, brain::Business("ret\"ail"), {123'456'789});
  e.id = 7;
  e.time_s = brain::kNovember;
  e.key = "k";
  e.parts = {{brain::GroupHolder("shop"), 1, {-5}}, {brain::Business("x"), 9999, {INT64_MAX}}};
  EXPECT_EQ(*DecodeEntry(EncodeEntry(e)), e);
  brain::BudgetEntry close = Ask(brain::BudgetAct::kClose, brain::Business("a"), {1});
  close.id = 8;
  close.spent = {2};
  close.carried = {3};
  close.expired = {4};
  EXPECT_EQ(*DecodeEntry(EncodeEntry(close)), close);
  brain::BudgetEntry business = Ask(brain::BudgetAct::kBusiness, brain::Business("a"), {1});
  business.id = 9;
  business.unit = "EUR";
  business.carry = {5000, brain::Money{6}};
  EXPECT_EQ(*DecodeEntry(EncodeEntry(business)), business);
  for (const char* text :
       {"", "{}", "[]", R"({"id":1,"act":"nosuch"})", R"({"id":0,"act":"grant"})",
        R"({"id":1,"act":"grant","amount":"1,5"})", R"({"id":1,"act":"grant","of":"shop"})"})
    EXPECT_EQ(DecodeEntry(text).status().code(), absl::StatusCode::kDataLoss) << text;
}

}  // namespace
}  // namespace taut::server
