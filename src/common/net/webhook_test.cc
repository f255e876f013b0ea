// Tests notifications to a server that fails in several ways.
#include "common/net/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "common/net/server_fixture.h"
#include "common/testing/eventually.h"

namespace taut {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WebhookTest : public ServerFixture {
 protected:
  // Responds with `statuses` in turn, then 200.
  void Serve(std::vector<int> statuses) {
    ServerFixture::Serve({}, [this, statuses](const HttpRequest& request) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      const size_t n = requests_.size() - 1;
      return TextResponse(n < statuses.size() ? statuses[n] : 200, "x");
    });
  }
  std::unique_ptr<Webhook> Hook(WebhookOptions options = {}) {
    options.url = StrCat("http://127.0.0.1:", port(), "/hooks/1?a=b");
    options.first_retry = options.last_retry = std::chrono::milliseconds(1);
    auto hook = Webhook::Start(options);
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  std::vector<HttpRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::vector<std::string> Bodies() {
    std::vector<std::string> out;
    for (const HttpRequest& r : requests()) out.push_back(r.body);
    return out;
  }

  std::mutex mutex_;
  std::vector<HttpRequest> requests_;
};

TEST_F(WebhookTest, SignsAndSendsInOrder) {
  Serve({});
  WebhookOptions options;
  options.secret = "key";
  const auto hook = Hook(options);
  hook->Send("The quick brown fox jumps over the lazy dog");
  hook->Send("{}");
  ASSERT_TRUE(Eventually([&] { return hook->counts().delivered == 2; }));
  const auto got = requests();
  EXPECT_EQ(got[0].method, "POST");
  EXPECT_EQ(got[0].path, "/hooks/1");
  EXPECT_EQ(*got[0].parameter("a"), "b");
  EXPECT_EQ(*got[0].header("Content-Type"), "application/json");
  // Key, text and result are the example in Wikipedia's article on HMAC.
  EXPECT_EQ(*got[0].header("X-Tautline-Signature"),
            "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8");
  EXPECT_NE(*got[0].header("X-Tautline-Delivery"), *got[1].header("X-Tautline-Delivery"));
  EXPECT_THAT(Bodies(), ElementsAre("The quick brown fox jumps over the lazy dog", "{}"));
}

TEST_F(WebhookTest, TriesAgainWhatMayPassAndDropsWhatWillNot) {
  Serve({500, 503, 429, 200, 400, 200});
  const auto hook = Hook();
  hook->Send("a");
  hook->Send("b");
  hook->Send("c");
  ASSERT_TRUE(Eventually([&] { return hook->counts().delivered == 2; }));
  EXPECT_THAT(Bodies(), ElementsAre("a", "a", "a", "a", "b", "c"));
  EXPECT_EQ(hook->counts().retries, 3U);
  EXPECT_EQ(hook->counts().dropped, 1U);
  EXPECT_EQ(hook->last_error(), "");
}

TEST_F(WebhookTest, GivesUpAfterSomeAttempts) {
  Serve({500, 500, 500});
  WebhookOptions options;
  options.max_attempts = 3;
  const auto hook = Hook(options);
  hook->Send("a");
  hook->Send("b");
  ASSERT_TRUE(Eventually([&] { return hook->counts().delivered == 1; }));
  EXPECT_THAT(Bodies(), ElementsAre("a", "a", "a", "b"));
  EXPECT_EQ(hook->counts().dropped, 1U);
}

TEST_F(WebhookTest, AFullQueueDropsTheOldestAndNobodyWaits) {
  std::atomic<bool> open{false};
  ServerFixture::Serve({}, [&](const HttpRequest& request) {
    (void)Eventually([&] { return open.load(); });
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    return TextResponse(200, "");
  });
  WebhookOptions options;
  options.max_queued = 10;
  const auto hook = Hook(options);
  for (int i = 0; i < 1000; ++i) hook->Send(std::to_string(i));
  EXPECT_EQ(hook->counts().queued, 10U);
  EXPECT_GE(hook->counts().dropped, 989U);
  open = true;
  EXPECT_TRUE(Eventually([&] { return !Bodies().empty() && Bodies().back() == "999"; }));
}

TEST(Webhook, RefusesWhatIsNoUrlAndEndsWhileNobodyAnswers) {
  WebhookOptions options;
  options.url = "ftp://example";
  EXPECT_FALSE(Webhook::Start(options).ok());
  options.url = "http://127.0.0.1:1/hook";
  options.first_retry = std::chrono::minutes(5);
  auto hook = Webhook::Start(options);
  ASSERT_TRUE(hook.ok()) << hook.status();
  (*hook)->Send("{}");
  ASSERT_TRUE(Eventually([&] { return (*hook)->counts().retries > 0; }));
  EXPECT_THAT((*hook)->last_error(), HasSubstr("127.0.0.1:1"));
  hook->reset();  // without waiting for the next retry
}

}  // namespace
}  // namespace taut
