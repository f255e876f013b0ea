// Tests which tokens are accepted and which are rejected. Source of the attacks: RFC 8725.
#include "server/auth/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/auth/oidc_fixture.h"
#include "server/auth/oidc_verifier.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'700'000'000;
const TokenRules kRules{.issuer = "https://id.example", .audience = "tautd"};

std::string Claims(std::string_view more = "", int64_t expires = kNow + 600) {
  return StrCat(
      R"({"iss":"https://id.example","aud":["other","tautd"],"sub":"mia","groups":["shop-leads","all"],"exp":)",
      expires, more, "}");
}

class Token : public testing::Test {
 protected:
  static const TokenMaker& maker() {
    static const TokenMaker made;
    return made;
  }
  std::string Why(std::string_view token, int64_t now = kNow) {
    const auto verified = VerifyToken(token, *keys_, kRules, now);
    return verified.ok() ? "" : std::string(verified.status().message());
  }
  std::shared_ptr<const KeySet> keys_ = *KeySet::Parse(maker().Jwks());
};

TEST_F(Token, OfBothAlgorithmsSayWhoItIs) {
  EXPECT_EQ(keys_->size(), 2U);
  for (const std::string& token : {maker().Rs256(Claims()), maker().Es256(Claims())}) {
    const auto verified = VerifyToken(token, *keys_, kRules, kNow);
    ASSERT_TRUE(verified.ok()) << verified.status();
    EXPECT_EQ(verified->user, "mia");
    EXPECT_THAT(verified->groups, ElementsAre("shop-leads", "all"));
    EXPECT_EQ(verified->expires_s, kNow + 660);
  }
}

TEST_F(Token, WithWrongClaimsIsRefusedWithTheReason) {
  EXPECT_EQ(Why(maker().Rs256(Claims("", kNow - 60))), "the token has expired");
  EXPECT_EQ(Why(maker().Rs256(Claims("", kNow - 59))), "");
  EXPECT_EQ(Why(maker().Rs256(Claims(StrCat(",\"nbf\":", kNow + 61)))), "the token is not valid yet");
  EXPECT_EQ(Why(maker().Rs256(Claims(StrCat(",\"nbf\":", kNow + 60)))), "");
  EXPECT_EQ(Why(maker().Rs256(Claims(",\"nbf\":\"soon\""))), "the token is not valid yet");
  EXPECT_THAT(
      Why(maker().Rs256(R"({"iss":"https://id.example","aud":"other","sub":"mia","exp":1800000000})")),
      HasSubstr("not for the audience tautd"));
  EXPECT_THAT(Why(maker().Rs256(R"({"iss":"https://id.example","sub":"mia","exp":1800000000})")),
              HasSubstr("audience"));
  EXPECT_EQ(Why(maker().Rs256(R"({"iss":"https://id.example/","aud":"tautd","sub":"mia","exp":1800000000})")),
            "the token is of another issuer");
  EXPECT_EQ(Why(maker().Rs256(R"({"iss":"https://id.example","aud":"tautd","sub":"mia"})")),
            "the token has no time of expiry");
  EXPECT_THAT(Why(maker().Rs256(R"({"iss":"https://id.example","aud":"tautd","exp":1800000000})")),
              HasSubstr("claim sub"));
  EXPECT_THAT(
      Why(maker().Rs256(R"({"iss":"https://id.example","aud":"tautd","exp":1800000000,"sub":"a\nb"})")),
      HasSubstr("claim sub"));
  EXPECT_EQ(Why(maker().Rs256("[]")), "the token has no claims");
  EXPECT_EQ(Why(maker().Rs256("nonsense")), "the token's claims are not JSON");
}

TEST_F(Token, WithAWrongSignatureIsRefused) {
  const std::string good = maker().Rs256(Claims());
  const size_t first = good.find('.'), second = good.rfind('.');
  const std::string payload = good.substr(first + 1, second - first - 1);
  // Tokens without an algorithm or with an unsupported algorithm, with and without a signature.
  for (const std::string alg : {"none", "None", "HS256", "RS512", "PS256", ""}) {
    const std::string head = Base64Url(StrCat(R"({"kid":"r","alg":")", alg, "\"}"));
    EXPECT_EQ(Why(StrCat(head, ".", payload, ".")), "not a signed token") << alg;
    EXPECT_THAT(Why(StrCat(head, ".", payload, good.substr(second))), HasSubstr("not signed with")) << alg;
  }
  // A token with an HMAC whose secret is the text of the public key.
  const std::string secret = TokenMaker::PublicOf(maker().rsa(), "r", "");
  cjose_jwk_t* key =
      cjose_jwk_create_oct_spec(reinterpret_cast<const uint8_t*>(secret.data()), secret.size(), nullptr);
  EXPECT_THAT(Why(TokenMaker::Sign(key, "HS256", "r", Claims())), HasSubstr("not signed with"));
  cjose_jwk_release(key);
  // A header with the same field twice: two parsers may read different values.
  const std::string twice = Base64Url(R"({"kid":"r","alg":"RS256","alg":"HS256"})");
  EXPECT_NE(Why(StrCat(twice, ".", payload, good.substr(second))), "");
  // Tokens with a key of the other algorithm, other claims, a changed bit, or a missing part.
  EXPECT_EQ(Why(maker().Es256(Claims(), "r")), "the token's key is for another algorithm");
  EXPECT_EQ(Why(StrCat(good.substr(0, first + 1), Base64Url(Claims(",\"admin\":true")), good.substr(second))),
            "the token's signature is wrong");
  std::string changed = good;
  changed[second + 5] = changed[second + 5] == 'A' ? 'B' : 'A';
  EXPECT_EQ(Why(changed), "the token's signature is wrong");
  for (size_t size = 0; size < good.size(); size += 7) EXPECT_NE(Why(good.substr(0, size)), "") << size;
  EXPECT_NE(Why(StrCat(good, ".x")), "");
  EXPECT_NE(Why(std::string(20'000, 'a') + ".b.c"), "");
  // Texts for which cjose aborts the process: padding in the middle, other digits, an impossible length.
  for (const char* piece :
       {"eyJhbGciOiJlI=wia2lkIjoiMSJ9", "=", "a", "abcde", "a+b/", "ab\x80z", "a b", "ab=="}) {
    EXPECT_EQ(Why(StrCat(piece, ".", payload, ".", payload)), "not a signed token") << piece;
    EXPECT_EQ(Why(StrCat(good.substr(0, first), ".", piece, good.substr(second))), "not a signed token")
        << piece;
    EXPECT_EQ(Why(StrCat(good.substr(0, second + 1), piece)), "not a signed token") << piece;
  }
  // A header with an extension that the receiver must understand.
  EXPECT_EQ(
      Why(StrCat(Base64Url(R"({"kid":"r","alg":"RS256","crit":["x"]})"), ".", payload, good.substr(second))),
      "the token has a critical header");
  // A token signed with a key that the provider does not have.
  const TokenMaker stranger;
  EXPECT_EQ(Why(stranger.Rs256(Claims())), "the token's signature is wrong");
  EXPECT_EQ(VerifyToken(stranger.Rs256(Claims(), "x"), *keys_, kRules, kNow).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(Token, ClaimsMayBeInOthers) {
  TokenRules rules = kRules;
  rules.groups_claim = "realm_access.roles";
  rules.user_claim = "email";
  const auto verified =
      VerifyToken(maker().Rs256(Claims(R"(,"email":"mia@example","realm_access":{"roles":["a",1,"b"]})")),
                  *keys_, rules, kNow);
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->user, "mia@example");
  EXPECT_THAT(verified->groups, ElementsAre("a", "b"));
}

TEST_F(Token, AnIdTokenIsOfOneSignInAndOfOneClient) {
  TokenRules rules = kRules;
  rules.nonce = "n-1";
  const auto why = [&](std::string_view audience, std::string_view more) {
    const auto verified =
        VerifyToken(maker().Rs256(StrCat(R"({"iss":"https://id.example","sub":"mia","exp":1800000000,"aud":)",
                                         audience, more, "}")),
                    *keys_, rules, kNow);
    return verified.ok() ? "" : std::string(verified.status().message());
  };
  constexpr const char* kOurs = R"("tautd")";
  constexpr const char* kTwo = R"(["tautd","other"])";
  EXPECT_EQ(why(kOurs, R"(,"nonce":"n-1")"), "");
  EXPECT_EQ(why(kOurs, R"(,"nonce":"n-1","azp":"tautd")"), "");
  EXPECT_EQ(why(kTwo, R"(,"nonce":"n-1","azp":"tautd")"), "");
  for (const char* nonce : {"", R"(,"nonce":"")", R"(,"nonce":"n-2")", R"(,"nonce":"n-11")", R"(,"nonce":1)"})
    EXPECT_THAT(why(kOurs, nonce), HasSubstr("not of this sign-in")) << nonce;
  EXPECT_THAT(why(kOurs, R"(,"nonce":"n-1","azp":"other")"), HasSubstr("another party"));
  EXPECT_THAT(why(kTwo, R"(,"nonce":"n-1")"), HasSubstr("another party"));
  EXPECT_THAT(why(R"("other")", R"(,"nonce":"n-1")"), HasSubstr("not for the audience tautd"));
}

TEST_F(Token, KeysThatDoNotFitAreLeftOut) {
  cjose_jwk_t* small =
      cjose_jwk_create_RSA_random(1024, reinterpret_cast<const uint8_t*>("\1\0\1"), 3, nullptr);
  const std::string more = StrCat(",", TokenMaker::PublicOf(small, "small", ""),
                                  R"(,{"kty":"oct","kid":"o","k":"AAAA"},{"kid":"x"},1,)",
                                  TokenMaker::PublicOf(maker().rsa(), "enc", R"(,"use":"enc")"), ",",
                                  TokenMaker::PublicOf(maker().rsa(), "ps", R"(,"alg":"PS256")"));
  cjose_jwk_release(small);
  EXPECT_EQ((*KeySet::Parse(maker().Jwks(more)))->size(), 2U);
  EXPECT_EQ(KeySet::Parse(R"({"keys":[]})").status().code(), absl::StatusCode::kFailedPrecondition);
  for (const char* text : {"", "[]", "{}", R"({"keys":1})"})
    EXPECT_EQ(KeySet::Parse(text).status().code(), absl::StatusCode::kDataLoss) << text;
}

TEST_F(Token, IsBoundToRolesByItsGroups) {
  std::vector<ClaimBinding> bindings;
  for (const char* text : {"shop-leads: owner shop,media", "all: member lab", "app:sre: operator"})
    bindings.push_back(*ParseClaimBinding(text));
  int asked = 0;
  std::shared_ptr<const KeySet> keys = keys_;
  const OidcVerifier verifier(
      kRules, bindings, [&] { return keys; }, [&] { ++asked; }, [] { return kNow; });
  const auto mia = verifier.CallerOf(maker().Rs256(Claims()));
  ASSERT_TRUE(mia.ok()) << mia.status();
  EXPECT_EQ(mia->user, "oidc:mia");
  EXPECT_EQ(mia->role, Role::kGroup);
  EXPECT_EQ(*mia->bindings,
            (GroupBindings{
                {"shop", GroupRole::kOwner}, {"media", GroupRole::kOwner}, {"lab", GroupRole::kMember}}));
  EXPECT_EQ(mia->valid_until_s, kNow + 660);
  const auto sre = verifier.CallerOf(maker().Rs256(
      R"({"iss":"https://id.example","aud":"tautd","sub":"ann","groups":["all","app:sre"],"exp":1800000000})"));
  EXPECT_EQ(sre->role, Role::kOperator);
  EXPECT_EQ(sre->bindings, nullptr);
  const auto none = verifier.CallerOf(maker().Rs256(
      R"({"iss":"https://id.example","aud":"tautd","sub":"eve","groups":"ALL","exp":1800000000})"));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("no role is bound"));
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(verifier.CallerOf(maker().Rs256(Claims(), "newer")).ok());
  EXPECT_EQ(asked, 1) << "a newer key may be there";
  keys = nullptr;
  EXPECT_THAT(std::string(verifier.CallerOf(maker().Rs256(Claims())).status().message()), HasSubstr("keys"));
}

TEST(ClaimBinding, SaysWhatIsWrong) {
  for (const auto& [text, what] : {std::pair{"", "no claim"},
                                   {"x", "no claim"},
                                   {"x: boss", "the role is not"},
                                   {"x: owner", "no group"},
                                   {"x: reader shop", "of no group"},
                                   {"x: writer", "the role is not"}}) {
    EXPECT_THAT(std::string(ParseClaimBinding(text).status().message()), HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace taut::server
