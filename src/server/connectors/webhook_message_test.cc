// Tests of requests to the owner's endpoint, and of the meaning of each response.
#include "server/connectors/webhook_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "common/net/webhook.h"

namespace taut::server {
namespace {

using Kind = WebhookResult::Kind;
using ::testing::HasSubstr;

TargetOrder MemoryOrder() { return {7, "shop/web", Resource::kMemory, 536870912.0, std::nullopt}; }

TEST(WebhookMessage, HasTheOrderAndBothTimes) {
  EXPECT_EQ(
      WebhookBody(MemoryOrder(), 1'700'000'000, 1'700'000'003),
      R"({"version":1,"decision":7,"job":"shop/web","target":"memory","unit":"bytes","value":536870912,)"
      R"("decided_at":"2023-11-14T22:13:20Z","sent_at":"2023-11-14T22:13:23Z"})");
  const TargetOrder some{8, "a", Resource::kCpu, std::nullopt, std::vector<std::string>{"a-0", "a-1"}};
  EXPECT_EQ(WebhookBody(some, 0, 0),
            R"({"version":1,"decision":8,"job":"a","target":"cpu","unit":"cores","value":null,)"
            R"("tasks":["a-0","a-1"],"decided_at":"1970-01-01T00:00:00Z","sent_at":"1970-01-01T00:00:00Z"})");
}

TEST(WebhookMessage, KeysDifferWhereTheRequestIsAnother) {
  TargetOrder order = MemoryOrder();
  EXPECT_EQ(IdempotencyKey("id", order), "id-7");
  order.tasks = {"a"};
  EXPECT_EQ(IdempotencyKey("id", order), "id-7-t1");
  order.tasks = {"a", "b"};
  EXPECT_EQ(IdempotencyKey("id", order), "id-7-t2");
}

TEST(WebhookMessage, SignsTheTimestampWithTheBody) {
  const std::vector<HttpHeader> headers = WebhookHeaders("id-7", "secret", "{}", 1'700'000'000);
  EXPECT_EQ(*FindHeader(headers, "Idempotency-Key"), "id-7");
  EXPECT_EQ(*FindHeader(headers, "Tautline-Timestamp"), "1700000000");
  EXPECT_EQ(*FindHeader(headers, "Tautline-Signature"),
            StrCat("v1=", HmacSha256Hex("secret", "1700000000.{}")));
}

TEST(WebhookMessage, EveryStatusHasItsMeaning) {
  const std::pair<int, Kind> cases[] = {
      {200, Kind::kApplied}, {201, Kind::kApplied},     {202, Kind::kApplied},     {204, Kind::kApplied},
      {301, Kind::kRefused}, {400, Kind::kRefused},     {401, Kind::kRefused},     {403, Kind::kRefused},
      {404, Kind::kRefused}, {408, Kind::kRetry},       {409, Kind::kRefused},     {410, Kind::kRefused},
      {422, Kind::kRefused}, {425, Kind::kRetry},       {429, Kind::kUnavailable}, {500, Kind::kRetry},
      {502, Kind::kRetry},   {503, Kind::kUnavailable}, {504, Kind::kRetry}};
  for (const auto& [status, kind] : cases) {
    EXPECT_EQ(ResultOf(TextResponse(status, "x")).kind, kind) << status;
  }
  EXPECT_EQ(ResultOf(absl::UnavailableError("connection refused")).kind, Kind::kUnavailable);
  EXPECT_EQ(ResultOf(absl::DeadlineExceededError("10 s")).kind, Kind::kUnavailable);
  EXPECT_THAT(ResultOf(TextResponse(409, "the HPA does")).text,
              AllOf(HasSubstr("another manager"), HasSubstr("the HPA does")));
  EXPECT_THAT(ResultOf(TextResponse(301, "")).text, HasSubstr("redirects are not followed"));
}

TEST(WebhookMessage, RecordsTheReceiversMessage) {
  EXPECT_EQ(ResultOf(JsonResponse(200, R"({"message": "patched 3 pods"})")).text, "patched 3 pods");
  EXPECT_EQ(ResultOf(JsonResponse(202, R"({"message": "a rollout"})")).text, "accepted: a rollout");
  EXPECT_EQ(ResultOf(JsonResponse(200, "[]")).text, "");
  EXPECT_EQ(ResultOf(JsonResponse(200, R"({"message": 3})")).kind, Kind::kApplied);
  const WebhookResult not_applied = ResultOf(JsonResponse(200, R"({"applied": false, "message": "frozen"})"));
  EXPECT_EQ(not_applied.kind, Kind::kRefused);
  EXPECT_EQ(not_applied.text, "the receiver did not apply it: frozen");
  EXPECT_EQ(ResultOf(JsonResponse(422, R"({"message": "no such job"})")).text,
            "the receiver answered 422: no such job");
}

TEST(WebhookMessage, TextsAreBoundedAndPrintable) {
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ü";
  const std::string text = ResultOf(JsonResponse(200, StrCat(R"({"message": "x)", umlauts, R"("})"))).text;
  EXPECT_LE(text.size(), 310U);
  EXPECT_THAT(text, testing::EndsWith("ü..."));
  EXPECT_THAT(ResultOf(TextResponse(400, "bad \xff\x1b[31m")).text, HasSubstr("\\xff"));
  EXPECT_EQ(ResultOf(JsonResponse(200, "{\"message\": \"a\xff\"}")).text, "");  // the text is not JSON
  EXPECT_EQ(ResultOf(JsonResponse(200, R"({"message": "a\nb"})")).text.find('\n'), std::string::npos);
}

TEST(WebhookMessage, ReadsRetryAfterInSecondsOnly) {
  HttpResponse busy = TextResponse(429, "");
  busy.headers.push_back({"Retry-After", "120"});
  EXPECT_EQ(ResultOf(busy).retry_after_s, 120);
  busy.headers.back().value = "Fri, 31 Dec 1999 23:59:59 GMT";
  EXPECT_EQ(ResultOf(busy).retry_after_s, std::nullopt);
  busy.headers.back().value = "-5";
  EXPECT_EQ(ResultOf(busy).retry_after_s, std::nullopt);
}

TEST(WebhookMessage, StoresOrdersAndRejectsDamage) {
  const TargetOrder orders[] = {MemoryOrder(),
                                {9, "a", Resource::kCpu, std::nullopt, std::vector<std::string>{"x", "y"}}};
  for (const TargetOrder& order : orders) {
    std::string bytes;
    ByteWriter out(&bytes);
    SaveOrder(order, out);
    ByteReader in(bytes);
    const std::optional<TargetOrder> got = LoadOrder(in);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->decision, order.decision);
    EXPECT_EQ(got->job, order.job);
    EXPECT_EQ(got->target, order.target);
    EXPECT_EQ(got->value, order.value);
    EXPECT_EQ(got->tasks, order.tasks);
    for (size_t size = 0; size < bytes.size(); ++size) {
      ByteReader cut(std::string_view(bytes).substr(0, size));
      EXPECT_FALSE(LoadOrder(cut).has_value()) << size;
    }
  }
}

}  // namespace
}  // namespace taut::server
