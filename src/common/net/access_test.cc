// Tests the roles of tokens, and the rejection of requests that another site makes a browser send.
#include "common/net/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace taut {
namespace {

constexpr char kReader[] = "reader-token-0123";
constexpr char kOperator[] = "operator-token-01";

ServerOptions WithTokens() {
  ServerOptions options;
  options.reader_tokens = {"another-reader-00", kReader};
  options.operator_tokens = {kOperator};
  return options;
}

HttpRequest Request(std::vector<HttpHeader> headers, std::string method = "GET") {
  HttpRequest out;
  out.method = std::move(method);
  out.path = "/api";
  out.headers = std::move(headers);
  return out;
}

// Returns the status of the refusal; 0 if the request may be handled.
int Refused(const Access& access, HttpRequest request) {
  request.role = access.RoleOf(request, false);
  const auto answer = access.Refuse(request);
  return answer ? answer->status : 0;
}

TEST(Access, KnowsRolesByToken) {
  const Access access(WithTokens());
  const auto role = [&](std::string authorization) {
    return access.RoleOf(Request({{"authorization", std::move(authorization)}}), false);
  };
  EXPECT_EQ(role(std::string("Bearer ") + kReader), Role::kReader);
  EXPECT_EQ(role(std::string("bearer  ") + kOperator + " "), Role::kOperator);
  EXPECT_EQ(role("Bearer "), Role::kNone);
  EXPECT_EQ(role("Bearer reader-token-012"), Role::kNone);
  EXPECT_EQ(role(std::string("Digest ") + kReader), Role::kNone);
  EXPECT_EQ(role(kReader), Role::kNone);
  EXPECT_EQ(role("Basic YW55Ym9keTpyZWFkZXItdG9rZW4tMDEyMw=="), Role::kReader);  // anybody:reader-token-0123
  EXPECT_EQ(role("Basic Om9wZXJhdG9yLXRva2VuLTAx"), Role::kOperator);            // :operator-token-01
  EXPECT_EQ(role("Basic cmVhZGVyLXRva2VuLTAxMjM="), Role::kNone);                // no colon
  EXPECT_EQ(role("Basic ###="), Role::kNone);
  EXPECT_EQ(access.RoleOf(Request({}), false), Role::kNone);
  EXPECT_EQ(access.RoleOf(Request({}), true), Role::kOperator);
}

TEST(Access, AWriterIsNoReaderAndNamesComeWithTokens) {
  ServerOptions options = WithTokens();
  options.writer_tokens = {{"writer-token-0123", "prometheus of cell a"}};
  options.operator_tokens = {{kOperator, "anna"}};
  const Access access(options);
  const auto caller = [&](std::string_view token) {
    return access.CallerOf(Request({{"Authorization", "Bearer " + std::string(token)}}), std::nullopt);
  };
  EXPECT_EQ(caller("writer-token-0123").role, Role::kWriter);
  EXPECT_EQ(caller("writer-token-0123").user, "prometheus of cell a");
  EXPECT_EQ(caller(kOperator).user, "anna");
  EXPECT_EQ(caller(kReader).user, "");
  EXPECT_TRUE(caller(kReader).authenticated);
  EXPECT_FALSE(caller("guessed-token-0123").authenticated);
  EXPECT_EQ(access.CallerOf(Request({}), "node-7").user, "node-7");
  EXPECT_FALSE(Access(ServerOptions()).CallerOf(Request({}), std::nullopt).authenticated);
}

// Accepts "a.b.c", and rejects other tokens that contain dots, with a reason.
class OneToken final : public BearerVerifier {
 public:
  bool Takes(std::string_view token) const override { return token.find('.') != std::string_view::npos; }
  absl::StatusOr<Caller> CallerOf(std::string_view token) const override {
    if (token != "a.b.c") return absl::UnauthenticatedError("it has expired");
    return Caller{.role = Role::kGroup, .user = "oidc:mia", .authenticated = true, .valid_until_s = 7};
  }
};

TEST(Access, AVerifierIsAskedForTokensThatAreInNoList) {
  ServerOptions options;
  options.verifier = std::make_shared<const OneToken>();
  options.listen = {{"0.0.0.0", 0}};
  EXPECT_TRUE(options.Check().ok()) << "strangers are kept out";
  options.operator_tokens = {kOperator};
  const Access access(options);
  HttpRequest request = Request({{"Authorization", "Bearer a.b.c"}});
  const Caller mia = access.CallerOf(request, std::nullopt);
  EXPECT_EQ(mia.user, "oidc:mia");
  EXPECT_EQ(mia.valid_until_s, 7);
  EXPECT_EQ(access.CallerOf(request, "node-7").role, Role::kOperator) << "the certificate's role is higher";
  EXPECT_EQ(access.RoleOf(Request({{"Authorization", std::string("Bearer ") + kOperator}}), false),
            Role::kOperator);
  const Caller old = access.CallerOf(Request({{"Authorization", "Bearer a.b.d"}}), std::nullopt);
  EXPECT_EQ(old.role, Role::kNone);
  EXPECT_FALSE(old.authenticated);
  request.refusal = old.refusal;
  EXPECT_THAT(access.Refuse(request)->body, testing::HasSubstr("it has expired"));
}

// Accepts the session "id-1".
class OneSession final : public BrowserSessions {
 public:
  std::string_view cookie_name() const override { return "__Host-s"; }
  absl::StatusOr<Caller> CallerOf(std::string_view cookie) const override {
    if (cookie != "id-1") return absl::UnauthenticatedError("the session is over");
    return Caller{.role = Role::kReader, .user = "oidc:mia", .authenticated = true, .valid_until_s = 7};
  }
};

TEST(Access, ASessionIsThatOfItsCookie) {
  struct Case {
    std::vector<HttpHeader> headers;
    Role role;
    bool by_session;
  };
  ServerOptions options = WithTokens();
  options.sessions = std::make_shared<const OneSession>();
  const Access access(options);
  const std::string operator_token = std::string("Bearer ") + kOperator;
  const Case cases[] = {
      {{}, Role::kNone, false},
      {{{"Cookie", "__Host-s=id-1"}}, Role::kReader, true},
      {{{"cookie", "a=b; __Host-s=id-1;c=d"}}, Role::kReader, true},
      {{{"Cookie", "a=b"}, {"Cookie", "__Host-s=id-1"}}, Role::kReader, true},
      {{{"Cookie", "__Host-s=id-2; __Host-s=id-1"}}, Role::kNone, false},
      {{{"Cookie", "x__Host-s=id-1"}}, Role::kNone, false},
      {{{"Cookie", "__Host-s"}}, Role::kNone, false},
      {{{"Cookie", "__Host-s="}}, Role::kNone, false},
      {{{"Cookie", "__Host-s=id-1"}, {"Authorization", operator_token}}, Role::kOperator, false},
      {{{"Cookie", "__Host-s=id-1"}, {"Authorization", "Bearer an-old-token-0123"}}, Role::kReader, true},
      {{{"Authorization", "Bearer id-1"}}, Role::kNone, false},
  };
  for (const Case& c : cases) {
    const Caller caller = access.CallerOf(Request(c.headers), std::nullopt);
    EXPECT_EQ(caller.role, c.role) << (c.headers.empty() ? "" : c.headers.front().value);
    EXPECT_EQ(caller.by_session, c.by_session);
  }
  HttpRequest request = Request({{"Cookie", "__Host-s=id-2"}});
  request.refusal = access.CallerOf(request, std::nullopt).refusal;
  EXPECT_THAT(access.Refuse(request)->body, testing::HasSubstr("the session is over"));
  EXPECT_FALSE(
      Access(WithTokens()).CallerOf(Request({{"Cookie", "__Host-s=id-1"}}), std::nullopt).authenticated);
}

// Requests that a page of another site, or of another port of this host, can make a browser send.
TEST(Access, ASessionChangesNothingUnlessAPageOfOursAsks) {
  struct Case {
    const char* method;
    std::vector<HttpHeader> headers;
    int status;  // status of the refusal; 0: handled
  };
  ServerOptions options = WithTokens();
  options.sessions = std::make_shared<const OneSession>();
  options.names = {"proxy.example"};
  options.certificate_file = "server.pem";
  const Access access(options);
  const Case cases[] = {
      {"GET", {}, 0},
      {"GET", {{"Origin", "https://evil.example"}}, 0},  // the page cannot read the response
      {"POST", {}, 403},
      {"PATCH", {}, 403},
      {"DELETE", {}, 403},
      {"POST", {{"Origin", "https://tautline.example"}}, 0},
      {"POST", {{"Origin", "https://proxy.example"}}, 0},
      {"POST", {{"Origin", "https://evil.example"}}, 403},
      {"POST", {{"Origin", "https://tautline.example:8443"}}, 403},
      {"POST", {{"Origin", "null"}}, 403},
      {"POST", {{"Sec-Fetch-Site", "same-origin"}}, 0},
      {"POST", {{"Sec-Fetch-Site", "same-site"}}, 403},
      {"POST", {{"Sec-Fetch-Site", "cross-site"}}, 403},
      {"POST", {{"Sec-Fetch-Site", "none"}}, 403},
      {"POST", {{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "same-origin"}}, 403},
      {"POST", {{"Origin", "http://tautline.example"}}, 403},
  };
  for (const Case& c : cases) {
    HttpRequest request = Request(c.headers);
    std::erase_if(request.headers, [](const HttpHeader& h) { return h.name == "Host"; });
    request.headers.push_back({"Host", "tautline.example"});
    request.method = c.method;
    request.role = Role::kOperator;
    request.by_session = true;
    const auto refused = access.Refuse(request);
    EXPECT_EQ(refused.has_value() ? refused->status : 0, c.status)
        << c.method << " " << (c.headers.empty() ? "" : c.headers.front().value);
    request.by_session = false;
    if (c.headers.empty()) {
      EXPECT_FALSE(access.Refuse(request).has_value()) << "a program with a token says no Origin";
    }
  }
}

TEST(Access, PeopleOfGroupsHaveTheirBindings) {
  ServerOptions options = WithTokens();
  options.group_tokens = {{"group-token-01234", "mia", {{"shop", GroupRole::kMember}}}};
  const Access access(options);
  const Caller mia = access.CallerOf(Request({{"Authorization", "Bearer group-token-01234"}}), std::nullopt);
  EXPECT_EQ(mia.role, Role::kGroup);
  ASSERT_NE(mia.bindings, nullptr);
  EXPECT_EQ(*mia.bindings, (GroupBindings{{"shop", GroupRole::kMember}}));
  EXPECT_EQ(
      access.CallerOf(Request({{"Authorization", std::string("Bearer ") + kReader}}), std::nullopt).bindings,
      nullptr);
}

TEST(Access, ACertificateGivesTheRoleOfTheOptions) {
  ServerOptions options = WithTokens();
  options.client_ca_file = "ca.pem";
  options.client_role = Role::kReader;
  const Access access(options);
  EXPECT_EQ(access.RoleOf(Request({}), true), Role::kReader);
  EXPECT_EQ(access.RoleOf(Request({{"Authorization", std::string("Bearer ") + kOperator}}), true),
            Role::kOperator);
}

TEST(Access, AsksAPageForAPasswordAndAProgramForAToken) {
  ServerOptions options = WithTokens();
  options.open_paths = {"/healthz"};
  const Access access(options);
  const auto page = access.Refuse(Request({{"Accept", "text/html,*/*"}}));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 401);
  EXPECT_EQ(*page->header("WWW-Authenticate"), "Basic realm=\"tautline\"");
  const auto program = access.Refuse(Request({{"Accept", "application/json"}}));
  EXPECT_EQ(*program->header("WWW-Authenticate"), "Bearer realm=\"tautline\"");
  EXPECT_EQ(program->content_type, "application/json");
  EXPECT_EQ(program->body.rfind("{\"error\":", 0), 0U);
  HttpRequest open = Request({});
  open.path = "/healthz";
  EXPECT_FALSE(access.Refuse(open));
  open.path = "/healthz/more";
  EXPECT_TRUE(access.Refuse(open));
}

TEST(Access, WithoutTokensEverybodyIsOperatorButNotUnderAStrangersName) {
  ServerOptions options;
  options.names = {"taut.internal"};
  const Access access(options);
  EXPECT_EQ(access.RoleOf(Request({}), false), Role::kOperator);
  for (const char* host : {"127.0.0.1:9190", "localhost", "LOCALHOST:1", "[::1]:80", "192.0.2.7",
                           "taut.internal", "Taut.Internal:9190"}) {
    EXPECT_EQ(Refused(access, Request({{"Host", host}})), 0) << host;
  }
  for (const char* host : {"evil.example", "evil.example:9190", "", "localhost.evil.example",
                           "127.0.0.1.evil.example", "[::1", "127.0.0.1@evil"}) {
    EXPECT_EQ(Refused(access, Request({{"Host", host}})), 421) << host;
  }
  EXPECT_EQ(Refused(access, Request({{"Host", "localhost"}, {"host", "evil.example"}})), 400);
}

TEST(Access, PagesOfAnotherSiteMayNotWrite) {
  ServerOptions options;
  options.names = {"proxy.example:8443"};
  const Access access(options);
  const auto refused = [&](const char* origin, const char* method) {
    return Refused(access, Request({{"Host", "127.0.0.1:9190"}, {"Origin", origin}}, method));
  };
  EXPECT_EQ(refused("http://127.0.0.1:9190", "POST"), 0);
  EXPECT_EQ(refused("https://proxy.example:8443", "POST"), 0);
  for (const char* origin :
       {"http://127.0.0.1:9191", "http://evil.example", "null", "", "http://", "127.0.0.1:9190",
        "http://127.0.0.1:9190.evil.example", "http://proxy.example", "https://127.0.0.1:9190"}) {
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
      EXPECT_EQ(refused(origin, method), 403) << method << " " << origin;
    }
    EXPECT_EQ(refused(origin, "GET"), 0) << origin;
  }
  EXPECT_EQ(Refused(access, Request({{"Host", "localhost"}}, "POST")), 0);
  // A proxy terminates TLS, and the browser confirms that the page has the same origin.
  EXPECT_EQ(
      Refused(
          access,
          Request({{"Host", "localhost"}, {"Origin", "https://localhost"}, {"Sec-Fetch-Site", "same-origin"}},
                  "POST")),
      0);
}

TEST(NetworkOfPeer, IsTheAddressOrTheNetworkOfIpv6) {
  EXPECT_EQ(NetworkOfPeer("192.0.2.7:40404"), "192.0.2.7");
  EXPECT_EQ(NetworkOfPeer("[::ffff:192.0.2.7]:40404"), "192.0.2.7");
  EXPECT_EQ(NetworkOfPeer("[2001:db8:1:2:3::4]:1"), "2001:db8:1:2");
  EXPECT_EQ(NetworkOfPeer("[::1]:1"), "::1");
}

TEST(Access, DecodesBase64) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("YQ=="), "a");
  EXPECT_EQ(DecodeBase64("YWI="), "ab");
  EXPECT_EQ(DecodeBase64("YWJj"), "abc");
  EXPECT_EQ(DecodeBase64("+/+/"), "\xfb\xff\xbf");
  for (const char* text : {"Y", "YQ", "YQ=", "=", "====", "Y===", "YQ==YQ==", "Y Q="}) {
    EXPECT_FALSE(DecodeBase64(text)) << text;
  }
}

}  // namespace
}  // namespace taut
