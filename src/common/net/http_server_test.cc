// Tests the exchange of requests and responses between a server and a client over loopback.
#include "common/net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/net/raw_client.h"
#include "common/net/server_fixture.h"

namespace taut {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using HttpServerTest = ServerFixture;

ClientOptions With(std::string token) {
  ClientOptions out;
  out.token = std::move(token);
  return out;
}

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOtherOverOneConnection) {
  Serve({});
  auto client = Client();
  const auto first = client->Get("/api/jobs/a%2Fb?x=1&y=%20z");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(first->body,
            "GET /api/jobs/a%2Fb\nsegment api\nsegment jobs\nsegment a/b\nquery x=1\nquery y= z\n");
  for (const size_t size : {size_t{0}, size_t{10}, size_t{100'000}, size_t{5'000'000}}) {
    const std::string body(size, 'x');
    const auto answer = client->Post("/p", body, "text/plain");
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->body, "POST /p\nsegment p\n" + body);
  }
  EXPECT_EQ(server_->counts().accepted, 1U);
  EXPECT_EQ(server_->counts().answers[2], 5U);
}

TEST_F(HttpServerTest, KnowsTheMethods) {
  Serve({});
  auto client = Client();
  EXPECT_EQ(client->Put("/", "a", "text/plain")->body, "PUT /\na");
  EXPECT_EQ(client->Patch("/", "b", "text/plain")->body, "PATCH /\nb");
  EXPECT_EQ(client->Delete("/")->body, "DELETE /\n");
  const auto head = client->Send({"HEAD", "/", {}, {}, {}});
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(*head->header("content-length"), "6");
  EXPECT_EQ(client->Get("/")->body, "GET /\n");
  EXPECT_EQ(server_->counts().accepted, 1U);
}

TEST_F(HttpServerTest, AnExceptionOfTheHandlerIsA500) {
  ServerOptions options;
  std::vector<std::string> told;
  options.on_exception = [&told](const HttpRequest& r, std::string_view what) {
    told.push_back(StrCat(r.path, " ", what));
  };
  Serve(options, [](const HttpRequest& r) {
    if (r.path == "/throw") throw std::runtime_error("a secret");
    if (r.path == "/odd") throw 7;
    return TextResponse(r.path == "/0" ? 0 : 204, "");
  });
  auto client = Client();
  for (const char* path : {"/throw", "/odd", "/0"}) {
    const auto answer = client->Get(path);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->status, 500);
    EXPECT_THAT(answer->body, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(client->Get("/")->status, 204);
  EXPECT_THAT(told, ElementsAre("/throw a secret", "/odd not a std::exception"));
  EXPECT_EQ(server_->counts().handler_exceptions, 2U);
  EXPECT_EQ(server_->counts().answers[5], 3U);
}

TEST_F(HttpServerTest, SendsHeadersOfItsOwnUnlessTheHandlerDoes) {
  ServerOptions options;
  options.default_headers = PageSecurityHeaders();
  Serve(options, [](const HttpRequest&) {
    HttpResponse out = JsonResponse(200, "{}");
    out.headers = {{"referrer-policy", "origin"}, {"X-Made", "a\r\nSet-Cookie: b"}};
    return out;
  });
  RawClient client(port());
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(),
              AllOf(HasSubstr("Content-Security-Policy: default-src 'none'"),
                    HasSubstr("referrer-policy: origin\r\n"), Not(HasSubstr("no-referrer")),
                    Not(HasSubstr("\nSet-Cookie")), HasSubstr("application/json")));
}

TEST_F(HttpServerTest, SharesOneBodyAmongAnswers) {
  const auto big = std::make_shared<const std::string>(3'000'000, 'y');
  Serve({}, [&big](const HttpRequest&) {
    HttpResponse out;
    out.shared_body = big;
    return out;
  });
  auto client = Client();
  EXPECT_EQ(client->Get("/")->body, *big);
  EXPECT_EQ(client->Get("/")->body, *big);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  Serve({});
  RawClient client(port());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string body(static_cast<size_t>(i * 97), 'b');
    all += StrCat("POST /", i, " HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", body.size(), "\r\n\r\n",
                  body);
  }
  client.Send(all);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(client.ReadAnswer(), HasSubstr(StrCat("POST /", i, "\n"))) << i;
  }
  EXPECT_EQ(server_->counts().accepted, 1U);
}

TEST_F(HttpServerTest, TakesARequestByteByByte) {
  Serve({});
  RawClient client(port());
  for (const char c :
       std::string("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nxyzGET /b HTTP/1.1\r\n"
                   "Host: localhost\r\n\r\n")) {
    client.Send(std::string_view(&c, 1));
  }
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("POST /a\nsegment a\nxyz"));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("GET /b\n"));
}

TEST_F(HttpServerTest, PutsChunksTogether) {
  Serve({});
  RawClient client(port());
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string big(100'000, 'z');
  client.Send(head + "3\r\nabc\r\n4;name=value\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("POST /\nabcdefg"));
  client.Send(StrCat(head, "186a0\r\n", big, "\r\n0\r\n\r\n"));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("POST /\n" + big));
  client.Send(head + "0\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("Content-Length: 7\r\n"));
}

TEST_F(HttpServerTest, SaysContinueToAClientThatAsks) {
  Serve({});
  RawClient client(port());
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("abc");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("POST /\nabc"));
}

TEST_F(HttpServerTest, AnswersAClientThatHasFinishedTalking) {
  Serve({});
  RawClient client(port());
  client.Send("GET /last HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.HalfClose();
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("GET /last"));
  EXPECT_TRUE(Eventually([&] { return server_->counts().open_connections == 0; }));
}

TEST_F(HttpServerTest, ClosesWhereTheClientWantsItClosed) {
  Serve({});
  RawClient old(port());
  old.Send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.ReadToEnd(), AllOf(HasSubstr("GET /old"), HasSubstr("Connection: close")));
  RawClient old_kept(port());
  for (int i = 0; i < 2; ++i) {
    old_kept.Send("GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(old_kept.ReadAnswer(), HasSubstr("Connection: keep-alive"));
  }
  RawClient polite(port());
  polite.Send("GET /new HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(polite.ReadToEnd(), AllOf(HasSubstr("GET /new"), HasSubstr("Connection: close")));
}

TEST_F(HttpServerTest, FinishesRequestsInFlightWhenItStops) {
  std::promise<void> entered;
  std::promise<void> leave;
  Serve({}, [&](const HttpRequest&) {
    entered.set_value();
    leave.get_future().wait();
    return TextResponse(200, std::string(1'000'000, 'a'));
  });
  RawClient idle(port());
  auto client = Client();
  auto answer = std::async(std::launch::async, [&] { return client->Get("/"); });
  entered.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server_->Stop(); });
  EXPECT_EQ(idle.ReadToEnd(), "");  // the connection is closed at once
  leave.set_value();
  const auto got = answer.get();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->body.size(), 1'000'000U);
  EXPECT_EQ(*got->header("Connection"), "close");
  stopped.get();
  server_->Stop();
  EXPECT_EQ(server_->counts().open_connections, 0U);
  EXPECT_EQ(client->Get("/").status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpServerTest, HearsClientsWhileAllHandlersAreBusy) {
  std::promise<void> leave;
  auto left = leave.get_future().share();
  std::atomic<int> inside{0};
  ServerOptions options;
  options.max_connections = 3;
  Serve(options, [&](const HttpRequest& r) {
    ++inside;
    left.wait();
    return Echo(r);
  });
  std::vector<std::future<absl::StatusOr<HttpResponse>>> answers;
  for (int i = 0; i < 2; ++i) {
    answers.push_back(std::async(std::launch::async, [client = Client()] { return client->Get("/slow"); }));
  }
  ASSERT_TRUE(Eventually([&] { return inside == 2; }));
  // Its "100 Continue" shows that the server has read its header, so that it cannot be displaced.
  RawClient third(port());
  third.Send("POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(third.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  third.Send("x");
  RawClient other(port());
  other.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(other.ReadToEnd(), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(inside, 2);
  leave.set_value();
  for (auto& answer : answers) EXPECT_TRUE(answer.get().ok());
  EXPECT_THAT(third.ReadAnswer(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(inside, 3);
}

TEST_F(HttpServerTest, CompressesForThoseWhoAsk) {
  Serve({}, [](const HttpRequest&) { return JsonResponse(200, std::string(100'000, ' ')); });
  auto client = Client();
  HttpClient::Request request;
  request.headers = {{"Accept-Encoding", "gzip"}};
  EXPECT_LT(client->Send(request)->body.size(), 10'000U);
  EXPECT_EQ(client->Get("/")->body.size(), 100'000U);
}

TEST_F(HttpServerTest, CutsWhatIsLeftAfterTheGrace) {
  ServerOptions options;
  options.grace = std::chrono::milliseconds(100);
  Serve(options);
  RawClient slow(port());
  slow.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  ASSERT_TRUE(Eventually([&] { return server_->counts().bytes_in > 50; }));
  server_->Stop();
  EXPECT_EQ(slow.ReadToEnd(), "");
  EXPECT_EQ(server_->counts().open_connections, 0U);
}

TEST_F(HttpServerTest, StopsAndStartsWhileClientsAsk) {
  for (int round = 0; round < 5; ++round) {
    Serve({});
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([client = Client()] {
        while (client->Get("/x").ok()) {
        }
      });
    }
    ASSERT_TRUE(Eventually([&] { return server_->counts().answers[2] > 20; }));
    server_.reset();
    for (std::thread& t : clients) t.join();
  }
}

TEST_F(HttpServerTest, ListensOnSeveralAddresses) {
  ServerOptions options;
  options.listen = {{"127.0.0.1", 0}, {"127.0.0.2", 0}};
  Serve(options);
  EXPECT_EQ(Client()->Get("/")->status, 200);
  options.listen = {{"127.0.0.1", port()}};
  const auto taken = HttpServer::Start(options, Echo);
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(Message(taken.status())),
              AllOf(HasSubstr(StrCat(port())), HasSubstr("another port")));
}

TEST_F(HttpServerTest, TakesNewTokensWhileItRuns) {
  ServerOptions options;
  options.operator_tokens = {"operator-token-01"};
  Serve(options, [](const HttpRequest& r) { return TextResponse(200, r.user); });
  auto old = Client(With("operator-token-01"));
  EXPECT_EQ(old->Get("/")->status, 200);
  options.operator_tokens = {{"operator-token-02", "anna"}};
  ASSERT_TRUE(server_->Reload(options).ok());
  EXPECT_EQ(old->Get("/")->status, 401);  // over the kept connection
  EXPECT_EQ(Client(With("operator-token-02"))->Get("/")->body, "anna");
  options.operator_tokens = {"short"};
  EXPECT_FALSE(server_->Reload(options).ok());
  EXPECT_EQ(Client(With("operator-token-02"))->Get("/")->status, 200);
}

TEST_F(HttpServerTest, AsksForATokenBeforeItReadsABody) {
  ServerOptions options;
  options.reader_tokens = {"reader-token-0123"};
  options.operator_tokens = {"operator-token-01"};
  Serve(options, [](const HttpRequest& r) { return TextResponse(200, StrCat(static_cast<int>(r.role))); });
  EXPECT_EQ(Client()->Get("/")->status, 401);
  EXPECT_EQ(Client(With("wrong-token-01234"))->Get("/")->status, 401);
  EXPECT_EQ(Client(With("reader-token-0123"))->Get("/")->body, StrCat(static_cast<int>(Role::kReader)));
  EXPECT_EQ(Client(With("operator-token-01"))->Get("/")->body, StrCat(static_cast<int>(Role::kOperator)));
  RawClient stranger(port());
  stranger.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nabc");
  EXPECT_THAT(stranger.ReadUntil("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Connection: close")));
  EXPECT_EQ(server_->counts().unauthorized, 3U);
}

}  // namespace
}  // namespace taut
