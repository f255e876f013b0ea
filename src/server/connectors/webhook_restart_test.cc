// Tests that kill a daemon while its webhook's endpoint does not respond: no decision is lost, and no decision
// with an outcome is sent again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "common/base/strings.h"
#include "common/net/scripted_poster.h"
#include "common/testing/test_scale.h"
#include "server/connectors/webhook_actuator.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

using ::testing::IsSubsetOf;
using ::testing::SizeIs;

class WebhookCell {
 public:
  WebhookCell() : cell_(80) { Restart(true); }

  // Restarts the daemon as after a kill.
  void Restart(bool answers) {
    auto poster = std::make_unique<Endpoint>(sent_, keys_);
    poster->answers = answers;
    endpoint_ = poster.get();
    WebhookActuator::Options options;
    options.instance = StrCat("start-", ++starts_);
    options.secret = [] { return std::string("secret"); };
    options.unix_s = [] { return ControlCell::kStart; };
    options.steady_s = [this] { return now_s_ += 100; };  // each step of the clock exceeds any pause
    options.queue.give_up_s = 1e9;
    auto next = std::make_unique<WebhookActuator>(std::move(options), std::move(poster));
    cell_.actuator = next.get();
    cell_.Restart();
    ASSERT_TRUE(cell_.restored().ok()) << cell_.restored();
    hook_ = std::move(next);
  }
  ControlCell& cell() { return cell_; }
  void set_answers(bool answers) { endpoint_->answers = answers; }
  // Simulates the minutes [from, to), and makes the due attempts after each.
  void Live(int from, int to) {
    for (int minute = from; minute < to; ++minute) {
      ASSERT_TRUE(cell_.Live(minute, minute + 1).ok());
      for (int i = 0; i < 100 && hook_->Step(); ++i) {
      }
    }
  }
  // Makes all due attempts, and collects their outcomes.
  void Deliver() {
    while (hook_->Step()) {
    }
  }
  std::set<uint64_t> Pending() {
    std::set<uint64_t> out;
    DecisionQuery query;
    query.limit = 100'000;
    const absl::StatusOr<std::vector<Decision>> all =
        cell_.store().Decisions(query, History::Reasons::kLeaveOut);
    if (!all.ok()) return out;
    for (const Decision& d : *all) {
      if (d.kind != DecisionKind::kWouldSet && d.outcome == Outcome::kPending) out.insert(d.id);
    }
    return out;
  }
  const std::multiset<uint64_t>& sent() const { return sent_; }
  const std::set<std::string>& keys() const { return keys_; }

 private:
  // An endpoint that records the decisions of accepted orders.
  class Endpoint final : public HttpPoster {
   public:
    Endpoint(std::multiset<uint64_t>& sent, std::set<std::string>& keys) : sent_(sent), keys_(keys) {}
    absl::StatusOr<HttpResponse> Post(std::string_view json, std::vector<HttpHeader> headers) override {
      if (!answers) return absl::UnavailableError("connection refused");
      constexpr std::string_view kField = "\"decision\":";
      sent_.insert(std::stoull(std::string(json.substr(json.find(kField) + kField.size()))));
      keys_.insert(*FindHeader(headers, "Idempotency-Key"));
      return TextResponse(200, "");
    }
    bool answers = true;

   private:
    std::multiset<uint64_t>& sent_;
    std::set<std::string>& keys_;
  };

  std::multiset<uint64_t> sent_;
  std::set<std::string> keys_;
  double now_s_ = 0;
  int starts_ = 0;
  Endpoint* endpoint_ = nullptr;
  std::unique_ptr<WebhookActuator> hook_;
  ControlCell cell_;
};

TEST(WebhookRestart, AKillAtAnyMinuteLosesNoOrder) {
  const int minutes = Shortened(20);
  size_t orders = 0;
  for (int minute = 64; minute < 64 + minutes; ++minute) {
    WebhookCell w;
    w.set_answers(false);
    w.Live(0, minute);
    const std::set<uint64_t> pending = w.Pending();
    orders += pending.size();
    w.Restart(true);
    w.Deliver();
    const std::set<uint64_t> sent(w.sent().begin(), w.sent().end());
    EXPECT_THAT(pending, IsSubsetOf(sent)) << "killed after minute " << minute;
    EXPECT_THAT(w.sent(), SizeIs(sent.size())) << minute;
    EXPECT_THAT(w.keys(), SizeIs(sent.size())) << minute;
  }
  EXPECT_GT(orders, 5 * static_cast<size_t>(minutes) / 2) << "the test is of something";
}

TEST(WebhookRestart, TheKeysOfAnOrderAreTheSameAfterAKill) {
  WebhookCell w;
  w.Live(0, 70);
  ASSERT_FALSE(w.sent().empty());
  w.set_answers(false);
  w.Live(70, 140);
  w.Restart(true);
  w.Deliver();
  w.Live(140, 160);
  std::set<std::string> beginnings;
  for (const std::string& key : w.keys()) beginnings.insert(key.substr(0, key.rfind('-')));
  EXPECT_THAT(beginnings, SizeIs(1));
  EXPECT_EQ(w.keys().size(), std::set<uint64_t>(w.sent().begin(), w.sent().end()).size());
  EXPECT_TRUE(w.Pending().empty());
}

}  // namespace
}  // namespace taut::server
