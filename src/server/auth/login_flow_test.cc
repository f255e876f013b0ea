// Tests every step of a sign-in, and the attacks that are possible at each step.
#include "server/auth/login_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using Stage = LoginFlow::Stage;
using Query = std::vector<QueryParameter>;

constexpr int64_t kBegin = 1'700'000'000;

// Returns the parameters of an address.
std::map<std::string, std::string> ParametersOf(const std::string& address) {
  std::map<std::string, std::string> out;
  const auto query = ParseQuery(address.substr(address.find('?') + 1));
  for (const QueryParameter& each : query.value_or(Query())) out[each.name] = each.value;
  return out;
}

class LoginFlowTest : public testing::Test {
 protected:
  LoginOptions Options() {
    LoginOptions out;
    out.issuer = "https://id.example";
    out.client_id = "tautd & co";
    out.redirect_url = "https://tautline.example/login/callback";
    out.scopes = "openid groups";
    out.random = [this](size_t bytes) { return std::string(bytes, static_cast<char>('a' + draws_++)); };
    return out;
  }
  std::string Why(std::string_view cookie, const Query& query, int64_t now_s = kBegin) {
    return std::string(flow_.Callback(cookie, query, now_s).status().message());
  }
  static std::string StateOf(const LoginFlow::Begun& begun) { return ParametersOf(begun.location)["state"]; }

  int draws_ = 0;
  LoginProvider provider_{"https://id.example/authorize", "https://id.example/token"};
  LoginFlow flow_{Options()};
};

TEST_F(LoginFlowTest, SendsTheBrowserToTheProvider) {
  const LoginFlow::Begun begun = flow_.Begin(provider_, kBegin);
  EXPECT_TRUE(begun.location.starts_with("https://id.example/authorize?response_type=code&"))
      << begun.location;
  auto parameters = ParametersOf(begun.location);
  EXPECT_EQ(parameters["client_id"], "tautd & co");
  EXPECT_EQ(parameters["redirect_uri"], "https://tautline.example/login/callback");
  EXPECT_EQ(parameters["scope"], "openid groups");
  EXPECT_EQ(parameters["code_challenge_method"], "S256");
  for (const char* secret : {"state", "nonce", "code_challenge"}) {
    EXPECT_EQ(parameters[secret].size(), 43U) << secret;  // 256 bits in base64url
    EXPECT_THAT(begun.cookie, Not(HasSubstr(parameters[secret]))) << secret;
  }
  EXPECT_NE(parameters["state"], parameters["nonce"]);
  const LoginFlow::Begun other = flow_.Begin(provider_, kBegin);
  EXPECT_NE(other.cookie, begun.cookie);
  EXPECT_NE(StateOf(other), StateOf(begun));
  const LoginProvider with_query{"https://id.example/authorize?tenant=1", ""};
  EXPECT_THAT(flow_.Begin(with_query, kBegin).location, HasSubstr("/authorize?tenant=1&response_type=code&"));
}

TEST_F(LoginFlowTest, ACodeOfThisBrowserIsExchangedOnceAndCollectedOnce) {
  const LoginFlow::Begun begun = flow_.Begin(provider_, kBegin);
  const Query query = {{"code", "c-1"}, {"state", StateOf(begun)}, {"iss", "https://id.example"}};
  EXPECT_EQ(flow_.Collect(begun.cookie, kBegin).stage, Stage::kUnknown);
  const auto exchange = flow_.Callback(begun.cookie, query, kBegin + 30);
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  EXPECT_EQ(exchange->code, "c-1");
  EXPECT_EQ(exchange->nonce, ParametersOf(begun.location)["nonce"]);
  EXPECT_EQ(exchange->verifier.size(), 43U);
  EXPECT_THAT(begun.location, Not(HasSubstr(exchange->verifier)));
  EXPECT_EQ(Why(begun.cookie, query, kBegin + 31), "This sign-in was used before.");
  EXPECT_EQ(flow_.Collect(begun.cookie, kBegin + 31).stage, Stage::kWaiting);
  const LoginFlow::Begun other = flow_.Begin(provider_, kBegin);
  EXPECT_EQ(flow_.Collect(other.cookie, kBegin + 31).stage, Stage::kUnknown) << "of another browser";
  flow_.Finish(exchange->id, VerifiedToken{"mia", {"sre"}, kBegin + 600});
  flow_.Finish(exchange->id, absl::UnavailableError("late"));
  const LoginFlow::Collected done = flow_.Collect(begun.cookie, kBegin + 32);
  EXPECT_EQ(done.stage, Stage::kDone);
  EXPECT_EQ(done.claims.user, "mia");
  EXPECT_EQ(flow_.Collect(begun.cookie, kBegin + 33).stage, Stage::kUnknown) << "said once";
  EXPECT_EQ(Why(begun.cookie, query, kBegin + 34), "This sign-in was used before.");
}

TEST_F(LoginFlowTest, AFailureIsSaidOnce) {
  const LoginFlow::Begun begun = flow_.Begin(provider_, kBegin);
  const auto exchange = flow_.Callback(begun.cookie, {{"code", "c"}, {"state", StateOf(begun)}}, kBegin);
  flow_.Finish(exchange->id, absl::UnavailableError("id.example did not answer"));
  const LoginFlow::Collected failed = flow_.Collect(begun.cookie, kBegin);
  EXPECT_EQ(failed.stage, Stage::kFailed);
  EXPECT_EQ(failed.error, "id.example did not answer");
  EXPECT_EQ(flow_.Collect(begun.cookie, kBegin).stage, Stage::kUnknown);
}

// Requests to the callback at a time after the start of the sign-in. Each request is rejected for the stated
// reason.
TEST_F(LoginFlowTest, WhatIsNotOfThisSignInIsRefused) {
  struct Case {
    const char* what;
    std::string cookie;
    Query query;
    int64_t after_s;
    const char* why;
  };
  const LoginFlow::Begun mine = flow_.Begin(provider_, kBegin), other = flow_.Begin(provider_, kBegin);
  const std::string state = StateOf(mine);
  const std::string later = StrCat(mine.cookie.substr(0, mine.cookie.find('.')), ".", kBegin + 5);
  const Case cases[] = {
      {"no cookie", "", {{"code", "c"}, {"state", state}}, 1, "No sign-in is under way"},
      {"nonsense for a cookie", "x", {{"code", "c"}, {"state", state}}, 1, "No sign-in is under way"},
      {"a time that is none", "abc.1e9", {{"code", "c"}, {"state", state}}, 1, "No sign-in is under way"},
      {"a huge cookie", std::string(5000, 'a') + ".1", {{"state", state}}, 1, "No sign-in is under way"},
      {"10 minutes later", mine.cookie, {{"code", "c"}, {"state", state}}, 600, "longer than 10 minutes"},
      {"a clock that went back",
       mine.cookie,
       {{"code", "c"}, {"state", state}},
       -61,
       "No sign-in is under way"},
      {"the state of another browser",
       mine.cookie,
       {{"code", "c"}, {"state", StateOf(other)}},
       1,
       "not of the last"},
      {"the cookie of another browser",
       other.cookie,
       {{"code", "c"}, {"state", state}},
       1,
       "not of the last"},
      {"a cookie with a later time", later, {{"code", "c"}, {"state", state}}, 1, "not of the last"},
      {"no state", mine.cookie, {{"code", "c"}}, 1, "not of the last"},
      {"a state that begins as ours",
       mine.cookie,
       {{"code", "c"}, {"state", state.substr(0, 42)}},
       1,
       "not of the last"},
      {"an error without a state",
       mine.cookie,
       {{"error", "x"}, {"error_description", "<b>hi"}},
       1,
       "not of the last"},
  };
  for (const Case& c : cases) {
    const std::string why = Why(c.cookie, c.query, kBegin + c.after_s);
    EXPECT_THAT(why, HasSubstr(c.why)) << c.what;
    EXPECT_THAT(why, Not(HasSubstr("<b>"))) << c.what;
  }
  EXPECT_EQ(flow_.pending(), 0U) << "none of it takes memory";
  EXPECT_EQ(Why(mine.cookie, {{"code", "c"}, {"state", state}}, kBegin + 599), "")
      << "and the sign-in goes on";
}

TEST_F(LoginFlowTest, WhatTheProviderRefusesIsSaidAsText) {
  struct Case {
    Query query;
    const char* why;
  };
  const Case cases[] = {
      {{{"error", "access_denied"}}, "The provider refused the sign-in: access_denied"},
      {{{"error", "access_denied"}, {"error_description", "End-User aborted\ninteraction"}},
       "End-User aborted\\x0ainteraction"},
      {{{"error", "x"}, {"code", "c"}}, "The provider refused the sign-in: x"},
      {{{"iss", "https://evil.example"}, {"code", "c"}}, "of another provider"},
      {{}, "has no code"},
      {{{"code", ""}}, "has no code"},
      {{{"code", std::string(5000, 'c')}}, "has no code"},
  };
  for (const Case& c : cases) {
    const LoginFlow::Begun begun = flow_.Begin(provider_, kBegin);
    Query query = c.query;
    query.push_back({"state", StateOf(begun)});
    EXPECT_THAT(Why(begun.cookie, query), HasSubstr(c.why));
    EXPECT_EQ(Why(begun.cookie, {{"code", "c"}, {"state", StateOf(begun)}}), "This sign-in was used before.");
    EXPECT_EQ(flow_.Collect(begun.cookie, kBegin).stage, Stage::kUnknown);
  }
  const LoginFlow::Begun begun = flow_.Begin(provider_, kBegin);
  const Query query = {{"error", std::string(10'000, 'e')},
                       {"error_description", std::string(10'000, 'd')},
                       {"state", StateOf(begun)}};
  EXPECT_LT(Why(begun.cookie, query).size(), 600U);
}

TEST_F(LoginFlowTest, AnotherTautdOrARestartTakesNothingOfTheFirst) {
  LoginFlow restarted(Options());
  const LoginFlow::Begun begun = flow_.Begin(provider_, kBegin);
  EXPECT_THAT(std::string(restarted.Callback(begun.cookie, {{"code", "c"}, {"state", StateOf(begun)}}, kBegin)
                              .status()
                              .message()),
              HasSubstr("not of the last"));
}

TEST_F(LoginFlowTest, HoldsABoundedNumber) {
  LoginOptions options = Options();
  options.max_pending = 3;
  LoginFlow flow(options);
  const auto call_back = [&](int64_t now_s) {
    const LoginFlow::Begun begun = flow.Begin(provider_, now_s);
    return flow.Callback(begun.cookie, {{"code", "c"}, {"state", StateOf(begun)}}, now_s).status();
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(call_back(kBegin).ok());
  EXPECT_TRUE(absl::IsUnavailable(call_back(kBegin + 599)));
  EXPECT_TRUE(call_back(kBegin + 600).ok());
  EXPECT_EQ(flow.pending(), 1U);
}

TEST_F(LoginFlowTest, TheCodeIsExchangedAsTheProviderWantsIt) {
  const LoginFlow::Exchange exchange{"id", "c/1", "verifier", "nonce"};
  const LoginFlow::TokenRequest open = flow_.RequestFor(provider_, exchange);
  EXPECT_EQ(open.form,
            "grant_type=authorization_code&code=c%2F1&redirect_uri=https%3A%2F%2Ftautline.example%2Flogin%"
            "2Fcallback&"
            "code_verifier=verifier&client_id=tautd%20%26%20co");
  EXPECT_EQ(FindHeader(open.headers, "Authorization"), nullptr);
  LoginOptions options = Options();
  options.client_secret = "s:3";
  const LoginFlow flow(options);
  const LoginFlow::TokenRequest basic = flow.RequestFor(provider_, exchange);
  EXPECT_EQ(*FindHeader(basic.headers, "Authorization"), "Basic dGF1dGQlMjAlMjYlMjBjbzpzJTNBMw==");
  EXPECT_THAT(basic.form, Not(HasSubstr("client_")));
  LoginProvider by_form = provider_;
  by_form.secret_in_form = true;
  const LoginFlow::TokenRequest form = flow.RequestFor(by_form, exchange);
  EXPECT_THAT(form.form, HasSubstr("&client_secret=s%3A3"));
  EXPECT_EQ(FindHeader(form.headers, "Authorization"), nullptr);
}

TEST(LoginAnswer, HasTheIdTokenOrTheReason) {
  const auto why = [](int status, std::string_view body) {
    return std::string(LoginFlow::IdTokenOf(status, body).status().message());
  };
  EXPECT_EQ(*LoginFlow::IdTokenOf(200, R"({"access_token":"a","id_token":"a.b.c"})"), "a.b.c");
  EXPECT_THAT(why(200, R"({"access_token":"a"})"), HasSubstr("no ID token"));
  EXPECT_THAT(why(200, "<html>"), HasSubstr("no ID token"));
  EXPECT_THAT(why(400, R"({"error":"invalid_grant","error_description":"too\u0000late"})"),
              HasSubstr("status 400, invalid_grant: too\\x00late"));
  EXPECT_THAT(why(502, "<html>down"), HasSubstr("status 502"));
}

TEST(RedirectUrl, IsHttpsOrOnThisMachine) {
  for (const char* good :
       {"https://tautline.example/login/callback", "https://a.example:8443/taut/login/callback",
        "http://127.0.0.1:7070/login/callback", "http://localhost/login/callback",
        "http://[::1]:7070/login/callback"})
    EXPECT_TRUE(CheckRedirectUrl(good).ok()) << good;
  for (const char* bad :
       {"", "tautline.example/login/callback", "http://tautline.example/login/callback",
        "http://127.0.0.1.evil.example/login/callback", "https:///login/callback",
        "ftp://a.example/login/callback", "https://tautline.example/", "https://tautline.example/login",
        "https://tautline.example/login/callback?x=1", "https://tautline.example/\"/login/callback"}) {
    const absl::Status status = CheckRedirectUrl(bad);
    EXPECT_FALSE(status.ok()) << bad;
    EXPECT_THAT(std::string(status.message()), HasSubstr("server.oidc.login.redirect_url")) << bad;
  }
  EXPECT_EQ(PrefixOfRedirectUrl("https://a.example:8443/taut/login/callback"), "/taut");
  EXPECT_EQ(PrefixOfRedirectUrl("http://127.0.0.1:7070/login/callback"), "");
}

}  // namespace
}  // namespace taut::server
