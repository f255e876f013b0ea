#include "server/auth/token.h"

#include <cjose/cjose.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

// Bound on tokens, below the limit of 16 KiB for a request's header.
constexpr size_t kMostTokenBytes = 12 << 10;
constexpr size_t kMostKeys = 64, kMostGroups = 1000, kMostName = 256;
constexpr size_t kLeastRsaBits = 2048;

struct FreeKey {
  void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
};
struct FreeSignature {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};

absl::Status Refused(std::string text) { return absl::UnauthenticatedError(std::move(text)); }

// Returns true if the text is base64url without padding (RFC 7515). cjose aborts the process on any other
// text, so every part of a token is checked first.
bool IsBase64Url(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return !text.empty() && text.size() % 4 != 1 && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// Decodes base64url. Returns nullopt if the text is not base64url.
std::optional<std::string> Decoded(std::string_view text) {
  uint8_t* bytes = nullptr;
  size_t size = 0;
  cjose_err error{};
  if (!IsBase64Url(text) || !cjose_base64url_decode(text.data(), text.size(), &bytes, &size, &error))
    return std::nullopt;
  std::string out(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return out;
}

// Returns the signature algorithm of a key; "" if the key is not supported.
std::string_view AlgorithmOf(JsonNode key) {
  const std::string_view type = key.Text("kty");
  const std::string_view ours = type == "RSA"                                ? "RS256"
                                : type == "EC" && key.Text("crv") == "P-256" ? "ES256"
                                                                             : "";
  const std::string_view use = key.Text("use"), algorithm = key.Text("alg");
  if (!use.empty() && use != "sig") return "";
  return algorithm.empty() || algorithm == ours ? ours : "";
}

bool IsLongEnough(JsonNode key) {
  if (key.Text("kty") != "RSA") return true;
  const std::optional<std::string> modulus = Decoded(key.Text("n"));
  if (!modulus.has_value()) return false;
  size_t first = 0;
  while (first < modulus->size() && (*modulus)[first] == 0) ++first;
  return (modulus->size() - first) * 8 >= kLeastRsaBits;
}

// Returns the claim with this whole name. If there is none, splits the name at its dots and follows the path.
JsonNode ClaimNamed(JsonNode claims, std::string_view name) {
  if (const JsonNode whole = claims[name]; static_cast<bool>(whole)) return whole;
  JsonNode at = claims;
  for (const std::string_view piece : Split(name, '.')) at = at[piece];
  return at;
}

std::vector<std::string> TextsOf(JsonNode claim) {
  std::vector<std::string> out;
  const auto take = [&out](JsonNode value) {
    if (value.text().has_value() && out.size() < kMostGroups) out.emplace_back(*value.text());
  };
  if (claim.is_array()) {
    claim.ForEachItem(take);
  } else {
    take(claim);
  }
  return out;
}

absl::StatusOr<VerifiedToken> ClaimsOf(JsonNode claims, const TokenRules& rules, int64_t now_s) {
  if (!claims.is_object()) return Refused("the token has no claims");
  if (claims.Text("iss") != rules.issuer) return Refused("the token is of another issuer");
  const std::vector<std::string> audiences = TextsOf(claims["aud"]);
  if (std::ranges::find(audiences, rules.audience) == audiences.end())
    return Refused(StrCat("the token is not for the audience ", rules.audience));
  constexpr double kFar = 1e12;
  const auto time = [](JsonNode value) -> std::optional<double> {
    const std::optional<double> at = value.number();
    return at.has_value() && *at >= 0 && *at < kFar ? at : std::nullopt;
  };
  const std::optional<double> expires = time(claims["exp"]);
  if (!expires.has_value()) return Refused("the token has no time of expiry");
  const auto now = static_cast<double>(now_s), leeway = static_cast<double>(rules.leeway_s);
  if (now >= *expires + leeway) return Refused("the token has expired");
  if (const JsonNode not_before = claims["nbf"]; static_cast<bool>(not_before)) {
    const std::optional<double> at = time(not_before);
    if (!at.has_value() || now < *at - leeway) return Refused("the token is not valid yet");
  }
  if (rules.nonce.has_value()) {
    const std::string_view party = claims.Text("azp");
    if (party.empty() ? audiences.size() > 1 : party != rules.audience)
      return Refused("the token was issued to another party (azp)");
    const std::string_view nonce = claims.Text("nonce");
    const bool same = nonce.size() == rules.nonce->size() && !nonce.empty() &&
                      CRYPTO_memcmp(nonce.data(), rules.nonce->data(), nonce.size()) == 0;
    if (!same) return Refused("the token is not of this sign-in (nonce)");
  }
  VerifiedToken out;
  out.user = ClaimNamed(claims, rules.user_claim).text().value_or("");
  if (out.user.empty() || out.user.size() > kMostName || !IsPrintableUtf8(out.user))
    return Refused(StrCat("the token has no claim ", rules.user_claim, " with a printable name"));
  out.groups = TextsOf(ClaimNamed(claims, rules.groups_claim));
  out.expires_s = static_cast<int64_t>(*expires) + rules.leeway_s;
  return out;
}

}  // namespace

struct KeySet::Impl {
  struct Key {
    std::unique_ptr<cjose_jwk_t, FreeKey> key;
    std::string algorithm;
  };
  std::map<std::string, Key, std::less<>> by_id;
  mutable std::mutex mutex;  // cjose does not document that threads may share a key
};

absl::StatusOr<std::shared_ptr<const KeySet>> KeySet::Parse(std::string_view json) {
  JsonTree tree;
  if (!tree.Parse(json).ok() || !tree.root()["keys"].is_array())
    return absl::DataLossError("not a JSON object with a list `keys`");
  auto impl = std::make_shared<Impl>();
  tree.root()["keys"].ForEachItem([&](JsonNode node) {
    const std::string id(node.Text("kid"));
    const std::string_view algorithm = AlgorithmOf(node);
    if (id.empty() || algorithm.empty() || !IsLongEnough(node) || impl->by_id.size() >= kMostKeys) return;
    // Copy only the fields of a public key, so that no other field has an effect.
    std::string text = StrCat("{\"kty\":\"", node.Text("kty"), "\"");
    for (const std::string_view field : {"n", "e", "crv", "x", "y"}) {
      const std::string_view value = node.Text(field);
      const bool plain = field == "crv" ? value == "P-256" : IsBase64Url(value);
      if (!value.empty() && !plain) return;
      if (!value.empty()) StrAppend(&text, ",\"", field, "\":\"", value, "\"");
    }
    StrAppend(&text, "}");
    cjose_err error{};
    cjose_jwk_t* key = cjose_jwk_import(text.data(), text.size(), &error);
    if (key != nullptr)
      impl->by_id.insert_or_assign(
          id, Impl::Key{std::unique_ptr<cjose_jwk_t, FreeKey>(key), std::string(algorithm)});
  });
  if (impl->by_id.empty()) return absl::FailedPreconditionError("no key for RS256 or ES256 with a `kid`");
  return std::shared_ptr<const KeySet>(new KeySet(std::move(impl)));
}

size_t KeySet::size() const { return impl_->by_id.size(); }

bool LooksLikeJwt(std::string_view token) { return std::ranges::count(token, '.') == 2; }

absl::StatusOr<VerifiedToken> VerifyToken(std::string_view token, const KeySet& keys, const TokenRules& rules,
                                          int64_t now_s) {
  if (token.size() > kMostTokenBytes || !LooksLikeJwt(token)) return Refused("not a signed token");
  for (const std::string_view piece : Split(token, '.')) {
    if (!IsBase64Url(piece)) return Refused("not a signed token");
  }
  const std::optional<std::string> head = Decoded(token.substr(0, token.find('.')));
  JsonTree tree;
  if (!head.has_value() || !tree.Parse(*head).ok() || !tree.root().is_object())
    return Refused("the token has no header");
  const std::string algorithm(tree.root().Text("alg")), id(tree.root().Text("kid"));
  // The key determines the algorithm; the token must not (RFC 8725, 3.1).
  if (algorithm != "RS256" && algorithm != "ES256")
    return Refused("the token is not signed with RS256 or ES256");
  if (static_cast<bool>(tree.root()["crit"])) return Refused("the token has a critical header");
  const KeySet::Impl& impl = keys.impl();
  const auto key = impl.by_id.find(id);
  if (key == impl.by_id.end()) {
    return absl::NotFoundError(
        StrCat("the token is signed with an unknown key \"", Printable(id.substr(0, kMostName)), "\""));
  }
  if (key->second.algorithm != algorithm) return Refused("the token's key is for another algorithm");
  std::string claims;
  {
    const std::lock_guard lock(impl.mutex);
    cjose_err error{};
    const std::unique_ptr<cjose_jws_t, FreeSignature> jws(
        cjose_jws_import(token.data(), token.size(), &error));
    if (jws == nullptr) return Refused("the token cannot be read");
    // Two parsers may read a header with a repeated field differently: compare the algorithm that cjose has
    // read.
    const char* said = cjose_header_get(cjose_jws_get_protected(jws.get()), CJOSE_HDR_ALG, &error);
    if (said == nullptr || algorithm != said) return Refused("the token's header says two algorithms");
    if (!cjose_jws_verify(jws.get(), key->second.key.get(), &error))
      return Refused("the token's signature is wrong");
    uint8_t* bytes = nullptr;
    size_t size = 0;
    if (!cjose_jws_get_plaintext(jws.get(), &bytes, &size, &error))
      return Refused("the token cannot be read");
    claims.assign(reinterpret_cast<const char*>(bytes), size);
  }
  if (!tree.Parse(claims).ok()) return Refused("the token's claims are not JSON");
  return ClaimsOf(tree.root(), rules, now_s);
}

}  // namespace taut::server
