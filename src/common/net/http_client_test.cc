// Tests the client's errors for an absent server, a slow server, and a server that does not send HTTP.
#include "common/net/http_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/net/server_fixture.h"
#include "common/testing/temp_dir.h"

namespace taut {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HttpClientTest : public ServerFixture {};

// Responds to each connection with the next of `answers`, then closes it. Listens on a free port, or on the
// Unix socket `path`.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers, const std::string& path = "")
      : fd_(socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM, 0)) {
    path.empty() ? BindToPort() : BindTo(path);
    EXPECT_EQ(listen(fd_, 5), 0);
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const std::string& answer : answers) {
        const int client = accept(fd_, nullptr, nullptr);
        char request[4096];
        (void)!recv(client, request, sizeof(request), 0);
        send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        close(client);
      }
    });
  }
  ~ScriptedServer() {
    thread_.join();
    close(fd_);
  }
  std::string url() const { return StrCat("http://127.0.0.1:", port_); }

 private:
  void BindToPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    socklen_t size = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  void BindTo(const std::string& path) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }

  const int fd_;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST(HttpClient, SendsRequestsOverAUnixSocket) {
  const TempDir dir;
  const std::string path = dir.File("socket");
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  ScriptedServer server(
      {answer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na\nb\n\r\n0\r\n\r\n"}, path);
  const auto client = *HttpClient::Create(StrCat("unix://", path), {});
  const auto response = client->Get("/x");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "hi");

  std::vector<std::string> seen;
  HttpClient::LineStream stream;
  stream.on_open = [&] { seen.push_back("open"); };
  stream.on_line = [&](std::string_view line) {
    seen.emplace_back(line);
    return true;
  };
  EXPECT_TRUE(client->ReadLines({}, stream).ok());
  EXPECT_THAT(seen, testing::ElementsAre("open", "a", "b"));
}

TEST(HttpClient, AnAbsentUnixSocketIsUnavailable) {
  const auto absent = *HttpClient::Create("unix:///taut_no_such_folder/socket", {});
  const absl::Status status = absent->Get("/x").status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("No such file"));
  const auto too_long = *HttpClient::Create(StrCat("unix:///", std::string(200, 'x')), {});
  EXPECT_THAT(std::string(Message(too_long->Get("/x").status())), HasSubstr("at most 107 bytes"));
  EXPECT_TRUE(absl::IsInvalidArgument(HttpClient::Create("unix://relative", {}).status()));
}

TEST_F(HttpClientTest, SaysWhichServerIsNotThere) {
  Serve({});
  ClientOptions options;
  options.unreachable_hint = "name another with --server";
  auto client = Client(options);
  const std::string url = client->base_url();
  server_.reset();
  const auto answer = client->Get("/api/v1/jobs");
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(Message(answer.status())),
              AllOf(HasSubstr(url + "/api/v1/jobs"), HasSubstr("refused"), HasSubstr("--server")));
}

TEST_F(HttpClientTest, RefusesAddressesThatAreNone) {
  for (const char* url :
       {"", "localhost:80", "ftp://x", "http://", "http://:80", "http://a:b", "http://a:123456",
        "http://a b/", "http://u:p@a", "http://a/?q", "http://[::1", "http://[]:80", "http://a:"}) {
    const auto client = HttpClient::Create(url, {});
    EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument) << url;
  }
  for (const char* url : {"http://a", "HTTPS://a:1/", "http://[::1]:80/prefix/"}) {
    EXPECT_TRUE(HttpClient::Create(url, {}).ok()) << url;
  }
}

TEST_F(HttpClientTest, PutsThePathOfItsAddressFirst) {
  Serve({});
  auto client = HttpClient::Create(StrCat("http://localhost:", port(), "/prometheus/"), {});
  const auto answer = (*client)->Get("/api?x=1");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->body, HasSubstr("GET /prometheus/api\n"));
}

TEST_F(HttpClientTest, GivesUpInTime) {
  std::promise<void> leave;
  auto left = leave.get_future().share();
  Serve({}, [left](const HttpRequest&) {
    left.wait();
    return TextResponse(200, "late");
  });
  ClientOptions options;
  options.timeout = std::chrono::milliseconds(100);
  EXPECT_EQ(Client(options)->Get("/").status().code(), absl::StatusCode::kDeadlineExceeded);
  leave.set_value();
}

TEST_F(HttpClientTest, TakesNoMoreThanItWasAllowed) {
  Serve({}, [](const HttpRequest&) { return TextResponse(200, std::string(1001, 'x')); });
  ClientOptions options;
  options.max_body_bytes = 1000;
  EXPECT_EQ(Client(options)->Get("/").status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpClientTest, ConnectsAgainWhenTheServerClosedAKeptConnection) {
  ServerOptions options;
  options.idle_timeout = std::chrono::milliseconds(1000);
  Serve(options);
  auto client = Client();
  EXPECT_EQ(client->Get("/")->status, 200);
  ASSERT_TRUE(Eventually([&] { return server_->counts().open_connections == 0; }));
  EXPECT_EQ(client->Get("/")->status, 200);
  EXPECT_EQ(server_->counts().accepted, 2U);
}

TEST_F(HttpClientTest, UnderstandsAllWaysToEndABody) {
  const ScriptedServer server(
      {"HTTP/1.1 200 OK\r\n\r\nto the end", "HTTP/1.1 204 No Content\r\n\r\n",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
       "2\r\nde\r\n0\r\n\r\n",
       "HTTP/1.0 404 Gone\r\nContent-Length: 2\r\nContent-Type: a/b\r\n\r\nno"});
  auto client = HttpClient::Create(server.url(), {});
  EXPECT_EQ((*client)->Get("/")->body, "to the end");
  EXPECT_EQ((*client)->Get("/")->status, 204);
  EXPECT_EQ((*client)->Get("/")->body, "abcde");
  const auto last = (*client)->Get("/");
  EXPECT_EQ(last->status, 404);
  EXPECT_EQ(last->content_type, "a/b");
  const absl::Status status = StatusOf(*last);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("404 Not Found: no"));
}

TEST_F(HttpClientTest, RefusesAnswersThatAreDamaged) {
  const ScriptedServer server(
      {"SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", ""});
  auto client = HttpClient::Create(server.url(), {});
  EXPECT_EQ((*client)->Get("/").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ((*client)->Get("/").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ((*client)->Get("/").status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace taut
