// A server and a client over loopback: what one says, the other hears.
#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "base/strings.h"
#include "net/http_client.h"

namespace taut {
namespace {

HttpResponse Echo(const HttpRequest& r) {
  if (r.path == "/throw") throw std::runtime_error("broken");
  std::string out = StrCat(r.method, " ", r.path, "\n");
  for (const std::string& s : r.segments) StrAppend(&out, "segment ", s, "\n");
  for (const QueryParameter& p : r.query) StrAppend(&out, "query ", p.name, "=", p.value, "\n");
  return TextResponse(200, out + r.body);
}

class HttpServerTest : public testing::Test {
 protected:
  void Serve(const ServerOptions& options, HttpServer::Handler handler = Echo) {
    auto server = HttpServer::Start(options, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }
  std::unique_ptr<HttpClient> Client(const ClientOptions& options = {}) {
    auto client = HttpClient::Create(StrCat("http://127.0.0.1:", server_->port()), options);
    EXPECT_TRUE(client.ok()) << client.status();
    return std::move(*client);
  }
  std::unique_ptr<HttpServer> server_;
};

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

TEST_F(HttpServerTest, AnExceptionOfTheHandlerIsA500) {
  Serve({});
  auto client = Client();
  const auto answer = client->Get("/throw");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(answer->body.find("broken"), std::string::npos);
  EXPECT_EQ(client->Get("/")->status, 200);
  EXPECT_EQ(server_->counts().handler_exceptions, 1U);
}

TEST_F(HttpServerTest, StreamsEvents) {
  EventHub hub;
  Serve({}, [&hub](const HttpRequest&) {
    HttpResponse out;
    out.stream = hub.Subscribe();
    out.stream->Publish("hello", "first\nsecond", "7");
    return out;
  });
  auto client = Client();
  std::vector<std::string> seen;
  const absl::Status status = client->ReadEvents("/", [&](const ServerEvent& e) {
    seen.push_back(StrCat(e.event, "|", e.data, "|", e.id));
    if (seen.size() == 1) hub.Publish("", "third");
    return seen.size() < 2;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(seen, testing::ElementsAre("hello|first\nsecond|7", "message|third|7"));
}

}  // namespace
}  // namespace taut
