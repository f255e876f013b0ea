#include "server/auth/login_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

class LoginSessionsTest : public testing::Test {
 protected:
  LoginSessionsTest() {
    verifier_ = std::make_shared<OidcVerifier>(
        TokenRules(), Bindings({"sre: operator", "shop: owner shop"}), [] { return nullptr; }, [] {},
        [] { return int64_t{0}; });
    options_.session_s = 3600;
    options_.verifier = verifier_;
    options_.random = [this](size_t bytes) {
      std::string out = StrCat(++draws_);
      out.resize(bytes, '.');
      return out;
    };
    options_.now_s = [this] { return now_s_; };
  }
  static std::vector<ClaimBinding> Bindings(const std::vector<std::string>& texts) {
    std::vector<ClaimBinding> out;
    for (const std::string& text : texts) out.push_back(*ParseClaimBinding(text));
    return out;
  }
  // Returns claims whose ID token expires after five minutes, which is before the end of the session.
  VerifiedToken Claims(std::string user, std::vector<std::string> groups = {"sre"}) const {
    return {std::move(user), std::move(groups), now_s_ + 300};
  }

  int draws_ = 0;
  int64_t now_s_ = 1'700'000'000;
  LoginSessions::Options options_;
  std::shared_ptr<OidcVerifier> verifier_;
};

TEST_F(LoginSessionsTest, LastAsLongAsTheyMay) {
  LoginSessions sessions(options_);
  const std::string cookie = *sessions.Begin(Claims("mia"));
  EXPECT_EQ(cookie.size(), 43U);
  const int64_t begin = now_s_;
  const auto at = [&](int64_t after_s) {
    now_s_ = begin + after_s;
    return sessions.CallerOf(cookie);
  };
  const absl::StatusOr<Caller> caller = at(0);
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->user, "oidc:mia");
  EXPECT_EQ(caller->role, Role::kOperator);
  EXPECT_EQ(caller->valid_until_s, begin + 3600);
  EXPECT_TRUE(at(3599).ok());
  EXPECT_FALSE(at(3600).ok());
  EXPECT_TRUE(at(-60).ok()) << "clocks are set by a second now and then";
  EXPECT_FALSE(at(-61).ok()) << "by a clock that went back it would last for longer than it may";
  EXPECT_FALSE(at(1'000'000).ok());
  EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(LoginSessionsTest, RolesAreThoseOfNow) {
  LoginSessions sessions(options_);
  const std::string cookie = *sessions.Begin(Claims("mia", {"sre", "shop"}));
  verifier_->SetBindings(Bindings({"shop: owner shop"}));
  EXPECT_EQ(sessions.CallerOf(cookie)->role, Role::kGroup);
  EXPECT_EQ(*sessions.CallerOf(cookie)->bindings, (GroupBindings{{"shop", GroupRole::kOwner}}));
  verifier_->SetBindings(Bindings({"others: reader"}));
  EXPECT_THAT(std::string(sessions.CallerOf(cookie).status().message()), HasSubstr("no role is bound"));
  verifier_->SetBindings(Bindings({"sre: reader"}));
  EXPECT_EQ(sessions.CallerOf(cookie)->role, Role::kReader);
}

TEST_F(LoginSessionsTest, EndWithASignOut) {
  LoginSessions sessions(options_);
  const std::string first = *sessions.Begin(Claims("mia")), second = *sessions.Begin(Claims("mia"));
  EXPECT_NE(first, second);
  sessions.End("nonsense");
  sessions.End(first);
  EXPECT_FALSE(sessions.CallerOf(first).ok());
  EXPECT_TRUE(sessions.CallerOf(second).ok()) << "that of another browser goes on";
  for (const std::string& wrong :
       {std::string(), first, second.substr(1), second + "A", std::string(100'000, 'x')})
    EXPECT_FALSE(sessions.CallerOf(wrong).ok());
}

TEST_F(LoginSessionsTest, BeginForNoOneWithoutARole) {
  LoginSessions sessions(options_);
  EXPECT_THAT(std::string(sessions.Begin(Claims("eve", {"other"})).status().message()),
              HasSubstr("no role is bound"));
  EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(LoginSessionsTest, AreBoundedByUserAndInAll) {
  options_.max_of_user = 2;
  options_.max_sessions = 4;
  LoginSessions sessions(options_);
  std::vector<std::string> mia, others;
  for (int i = 0; i < 3; ++i, ++now_s_) mia.push_back(*sessions.Begin(Claims("mia")));
  EXPECT_EQ(sessions.size(), 2U);
  EXPECT_FALSE(sessions.CallerOf(mia[0]).ok()) << "her oldest one ended";
  EXPECT_TRUE(sessions.CallerOf(mia[1]).ok());
  for (const char* user : {"ann", "bob", "eve"}) {
    ++now_s_;
    others.push_back(*sessions.Begin(Claims(user)));
  }
  EXPECT_EQ(sessions.size(), 4U);
  EXPECT_FALSE(sessions.CallerOf(mia[1]).ok()) << "the oldest of all";
  EXPECT_TRUE(sessions.CallerOf(mia[2]).ok());
  now_s_ += 3600;
  (void)sessions.Begin(Claims("mia"));
  EXPECT_EQ(sessions.size(), 1U);
}

TEST_F(LoginSessionsTest, HaveACookieThatNoOtherHostCanSet) {
  EXPECT_EQ(LoginSessions(options_).cookie_name(), "__Host-taut_session");
  options_.secure = false;  // browsers reject a cookie with this prefix on http:// to this machine
  EXPECT_EQ(LoginSessions(options_).cookie_name(), "taut_session");
}

}  // namespace
}  // namespace taut::server
