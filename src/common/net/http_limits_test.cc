// Tests the server's limits with clients that are too slow, send too much, are too many, or do not send HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "common/net/raw_client.h"
#include "common/net/server_fixture.h"

namespace taut {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::chrono::milliseconds kShort{1000};

class HttpLimitsTest : public ServerFixture {
 protected:
  std::string Ask(std::string_view bytes) {
    RawClient client(port());
    client.Send(bytes);
    return client.ReadToEnd();
  }
  bool StillServes() { return Client()->Get("/").ok(); }
};

TEST_F(HttpLimitsTest, RefusesLargeHeaders) {
  ServerOptions options;
  options.max_header_bytes = 2000;
  Serve(options);
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_THAT(Ask(StrCat("GET /", std::string(5000, 'a'), " HTTP/1.1\r\n\r\n")), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask(StrCat(start, "A: ", std::string(5000, 'a'))), StartsWith("HTTP/1.1 431"));
  std::string many = start;
  for (int i = 0; i < 200; ++i) StrAppend(&many, "A", i, ": 0123456789\r\n");
  EXPECT_THAT(Ask(many + "\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_EQ(server_->counts().too_large, 3U);
  EXPECT_TRUE(StillServes());
}

TEST_F(HttpLimitsTest, RefusesLargeBodiesByPath) {
  ServerOptions options;
  options.max_body_bytes = 100;
  options.body_limits = {{"/api", 10}, {"/api/v1/write", 1000}};
  Serve(options);
  const auto post = [&](std::string_view path, size_t bytes) {
    return Client()->Post(path, std::string(bytes, 'x'), "text/plain")->status;
  };
  EXPECT_EQ(post("/", 100), 200);
  EXPECT_EQ(post("/", 101), 413);
  EXPECT_EQ(post("/api/x", 11), 413);
  EXPECT_EQ(post("/api/v1/write", 1000), 200);
  EXPECT_EQ(post("/api/v1/write", 1'000'000), 413);
  EXPECT_THAT(
      Ask("POST /api HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n8\r\n"
          "01234567\r\n0\r\n\r\n"),
      StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(server_->counts().too_large, 4U);
}

TEST_F(HttpLimitsTest, RefusesWhatTwoReadersWouldUnderstandDifferently) {
  Serve({});
  const std::string start = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  for (const char* rest :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length : 3\r\n\r\nabc",
        "Content-Length: 3a\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "Host: other\r\n\r\n", "\r\n\r\n: x\r\n\r\n"}) {
    const std::string answer = Ask(start + rest + "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(answer,
                AnyOf(StartsWith("HTTP/1.1 400"), HasSubstr("\r\n\r\nHTTP/1.1 400"), HasSubstr("HTTP/1.1 4")))
        << rest << "\n"
        << answer;
    EXPECT_EQ(answer.find("smuggled"), std::string::npos) << rest;
  }
  EXPECT_THAT(Ask(start + "Transfer-Encoding: gzip\r\n\r\n"), StartsWith("HTTP/1.1 501"));
  EXPECT_THAT(Ask(start + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), StartsWith("HTTP/1.1 501"));
}

TEST_F(HttpLimitsTest, RefusesWhatIsNotHttp) {
  Serve({});
  for (const char* bytes :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/0.9\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "G\x01T / HTTP/1.1\r\n\r\n",
        "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n"}) {
    EXPECT_THAT(Ask(bytes), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("Connection: close"))) << bytes;
  }
  EXPECT_EQ(server_->counts().malformed, 10U);
}

TEST_F(HttpLimitsTest, LivesThroughAnyBytes) {
  Serve({});
  rc::check([&](const std::string& noise, bool half_request) {
    RawClient client(port());
    client.Send(half_request
                    ? "POST /a?b=c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" + noise
                    : noise);
    client.HalfClose();
    client.ReadToEnd();
  });
  EXPECT_TRUE(StillServes());
  EXPECT_TRUE(Eventually([&] { return server_->counts().open_connections <= 1; }));
}

TEST_F(HttpLimitsTest, CutsClientsThatAreSlowToAsk) {
  ServerOptions options;
  options.header_timeout = options.body_timeout = options.idle_timeout = kShort;
  options.min_bytes_per_second = 1000;
  Serve(options);
  EXPECT_EQ(Ask(""), "");
  EXPECT_THAT(Ask("GET / HT"), StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc"),
              StartsWith("HTTP/1.1 408"));
  // After this response the client sends nothing more.
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), HasSubstr("GET /\n"));
  EXPECT_EQ(server_->counts().timed_out, 2U);
  EXPECT_TRUE(Eventually([&] { return server_->counts().open_connections == 0; }));
}

TEST_F(HttpLimitsTest, CutsAClientThatDripsItsHeader) {
  ServerOptions options;
  options.header_timeout = kShort;
  Serve(options);
  RawClient client(port());
  client.Send("GET / HTTP/1.1\r\n");
  bool sent = true;
  // Each line arrives in time, but the whole header does not.
  for (int i = 0; i < 1000 && sent; ++i) {
    sent = client.Send("A: b\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (server_->counts().timed_out > 0) break;
  }
  EXPECT_EQ(server_->counts().timed_out, 1U);
}

TEST_F(HttpLimitsTest, CutsClientsThatDoNotReadTheAnswer) {
  ServerOptions options;
  options.write_timeout = kShort;
  options.min_bytes_per_second = 1 << 30;
  Serve(options, [](const HttpRequest&) { return TextResponse(200, std::string(50'000'000, 'x')); });
  RawClient client(port(), RawClient::Buffer::kSmall);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(Eventually([&] { return server_->counts().timed_out == 1; }));
  EXPECT_LT(client.ReadToEnd().size(), 50'000'000U);
}

TEST_F(HttpLimitsTest, RefusesConnectionsOverTheLimit) {
  ServerOptions options;
  options.max_connections = 2;
  options.reader_tokens = {"reader-token-0123"};
  ClientOptions known;
  known.token = "reader-token-0123";
  Serve(options);
  auto first = Client(known);
  auto second = Client(known);
  EXPECT_EQ(first->Get("/")->status, 200);
  EXPECT_EQ(second->Get("/")->status, 200);
  const auto refused = Client(known)->Get("/");
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(refused->status, 503);
  EXPECT_NE(refused->header("Retry-After"), nullptr);
  EXPECT_EQ(first->Get("/")->status, 200);
  first.reset();
  EXPECT_TRUE(Eventually([&] { return Client(known)->Get("/")->status == 200; }));
  EXPECT_GE(server_->counts().refused, 1U);
}

// Connections without a token (silent, half-way through a header, or kept alive by an open path) do not block a
// client that has a token.
TEST_F(HttpLimitsTest, IdleStrangersMakeRoom) {
  for (const char* first :
       {"", "GET / HTTP/1.1\r\nHost: a", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    ServerOptions options;
    options.max_connections = 8;
    options.reader_tokens = {"reader-token-0123"};
    options.open_paths = {"/healthz"};
    Serve(options);
    ClientOptions known;
    known.token = "reader-token-0123";
    auto before = Client(known);
    ASSERT_EQ(before->Get("/")->status, 200);
    std::vector<std::unique_ptr<RawClient>> strangers;
    for (int i = 0; i < 30; ++i) {
      strangers.push_back(std::make_unique<RawClient>(port()));
      strangers.back()->Send(first);
      if (std::string_view(first).find("healthz") != std::string_view::npos) strangers.back()->ReadAnswer();
    }
    ASSERT_TRUE(Eventually([&] { return server_->counts().accepted == 31; }));
    EXPECT_EQ(Client(known)->Get("/")->status, 200) << first;
    EXPECT_EQ(before->Get("/")->status, 200) << first;  // over the kept connection
    EXPECT_GE(server_->counts().displaced, 22U);
    EXPECT_TRUE(Eventually([&] { return server_->counts().open_connections <= 8; }));
    EXPECT_EQ(server_->counts().refused, 0U);
  }
}

// Without authentication, a client that was refused a stream and keeps its side open can still be displaced.
TEST_F(HttpLimitsTest, RefusedStreamsMakeRoom) {
  EventHub hub;
  ServerOptions options;
  options.max_connections_per_address = 20;
  options.max_streams_per_caller = 4;
  Serve(options, [&](const HttpRequest& request) {
    HttpResponse out = TextResponse(200, "");
    if (request.path == "/events") out.stream = hub.Subscribe();
    return out;
  });
  std::vector<std::unique_ptr<RawClient>> streams;
  for (int i = 0; i < 60; ++i) {
    streams.push_back(std::make_unique<RawClient>(port()));
    streams.back()->Send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(streams.back()->ReadUntil("\r\n\r\n"), StartsWith(i < 4 ? "HTTP/1.1 200" : "HTTP/1.1 429"))
        << i;
  }
  EXPECT_EQ(Client()->Get("/healthz")->status, 200);
  EXPECT_EQ(server_->counts().refused, 0U);
  EXPECT_EQ(server_->counts().open_streams, 4U);
}

TEST_F(HttpLimitsTest, OneAddressGetsItsShare) {
  ServerOptions options;
  options.listen = {{"127.0.0.1", 0}};
  options.max_connections_per_address = 2;
  options.reader_tokens = {"reader-token-0123"};
  ClientOptions known;
  known.token = "reader-token-0123";
  Serve(options);
  auto first = Client(known);
  auto second = Client(known);
  EXPECT_EQ(first->Get("/")->status, 200);
  EXPECT_EQ(second->Get("/")->status, 200);
  EXPECT_EQ(Client(known)->Get("/")->status, 503);
  RawClient other(port(), RawClient::Buffer::kUsual, "127.0.0.9");
  other.Send("GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer reader-token-0123\r\n\r\n");
  EXPECT_THAT(other.ReadAnswer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpLimitsTest, AStrangerGetsNoLongIdleTime) {
  ServerOptions options;
  options.reader_tokens = {"reader-token-0123"};
  options.open_paths = {"/healthz"};
  options.header_timeout = kShort;
  Serve(options);
  EXPECT_THAT(Ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));  // the response arrives completely
}

TEST_F(HttpLimitsTest, GoesOnAfterItRanOutOfDescriptors) {
#if defined(__clang__)
#if __has_feature(address_sanitizer)
  // The sanitizer checks through a pipe whether an address is readable, and interprets "no descriptor" as
  // "no".
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors of its own";
#endif
#endif
  Serve({});
  ASSERT_EQ(Client()->Get("/")->status, 200);
  // Wait until the first client's connection is closed: its descriptor must not become free in the middle of the
  // test.
  ASSERT_TRUE(Eventually([&] { return server_->counts().open_connections == 0; }));
  RawClient waiting(port(), RawClient::Buffer::kUsual, "", RawClient::Connect::kLater);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  std::vector<int> fillers;  // occupy all descriptors below `lowest_free`
  for (int i = 0; i < 16; ++i) fillers.push_back(dup(0));
  const int lowest_free = fillers.back();
  close(lowest_free);
  fillers.pop_back();
  const rlimit none{static_cast<rlim_t>(lowest_free), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  waiting.ConnectTo(port());
  waiting.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const bool failed = Eventually([&] { return server_->counts().accept_failures > 0; });
  setrlimit(RLIMIT_NOFILE, &before);
  for (const int filler : fillers) close(filler);
  EXPECT_TRUE(failed);
  EXPECT_THAT(waiting.ReadAnswer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpLimitsTest, RefusesMoreBytesThanItWantsToHold) {
  ServerOptions options;
  options.max_buffered_bytes = 100'000;
  Serve(options);
  RawClient holder(port());
  holder.Send(StrCat("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90001\r\n\r\n",
                     std::string(90'000, 'x')));
  ASSERT_TRUE(Eventually([&] { return server_->counts().bytes_in > 90'000; }));
  EXPECT_TRUE(
      Eventually([&] { return Client()->Post("/", std::string(20'000, 'x'), "a/b")->status == 503; }));
  holder.Send("x");
  EXPECT_THAT(holder.ReadAnswer(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Client()->Post("/", std::string(20'000, 'x'), "a/b")->status, 200);
  EXPECT_GE(server_->counts().overloaded, 1U);
}

}  // namespace
}  // namespace taut
