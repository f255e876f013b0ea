// Tests of orders to the owner's endpoint, with scripted responses and a clock of the test. Only the last test
// uses threads.
#include "server/connectors/webhook_actuator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/strings.h"
#include "common/net/scripted_poster.h"
#include "common/testing/eventually.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WebhookActuatorTest : public testing::Test {
 protected:
  WebhookActuator::Options OptionsOf(std::string instance) {
    WebhookActuator::Options options;
    options.jobs = "shop/*|web";
    options.instance = std::move(instance);
    options.queue = queue_options_;
    options.secret = [this] { return secret_; };
    options.unix_s = [this] { return 1'700'000'000 + static_cast<int64_t>(now_s_); };
    options.steady_s = [this] { return now_s_; };
    return options;
  }
  WebhookActuator& Hook() {
    if (hook_ == nullptr) Restart("i1", "");
    return *hook_;
  }
  // Replaces the actuator by a new actuator with this state.
  void Restart(const std::string& instance, std::string_view state) {
    auto poster = std::make_unique<ScriptedPoster>();
    poster_ = poster.get();
    hook_ = std::make_unique<WebhookActuator>(OptionsOf(instance), std::move(poster));
    if (!state.empty()) hook_->LoadState(state);
  }
  void Order(uint64_t decision, const std::string& job, double limit, Resource r = Resource::kCpu,
             std::optional<std::vector<std::string>> tasks = std::nullopt) {
    const TargetOrder order{decision, job, r, limit, std::move(tasks)};
    Hook().Apply({&order, 1}, 1'700'000'000 + static_cast<int64_t>(now_s_));
  }
  // Makes all due attempts, and returns their number.
  int Steps() {
    int steps = 0;
    while (steps < 100'000 && Hook().Step()) ++steps;
    return steps;
  }
  // Advances the clock second by second, and returns the number of attempts.
  int StepsFor(double seconds) {
    int steps = 0;
    for (const double end_s = now_s_ + seconds; now_s_ < end_s; ++now_s_) steps += Steps();
    return steps;
  }
  std::vector<std::string> Outcomes() {
    std::vector<std::string> out;
    for (const OutcomeUpdate& o : Hook().TakeOutcomes()) {
      out.push_back(StrCat(o.id, " ", Name(o.outcome), o.text.empty() ? "" : ": ", o.text));
    }
    return out;
  }
  std::vector<std::string> Keys() {
    std::vector<std::string> out;
    for (const auto& r : poster_->requests()) out.push_back(r.header("Idempotency-Key"));
    return out;
  }

  double now_s_ = 1000;
  absl::StatusOr<std::string> secret_ = std::string("secret");
  WebhookQueueOptions queue_options_;
  std::unique_ptr<WebhookActuator> hook_;
  ScriptedPoster* poster_ = nullptr;
};

TEST_F(WebhookActuatorTest, ClaimsTheJobsOfItsPattern) {
  EXPECT_TRUE(Hook().Claims({.job = "shop/a", .target = Resource::kCpu}));
  EXPECT_TRUE(Hook().Claims({.job = "web", .target = Target::Replicas()}));
  EXPECT_FALSE(Hook().Claims({.job = "web/a", .target = Resource::kCpu}));
}

TEST_F(WebhookActuatorTest, SendsInOrderAndReportsWhatIsApplied) {
  Order(1, "web", 2);
  Order(2, "web", 4e9, Resource::kMemory);
  EXPECT_THAT(Outcomes(), IsEmpty());
  EXPECT_EQ(Steps(), 2);
  EXPECT_THAT(Outcomes(), ElementsAre("1 applied", "2 applied"));
  EXPECT_THAT(Keys(), ElementsAre("i1-1", "i1-2"));
  const ScriptedPoster::Request sent = poster_->requests()[0];
  EXPECT_EQ(WebhookHeaders("i1-1", "secret", sent.body, 1'700'001'000)[2].value,
            sent.header("Tautline-Signature"));
  EXPECT_EQ(Hook().counts().applied, 2U);
  EXPECT_EQ(Hook().counts().waiting, 0U);
}

// After a kill, the stored state may be older than the order that the endpoint accepted last.
TEST_F(WebhookActuatorTest, AnOrderThatWasTakenIsNotSentAgainAndNothingOlderEither) {
  Order(1, "web", 2);
  const std::string state = Hook().SaveState();
  Restart("i2", state);
  TargetOrder taken{2, "web", Resource::kCpu, 3.0, std::nullopt};
  taken.known = Outcome::kApplied;
  Hook().Apply({&taken, 1}, 1'700'001'000);
  EXPECT_EQ(Steps(), 0);
  EXPECT_THAT(Outcomes(), ElementsAre("1 superseded: replaced by decision 2"));
  EXPECT_EQ(Hook().counts().waiting, 0U);
}

TEST_F(WebhookActuatorTest, RefusedOrdersAreFinalUntilTheNext) {
  Hook();
  poster_->Add(JsonResponse(409, R"({"message": "the HPA owns it"})"));
  poster_->Add(TextResponse(404, "no such job"));
  Order(1, "web", 2);
  Order(2, "shop/a", 2);
  EXPECT_EQ(StepsFor(7200), 2);
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("1 failed: another manager"), HasSubstr("HPA owns it")),
                                      AllOf(HasSubstr("2 failed"), HasSubstr("no such job"))));
  Order(3, "web", 3);
  EXPECT_EQ(Steps(), 1);
  EXPECT_THAT(Outcomes(), ElementsAre("3 applied"));
  EXPECT_EQ(Hook().counts().refused, 2U);
}

TEST_F(WebhookActuatorTest, RetriesWithGrowingPausesUnderOneKey) {
  Hook();
  for (int i = 0; i < 8; ++i) poster_->Add(TextResponse(500, "down"));
  Order(1, "web", 2);
  std::vector<double> at;
  for (const double end_s = now_s_ + 600; now_s_ < end_s; now_s_ += 0.25) {
    if (Steps() > 0) at.push_back(now_s_);
  }
  ASSERT_EQ(at.size(), 9U);
  for (size_t i = 1; i < at.size(); ++i) {
    const double full = std::min(std::exp2(static_cast<double>(i) - 1), 60.0);
    EXPECT_GE(at[i] - at[i - 1], full / 2) << i;
    EXPECT_LE(at[i] - at[i - 1], full + 0.25) << i;
  }
  EXPECT_THAT(Keys(), testing::Each("i1-1"));
  EXPECT_THAT(Outcomes(), ElementsAre("1 applied"));
  EXPECT_EQ(Hook().counts().retry, 8U);
  EXPECT_EQ(Hook().last_error(), "");
}

TEST_F(WebhookActuatorTest, AFailureOfOneOrderDoesNotHoldUpOthers) {
  Hook();
  poster_->Add(TextResponse(500, "not this one"));
  Order(1, "web", 2);
  Order(2, "shop/a", 2);
  EXPECT_EQ(Steps(), 2);
  EXPECT_THAT(Outcomes(), ElementsAre("2 applied"));
  StepsFor(2);
  EXPECT_THAT(Outcomes(), ElementsAre("1 applied"));
}

TEST_F(WebhookActuatorTest, AnEndpointThatDoesNotAnswerIsAskedForOneOrderAtATime) {
  Hook();
  for (int i = 0; i < 4; ++i) poster_->Add(absl::UnavailableError("connection refused"));
  for (uint64_t i = 1; i <= 50; ++i) Order(i, StrCat("shop/", i), 2);
  EXPECT_EQ(Steps(), 1);
  EXPECT_EQ(Hook().last_error(), "connection refused");
  EXPECT_EQ(Hook().counts().waiting, 50U);
  EXPECT_EQ(StepsFor(60), 3 + 50);
  EXPECT_EQ(Outcomes().size(), 50U);
  EXPECT_EQ(Hook().counts().no_response, 4U);
}

TEST_F(WebhookActuatorTest, WaitsAsLongAsTheReceiverAsksWithinBounds) {
  Hook();
  HttpResponse busy = TextResponse(429, "");
  busy.headers.push_back({"Retry-After", "100"});
  poster_->Add(busy);
  busy.headers.back().value = "1000000";
  poster_->Add(busy);
  busy.headers.back().value = "0";
  poster_->Add(busy);
  Order(1, "web", 2);
  EXPECT_EQ(Steps(), 1);
  EXPECT_EQ(StepsFor(100), 0);
  EXPECT_EQ(Steps(), 1);
  EXPECT_EQ(StepsFor(600), 0);
  EXPECT_EQ(Steps(), 1);
  EXPECT_EQ(Steps(), 0) << "Retry-After: 0 is not a reason for a tight loop";
  StepsFor(5);
  EXPECT_THAT(Outcomes(), ElementsAre("1 applied"));
}

TEST_F(WebhookActuatorTest, GivesUpAfterTheSetTimeWithTheLastError) {
  Hook();
  for (int i = 0; i < 1000; ++i) poster_->Add(absl::DeadlineExceededError("no response within 10 s"));
  Order(1, "web", 2);
  Order(2, "shop/a", 2);
  StepsFor(3590);
  EXPECT_THAT(Outcomes(), IsEmpty());
  EXPECT_NEAR(Hook().counts().oldest_s, 3590, 1);
  StepsFor(700);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("2 failed: given up after 60 min: no response within 10 s"),
                                      HasSubstr("1 failed: given up")));
  EXPECT_EQ(Hook().counts().given_up, 2U);
  EXPECT_EQ(Hook().counts().waiting, 0U);
}

TEST_F(WebhookActuatorTest, ANewerOrderReplacesTheWaitingOne) {
  Hook();
  poster_->Add(TextResponse(500, ""));
  Order(1, "web", 2);
  EXPECT_EQ(Steps(), 1);
  Order(2, "web", 3);
  Order(3, "web", 1e9, Resource::kMemory);
  EXPECT_THAT(Outcomes(), ElementsAre("1 superseded: replaced by decision 2"));
  EXPECT_EQ(StepsFor(100), 2);
  EXPECT_THAT(Keys(), ElementsAre("i1-1", "i1-2", "i1-3"));
  EXPECT_THAT(Outcomes(), ElementsAre("2 applied", "3 applied"));
  Order(4, "web", 3);
  Order(2, "web", 3);
  EXPECT_THAT(Outcomes(), ElementsAre("2 superseded: replaced by decision 4"));
}

TEST_F(WebhookActuatorTest, TheSameDecisionForMoreTasksIsAnotherRequest) {
  Order(1, "web", 2, Resource::kCpu, std::vector<std::string>{"a"});
  Order(1, "web", 2, Resource::kCpu, std::vector<std::string>{"a"});
  EXPECT_EQ(Steps(), 1);
  Order(1, "web", 2, Resource::kCpu, std::vector<std::string>{"a", "b"});
  EXPECT_EQ(Steps(), 1);
  EXPECT_THAT(Keys(), ElementsAre("i1-1-t1", "i1-1-t2"));
}

TEST_F(WebhookActuatorTest, AResponseToAReplacedRequestChangesNothing) {
  WebhookQueue queue({});
  queue.Take({1, "a", Resource::kCpu, 2.0, {}}, 0, 0);
  const std::optional<WebhookQueue::Attempt> attempt = queue.Next(0);
  ASSERT_TRUE(attempt.has_value());
  queue.Take({2, "a", Resource::kCpu, 3.0, {}}, 0, 0);
  queue.Done(*attempt, {WebhookResult::Kind::kApplied, "", std::nullopt}, 1);
  EXPECT_EQ(queue.waiting(), 1U);
  const std::vector<OutcomeUpdate> outcomes = queue.TakeOutcomes();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].outcome, Outcome::kSuperseded);
  EXPECT_EQ(queue.Next(1)->order.decision, 2U);
}

TEST_F(WebhookActuatorTest, TheQueueIsBoundedInOrdersAndBytes) {
  queue_options_.max_orders = 3;
  queue_options_.max_bytes = 2000;
  for (uint64_t i = 1; i <= 4; ++i) Order(i, StrCat("shop/", i), 2);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("4 failed: not sent to the webhook: 3 orders are waiting")));
  Order(5, "shop/3", 2);  // this order replaces the order of decision 3
  EXPECT_THAT(Outcomes(), ElementsAre("3 superseded: replaced by decision 5"));
  Steps();
  Outcomes();
  Order(6, "shop/1", 2, Resource::kCpu, std::vector<std::string>{std::string(2000, 'x')});
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("6 failed: not sent")));
  EXPECT_EQ(Hook().counts().given_up, 2U);
}

TEST_F(WebhookActuatorTest, AnUnreadableSecretIsAFailureThatMayPass) {
  Hook();
  secret_ = absl::NotFoundError("cannot read the secret file /s");
  Order(1, "web", 2);
  EXPECT_EQ(Steps(), 1);
  EXPECT_THAT(poster_->requests(), IsEmpty());
  EXPECT_THAT(Hook().last_error(), HasSubstr("/s"));
  secret_ = std::string("another");
  StepsFor(3);
  EXPECT_THAT(Outcomes(), ElementsAre("1 applied"));
}

TEST_F(WebhookActuatorTest, WaitingOrdersSurviveARestartUnderTheSameKey) {
  Hook();
  poster_->Add(TextResponse(503, ""));
  Order(5, "web", 2);
  Order(6, "shop/a", 1e9, Resource::kMemory, std::vector<std::string>{"t"});
  Steps();
  const std::string state = Hook().SaveState();
  now_s_ = 7;  // the steady clock is lower after another boot
  Restart("i2", state);
  EXPECT_EQ(Hook().SaveState(), state) << "in the same sequence";
  Order(5, "web", 2);  // the store has no outcome of the decision
  EXPECT_EQ(Steps(), 2);
  EXPECT_THAT(Keys(), ElementsAre("i1-6-t1", "i1-5"));
  EXPECT_THAT(Outcomes(), ElementsAre("6 applied", "5 applied"));
}

TEST_F(WebhookActuatorTest, DamagedStateIsIgnored) {
  Order(5, "web", 2, Resource::kCpu, std::vector<std::string>{"t", "u"});
  Order(6, "shop/a", 2);
  const std::string state = Hook().SaveState();
  for (size_t size = 0; size < state.size(); ++size) {
    Restart("i2", std::string_view(state).substr(0, size));
    EXPECT_EQ(Hook().counts().waiting, 0U) << size;
  }
  for (size_t i = 0; i < state.size(); ++i) {
    for (const int bit : {1, 0x80}) {
      std::string damaged = state;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      Restart("i2", damaged);
      EXPECT_LE(Hook().counts().waiting, 2U);
      Steps();
    }
  }
  Restart("i2", "\x02 of a later version");
  Order(1, "web", 2);
  Steps();
  EXPECT_THAT(Keys(), ElementsAre("i2-1"));
}

// If webhook.jobs changed between a stop and a start, agents may now set the limits of this job.
TEST_F(WebhookActuatorTest, OrdersOfJobsThatAreNotItsOwnAnyMoreFail) {
  Order(6, "db", 2);
  const std::string state = Hook().SaveState();
  Restart("i2", state);
  Hook().Start([](uint64_t) { return true; });
  EXPECT_THAT(Outcomes(), ElementsAre(testing::HasSubstr("6 failed: not sent: webhook.jobs")));
  Hook().Stop();
  EXPECT_EQ(Hook().counts().waiting, 0U);
}

// The thread waits for orders, skips orders with an outcome, and ends even within a pause.
TEST_F(WebhookActuatorTest, TheThreadSendsWhatIsOpen) {
  Order(5, "web", 2);
  Order(6, "shop/a", 2);
  const std::string state = Hook().SaveState();
  Restart("i2", state);
  Hook().Start([](uint64_t decision) { return decision == 6; });
  const auto outcome = [this] {
    std::vector<std::string> out;
    (void)Eventually([&] {
      out = Outcomes();
      return !out.empty();
    });
    return out;
  };
  EXPECT_THAT(outcome(), ElementsAre("6 applied"));
  Order(7, "web", 3);
  EXPECT_THAT(outcome(), ElementsAre("7 applied"));
  EXPECT_THAT(Keys(), ElementsAre("i1-6", "i1-7"));
  poster_->Add(absl::UnavailableError("x"));
  Order(8, "web", 4);
  ASSERT_TRUE(Eventually([this] { return !Hook().last_error().empty(); }));
  Hook().Stop();
  Order(9, "web", 5);
  EXPECT_EQ(Hook().counts().waiting, 1U);
  hook_.reset();
}

}  // namespace
}  // namespace taut::server
