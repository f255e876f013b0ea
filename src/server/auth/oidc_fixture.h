// Keys of a provider, and tokens signed with the provider's keys or with other keys. For tests.
#pragma once

#include <cjose/cjose.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "server/auth/token.h"

namespace taut::server {

class TokenMaker {
 public:
  TokenMaker()
      : rsa_(cjose_jwk_create_RSA_random(2048, kExponent, sizeof(kExponent), nullptr)),
        ec_(cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, nullptr)) {}
  ~TokenMaker() {
    cjose_jwk_release(rsa_);
    cjose_jwk_release(ec_);
  }
  TokenMaker(const TokenMaker&) = delete;
  TokenMaker& operator=(const TokenMaker&) = delete;

  // Returns a JWK Set of both public keys, "r" and "e".
  std::string Jwks(std::string_view more = "") const {
    return StrCat("{\"keys\":[", PublicOf(rsa_, "r", R"(,"alg":"RS256","use":"sig")"), ",",
                  PublicOf(ec_, "e", ""), more, "]}");
  }
  static std::string PublicOf(cjose_jwk_t* key, std::string_view id, std::string_view more) {
    char* json = cjose_jwk_to_json(key, false, nullptr);
    std::string out(json);
    std::free(json);
    out.pop_back();
    return StrCat(out, ",\"kid\":\"", id, "\"", more, "}");
  }
  static std::string Sign(cjose_jwk_t* key, const char* algorithm, const char* id, std::string_view claims) {
    cjose_header_t* header = cjose_header_new(nullptr);
    cjose_header_set(header, CJOSE_HDR_ALG, algorithm, nullptr);
    cjose_header_set(header, CJOSE_HDR_KID, id, nullptr);
    cjose_jws_t* jws =
        cjose_jws_sign(key, header, reinterpret_cast<const uint8_t*>(claims.data()), claims.size(), nullptr);
    const char* text = nullptr;
    cjose_jws_export(jws, &text, nullptr);
    std::string out(text);
    cjose_jws_release(jws);
    cjose_header_release(header);
    return out;
  }
  std::string Rs256(std::string_view claims, const char* id = "r") const {
    return Sign(rsa_, "RS256", id, claims);
  }
  std::string Es256(std::string_view claims, const char* id = "e") const {
    return Sign(ec_, "ES256", id, claims);
  }
  cjose_jwk_t* rsa() const { return rsa_; }

 private:
  static constexpr uint8_t kExponent[] = {1, 0, 1};
  cjose_jwk_t* rsa_;
  cjose_jwk_t* ec_;
};

inline std::string Base64Url(std::string_view text) {
  char* out = nullptr;
  size_t size = 0;
  cjose_base64url_encode(reinterpret_cast<const uint8_t*>(text.data()), text.size(), &out, &size, nullptr);
  std::string encoded(out, size);
  std::free(out);
  return encoded;
}

}  // namespace taut::server
