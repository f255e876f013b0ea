// Fuzzes the parsers of OpenID Connect tokens and key sets with arbitrary bytes, which are rejected or parsed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/auth/token.h"

// Example keys of RFC 7517, appendix A.1, with a `kid` added to each.
constexpr std::string_view kKeys =
    R"({"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1"},)"
    R"({"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","kid":"2"}]})";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto keys = *taut::server::KeySet::Parse(kKeys);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const taut::server::TokenRules rules{.issuer = "https://id.example", .audience = "tautd"};
  (void)taut::server::VerifyToken(text, *keys, rules, 1'700'000'000);
  (void)taut::server::KeySet::Parse(text);
  return 0;
}
