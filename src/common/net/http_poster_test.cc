// Tests posts to a real server, and the check of URLs.
#include "common/net/http_poster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "common/net/server_fixture.h"
#include "common/testing/eventually.h"

namespace taut {
namespace {

using testing::HasSubstr;
using testing::Not;

class HttpPosterTest : public ServerFixture {
 protected:
  std::unique_ptr<HttpPoster> Poster(std::string_view path) {
    auto poster = MakeHttpPoster({.url = StrCat("http://127.0.0.1:", port(), path)});
    EXPECT_TRUE(poster.ok()) << poster.status();
    return *std::move(poster);
  }
};

TEST_F(HttpPosterTest, SendsTheBodyToPathAndQueryWithItsHeaders) {
  Serve({}, [](const HttpRequest& r) {
    return TextResponse(202, StrCat(r.method, " ", r.path, " a=", *r.parameter("a"), " ",
                                    *r.header("Content-Type"), " ", *r.header("X-Key"), " ", r.body));
  });
  const absl::StatusOr<HttpResponse> got = Poster("/hooks/1?a=b")->Post("{}", {{"X-Key", "k"}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->status, 202);
  EXPECT_EQ(got->body, "POST /hooks/1 a=b application/json k {}");
}

TEST_F(HttpPosterTest, ReturnsRedirectsAndBoundsResponses) {
  Serve({}, [](const HttpRequest& r) {
    if (r.path == "/big") return TextResponse(200, std::string((64 << 10) + 1, 'x'));
    if (r.path != "/moved") return TextResponse(200, "followed");
    HttpResponse out = TextResponse(307, "");
    out.headers.push_back({"Location", "/elsewhere"});
    return out;
  });
  const absl::StatusOr<HttpResponse> moved = Poster("/moved")->Post("{}", {});
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->status, 307);
  EXPECT_EQ(Poster("/big")->Post("{}", {}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpPosterTest, AServerThatDoesNotAnswerEndsAtTheDeadline) {
  // The server and the request may outlive this function.
  const auto done = std::make_shared<std::atomic<bool>>(false);
  Serve({}, [done](const HttpRequest&) {
    (void)Eventually([&] { return done->load(); });
    return TextResponse(200, "");
  });
  auto poster = MakeHttpPoster(
      {.url = StrCat("http://127.0.0.1:", port(), "/"), .timeout = std::chrono::milliseconds(50)});
  ASSERT_TRUE(poster.ok()) << poster.status();
  EXPECT_EQ((*poster)->Post("{}", {}).status().code(), absl::StatusCode::kDeadlineExceeded);
  *done = true;
}

TEST(HttpPosterUrl, RejectsWhatCannotBeUsedAndShowsNoPassword) {
  for (const std::string_view url :
       {"ftp://host/x", "host/x", "http://", "http://host/a b", "http://host/a#b", "http://host/\r\nX: 1",
        "http://host:port/", "https://anna:geheim@host/x", "http://host?q@x:y#"}) {
    const absl::Status status = MakeHttpPoster({.url = std::string(url)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(std::string(Message(status)), Not(HasSubstr("geheim")));
  }
  EXPECT_TRUE(MakeHttpPoster({.url = "http://host"}).ok());
  EXPECT_TRUE(MakeHttpPoster({.url = "http://[::1]:8090/hooks?x=1"}).ok());
  EXPECT_FALSE(MakeHttpPoster({.url = "https://host/", .ca_file = "/nowhere.pem"}).ok());
}

TEST(HttpPosterUrl, PlainHttpIsUnprotectedUnlessItStaysOnThisMachine) {
  for (const std::string_view url :
       {"http://10.0.0.1/x", "http://example.com", "http://127.example.com/", "http://localhost.example.com",
        "http://[fe80::1]:80/", "HTTP://host/"}) {
    EXPECT_TRUE(IsUnprotectedUrl(url)) << url;
  }
  for (const std::string_view url : {"https://example.com", "http://127.0.0.1:8090/x", "http://127.9.9.9",
                                     "http://[::1]:80/", "http://LocalHost:80"}) {
    EXPECT_FALSE(IsUnprotectedUrl(url)) << url;
  }
}

}  // namespace
}  // namespace taut
